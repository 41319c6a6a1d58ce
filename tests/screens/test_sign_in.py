"""Who sees what: nobody signed in, somebody without a role, a blocked person, the end of a session."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap.sign_in import ProxyHeaders, SignIn, SignInSettings
from core.access.audit import AuditOutcome, AuditQuery
from core.domain.errors import NotSignedIn
from core.domain.people import Door, Identity, Principal, Role
from pages.components import sign_in
from pages.components.sign_in import identity_of_claims, identity_of_headers
from tests.screens.conftest import MAIN, Stack, words

OIDC = SignInSettings(kind=SignIn.OIDC, public_origin="https://fivefold.example.com")
PROXIED = SignInSettings(
    kind=SignIn.PROXY,
    headers=ProxyHeaders("remote-user", "remote-name", "remote-email", "remote-groups"),
    public_origin="https://fivefold.example.com",
)

Visited = Callable[..., AppTest]


@pytest.fixture
def visited(library: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visited]:
    """Open Home as somebody: `visited(OIDC, email="ann@example.com")`, or with nothing as nobody."""

    def visited(rules: SignInSettings, **claims: Any) -> AppTest:
        monkeypatch.setattr(sign_in, "rules", lambda: rules)
        screen = AppTest.from_file(str(MAIN), default_timeout=60)
        screen.user = {"is_logged_in": True, "iat": time.time(), **claims} if claims else {"is_logged_in": False}
        return screen.run()

    return visited


def signed_in(library: Stack, login: str, role: Role | None, project: str | None = None) -> int:
    """Let somebody sign in who is not the first; gives their id."""
    people = library.workbench.people
    people.sign_in(Identity("chief@example.com", "Chief"), Door.BROWSER)
    person = people.invite(login, Role.VIEWER)
    return people.set_role(person.id, None, None).id if role is None else people.set_role(person.id, project, role).id


def is_in(screen: AppTest) -> bool:
    """Whether the screen shows the library."""
    assert not screen.exception, screen.exception[0].value
    return [title.value for title in screen.title] == ["Home"]


def test_nobody_sees_the_sign_in_card_and_nothing_else(visited: Visited) -> None:
    screen = visited(OIDC)
    assert not is_in(screen)
    assert "Sign in to open this library" in words(screen)
    assert [button.label for button in screen.button] == ["Sign in"]


def test_the_first_person_manages_the_library_and_the_next_one_asks(visited: Visited, library: Stack) -> None:
    assert is_in(visited(OIDC, email="ann@example.com", name="Ann"))
    refused = visited(OIDC, email="ben@example.com", name="Ben")
    assert not is_in(refused) and "Ask an administrator" in words(refused)
    ben = next(each for each in library.workbench.people.people() if each.login == "ben@example.com")
    library.workbench.people.set_role(ben.id, None, Role.VIEWER)
    assert is_in(refused.run())


def test_a_blocked_person_and_a_role_taken_away_count_at_the_next_step(visited: Visited, library: Stack) -> None:
    ben = signed_in(library, "ben@example.com", Role.ANALYST)
    screen = visited(OIDC, email="ben@example.com", name="Ben")
    assert is_in(screen)
    library.workbench.people.block(ben, blocked=True)
    assert not is_in(screen.run()) and "is blocked" in words(screen)


def test_a_session_ends_after_its_hours(visited: Visited) -> None:
    ann = {"email": "ann@example.com", "name": "Ann"}
    assert is_in(visited(OIDC, **ann, iat=time.time() - 11 * 3600))
    ended = visited(OIDC, **ann, iat=time.time() - 13 * 3600)
    assert not is_in(ended) and "Your session has ended" in words(ended)


def test_a_session_behind_a_proxy_ends_too(
    visited: Visited, cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cookies["Remote-User"] = "ann"
    screen = visited(PROXIED)
    assert is_in(screen)
    later = time.time() + 13 * 3600
    monkeypatch.setattr(sign_in.time, "time", lambda: later)
    assert not is_in(screen.run()) and "Your session has ended" in words(screen)


def test_another_person_in_the_same_browser_sees_nothing_of_the_first(
    visited: Visited, library: Stack, cookies: dict[str, str]
) -> None:
    signed_in(library, "ben", Role.VIEWER)
    cookies["Remote-User"] = "chief@example.com"
    screen = visited(PROXIED)
    screen.session_state["draft"] = "of the chief"
    cookies["Remote-User"] = "ben"
    screen.run()
    assert is_in(screen) and "draft" not in screen.session_state


def test_what_was_found_with_other_roles_is_forgotten(visited: Visited, library: Stack) -> None:
    ben = signed_in(library, "ben@example.com", Role.VIEWER, "Tallgrass")
    screen = visited(OIDC, email="ben@example.com", name="Ben")
    screen.session_state["answers"] = "of Tallgrass"
    assert "answers" in screen.run().session_state
    library.workbench.people.set_role(ben, "Corvane", Role.VIEWER)
    library.workbench.people.set_role(ben, "Tallgrass", None)
    assert is_in(screen.run()) and "answers" not in screen.session_state


def test_without_the_proxy_s_header_nobody_is_signed_in(visited: Visited) -> None:
    screen = visited(PROXIED, email="ann@example.com")
    assert not is_in(screen) and "You are not signed in" in words(screen)


def test_sign_ins_and_refused_ones_are_in_the_audit_log_once(visited: Visited, library: Stack) -> None:
    ann = {"email": "ann@example.com", "name": "Ann", "iat": time.time() - 60}
    for _ in range(2):
        visited(OIDC, **ann).run()
    for _ in range(2):
        visited(OIDC, email="ben@example.com", name="Ben", iat=ann["iat"])
    entries = library.workbench.audit.page(AuditQuery(action="sign in")).entries
    assert {(each.login, each.outcome) for each in entries} == {
        ("ann@example.com", AuditOutcome.DONE),
        ("ben@example.com", AuditOutcome.REFUSED),
    }
    assert len(entries) == 2


def test_the_name_is_that_of_the_account(visited: Visited) -> None:
    from pages.components.user_name import SIGNED_IN

    screen = visited(OIDC, email="ann@example.com", name="Ann")
    assert screen.session_state[SIGNED_IN][1].name == "Ann"
    assert not [each for each in screen.text_input if each.label == "Your name"]


CLAIMS = [
    ({"email": "Ann@Example.com", "name": "Ann"}, Identity("ann@example.com", "Ann", "Ann@Example.com")),
    ({"email": "a@b", "preferred_username": "ann"}, Identity("a@b", "ann", "a@b")),
    ({"email": "a@b", "groups": ["hr", "", 7]}, Identity("a@b", "a@b", "a@b", ("hr", "7"))),
    ({"email": "a@b", "groups": "hr, leads"}, Identity("a@b", "a@b", "a@b", ("hr", "leads"))),
    ({"email": "a@b", "name": "A\nnn\x00\u202e"}, Identity("a@b", "Ann", "a@b")),
]


@pytest.mark.parametrize(("claims", "identity"), CLAIMS)
def test_claims_name_a_person(claims: dict[str, Any], identity: Identity) -> None:
    assert identity_of_claims(claims, OIDC) == identity


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"sub": "1"}, "did not send the claim 'email'"),
        ({"email": "a@b", "email_verified": False}, "not verified"),
        ({"email": "a@b", "email_verified": "false"}, "not verified"),
        ({"email": "Local"}, "reserved"),
    ],
)
def test_claims_that_name_nobody_are_refused(claims: dict[str, Any], message: str) -> None:
    with pytest.raises(NotSignedIn, match=message):
        identity_of_claims(claims, OIDC)


def test_headers_name_a_person() -> None:
    sent = {"remote-user": "ann", "remote-name": "Zoë".encode().decode("latin-1"), "remote-groups": "hr|leads"}
    assert identity_of_headers(sent, PROXIED) == Identity("ann", "Zoë", "", ("hr", "leads"))
    assert identity_of_headers({"remote-name": "Ann"}, PROXIED) is None
    with pytest.raises(NotSignedIn, match="reserved"):
        identity_of_headers({"remote-user": "LOCAL"}, PROXIED)


def test_what_one_person_began_in_the_background_is_not_shown_to_another(
    library: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages.components import session
    from pages.components.library import enrichment
    from pages.components.search import batch_run
    from pages.components.tuning import active_learning, classifier

    def runs_of(login: str, *projects: str) -> list[object]:
        roles = tuple((project, Role.VIEWER) for project in projects) or ((None, Role.VIEWER),)
        monkeypatch.setattr(session, "principal", lambda: Principal(login, login, roles, Door.BROWSER))
        return [batch_run._runs(), enrichment._runs(), active_learning._task(), classifier._task()]

    ann, ben, less = runs_of("ann"), runs_of("ben"), runs_of("ann", "Tallgrass")
    assert all(len({id(each) for each in same}) == 3 for same in zip(ann, ben, less, strict=True))
    assert all(first is again for first, again in zip(ann, runs_of("ann"), strict=True))
