"""Feedback on results: a thumb is kept per person, can be changed and taken back, and never stands in the way."""

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Passage
from core.domain.errors import StoreFailed
from core.domain.queries import SearchRequest
from core.search.store import UNUSED, UsageKind
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def as_person(opened: Opened, name: str) -> AppTest:
    """The answer, in a session of somebody's own."""
    screen = opened("search.py", q=QUESTION)
    screen.session_state["person"] = name
    return screen.run()


def first(stocked: Stack) -> Passage:
    """The passage of the first result."""
    return stocked.workbench.search.run(SearchRequest(QUESTION), remember=False).hits[0].candidate.passage


def uses(stocked: Stack) -> int:
    """How often the document of the first result was used."""
    document_id = first(stocked).document_id
    stocked.workbench.usage.flush()
    return stocked.workbench.usage.uses([document_id]).get(document_id, UNUSED).uses


def test_a_thumb_is_there_again_in_another_session_of_the_same_person(stocked: Stack, opened: Opened) -> None:
    screen = as_person(opened, "Ann")
    assert screen.feedback[0].value is None
    screen.feedback[0].set_value(1).run()
    assert screen.feedback[0].value == 1 and uses(stocked) == 1
    again = as_person(opened, "Ann")
    assert again.feedback[0].value == 1
    assert again.text_input(key="question").set_value("overtime rate").run().feedback[0].value is None


def test_a_colleague_has_a_thumb_of_their_own_and_sees_what_others_said(stocked: Stack, opened: Opened) -> None:
    as_person(opened, "Ann *the* first").feedback[0].set_value(1).run()
    bob = as_person(opened, "Bob")
    assert bob.feedback[0].value is None
    assert "helped Ann \\*the\\* first" in words(bob)
    bob.feedback[0].set_value(0).run()
    assert bob.feedback[0].value == 0 and uses(stocked) == 1
    assert "did not help Bob" in words(as_person(opened, "Ann *the* first"))


def test_a_changed_mind_counts_once_and_a_thumb_can_be_taken_back(stocked: Stack, opened: Opened) -> None:
    screen = as_person(opened, "Ann")
    for value, counted in ((1, 1), (0, 0), (1, 1), (None, 0)):
        screen.feedback[0].set_value(value).run()
        assert uses(stocked) == counted
        assert as_person(opened, "Ann").feedback[0].value == value


def test_without_a_name_thumbs_work_and_are_told_as_somebodys(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    screen.feedback[0].set_value(0).run()
    assert opened("search.py", q=QUESTION).feedback[0].value == 0
    assert "did not help somebody" in words(as_person(opened, "Ann"))


def test_a_citation_counts_when_one_says_so_and_not_by_being_looked_at(stocked: Stack, opened: Opened) -> None:
    screen = as_person(opened, "Ann")
    assert uses(stocked) == 0
    button = next(each for each in screen.button if each.label == "I have cited this")
    button.click().run()
    assert uses(stocked) == 1 and "Noted: you have cited this" in words(screen)
    assert "cited by Ann" in words(as_person(opened, "Bob"))


def test_a_store_that_fails_is_told_where_one_clicked_and_the_answer_stays(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **how: object) -> None:
        raise StoreFailed("The disk of the database is full.", "Make room.")

    log = stocked.workbench.usage._log
    for method in ("record", "uses", "events_of"):
        monkeypatch.setattr(log, method, broken)
    screen = as_person(opened, "Ann")
    assert "one\\-half" in words(screen) and not screen.error
    screen.feedback[0].set_value(1).run()
    assert "disk of the database is full" in screen.error[0].value
    assert screen.feedback[0].value is None
    screen.run()
    assert not screen.error and "one\\-half" in words(screen)


def test_looking_closer_is_one_opening_however_often_the_page_is_drawn(stocked: Stack, opened: Opened) -> None:
    passage_id = first(stocked).id
    screen = opened("inspection.py", q=QUESTION, passage=str(passage_id))
    screen.run()
    screen.run()
    assert uses(stocked) == 1
    assert [each.kind for each in stocked.workbench.usage.of_passage(passage_id)] == [UsageKind.OPENED]
