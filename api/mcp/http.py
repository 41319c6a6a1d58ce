"""The MCP server over HTTP: who asks, from where, and what they may see. Each request stands for itself."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.access import address_of, client_key, note_refused
from api.middleware import OwnConnections, RequestIds
from api.problems import error_response, problem_response
from api.rate_limits import RateLimits
from bootstrap.sign_in import SignIn, SignInSettings, is_loopback
from core.domain.errors import FivefoldError, NotSignedIn
from core.domain.people import Door, Principal, local_principal

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from bootstrap.workbench import OpenWorkbench
    from core.access.api_tokens import TokenService
    from core.workbench import Workbench

__all__ = ["McpDoor", "caller"]


_FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-real-ip", "forwarded", "via")


def caller(request: Request, tokens: "TokenService", rules: SignInSettings) -> Principal:
    """Who sends this request. Raises NotSignedIn without a token that counts, StoreFailed."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and secret.strip():
        return tokens.verify(secret.strip(), Door.MCP)
    if kind:
        raise NotSignedIn("The Authorization header has no token.", "Send 'Authorization: Bearer ff_…'.")
    if rules.kind is SignIn.NONE and (rules.allow_anyone or _from_this_machine(request)):
        return local_principal(Door.MCP)
    raise NotSignedIn("A token is needed here.", "Create one on Settings, and send 'Authorization: Bearer ff_…'.")


def _from_this_machine(request: Request) -> bool:
    """Whether this machine itself sent the request, not a proxy that passes on what others send."""
    passed_on = any(name in request.headers for name in _FORWARDED)
    return not passed_on and request.client is not None and is_loopback(request.client.host)


REQUEST_ID = "fivefold.request_id"
"""Where `RequestIds` leaves the id of a request, in its scope."""
_START_SECONDS = 30.0  # how long a request waits for the server to start. Chosen by hand.


class McpDoor:
    """The ASGI app of `/mcp`. Serves only inside `run`.

    library: the open library; raises StoreFailed. rules: how people sign in, and under which names the server may be
    called; raises BadRequest. rate: messages per client, such as "1200/minute".
    """

    def __init__(
        self, library: "Callable[[], OpenWorkbench]", rules: Callable[[], SignInSettings], rate: Callable[[], str]
    ) -> None:
        self._library, self._rules, self._rates = library, rules, RateLimits(rate)
        self._with_id = OwnConnections(RequestIds(self._answer))
        self._sessions: StreamableHTTPSessionManager | None = None
        self._called, self._ready = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the context is open. The SDK, whose import takes a second, is loaded at the first request."""
        self._called, self._ready = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _serve(self) -> None:
        names = _names(self._rules())  # wrong ones are told at the start
        await self._called.wait()
        manager = await to_thread.run_sync(self._made, *names)
        async with manager.run():
            self._sessions = manager
            self._ready.set()
            try:
                await anyio.sleep_forever()
            finally:
                self._sessions = None

    def _made(self, hosts: list[str], origins: list[str]) -> "StreamableHTTPSessionManager":
        """A server that answers to these names, and what runs it; the route is the product's own."""
        from mcp.server.transport_security import TransportSecuritySettings

        from api.mcp.server import mcp_server

        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
        server = mcp_server(_library_of)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=security)
        return server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request under an id of its own."""
        await self._with_id(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refusal = await self._refusal(request)
        if refusal is None:
            self._called.set()
            with anyio.move_on_after(_START_SECONDS):
                await self._ready.wait()
            if self._sessions is not None:
                await self._sessions.handle_request(scope, receive, send)
                return
            refusal = self._problem(request, 503, "The server is starting or stopping.", "Try again in a moment.")
        await refusal(scope, receive, send)

    async def _refusal(self, request: Request) -> Response | None:
        """Why a request is not served; None when it is, and then its state has the sender's library."""
        if request.method != "POST":
            hint, allow = "Send MCP messages with POST.", {"Allow": "POST"}
            return self._problem(request, 405, f"{request.method} is not possible here.", hint, allow)
        try:
            self._rates.hit(client_key(request), address_of(request))
            request.state.library = await to_thread.run_sync(self._signed_in, request)
        except FivefoldError as error:
            return error_response(error, request.scope[REQUEST_ID])
        return None

    def _problem(
        self, request: Request, status: int, detail: str, hint: str, headers: dict[str, str] | None = None
    ) -> Response:
        return problem_response(status, detail, hint=hint, request_id=request.scope[REQUEST_ID], headers=headers)

    def _signed_in(self, request: Request) -> "Workbench":
        """The library as the sender may see it. Raises NotSignedIn, TooManyRequests, AccessDenied, StoreFailed."""
        library = self._library()
        try:
            return library.for_principal(caller(request, library.workbench.tokens, self._rules()))
        except NotSignedIn as refused:
            note_refused(library.workbench, self._rates, address_of(request), Door.MCP, refused)
            raise


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
