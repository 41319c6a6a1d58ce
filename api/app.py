"""The API as an ASGI application, and where the server mounts it: under /api."""

import re
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Scope

from api.access import Gate, Library
from api.middleware import OwnConnections, RequestIds, Throttle
from api.problems import PROBLEM_RESPONSES, Problem, handle_errors
from api.rate_limits import RateLimits
from api.routes import ROUTERS

__all__ = ["ApiMount", "create_app"]

_ABOUT = """\
Everything the pages of Fivefold do with documents, search, answers, coverage and evaluation.

Send a token with every request: `Authorization: Bearer ff_…`. Tokens are created on the page Settings. On your own
machine, without sign-in, no token is needed; changes then need the header `X-Requested-With`.

Errors are problem details (RFC 9457) with the same message and hint as on pages. Lists are read in pages, by `offset`
or by `cursor`. Every answer has an `X-Request-ID`, which the server's log names too.
"""


def create_app(
    open_library: Callable[[], Library],
    *,
    local: Callable[[], bool] = lambda: False,
    rate: Callable[[], str] = lambda: "1200/minute",
) -> FastAPI:
    """The application. open_library: opens the library that pages use, at the first request. local: whether one person
    on loopback needs no token. rate: requests per client; local and rate are asked at requests, not now."""
    app = FastAPI(
        title="Fivefold",
        version="1",
        description=_ABOUT,
        docs_url=None,  # its pages load scripts from another site
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,  # what client generators call their functions
        responses=PROBLEM_RESPONSES,
        separate_input_output_schemas=False,
    )
    rates = RateLimits(rate)
    app.state.gate = Gate(open_library, local, rates)
    for router in ROUTERS:
        app.include_router(router)
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    handle_errors(app)
    app.add_middleware(Throttle, rates=rates)
    app.add_middleware(RequestIds)
    app.add_middleware(OwnConnections)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Complete the OpenAPI document: the address, how to sign in, and the problems."""
    generated = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = generated()
        schema["servers"] = [{"url": "/api"}]
        components = schema.setdefault("components", {})
        shapes = components.setdefault("schemas", {})
        shapes["Problem"] = Problem.model_json_schema()
        for name in ("HTTPValidationError", "ValidationError"):
            shapes.pop(name, None)
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "ff_…"}}
        schema["security"] = [{"token": []}, {}]
        return schema

    app.openapi = openapi  # type: ignore[method-assign]


_ROOT = "/api"


class ApiMount(Mount):
    """Like Mount, and also takes the bare root and paths with line breaks, which would otherwise reach the pages."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(_ROOT, app)
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match.FULL for every path under /api."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path != f"{scope.get('root_path', '')}{_ROOT}":
            return super().matches(scope)
        match, child = super().matches({**scope, "path": f"{path}/"})
        return match, {**child, "path": f"{path}/"}
