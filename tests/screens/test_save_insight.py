"""A note is written on a result of Search, and what came of the question is kept; the next search finds both."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Origin, Sector
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.insights.service import link_of
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"

Drawn = Callable[[], AppTest]


@pytest.fixture
def result(stocked: Stack) -> SearchResult:
    return stocked.workbench.search.run(SearchRequest(QUESTION))


def note_key(result: SearchResult) -> str:
    return f"note.{result.hits[0].candidate.passage.id}"


def with_note_open(opened: Opened, key: str) -> AppTest:
    """The Search page with the note of a result unfolded."""
    screen = opened("search.py", q=QUESTION)
    screen.session_state[key] = True
    return screen.run()


def test_a_note_is_drawn_only_when_it_is_opened(stocked: Stack, result: SearchResult, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    assert not [each for each in screen.text_area if each.label == "Note"]
    assert [each for each in with_note_open(opened, note_key(result)).text_area if each.label == "Note"]


def test_a_saved_note_rests_on_the_cited_sentence_and_is_linked(
    stocked: Stack, result: SearchResult, opened: Opened
) -> None:
    key = note_key(result)
    screen = with_note_open(opened, key)
    assert screen.text_area(key=f"{key}.text").value == ""
    screen.text_area(key=f"{key}.text").set_value("We were worried about time and a half.").run()
    assert screen.selectbox(key=f"{key}.sector").value is Sector.EMOTIONAL
    assert "it says “worried”" in words(screen)
    screen.multiselect(key=f"{key}.tags").set_value(["pay"]).run()
    screen.button(key=f"{key}.save").click().run()
    (saved,) = stocked.workbench.insights.insights().items
    assert (saved.text, saved.tags, saved.question) == ("We were worried about time and a half.", ("pay",), QUESTION)
    assert (saved.sector, saved.sector_reason) == (Sector.EMOTIONAL, "it says “worried”")
    assert [link.quote for link in saved.links] == [result.hits[0].citations[0].quote]
    assert any(f"open=insight-{saved.id}" in each.query_string for each in screen.page_link)
    found = stocked.workbench.search.run(SearchRequest("worried about time and a half"))
    assert Origin.INSIGHT in {each.passage.origin for each in found.candidates}


def test_a_chosen_sector_stays_chosen_while_one_writes(stocked: Stack, result: SearchResult, opened: Opened) -> None:
    key = note_key(result)
    screen = with_note_open(opened, key)
    screen.text_area(key=f"{key}.text").set_value("We were worried.").run()
    screen.selectbox(key=f"{key}.sector").set_value(Sector.REFLECTIVE).run()
    screen.text_area(key=f"{key}.text").set_value("We were worried and afraid.").run()
    assert screen.selectbox(key=f"{key}.sector").value is Sector.REFLECTIVE
    screen.button(key=f"{key}.save").click().run()
    (saved,) = stocked.workbench.insights.insights().items
    assert (saved.sector, saved.sector_reason) == (Sector.REFLECTIVE, "")


def test_an_empty_note_is_refused_and_nothing_is_lost(stocked: Stack, result: SearchResult, opened: Opened) -> None:
    key = note_key(result)
    screen = with_note_open(opened, key)
    screen.multiselect(key=f"{key}.tags").set_value(["pay"]).run()
    screen.button(key=f"{key}.save").click().run()
    assert any("The note is empty" in each.value for each in screen.warning)
    assert screen.multiselect(key=f"{key}.tags").value == ["pay"]
    assert stocked.workbench.insights.insights().total == 0


def test_what_was_noted_before_stands_above_the_new_note(stocked: Stack, result: SearchResult, opened: Opened) -> None:
    stocked.workbench.insights.save("Seen before.", links=[link_of(result.hits[0].citations[0])])
    assert "Noted before: Seen before" in words(with_note_open(opened, note_key(result)))


def test_a_result_that_is_a_note_is_opened_instead(stocked: Stack, opened: Opened) -> None:
    insight = stocked.workbench.insights.save(QUESTION)
    screen = opened("search.py", q=QUESTION)
    link = next(each for each in screen.page_link if each.label == "Open this insight")
    assert f"document={insight.document_id}" in link.query_string


def test_what_came_of_a_question_is_kept(stocked: Stack, result: SearchResult, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    screen.session_state["episode"] = True
    screen.run()
    screen.select_slider(key="episode.reward").set_value(-0.5).run()
    screen.text_area(key="episode.reflection").set_value("The digest is out of date.").run()
    screen.button(key="episode.save").click().run()
    (saved,) = stocked.workbench.insights.episodes().items
    assert (saved.question, saved.reward, saved.reflection) == (QUESTION, -0.5, "The digest is out of date.")
    assert any(f"open=episode-{saved.id}" in each.query_string for each in screen.page_link)
