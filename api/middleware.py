"""What happens to every request: its id, its rate limit, and headers for browsers."""

import re
from secrets import token_hex

from anyio import move_on_after
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import address_of, client_key
from api.problems import error_response
from api.rate_limits import RateLimits, Remaining
from core.domain.errors import FivefoldError

__all__ = ["OwnConnections", "RequestIds", "Throttle"]

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_MOST_UNREAD = 64 * 1024**2  # bytes of a request that are still taken after its answer is known. Chosen by hand.
_UNREAD_SECONDS = 10.0  # for that. Chosen by hand.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""No page of another site may embed or load an answer, a browser that opens one runs nothing of it, and no cache keeps
what may be seen with a token only."""


class OwnConnections:
    """One connection for each request, and none is reset before its answer has arrived.

    The server closes a connection that was idle for some seconds, perhaps just as a client sends its next request on
    it: that request would be reset. So each answer says that it is the last one of its connection. Closing a connection
    with unread data in it resets it, too, so the rest of a request that is refused is taken before the answer ends.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A client that waits for "100 Continue" has sent nothing yet, and sends nothing once it is refused.
        waits = Request(scope).headers.get("expect", "").lower() == "100-continue"
        unread = not waits

        async def receiving() -> Message:
            nonlocal unread
            message = await receive()
            unread = bool(message.get("more_body"))
            return message

        async def take_rest() -> None:
            taken = 0
            with move_on_after(_UNREAD_SECONDS):
                while unread and taken < _MOST_UNREAD:
                    taken += len((await receiving()).get("body", b""))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                await take_rest()
            await send(message)

        await self._app(scope, receiving, _with_headers(sending, {"Connection": "close"}))


class RequestIds:
    """Takes the X-Request-ID of the client, or makes one, and sends it back with headers for browsers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Request(scope).headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else token_hex(8)
        scope["fivefold.request_id"] = request_id
        await self._app(scope, receive, _with_headers(send, {**_HEADERS, "X-Request-ID": request_id}))


class Throttle:
    """Counts requests per client, refuses those over the limit, and tells how many are left."""

    def __init__(self, app: ASGIApp, rates: RateLimits) -> None:
        self._app, self._rates = app, rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            request = Request(scope)
            left = self._rates.hit(client_key(request), address_of(request))
        except FivefoldError as error:
            await error_response(error, scope["fivefold.request_id"])(scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send, _in_headers(left)))


def _in_headers(left: Remaining) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(left.limit),
        "X-RateLimit-Remaining": str(left.remaining),
        "X-RateLimit-Reset": str(left.reset_seconds),
    }


def _with_headers(send: Send, headers: dict[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending
