"""Who gets in: tokens, the one person on this machine, and nobody's web page."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from time import time
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from api.app import ApiMount, create_app
from api.mcp.http import McpDoor
from api.route import GuardedRoute
from api.routes import ROUTERS
from bootstrap.sign_in import SignInSettings
from bootstrap.workbench import OpenWorkbench
from core.access.audit import AuditOutcome, AuditQuery
from core.domain.people import Door, Principal, Role, local_principal
from core.workbench import Workbench
from tests.api.conftest import OpenedLibrary, filled

OPEN = {"/", "/health"}
"""Routes that need nobody: where to begin, and whether the library answers."""


def client_from(
    library: OpenedLibrary, address: str = "127.0.0.1", *, host: str = "localhost", local: bool = True
) -> TestClient:
    """A client at an address, which asks for a host."""
    app = create_app(lambda: library, local=lambda: local)
    return TestClient(app, base_url=f"http://{host}", client=(address, 50000), raise_server_exceptions=False)


def token_of(library: OpenedLibrary, role: Role, expires: datetime | None = None) -> dict[str, str]:
    """The header with a new token of the local person."""
    _, secret = library.workbench.tokens.create("test", role, expires, local_principal(Door.BROWSER))
    return {"Authorization": f"Bearer {secret}"}


def test_every_route_resolves_its_caller() -> None:
    routes = [route for router in ROUTERS for route in router.routes]
    assert len(routes) > 70
    assert {route.path for route in routes if not isinstance(route, GuardedRoute)} == OPEN  # type: ignore[attr-defined]


def test_a_client_elsewhere_needs_a_token(library: OpenedLibrary) -> None:
    client = client_from(library, "192.0.2.7", host="fivefold.example")
    refused = client.get("/statistics")
    assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
    assert "Settings" in refused.json()["hint"]
    assert client.get("/statistics", headers=token_of(library, Role.VIEWER)).status_code == 200
    assert client.get("/health").status_code == 200


def test_with_sign_in_this_machine_needs_a_token_too(library: OpenedLibrary) -> None:
    client = client_from(library, local=False)
    assert client.get("/statistics").status_code == 401
    assert client.get("/statistics", headers=token_of(library, Role.VIEWER)).status_code == 200


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer ", "Bearer ff_wrong", "ff_wrong", "Bearer wrong"])
def test_a_wrong_token_is_refused_even_on_this_machine(library: OpenedLibrary, header: str) -> None:
    assert client_from(library).get("/statistics", headers={"Authorization": header}).status_code == 401


def test_a_token_does_what_its_role_may_and_no_more(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, viewer = client_from(library), token_of(library, Role.VIEWER)
    assert client.get("/documents/1", headers=viewer).status_code == 200
    refused = client.delete("/documents/1", headers=viewer)
    assert refused.status_code == 403 and "role analyst" in refused.json()["detail"]
    analyst = token_of(library, Role.ANALYST)
    decision = {"topic_id": 1, "kind": "intent", "verdict": "needs work"}
    assert client.post("/coverage/decisions", json=decision, headers=analyst).status_code == 403
    assert client.delete("/documents/1", headers=analyst).status_code == 204


def test_a_viewer_resumes_no_coverage_run(tmp_path: Path) -> None:
    library = filled(tmp_path)
    runs, viewer = library.workbench.coverage.runs, token_of(library, Role.VIEWER)
    run = runs.stop(runs.start(None).id)
    refused = client_from(library).post("/coverage/runs", json={"resume": run.id}, headers=viewer)
    assert refused.status_code == 403 and "role analyst" in refused.json()["detail"]


def test_a_revoked_or_expired_token_is_refused_at_once(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, person = client_from(library), local_principal(Door.BROWSER)
    token, secret = library.workbench.tokens.create("t", Role.VIEWER, None, person)
    header = {"Authorization": f"Bearer {secret}"}
    assert client.get("/statistics", headers=header).status_code == 200
    library.workbench.tokens.revoke(token.id, person)
    assert client.get("/statistics", headers=header).status_code == 401


def test_what_a_token_does_and_what_it_may_not_are_in_the_audit_log(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client = client_from(library)
    assert client.delete("/documents/2", headers=token_of(library, Role.VIEWER)).status_code == 403
    assert client.delete("/documents/2", headers=token_of(library, Role.ANALYST)).status_code == 204
    done, refused = library.workbench.audit.page(AuditQuery(), 2, 0).entries
    assert [(each.action, each.door, each.outcome) for each in (done, refused)] == [
        ("bulk_edit.delete", Door.REST, AuditOutcome.DONE),
        ("bulk_edit.delete", Door.REST, AuditOutcome.REFUSED),
    ]


def test_guessing_tokens_is_stopped_by_address(library: OpenedLibrary) -> None:
    client = client_from(library, "192.0.2.9")
    answers = [client.get("/statistics", headers={"Authorization": f"Bearer ff_{n}"}).status_code for n in range(25)]
    assert answers[:20] == [401] * 20 and set(answers[20:]) == {429}
    assert client.get("/statistics", headers=token_of(library, Role.VIEWER)).status_code == 200, "colleagues behind it"
    assert client_from(library, "192.0.2.10").get("/health").status_code == 200


@pytest.mark.parametrize("door", [Door.REST, Door.MCP])
def test_wrong_tokens_are_in_the_audit_log_and_cannot_fill_it(
    tmp_path: Path, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = filled(tmp_path)
    now = time()
    monkeypatch.setattr("time.time", lambda: now)  # the limits count in a sliding minute
    mcp = McpDoor(lambda: cast(OpenWorkbench, library), SignInSettings, lambda: "9999/minute")
    app: ASGIApp = create_app(lambda: library) if door is Door.REST else Starlette(routes=[Route("/mcp", mcp)])
    path = "/answers" if door is Door.REST else "/mcp"
    for number in range(40):
        client = TestClient(app, client=(f"192.0.2.{number}", 50000))
        for _ in range(3):
            assert client.post(path, headers={"Authorization": f"Bearer ff_{number}"}).status_code == 401
    entries = library.workbench.audit.page(AuditQuery(door=door), 100, 0).entries
    assert len(entries) == 30
    assert {(each.action, each.outcome, each.login) for each in entries} == {("sign in", AuditOutcome.REFUSED, "")}
    assert entries[-1].object == "192.0.2.0"
    assert len({each.object for each in entries}) == 30


# A stranger's page in a browser on this machine


STRANGER: list[dict[str, str]] = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:9999"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
]


@pytest.mark.parametrize("headers", STRANGER, ids=str)
def test_a_strangers_page_can_neither_read_nor_write(library: OpenedLibrary, headers: dict[str, str]) -> None:
    client, sent = client_from(library), {"X-Requested-With": "x", **headers}
    requests: list[Callable[[], Any]] = [
        lambda: client.get("/documents", headers=sent),
        lambda: client.post("/search", json={"question": "overtime"}, headers=sent),
        lambda: client.post("/documents", files={"file": ("a.md", b"# A")}, headers=sent),
        lambda: client.delete("/documents/1", headers=sent),
    ]
    for ask in requests:
        answer = ask()
        assert answer.status_code == 403 and answer.headers["content-type"] == "application/problem+json"
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_plain_form_cannot_change_anything(library: OpenedLibrary) -> None:
    """An old browser sends neither Origin nor Sec-Fetch-Site with a form, which needs no permission to be sent."""
    client = client_from(library)
    before = len(library.workbench.documents.list())
    for sent in (
        {"files": {"file": ("a.md", b"# Stranger")}},
        {"data": {"question": "x"}},
        {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
        {},
    ):
        assert client.post("/documents", **sent).status_code == 403  # type: ignore[arg-type]
    assert len(library.workbench.documents.list()) == before


def test_a_rebound_host_name_or_a_proxy_makes_nobody_local(library: OpenedLibrary) -> None:
    assert client_from(library, host="evil.example").get("/documents").status_code == 401
    assert client_from(library, host="127.0.0.1.evil.example").get("/documents").status_code == 401
    client = client_from(library)
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert client.get("/documents", headers={name: "192.0.2.1"}).status_code == 401
    for host in ("127.0.0.1:8501", "[::1]:8501", "localhost:8501"):
        assert client.get("/documents", headers={"Host": host}).status_code == 200


def test_a_token_works_from_anywhere_a_program_calls(library: OpenedLibrary) -> None:
    header = token_of(library, Role.ANALYST, datetime.now(UTC) + timedelta(days=1))
    client = client_from(library, "192.0.2.7", host="fivefold.example", local=False)
    assert client.post("/documents", files={"file": ("t.md", b"# Token\nText.")}, headers=header).status_code == 201


def test_a_strangers_body_is_not_read(library: OpenedLibrary) -> None:
    read: list[int] = []

    def endless() -> Any:
        for number in range(50):
            read.append(number)
            yield b"x" * 65536

    client = client_from(library, "192.0.2.7", host="fivefold.example")
    answer = client.post("/documents", content=endless(), headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 401


# What comes with every answer


def test_request_ids_are_taken_over_or_made(library: OpenedLibrary) -> None:
    client = client_from(library)
    assert client.get("/health", headers={"X-Request-ID": "my-id.1"}).headers["x-request-id"] == "my-id.1"
    for wrong in ("", "a b", "x" * 200, "<script>"):
        made = client.get("/health", headers={"X-Request-ID": wrong}).headers["x-request-id"]
        assert made != wrong and len(made) == 16
    assert client.get("/nope", headers={"X-Request-ID": "abc"}).json()["request_id"] == "abc"


def test_answers_say_that_nobody_may_embed_or_guess_them(library: OpenedLibrary) -> None:
    headers = client_from(library).get("/documents/1/original").headers
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert (
        "sandbox" in headers["content-security-policy"]
        and "frame-ancestors 'none'" in headers["content-security-policy"]
    )
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_too_many_requests_are_refused_until_the_window_has_passed(library: OpenedLibrary) -> None:
    # The window slides: a request of the minute before counts less as this one passes. An hour hardly ever ends here.
    app = create_app(lambda: library, local=lambda: True, rate=lambda: "3/hour")
    client = TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50000))
    left = [client.get("/health").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    refused = client.get("/health")
    assert refused.status_code == 429 and refused.headers["content-type"] == "application/problem+json"
    assert 1 <= int(refused.headers["retry-after"]) <= 3600 and refused.json()["hint"].startswith("Wait")
    other = TestClient(app, base_url="http://localhost", client=("127.0.0.2", 50000))
    assert other.get("/health").status_code == 200, "each client has its own count"


def test_an_address_cannot_multiply_its_rate_by_inventing_tokens(library: OpenedLibrary) -> None:
    app = create_app(lambda: library, rate=lambda: "2/hour")
    client = TestClient(app, base_url="http://localhost", client=("192.0.2.1", 50000))
    answers = [client.get("/health", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(25)]
    assert answers == [200] * 20 + [429] * 5


def test_a_body_that_is_too_large_is_refused(library: OpenedLibrary) -> None:
    def pieces() -> Iterator[bytes]:
        yield from [b"x" * 1_000_000] * 6

    kind = {"Content-Type": "application/json"}
    for body in (b"x" * 5_000_000, pieces()):  # with the size declared, and without
        answer = client_from(library).post("/search", content=body, headers=kind)
        assert answer.status_code == 413 and answer.headers["content-type"] == "application/problem+json"


def test_an_invalid_rate_is_said_and_nothing_is_served(library: OpenedLibrary) -> None:
    app = create_app(lambda: library, local=lambda: True, rate=lambda: "often")
    answer = TestClient(app, base_url="http://localhost").get("/health")
    assert answer.status_code == 400 and "FIVEFOLD_API_RATE" in answer.json()["hint"]


def test_an_unexpected_error_names_the_request_and_nothing_else(library: OpenedLibrary) -> None:
    def broken() -> OpenedLibrary:
        raise ZeroDivisionError("secret detail")

    app = create_app(broken, local=lambda: True)
    client = TestClient(app, base_url="http://localhost", client=("127.0.0.1", 1), raise_server_exceptions=False)
    answer = client.get("/statistics", headers={"X-Request-ID": "abc"})
    assert answer.status_code == 500 and "secret" not in answer.text and "abc" in answer.json()["hint"]
    assert answer.headers["content-type"] == "application/problem+json"


def test_everything_under_api_is_the_apis_own(library: OpenedLibrary) -> None:
    """Where the server mounts it: paths that no route has, the bare root, and paths with a line break."""
    client = TestClient(
        Starlette(routes=[ApiMount(create_app(lambda: library, local=lambda: True))]),
        base_url="http://localhost",
        client=("127.0.0.1", 50000),
    )
    assert client.get("/api").json() == client.get("/api/").json()
    for path in ("/api/nonsense", "/api/x%0Ay", "/api//", "/api/%2e%2e/x"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    assert client.post("/api").status_code == 405
    assert client.get("/apix").headers["content-type"].startswith("text/plain")


def test_waiting_work_holds_up_nobody_else(library: OpenedLibrary) -> None:
    """Blocking work runs in threads, so that the server goes on answering."""
    requested, go_on = Event(), Event()

    class Slow(OpenedLibrary):
        def for_principal(self, principal: Principal) -> Workbench:
            requested.set()
            assert go_on.wait(60)
            return super().for_principal(principal)

    app = create_app(lambda: Slow(library.workbench, library.stores), local=lambda: True)
    opened = TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50000))
    with opened as client, ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(client.get, "/statistics") for _ in range(4)]
        assert requested.wait(60)
        assert client.get("/").status_code == client.get("/health").status_code == 200
        assert not any(each.done() for each in slow)
        go_on.set()
        assert [each.result().status_code for each in slow] == [200] * 4
