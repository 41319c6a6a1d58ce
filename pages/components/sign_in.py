"""Who is at this browser: the one person of this machine, or somebody who signed in. Checked at every run of a page."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap.environment import believes_forwarded_addresses, settings_from_environment
from bootstrap.sign_in import SignIn, SignInSettings, sign_in_settings
from core.domain.errors import AccessDenied, NotSignedIn
from core.domain.people import LOCAL_LOGIN, Door, Identity, Principal, local_principal
from pages.components import user_name

if TYPE_CHECKING:
    from bootstrap.workbench import OpenWorkbench

__all__ = [
    "Visit",
    "identity_of_claims",
    "identity_of_headers",
    "principal",
    "recheck",
    "rules",
    "sign_out",
]

_RIGHTS = "signed_in.rights"
_SINCE = "signed_in.since"
_FRESH_SECONDS = 5.0  # parts of a page that redraw themselves do not ask the database more often who somebody is
_SIGN_OUT = "sign out"
_MOST_ENDED = 10_000  # sign-outs that are remembered; a cookie counts for some hours only
_LONGEST = 200  # characters of a name, an address or a group; longer ones are cut

Library = Callable[[], "OpenWorkbench"]


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who signed in. since: when, in POSIX seconds."""

    identity: Identity
    since: float

    @property
    def session(self) -> str:
        """Names this sign-in, also in the audit log."""
        return f"signed in {datetime.fromtimestamp(self.since, UTC).isoformat()}"


@dataclass(slots=True)
class _Visits:
    """What lives as long as this process. ended: signed out, in whichever tab, oldest first; noted: by login, the
    latest sign-in that the audit log has. read: whether sign-outs before this process were read; lock: meanwhile."""

    ended: dict[tuple[str, str], None] = field(default_factory=dict)
    noted: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    read: bool = False

    def end(self, login: str, session: str) -> None:
        """Remember a sign-out; the oldest is forgotten beyond 10,000."""
        self.ended[login, session] = None
        while len(self.ended) > _MOST_ENDED:
            self.ended.pop(next(iter(self.ended)))


@st.cache_resource(show_spinner=False)
def _visits() -> _Visits:
    return _Visits()


@cache
def rules() -> SignInSettings:
    """How people sign in, and under which addresses the app may be opened. Raises BadRequest."""
    return sign_in_settings(settings_from_environment(), believes_forwarded=believes_forwarded_addresses())


def principal(library: Library) -> Principal:
    """The person of this session, asked again after a few seconds. Raises NotSignedIn, AccessDenied, StoreFailed."""
    if rules().kind is SignIn.NONE:
        return local_principal(Door.BROWSER, user_name.typed_name())
    checked, person = st.session_state.get(user_name.SIGNED_IN, (0.0, None))
    return person if person is not None and time.monotonic() - checked < _FRESH_SECONDS else recheck(library)


def recheck(library: Library) -> Principal:
    """The person of this session with the roles of now; called when a page begins.

    Raises NotSignedIn when nobody is signed in, or no longer; AccessDenied for somebody without a role, StoreFailed.
    """
    known = rules()
    if known.kind is SignIn.NONE:
        return local_principal(Door.BROWSER, user_name.typed_name())
    st.session_state.pop(user_name.SIGNED_IN, None)
    visit = _visit(known)
    if visit.since + 3600 * known.session_hours < time.time() or _has_signed_out(library, visit, known):
        raise NotSignedIn("Your session has ended.", "Sign in again to continue where you were.")
    person = _checked_in(library, visit, known)
    _forget_other_rights(person)
    st.session_state[user_name.SIGNED_IN] = (time.monotonic(), person)
    return person


def sign_out(library: Library) -> None:
    """End the session here and, with OpenID Connect, at the provider; other tabs of this sign-in end with their next
    step. Raises StoreFailed."""
    visit = _visit(rules())
    _visits().end(visit.identity.login, visit.session)
    _record(library, visit.identity, _SIGN_OUT, session=visit.session)
    st.session_state.clear()
    st.logout()


def _has_signed_out(library: Library, visit: Visit, known: SignInSettings) -> bool:
    """Whether this sign-in was ended, also before this process started: its cookie may have been copied. Raises
    StoreFailed."""
    from core.access.audit import AuditQuery

    visits = _visits()
    with visits.lock:
        if not visits.read:
            since = datetime.fromtimestamp(time.time() - 3600 * known.session_hours, UTC)
            query = AuditQuery(action=_SIGN_OUT, since=since)
            for each in reversed(library().workbench.audit.page(query, _MOST_ENDED).entries):
                visits.end(each.login, each.object)
            visits.read = True
    return (visit.identity.login, visit.session) in visits.ended


