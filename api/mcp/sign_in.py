"""Who sends a request to the MCP server: the owner of a token, or the one person of a library without sign-in."""

from typing import TYPE_CHECKING

from starlette.requests import Request

from bootstrap.sign_in import SignIn, SignInSettings, is_loopback
from core.domain.errors import NotSignedIn
from core.domain.people import Door, Principal, local_principal

if TYPE_CHECKING:
    from core.access.api_tokens import TokenService

__all__ = ["caller"]

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
