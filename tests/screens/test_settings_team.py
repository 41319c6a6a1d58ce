"""People, API tokens and the audit log on Settings."""

from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap.environment import utc_now
from core.access.audit import AuditQuery
from core.access.people import SignInRules
from core.domain.errors import NotSignedIn
from core.domain.people import Door, Identity, Role, local_principal
from pages.components import session, sign_in
from pages.components.settings import people as people_room
from tests.screens.conftest import Opened, Stack, words
from tests.screens.test_sign_in import OIDC


@pytest.fixture
def team(stocked: Stack, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Ann, who administers, and Ben, without a role yet; their ids by name. Ann is at the browser."""
    people = stocked.workbench.people
    ann = people.sign_in(Identity("ann@example.com", "Ann"), Door.BROWSER)
    people.invite("ben@example.com", Role.VIEWER, "Tallgrass")
    monkeypatch.setattr(sign_in, "rules", lambda: OIDC)
    monkeypatch.setattr(sign_in, "recheck", lambda library: ann)
    monkeypatch.setattr(session, "principal", lambda: ann)
    return {each.login.split("@")[0]: each.id for each in people.people()}


def choose(monkeypatch: pytest.MonkeyPatch, stocked: Stack, login: str) -> None:
    """Choose a row of the list of people; AppTest cannot click into a table."""
    chosen = next(each for each in stocked.workbench.people.people() if each.login == login)
    monkeypatch.setattr(people_room, "_table", lambda people: chosen)


def button(screen: AppTest, label: str) -> None:
    """Press a button by its label."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    assert not screen.exception, screen.exception[0].value


def test_without_sign_in_people_says_how_to_turn_it_on(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="people")
    assert "Sign-in is off" in words(screen) and "FIVEFOLD_SIGN_IN=oidc" in screen.code[0].value


def test_people_are_listed_with_their_roles(team: dict[str, int], opened: Opened) -> None:
    rows = opened("settings.py", part="people").dataframe[0].value
    assert list(rows["Name"]) == ["Ann", "ben@example.com"]
    assert list(rows["Roles"]) == ["Administrator (every project)", "Viewer (Tallgrass)"]
    assert list(rows["Last seen"]) == ["just now", "never"]
    assert list(rows["Access"]) == ["open", "open"]


def test_roles_by_settings_count_and_nobody_takes_them_away(
    team: dict[str, int], stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = stocked.workbench.people
    people.set_role(team["ben"], "Tallgrass", None)
    assert list(opened("settings.py", part="people").dataframe[0].value["Access"]) == ["open", "no role yet"]
    monkeypatch.setattr(people, "_rules", SignInRules(administrators=frozenset({"ben@example.com"})))
    rows = opened("settings.py", part="people").dataframe[0].value
    assert rows["Roles"][1] == "Administrator (every project)" and rows["Access"][1] == "open"
    choose(monkeypatch, stocked, "ben@example.com")
    screen = opened("settings.py", part="people")
    assert "given by `FIVEFOLD_ADMINISTRATORS`" in words(screen)
    assert "Remove role" not in [each.label for each in screen.button]


def test_a_role_is_given_confirmed_and_taken_away(
    team: dict[str, int], stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, stocked, "ben@example.com")
    screen = opened("settings.py", part="people")
    screen.selectbox(key=f"settings.people.give.{team['ben']}.project").set_value("Tallgrass")
    screen.selectbox(key=f"settings.people.give.{team['ben']}.role").set_value(Role.REVIEWER)
    screen.run()
    assert "becomes reviewer" in words(screen) and "A role they have there is replaced" in words(screen)
    button(screen, "Confirm")
    people = stocked.workbench.people
    assert people.by_login("ben@example.com").roles == (("Tallgrass", Role.REVIEWER),)  # type: ignore[union-attr]
    choose(monkeypatch, stocked, "ben@example.com")
    button(screen.run(), "Remove role")
    assert people.by_login("ben@example.com").roles == ()  # type: ignore[union-attr]


def test_a_person_is_blocked_and_let_in_again(
    team: dict[str, int], stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, stocked, "ben@example.com")
    screen = opened("settings.py", part="people")
    button(screen, "Block access")
    assert stocked.workbench.people.by_login("ben@example.com").blocked  # type: ignore[union-attr]
    choose(monkeypatch, stocked, "ben@example.com")
    assert ":material/block: blocked" in words(screen.run())
    button(screen, "Let in again")
    assert not stocked.workbench.people.by_login("ben@example.com").blocked  # type: ignore[union-attr]


def test_the_last_administrator_stays(
    team: dict[str, int], stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, stocked, "ann@example.com")
    screen = opened("settings.py", part="people")
    button(screen, "Remove role")
    assert "nobody could manage this library" in words(screen)


def test_somebody_is_invited(team: dict[str, int], stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="people")
    screen.text_input(key="settings.people.login").set_value("Cleo@example.com")
    screen.selectbox(key="settings.people.invited.role").set_value(Role.ANALYST)
    button(screen, "Invite")
    cleo = stocked.workbench.people.by_login("cleo@example.com")
    assert cleo is not None and cleo.roles == ((None, Role.ANALYST),)


def test_only_administrators_see_people_and_the_audit_log(
    team: dict[str, int], stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = stocked.workbench.people.sign_in(Identity("ben@example.com", "Ben"), Door.BROWSER)
    monkeypatch.setattr(session, "principal", lambda: ben)
    for part in ("people", "audit"):
        screen = opened("settings.py", part=part)
        assert "Audit log" not in words(screen) and "ann@example.com" not in words(screen)
        assert not screen.dataframe


def test_a_token_is_shown_once_listed_and_revoked(team: dict[str, int], stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="tokens")
    screen.text_input(key="settings.tokens.name").set_value("Nightly *export*")
    screen.selectbox(key="settings.tokens.role").set_value(Role.ANALYST)
    button(screen, "Create token")
    secret = screen.code[0].value
    assert secret.startswith("ff_")
    person = stocked.workbench.tokens.verify(secret, Door.REST)
    assert (person.login, person.role_in(None)) == ("ann@example.com", Role.ANALYST)
    button(screen, "Done")
    assert not screen.code
    assert "Analyst · created" in words(screen)
    button(screen, "Revoke token")
    with pytest.raises(NotSignedIn):
        stocked.workbench.tokens.verify(secret, Door.REST)
    assert "revoked" in words(screen)
    assert secret not in str(stocked.workbench.audit.page(AuditQuery()).entries)


def test_a_token_without_a_name_is_refused(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="tokens")
    button(screen, "Create token")
    assert "The token has no name" in words(screen)
    assert not library.workbench.tokens.tokens(by=local_principal(Door.BROWSER))


def test_the_audit_log_is_filtered_by_person_action_door_outcome_day_and_words(
    team: dict[str, int], stocked: Stack, opened: Opened
) -> None:
    audit = stocked.workbench.audit
    assert "There are no entries yet" in words(opened("settings.py", part="audit"))
    audit.record(login="ann@example.com", name="Ann", door=Door.REST, action="documents.upload", object="name a.pdf")
    audit.record(login="ben@example.com", name="Ben", door=Door.BROWSER, action="sign in", object="")
    screen = opened("settings.py", part="audit")
    assert list(screen.dataframe[0].value["Action"]) == ["Signed in", "Uploaded a file"]
    for label, value, left in (
        ("Person", "ben@example.com", ["Signed in"]),
        ("Interface", "REST", ["Uploaded a file"]),
        ("Action", "sign in", ["Signed in"]),
    ):
        chosen = next(each for each in screen.selectbox if each.label == label)
        chosen.set_value(value)
        screen.run()
        assert list(screen.dataframe[0].value["Action"]) == left, label
        next(each for each in screen.selectbox if each.label == label).set_value(None)
    screen.text_input(key="settings.audit.words").set_value("a.pdf")
    screen.run()
    assert list(screen.dataframe[0].value["Object"]) == ["name a.pdf"]
    screen.text_input(key="settings.audit.words").set_value("uploaded a")
    screen.run()
    assert list(screen.dataframe[0].value["Action"]) == ["Uploaded a file"]
    screen.date_input(key="settings.audit.since").set_value(utc_now().date() + timedelta(days=1))
    screen.run()
    assert not screen.dataframe and "No entries match" in words(screen)


def test_the_audit_log_names_documents_that_are_still_there(
    team: dict[str, int], stocked: Stack, opened: Opened
) -> None:
    policy = next(each for each in stocked.workbench.documents.list() if each.name == "overtime_policy.md")
    stocked.workbench.audit.record(
        login="ann@example.com", name="Ann", door=Door.BROWSER, action="documents.archive",
        object=f"documents {policy.id}, 9999; archived yes",
    )  # fmt: skip
    screen = opened("settings.py", part="audit")
    assert list(screen.dataframe[0].value["Object"]) == ["documents overtime_policy.md, 9999; archived yes"]
