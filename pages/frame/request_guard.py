"""Which requests reach the app at all: allowed hosts, no foreign page, no forged identity; and safe answers.

ASGI middleware for every HTTP request and WebSocket, whichever route answers.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bootstrap.sign_in import SignIn, SignInSettings, check_address, is_loopback, is_proxy
from core.domain.errors import BadRequest

__all__ = ["DETAILS", "RequestGuard"]

DETAILS = "fivefold.details"
"""The key of a request's scope that says whether its sender may see details of this server."""

_READING = ("GET", "HEAD")
_PROGRAMS = ("/api", "/mcp")  # doors of programs, which read problem details (RFC 9457)
_METRICS = "/_stcore/metrics"
_SIGN_OUT = "/auth/logout"
_FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-real-ip", "forwarded")
_HSTS = "max-age=31536000"  # one year, as hstspreload.org recommends


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    message: str


class RequestGuard:
    """Checks every request before the app sees it, and adds security headers to every answer.

    rules: the checked settings (raises BadRequest); address: what the server listens on, None for every address;
    is_administrator: whether an API token belongs to an administrator.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: Callable[[], SignInSettings],
        address: Callable[[], str | None],
        is_administrator: Callable[[str], bool],
    ) -> None:
        self._app, self._rules, self._address, self._is_administrator = app, rules, address, is_administrator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request; hand every other one to the app."""
        if scope["type"] == "lifespan":
            await self._start(scope, receive, send)
            return
        rules, headers = self._rules(), Headers(scope=scope)
        refusal = _refusal(rules, scope, headers)
        if refusal is None and _needs_details(scope):
            scope[DETAILS] = _is_local(scope, headers) or await self._by_administrator(headers)
            if not scope[DETAILS] and _path(scope).endswith(_METRICS):
                refusal = _Refusal(403, "Metrics are for administrators: send an administrator's API token.")
        sending = _secured(send, rules, headers, scope)
        if refusal is not None:
            await _refuse(refusal, scope, receive, sending)
            return
        await self._app(scope, receive, sending)

    async def _start(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start the app, unless its settings forbid it."""
        try:
            check_address(self._rules(), self._address())
        except BadRequest as problem:
            await receive()
            await send({"type": "lifespan.startup.failed", "message": str(problem)})
            return
        await self._app(scope, receive, send)

    async def _by_administrator(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and await to_thread.run_sync(self._is_administrator, token.strip())


def _refusal(rules: SignInSettings, scope: Scope, headers: Headers) -> _Refusal | None:
    """Why this request is not served; None when it is."""
    checks = (_refuse_network, _refuse_host, _refuse_foreign_page, _refuse_forged_identity)
    return next((found for check in checks if (found := check(rules, scope, headers)) is not None), None)


def _refuse_network(rules: SignInSettings, scope: Scope, headers: Headers) -> _Refusal | None:
    """Without sign-in only this machine is served, however the server was started, and no proxy that runs on it."""
    if rules.kind is not SignIn.NONE or rules.allow_anyone:
        return None
    host = (scope.get("server") or ("",))[0] or ""
    if (_is_address(host) and not is_loopback(host)) or any(name in headers for name in _FORWARDED):
        return _Refusal(403, "Sign-in is off, so the app serves this machine only. See docs/team.md.")
    return None


def _refuse_host(rules: SignInSettings, scope: Scope, headers: Headers) -> _Refusal | None:
    """A host name that nobody allowed may be a stranger's name that leads here (DNS rebinding)."""
    named = headers.getlist("host")
    host = _host_of(named[0]) if len(named) == 1 else ""
    if host and any(_covers(pattern, host) for pattern in rules.hosts):
        return None
    return _Refusal(400, f"This host name is not allowed. If it is right, add it to FIVEFOLD_HOSTS: {host or '(none)'}")


def _refuse_foreign_page(rules: SignInSettings, scope: Scope, headers: Headers) -> _Refusal | None:
    """Pages of other origins may link here, and nothing else: no request by script, form, frame, image or socket."""
    foreign = _Refusal(403, "Requests from pages of another address are refused.")
    origins = headers.getlist("origin")
    if any(not _is_own(rules, origin, headers) for origin in origins):
        return foreign
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return None
    linked = (
        scope["type"] == "http"
        and scope["method"] in _READING
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
        and not _path(scope).endswith(_SIGN_OUT)
    )
    return None if linked else foreign


def _refuse_forged_identity(rules: SignInSettings, scope: Scope, headers: Headers) -> _Refusal | None:
    """Only the proxy says who somebody is, once."""
    if rules.kind is not SignIn.PROXY:
        return None
    given = [name for name in rules.headers.names() if name in headers]
    if given and not is_proxy(rules, _peer(scope)):
        return _Refusal(403, "Identity headers are accepted from the configured proxy only.")
    if any(len(headers.getlist(name)) > 1 for name in given):
        return _Refusal(400, "An identity header was sent twice. The proxy must replace what a browser sends.")
    return None


def _is_own(rules: SignInSettings, origin: str, headers: Headers) -> bool:
    """Whether an Origin is the app's own: the host that was asked, or the public address."""
    if rules.public_origin and origin == rules.public_origin:
        return True
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").lower()


def _host_of(header: str) -> str:
    """The host name of a Host header, "" when it is malformed."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+)(?::\d{1,5})?", header)
    return match.group(1).strip("[]").lower().rstrip(".") if match else ""


def _covers(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _path(scope: Scope) -> str:
    return str(scope.get("path", "")).rstrip("/")


def _peer(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _needs_details(scope: Scope) -> bool:
    return scope["type"] == "http" and (_path(scope).endswith(_METRICS) or _path(scope) == "/healthz")


def _is_local(scope: Scope, headers: Headers) -> bool:
    """Whether the request was sent by this machine itself, not passed on by a proxy that runs on it."""
    passed_on = any(name in headers for name in _FORWARDED)
    return not passed_on and is_loopback(_peer(scope)) and is_loopback(_host_of(headers.get("host", "")))


async def _refuse(refusal: _Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.message})  # 1008: policy violation
        return
    answer: Response = PlainTextResponse(refusal.message, status_code=refusal.status)
    if _path(scope).startswith(_PROGRAMS):
        problem = {"type": "about:blank", "status": refusal.status, "title": "Refused", "detail": refusal.message}
        answer = JSONResponse(problem, refusal.status, media_type="application/problem+json")
    await answer(scope, receive, send)


def _secured(send: Send, rules: SignInSettings, request: Headers, scope: Scope) -> Send:
    """`send`, with the security headers added to the start of an answer."""
    public = rules.over_tls and request.get("host", "").lower() == urlsplit(rules.public_origin).netloc
    tls = scope.get("scheme") in ("https", "wss") or public

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _security_headers().items():
                headers.setdefault(name, value)
            if tls:
                headers["Strict-Transport-Security"] = _HSTS
                message["headers"] = [_over_tls_only(name, value) for name, value in message["headers"]]
        await send(message)

    return sending


def _over_tls_only(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header of an answer; a cookie is never sent without TLS."""
    is_open = name.lower() == b"set-cookie" and b"secure" not in [part.strip().lower() for part in value.split(b";")]
    return name, value + b"; Secure" if is_open else value


@cache
def _security_headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": _content_policy(),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def _content_policy() -> str:
    """What our pages may load and run: only what this server sends.

    Streamlit writes styles into its pages and starts components from `blob:` addresses; its own document has one
    inline script, which is named by its hash.
    """
    document = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    inline = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *(f"'sha256-{each}'" for each in hashes)])
    rules = {
        "default-src": "'self'",
        "script-src": scripts,
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' data: blob:",
        "connect-src": "'self' data: blob:",
        "worker-src": "'self' blob:",
        "frame-src": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
