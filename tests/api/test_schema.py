"""The whole OpenAPI document against the running routes: no 500, no undocumented answer, and docs that name them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import ApiMount
from tests.api.conftest import OpenedLibrary
from tests.api.described import APP, OPENED

EXAMPLES = 8  # per route and kind of data, so that the module takes less than a minute
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    negative_data_rejection,
    unsupported_method,
]


def from_this_machine(app: ASGIApp) -> ASGIApp:
    """The app as a client on loopback reaches it."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [pair for pair in scope["headers"] if pair[0] not in (b"host", b"x-requested-with")]
            local = [(b"host", b"localhost"), (b"x-requested-with", b"tests")]
            scope = {**scope, "client": ("127.0.0.1", 50000), "headers": [*headers, *local]}
        await app(scope, receive, send)

    return called


SCHEMA = schemathesis.openapi.from_asgi("/api/openapi.json", from_this_machine(Starlette(routes=[ApiMount(APP)])))
OPERATIONS = [each.ok() for each in SCHEMA.get_all_operations()]


@pytest.fixture(scope="module", autouse=True)
def opened(library: OpenedLibrary) -> Iterator[None]:
    """Puts the library behind the routes."""
    OPENED.append(library)
    yield
    OPENED.clear()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.label)
def test_every_answer_is_documented(operation: Any, mode: GenerationMode) -> None:
    # Fields of a form are always text: a number or an object where text belongs becomes text on its way.
    is_form = any(body.media_type == "multipart/form-data" for body in operation.body)
    checks = [each for each in CHECKS if not (is_form and each is negative_data_rejection)]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        case.call_and_validate(checks=checks)

    try:
        check()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # a route without parameters has nothing to be given wrong


def test_the_docs_name_every_route_and_no_other() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text("utf-8")
    rows = set(re.findall(r"^\| (GET|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|", text, re.MULTILINE))
    described = {(method.upper(), path) for path, methods in APP.openapi()["paths"].items() for method in methods}
    assert rows == described


def test_every_body_has_an_example_that_its_schema_allows() -> None:
    """What people copy from the description works."""
    document = APP.openapi()
    shapes = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body is None:
                continue
            name = body["schema"]["$ref"].rpartition("/")[2]
            example = shapes[name].get("example")
            if example is None:
                assert name in SMALL, f"{method} {path}: {name} has no example"
                continue
            jsonschema.validate(example, {**shapes[name], "components": document["components"]})


def test_every_operation_has_a_name_of_its_own() -> None:
    """Generated clients call their functions by it."""
    names = [each["operationId"] for methods in APP.openapi()["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names)) and all(name.isidentifier() for name in names)


SMALL = {"DocumentChange", "Filters", "TopicChange", "InsightChange", "EpisodeChange"}
"""Bodies that say all in the names of their few fields."""
