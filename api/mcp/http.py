"""The MCP server over HTTP: who asks, from where, and what they may see. Each request stands for itself."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from api.mcp.sign_in import caller
from bootstrap.sign_in import SignInSettings
from core.domain.errors import AccessDenied, FivefoldError, NotSignedIn

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from bootstrap.workbench import OpenWorkbench
    from core.workbench import Workbench

__all__ = ["McpDoor"]

_log = logging.getLogger(__name__)
_START_SECONDS = 30.0  # how long a request waits for the server to start. Chosen by hand.


class McpDoor:
    """The ASGI app of `/mcp`. Serves only inside `run`.

    library: the open library; raises StoreFailed. rules: how people sign in, and under which names the server may be
    called; raises BadRequest.
    """

    def __init__(self, library: "Callable[[], OpenWorkbench]", rules: Callable[[], SignInSettings]) -> None:
        self._library, self._rules = library, rules
        self._sessions: StreamableHTTPSessionManager | None = None
        self._ready = anyio.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the context is open. The SDK, whose import takes a second, is loaded meanwhile."""
        self._ready = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _serve(self) -> None:
        manager = await to_thread.run_sync(self._made)
        async with manager.run():
            self._sessions = manager
            self._ready.set()
            try:
                await anyio.sleep_forever()
            finally:
                self._sessions = None

    def _made(self) -> "StreamableHTTPSessionManager":
        """A server and what runs it; the route is the product's own. Raises BadRequest."""
        from mcp.server.transport_security import TransportSecuritySettings

        from api.mcp.server import mcp_server

        hosts, origins = _names(self._rules())
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
        server = mcp_server(_library_of)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=security)
        return server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refusal = await self._refusal(request)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        with anyio.move_on_after(_START_SECONDS):
            await self._ready.wait()
        if self._sessions is None:
            await _problem(503, "The server is starting or stopping.", "Try again in a moment.")(scope, receive, send)
        else:
            await self._sessions.handle_request(scope, receive, send)

    async def _refusal(self, request: Request) -> JSONResponse | None:
        """Why a request is not served; None when it is, and then its state has the sender's library."""
        if request.method != "POST":
            refused = _problem(405, f"{request.method} is not served here.", "Send MCP messages with POST.")
            refused.headers["Allow"] = "POST"
            return refused
        try:
            request.state.library = await to_thread.run_sync(self._signed_in, request)
        except NotSignedIn as error:
            refused = _problem(401, error.message, error.hint)
            refused.headers["WWW-Authenticate"] = 'Bearer realm="fivefold"'
            return refused
        except AccessDenied as error:
            return _problem(403, error.message, error.hint)
        except FivefoldError as error:
            _log.warning("The library does not answer: %s", error)
            return _problem(503, "The library does not answer.", "The log of the app says why.")
        return None

    def _signed_in(self, request: Request) -> "Workbench":
        """The library as the sender may see it. Raises NotSignedIn, AccessDenied, StoreFailed."""
        library = self._library()
        return library.for_principal(caller(request, library.workbench.tokens, self._rules()))


def _library_of(request: Request | None) -> "Workbench":
    assert request is not None  # every message over HTTP has its request
    found: Workbench = request.state.library
    return found


def _names(rules: SignInSettings) -> tuple[list[str], list[str]]:
    """(hosts, origins) that name this server: a page of another site, or a rebound DNS name, is refused.

    A pattern such as *.example.com does not count here; the host has to be named.
    """
    names = [f"[{host}]" if ":" in host else host for host in rules.hosts if not host.startswith("*")]
    ported = [form for name in names for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{form}" for form in ported for scheme in ("http", "https")]
    return ported, [*origins, rules.public_origin]


def _problem(status: int, title: str, hint: str) -> JSONResponse:
    """An answer as RFC 9457 has it."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": hint}
    return JSONResponse(body, status, media_type="application/problem+json")
