"""Comments and tasks on the pages: beside a document, a result and a cell, on Home and in Settings."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.collaboration.target import on_cell, on_document, on_passage
from core.domain.coverage import GapKind
from core.domain.people import Door, Identity, Principal, Role, local_principal
from pages.components import sign_in
from tests.screens.conftest import Opened, Stack, words

NOBODY = local_principal(Door.BROWSER)
ANN = Principal("ann", "Ann", ((None, Role.REVIEWER),), Door.BROWSER)
QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


@pytest.fixture
def team(stocked: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Principal]]:
    """Ann, Bo and Cy, who sees only another project. Who sits at the browser: "now", Ann at first."""
    people = stocked.workbench.people
    known = {}
    people.sign_in(Identity("zoe", "Zoe"), Door.BROWSER)  # the first person is the administrator
    for login, project in (("ann", None), ("bo", None), ("cy", "Elsewhere")):
        people.invite(login, Role.REVIEWER, project)
        known[login] = people.sign_in(Identity(login, login.capitalize(), f"{login}@example.org"), Door.BROWSER)
    known["now"] = known["ann"]
    monkeypatch.setattr(sign_in, "principal", lambda library: known["now"])
    yield known


def document_id(stocked: Stack, name: str = "flsa_section_207.md") -> int:
    return next(each.id for each in stocked.workbench.documents.list() if each.name == name)


def target(stocked: Stack, name: str = "flsa_section_207.md") -> Any:
    return on_document(stocked.workbench.documents.get(document_id(stocked, name)))


def of_document(stocked: Stack, part: str) -> str:
    """The key of a widget of the panel beside the law."""
    return f"comments.document.{document_id(stocked)}.{part}"


def press(screen: AppTest, key: str) -> AppTest:
    screen.button(key=key).click().run()
    assert not screen.exception, screen.exception[0].value
    return screen


def beside(stocked: Stack, opened: Opened) -> AppTest:
    """The law in the reading room, with its comments."""
    return opened("document.py", id=str(document_id(stocked)), comments="open")


def test_the_comments_are_beside_a_document_once_asked_for(stocked: Stack, opened: Opened) -> None:
    screen = opened("document.py", id=str(document_id(stocked)))
    assert "No comments yet" not in words(screen)
    press(screen, "document.comments.toggle")
    assert "No comments yet" in words(screen)
    press(screen, "document.comments.toggle")
    assert "No comments yet" not in words(screen)


def test_one_person_without_sign_in_writes_edits_deletes_and_brings_back_a_comment(
    stocked: Stack, opened: Opened
) -> None:
    screen = beside(stocked, opened)
    assert not [each for each in screen.multiselect if each.label == "Mention"]
    screen.text_area(key=of_document(stocked, "text")).set_value("Is *this*\ncurrent?").run()
    press(screen, of_document(stocked, "write"))
    assert "Is \\*this\\*  \ncurrent\\?" in [each.value for each in screen.markdown]
    assert screen.text_area(key=of_document(stocked, "text")).value == ""
    press(screen, "icon." + of_document(stocked, "edit.1"))
    screen.text_area(key=of_document(stocked, "edit.text")).set_value("Yes, it is.").run()
    press(screen, of_document(stocked, "edit.save"))
    assert "Yes\\, it is\\." in words(screen) and "edited" in words(screen)
    press(screen, "icon." + of_document(stocked, "delete.1"))
    assert "Yes\\, it is\\." not in words(screen) and "The comment is deleted." in words(screen)
    press(screen, of_document(stocked, "undo"))
    assert "Yes\\, it is\\." in words(screen)


def test_an_empty_comment_is_refused_with_words(stocked: Stack, opened: Opened) -> None:
    screen = press(beside(stocked, opened), of_document(stocked, "write"))
    assert "The comment has no text" in screen.warning[0].value


def test_only_colleagues_who_may_see_a_document_are_offered_and_told(
    stocked: Stack, opened: Opened, team: dict[str, Principal]
) -> None:
    policy = stocked.workbench.documents.get(document_id(stocked, "overtime_policy.md"))
    assert policy.project == "Tallgrass"
    key = f"comments.document.{policy.id}"
    screen = opened("document.py", id=str(policy.id), comments="open")
    assert screen.multiselect(key=f"{key}.mentions").options == ["Bo", "Zoe"]
    screen.text_area(key=f"{key}.text").set_value("Look here, @cy").run()
    press(screen, f"{key}.write")
    assert "Cy may not see the project" in screen.warning[0].value
    screen.text_area(key=f"{key}.text").set_value("Look here").run()
    screen.multiselect(key=f"{key}.mentions").set_value(["bo"]).run()
    press(screen, f"{key}.write")
    assert ":material/alternate_email: Bo" in words(screen)
    team["now"] = team["bo"]
    home = opened("home.py")
    assert "1 new" in words(home)
    [link] = [each for each in home.page_link if "Ann mentioned you" in each.label]
    assert link.proto.query_string == f"id={policy.id}&comments=open"
    opened("document.py", id=str(policy.id), comments="open")
    assert "For you" not in words(opened("home.py"))


def test_a_task_is_given_listed_on_home_and_done_there(
    stocked: Stack, opened: Opened, team: dict[str, Principal]
) -> None:
    screen = beside(stocked, opened)
    screen.segmented_control(key=of_document(stocked, "kind")).set_value("Task").run()
    screen.text_input(key=of_document(stocked, "task")).set_value("Ask *legal*").run()
    screen.selectbox(key=of_document(stocked, "to")).set_value("bo").run()
    screen.date_input(key=of_document(stocked, "due")).set_value(datetime.now(UTC).date()).run()
    press(screen, of_document(stocked, "assign"))
    assert "Ask \\*legal\\*" in words(screen)
    team["now"] = team["bo"]
    home = opened("home.py")
    assert "1 task" in words(home)
    [link] = [each for each in home.page_link if "Ask \\*legal\\*" in each.label]
    assert "from Ann" in link.label and "due 20" in link.label
    press(home, "icon.for_you.done.1")
    assert "For you" not in words(home)
    team["now"] = team["ann"]
    assert any("Bo has done what you assigned" in each.label for each in opened("home.py").page_link)


def test_one_thing_or_everything_is_marked_as_read_with_one_click(
    stocked: Stack, opened: Opened, team: dict[str, Principal]
) -> None:
    comments = stocked.workbench.comments
    for number in range(7):
        comments.write(target(stocked), f"@bo {number}", team["ann"])
    team["now"] = team["bo"]
    home = opened("home.py")
    assert home.title[0].value == "Home"
    assert "7 new" in words(home) and "and 2 more things" in words(home)
    press(home, next(each.key for each in home.button if str(each.key).startswith("icon.for_you.read.")))
    assert "6 new" in words(home)
    press(home, "for_you.read")
    assert "For you" not in words(home)


def test_nobody_edits_another_s_comment_and_an_administrator_may_delete_it(
    stocked: Stack, opened: Opened, team: dict[str, Principal]
) -> None:
    stocked.workbench.comments.write(target(stocked), "From Ann", team["ann"])
    team["now"] = team["bo"]
    keys = [each.key for each in beside(stocked, opened).button]
    own = {"icon." + of_document(stocked, part) for part in ("edit.1", "delete.1")}
    assert not own & set(keys)
    team["now"] = Principal("bo", "Bo", ((None, Role.ADMINISTRATOR),), Door.BROWSER)
    keys = [each.key for each in beside(stocked, opened).button]
    assert own & set(keys) == {"icon." + of_document(stocked, "delete.1")}


def test_a_viewer_comments_and_gives_no_tasks(stocked: Stack, opened: Opened, team: dict[str, Principal]) -> None:
    team["now"] = Principal("bo", "Bo", ((None, Role.VIEWER),), Door.BROWSER)
    screen = beside(stocked, opened)
    assert not [each for each in screen.get("segmented_control") if each.key == of_document(stocked, "kind")]
    screen.text_area(key=of_document(stocked, "text")).set_value("A question").run()
    press(screen, of_document(stocked, "write"))
    assert "A question" in words(screen)


def test_a_result_shows_how_much_is_said_about_its_passage(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    passage = stocked.workbench.documents.passages(document_id(stocked))[0]
    popovers = {str(each.proto.popover.icon): str(each.proto.popover.label) for each in screen.get("popover")}
    assert popovers[":material/comment:"] == "Comments"
    stocked.workbench.comments.write(on_passage(passage), "Here", ANN)
    again = opened("search.py", q=QUESTION)
    labels = [str(each.proto.popover.label) for each in again.get("popover")]
    assert "Comments · 1" in labels


def test_notifications_are_chosen_on_settings_where_e_mail_is_set_up(
    stocked: Stack, opened: Opened, team: dict[str, Principal], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "E-mail is not set up" in words(opened("settings.py", part="notifications"))
    monkeypatch.setattr(type(stocked.workbench.delivery), "mails", True)
    screen = opened("settings.py", part="notifications")
    assert [each.value for each in screen.checkbox] == [True, True, True]
    screen.checkbox(key="notifications.saved search").uncheck().run()
    chosen = stocked.workbench.notifications.preferences(team["ann"]).mailed
    assert {each.value for each in chosen} == {"mention", "assignment"}


def test_without_sign_in_settings_says_that_no_e_mail_is_sent(stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="notifications")
    assert "Without sign-in, no e-mail is sent" in words(screen) and not screen.checkbox


def test_a_saved_view_is_followed_and_tells_on_home(stocked: Stack, opened: Opened) -> None:
    from core.domain.queries import SearchRequest

    saved = stocked.workbench.saved_searches.save("Overtime", SearchRequest(QUESTION), "results", NOBODY, shared=True)
    screen = press(opened("search.py"), f"icon.views.follow.{saved.id}")
    stocked.add("new_law.md", "# New\nOvertime is paid at twice the regular rate on public holidays from June on.\n")
    home = opened("home.py")
    [link] = [each for each in home.page_link if "“Overtime”" in each.label]
    assert "1 new result" in link.label and link.proto.query_string == f"saved={saved.id}"
    search = opened("search.py", saved=str(saved.id))
    assert search.text_input(key="question").value == QUESTION
    assert "For you" not in words(opened("home.py"))
    screen = press(opened("search.py"), f"icon.views.unfollow.{saved.id}")
    press(screen, f"icon.views.feed.{saved.id}")
    assert any(f"feeds/saved-search/{saved.id}" in each.value for each in screen.code)


def test_an_address_of_a_saved_view_that_is_gone_is_told(stocked: Stack, opened: Opened) -> None:
    assert "999" in opened("search.py", saved="999").warning[0].value


def test_a_cell_under_review_has_its_comments(stocked: Stack, opened: Opened) -> None:
    from core.domain.coverage import Topic

    coverage = stocked.workbench.coverage
    [topic] = coverage.add_topics([Topic("Night work allowance")])
    coverage.runs.carry_out(coverage.runs.start(None).id)
    stocked.workbench.comments.write(on_cell(topic.name, topic.id, GapKind.INTENT, None), "Who has it?", ANN)
    screen = opened("coverage.py", view="Review", at=f"intent:{topic.id}")
    assert "Who has it?" in words(screen).replace("\\", "")
