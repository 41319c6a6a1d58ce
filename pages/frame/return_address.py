"""After sign-in people come back to the page they asked for; Streamlit alone leads them to the first one.

ASGI middleware: the page that asks for sign-in is kept in a cookie, and the answer of the provider leads there.
"""

import re
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["ReturnAddress"]

_LOGIN, _CALLBACK = "/auth/login", "/oauth2callback"
_COOKIE = "fivefold_return"
_KEPT_SECONDS = 900  # for somebody who looks for a password. Chosen by hand.
_LONGEST = 2000  # characters; browsers keep cookies of 4096 bytes
_OWN_PAGE = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
"""A path of this app: a second slash would be another host, and browsers read a backslash as a slash."""


class ReturnAddress:
    """Keeps the page across the sign-in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the cookie to the way out, and use it on the way back."""
        path = str(scope.get("path", "")) if scope["type"] == "http" else ""
        if path.endswith(_LOGIN):
            send = _keeping(send, Headers(scope=scope))
        elif path.endswith(_CALLBACK):
            send = _leading_back(send, Headers(scope=scope))
        await self._app(scope, receive, send)


def _keeping(send: Send, request: Headers) -> Send:
    parts = urlsplit(request.get("referer", ""))
    page = parts.path + (f"?{parts.query}" if parts.query else "")
    own = parts.netloc == request.get("host") and _is_own(page)

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and own:
            MutableHeaders(scope=message).append("set-cookie", _cookie(quote(page, safe=""), _KEPT_SECONDS))
        await send(message)

    return sending


def _leading_back(send: Send, request: Headers) -> Send:
    page = unquote(cookie_parser(request.get("cookie", "")).get(_COOKIE, ""))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and page:
            headers = MutableHeaders(scope=message)
            if headers.get("location") == "/" and _is_own(page):
                headers["location"] = page
            headers.append("set-cookie", _cookie("", 0))
        await send(message)

    return sending


def _is_own(page: str) -> bool:
    return len(page) <= _LONGEST and _OWN_PAGE.fullmatch(page) is not None


def _cookie(value: str, seconds: int) -> str:
    return f"{_COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax"
