"""Saved searches as Atom feeds, for feed readers: `/feeds/saved-search/ID?token=…`."""

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from bootstrap.sign_in import SignIn
from core.domain.errors import AccessDenied, FivefoldError, NotFound, NotSignedIn, StoreFailed
from core.domain.people import Door, Principal, local_principal

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["saved_search_feed"]

_STATUS: Mapping[type[FivefoldError], int] = {NotSignedIn: 401, AccessDenied: 403, NotFound: 404, StoreFailed: 503}
_MEDIA_TYPE = "application/atom+xml"


async def saved_search_feed(request: "Request") -> Response:
    """The results of a saved search as its reader sees them; 304 when they are as they were."""
    from anyio import to_thread

    try:
        feed = await to_thread.run_sync(_feed, request)
    except FivefoldError as problem:
        status = next((status for kind, status in _STATUS.items() if isinstance(problem, kind)), 400)
        return PlainTextResponse(str(problem), status_code=status, headers={"Cache-Control": "no-store"})
    headers = {"ETag": f'"{sha256(feed).hexdigest()[:32]}"', "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(feed, media_type=_MEDIA_TYPE, headers=headers)


def _feed(request: "Request") -> bytes:
    from pages.components import session, sign_in

    number = str(request.path_params["number"])
    reader = _reader(request)
    if not number.isascii() or not number.isdigit() or len(number) > _MOST_DIGITS:
        raise NotFound("There is no such feed.", "Copy its address from the list of saved searches.")
    site = sign_in.rules().public_origin or str(request.base_url).rstrip("/")
    return session.library().for_principal(reader).alerts.feed(int(number), reader, f"{site}/")


_MOST_DIGITS = 18  # of a number that any database keeps


def _reader(request: "Request") -> Principal:
    """Whose API token the address or the header carries; without sign-in also whoever sits at this machine."""
    from pages.components import session, sign_in

    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    token = sent.strip() if kind.lower() == "bearer" else request.query_params.get("token", "")
    if token:
        return session.library().workbench.tokens.verify(token, Door.REST)
    if sign_in.rules().kind is SignIn.NONE:
        return local_principal(Door.REST)
    raise NotSignedIn("A feed needs an API token.", "Create one on Settings, and add ?token=… to the address.")
