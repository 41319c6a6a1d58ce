"""Who calls: a token's principal, or the one local person; a stranger's web page is neither."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request

from api.background import BackgroundWork, LatestResults
from api.rate_limits import RateLimits
from core.access.audit import AuditOutcome
from core.domain.errors import AccessDenied, NotSignedIn
from core.domain.people import Door, Principal, local_principal
from core.workbench import Workbench

__all__ = ["Caller", "Gate", "Library", "address_of", "client_key", "note_refused"]

CLIENT_HEADER = "X-Requested-With"
"""Any value says that no plain HTML form sent the request: a browser asks the server first before it sends it."""
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "")
"""Content types that another site's page can send without asking (Fetch Standard, CORS-safelisted)."""
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of a proxy: behind one, a loopback address says nothing about who calls."""


class Library(Protocol):
    """The open library; `bootstrap.workbench.OpenWorkbench` is one."""

    workbench: Workbench

    def for_principal(self, principal: Principal) -> Workbench:
        """The workbench with this principal's rights."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, the workbench with their rights, their latest results, and what runs in the background."""

    principal: Principal
    workbench: Workbench
    latest: LatestResults
    work: BackgroundWork

    @property
    def name(self) -> str:
        """The person's name, as stored with changes."""
        return self.principal.name or "Local user"


@dataclass(frozen=True, slots=True)
class Gate:
    """Resolves the caller of a request. open_library: opens the library at the first call, which can take seconds.
    local: whether one person on loopback needs no token, because no sign-in is configured."""

    open_library: Callable[[], Library]
    local: Callable[[], bool]
    rates: RateLimits
    latest: LatestResults = field(default_factory=LatestResults)
    work: BackgroundWork = field(default_factory=BackgroundWork)

    def caller(self, request: Request) -> Caller:
        """The caller. Every route but those about health gets it from here.

        Raises NotSignedIn for a missing or invalid token, AccessDenied for a request from another site's page,
        TooManyRequests for the next of many wrong tokens, and what opening the library raises.
        """
        principal = self._principal(request)
        return Caller(principal, self.open_library().for_principal(principal), self.latest, self.work)

    def _principal(self, request: Request) -> Principal:
        authorization = request.headers.get("authorization")
        if authorization is None:
            return self._local_person(request)
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise NotSignedIn("The Authorization header has no bearer token.", "Send 'Authorization: Bearer ff_…'.")
        try:
            return self.open_library().workbench.tokens.verify(secret.strip(), Door.REST)
        except NotSignedIn as refused:
            note_refused(self.open_library().workbench, self.rates, address_of(request), Door.REST, refused)
            raise

    def _local_person(self, request: Request) -> Principal:
        if not self.local() or not _from_this_machine(request):
            raise NotSignedIn(
                "This request needs a token.",
                "Create one on the page Settings, and send 'Authorization: Bearer ff_…'.",
            )
        _refuse_strangers(request.method, request.headers)
        return local_principal(Door.REST)


def note_refused(workbench: Workbench, rates: RateLimits, address: str, door: Door, refused: NotSignedIn) -> None:
    """Count a wrong token of an address, and write it to the audit log unless that has heard enough. Raises
    TooManyRequests for the next of many, and StoreFailed."""
    rates.failed_sign_in(address)
    if rates.worth_noting(address):
        workbench.audit.record(
            login="",
            name="",
            door=door,
            action="sign in",
            object=address,
            outcome=AuditOutcome.REFUSED,
            detail=refused.message,
        )


def address_of(request: Request) -> str:
    """The network address of the client; "" when unknown."""
    return request.client.host if request.client else ""


def client_key(request: Request) -> str:
    """What the rate limit counts by: a digest of the address and the token."""
    identity = f"{address_of(request)} {request.headers.get('authorization', '')}"
    return blake2b(identity.encode(), digest_size=16).hexdigest()


def _from_this_machine(request: Request) -> bool:
    """Whether client and host are loopback, and no proxy is between: a rebound DNS name has another host."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return _is_loopback(address_of(request)) and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _refuse_strangers(method: str, headers: Headers) -> None:
    """Raise AccessDenied for what a browser sends for another site's page. Without a token, a browser on this machine
    would otherwise lend its rights to every page it shows."""
    site = headers.get("sec-fetch-site", "none")
    origin = headers.get("origin")
    foreign = site not in ("same-origin", "none") or (
        origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    )
    if foreign:
        raise AccessDenied("This request comes from another site's page.", "Call the API with a token.")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind in _FORM_TYPES and CLIENT_HEADER not in headers:
        raise AccessDenied(
            f"A change without a token needs the header {CLIENT_HEADER}.",
            f"Send '{CLIENT_HEADER}: curl', or a token.",
        )
