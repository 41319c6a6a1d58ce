"""What happens to every request: its id, its rate limit, and headers for browsers."""

import re
from secrets import token_hex

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import address_of, client_key
from api.problems import error_response
from api.rate_limits import RateLimits, Remaining
from core.domain.errors import FivefoldError

__all__ = ["RequestIds", "Throttle"]

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""No page of another site may embed or load an answer, a browser that opens one runs nothing of it, and no cache keeps
what may be seen with a token only."""


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