def identity_of_claims(claims: Mapping[str, Any], known: SignInSettings) -> Identity:
    """Who the provider's ID token names. Raises NotSignedIn when it names nobody."""
    login = _text(claims.get(known.login_claim))
    if not login:
        raise NotSignedIn(
            f"The sign-in service did not send the claim '{known.login_claim}'.",
            "Ask your administrator to correct FIVEFOLD_OIDC_LOGIN_CLAIM, or what the service sends.",
        )
    if known.login_claim == "email" and str(claims.get("email_verified", True)).lower() == "false":
        raise NotSignedIn(
            "The sign-in service has not verified your e-mail address.", "Verify it there, then sign in again."
        )
    shown = (_text(claims.get(name)) for name in ("name", "preferred_username", "nickname", "email"))
    groups = claims.get(known.groups_claim) or ()
    listed = groups if isinstance(groups, list | tuple) else str(groups).split(",")
    return _identity(login, next((name for name in shown if name), login), _text(claims.get("email")), listed)


def identity_of_headers(headers: Mapping[str, str], known: SignInSettings) -> Identity | None:
    """Whom the proxy's headers name; None for nobody. The guard of requests lets them through from the proxy only."""
    given = {name: _text(_decoded(headers.get(name, ""))) for name in known.headers.names()}
    login = given.get(known.headers.login, "")
    if not login:
        return None
    groups = _decoded(headers.get(known.headers.groups, "")).replace("|", ",").split(",")
    email = given.get(known.headers.email, "")
    return _identity(login, given.get(known.headers.name, "") or email or login, email, groups)


def _identity(login: str, name: str, email: str, groups: Any) -> Identity:
    if login.lower() == LOCAL_LOGIN:  # the one person of a library without sign-in, who may do everything
        raise NotSignedIn(f"The login '{login}' is reserved.", "Ask your administrator for another login.")
    return Identity(login.lower(), name, email, tuple(text for each in groups if (text := _text(each))))


def _visit(known: SignInSettings) -> Visit:
    """Who signed in, and when. Raises NotSignedIn."""
    if known.kind is SignIn.PROXY:
        identity = identity_of_headers({name.lower(): value for name, value in st.context.headers.items()}, known)
        if identity is None:
            raise NotSignedIn("You are not signed in.", "Open Fivefold at the address your administrator gave you.")
        login, began = st.session_state.get(_SINCE) or ("", 0.0)
        if login != identity.login:
            began = time.time()
            st.session_state[_SINCE] = (identity.login, began)
        return Visit(identity, began)
    claims = st.user.to_dict()
    issued = claims.get("iat")
    if not claims.get("is_logged_in") or not isinstance(issued, int | float):
        raise NotSignedIn("You are not signed in.", "Sign in to open this library.")
    return Visit(identity_of_claims(claims, known), float(issued))


def _forget_other_rights(person: Principal) -> None:
    """Drop what this session knows of another person, or of the same one with other roles: answers are kept for a
    while, and a browser may come back as somebody else."""
    rights = (person.login, person.roles)
    if st.session_state.get(_RIGHTS, rights) != rights:
        began = st.session_state.get(_SINCE)
        st.session_state.clear()
        st.session_state[_SINCE] = began
    st.session_state[_RIGHTS] = rights


def _checked_in(library: Library, visit: Visit, known: SignInSettings) -> Principal:
    """The person with all roles, recorded once per sign-in."""
    between = 3600.0 * known.session_hours if known.kind is SignIn.PROXY else 0.0
    noted = _visits().noted
    latest = noted.get(visit.identity.login)
    new = latest is None or visit.since - latest > between
    try:
        person = library().workbench.people.sign_in(visit.identity, Door.BROWSER)
    except AccessDenied as refused:
        if new:
            noted[visit.identity.login] = visit.since
            _record(library, visit.identity, "sign in", refused.message)
        raise
    if new:
        noted[visit.identity.login] = visit.since
        _record(library, visit.identity, "sign in")
    return person


def _record(library: Library, identity: Identity, action: str, refused: str = "", session: str = "") -> None:
    from core.access.audit import AuditOutcome

    library().workbench.audit.record(
        login=identity.login,
        name=identity.name,
        door=Door.BROWSER,
        action=action,
        object=session,
        outcome=AuditOutcome.REFUSED if refused else AuditOutcome.DONE,
        detail=refused,
    )


def _text(value: Any) -> str:
    """A claim or header as one line without control characters, not longer than what a page can show."""
    return "".join(each for each in str(value or "") if each.isprintable()).strip()[:_LONGEST]


def _decoded(header: str) -> str:
    """A header's text: proxies send names in UTF-8, which HTTP reads as Latin-1."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header
