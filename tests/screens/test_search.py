"""Search: the sentence that answers, a score that adds up, filters with counts, silence and failure told apart."""

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import DocumentState
from core.domain.errors import StoreFailed
from core.domain.queries import SearchRequest
from pages.components import session
from pages.components.search.result_pane import score_data
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def test_the_sentence_that_answers_stands_first_with_the_asked_words_marked(stocked: Stack, opened: Opened) -> None:
    text = words(opened("search.py", q=QUESTION))
    assert "one\\-half" in text and ":primary-background[**overtime**]" in text
    assert "flsa\\_section\\_207\\.md" in text


def test_the_shown_parts_of_every_score_add_up_to_the_shown_total(stocked: Stack) -> None:
    hits = stocked.workbench.search.run(SearchRequest(QUESTION), remember=False).hits
    assert len(hits) > 1
    for hit in hits:
        data = score_data(hit.score, 0.0)
        parts = [float(part["points"].replace("−", "-")) for part in (*data["parts"], *data["neutral"])]
        assert sum(parts) == pytest.approx(float(data["total"]), abs=1e-9)


def test_the_legs_say_how_many_rows_the_filters_let_through(stocked: Stack, opened: Opened) -> None:
    def searched(screen: AppTest) -> tuple[int, int]:
        legs = next(each.value for each in screen.table if "Searched" in each.value)
        after, before = re.fullmatch(r"(\d+) of (\d+)", legs["Searched"][0]).groups()  # type: ignore[union-attr]
        return int(after), int(before)

    total, everything = searched(opened("search.py", q=QUESTION))
    narrowed = opened("search.py", q=QUESTION, truths=["regulatory"])
    after, before = searched(narrowed)
    assert before == total == everything and 0 < after < before
    assert "truth is regulatory" in words(narrowed)


def test_choosing_a_filter_writes_it_into_the_url(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    screen.session_state["filter.truths"] = ["regulatory"]
    screen.run()
    assert screen.query_params["truths"] == "regulatory" and screen.query_params["q"] == QUESTION


def test_active_filters_are_chips_that_remove_them(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, truths=["regulatory", "intent"], exclude_source_types=["feed"])
    chips = [each.label for each in screen.button if each.key.startswith("filter.chip.")]
    assert len(chips) == 3 and "Source type: not Feed" in chips
    screen.button(key="filter.chip.truths.intent").click().run()
    assert screen.query_params["truths"] == "regulatory"
    screen.button(key="filter.chips.clear").click().run()
    assert "truths" not in screen.query_params and "exclude_source_types" not in screen.query_params
    assert not [each for each in screen.button if each.key.startswith("filter.chip")]


def test_a_url_opens_the_same_view(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, profile="relevance", truths=["regulatory"], include_undated="1")
    assert screen.text_input(key="question").value == QUESTION
    assert screen.selectbox(key="search.profile").value == "relevance"
    assert screen.session_state["filter.truths"] == ["regulatory"]
    assert screen.toggle(key="filter.include_undated").value is True


def test_a_chip_switched_off_is_searched_without_and_can_come_back(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="When must overtime be paid in California?")
    kinds = list(screen.pills(key="search.kept").value)
    assert "jurisdiction" in kinds
    screen.pills(key="search.kept").set_value([kind for kind in kinds if kind != "jurisdiction"]).run()
    assert screen.query_params["without"] == "jurisdiction"
    screen.pills(key="search.kept").set_value(kinds).run()
    assert "without" not in screen.query_params


def test_what_nothing_answers_is_told_with_nearest_misses_named_as_such(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="zebra xylophone quark")
    (text,) = [each.value.replace("\\", "") for each in screen.info]
    assert text.startswith("**Probably not answered in this library (p") and "“zebra”" in text
    assert "rank 1" in words(screen)  # the nearest passages are listed
    assert "answered with p" not in words(screen)  # the probability is told once
    assert not screen.error


def test_where_the_filters_leave_no_passage_the_page_says_so_and_what_to_do(stocked: Stack, opened: Opened) -> None:
    text = words(opened("search.py", q="overtime before:1980")).replace("\\", "")
    assert "No passage matches the filters: dated on or before 1979-12-31." in text and "Remove a filter" in text
    assert "answered with p" not in text


def test_a_question_too_long_for_its_field_is_shown_whole(stocked: Stack, opened: Opened) -> None:
    long = f"When must overtime be paid {'to employees of the night shift ' * 3}in California?"
    assert " ".join(long.split()) in words(opened("search.py", q=long)).replace("\\", "")
    assert QUESTION not in words(opened("search.py", q=QUESTION)).replace("\\", "")


def test_a_link_to_a_profile_that_is_gone_says_that_the_default_scores(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, profile="retired@3")
    assert "Profile “retired@3” no longer exists" in screen.warning[0].value.replace("\\", "")
    screen.toggle(key="search.routed").set_value(True).run()
    assert screen.warning, "it is told as long as the default stands in for it"
    screen.selectbox(key="search.profile").set_value("relevance").run()
    assert not screen.warning


def test_searching_only_the_routed_truths_is_a_filter_that_can_be_removed(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, routed="1")
    screen.button(key="filter.chip.routed").click().run()
    assert not screen.toggle(key="search.routed").value and "routed" not in screen.query_params
    screen = opened("search.py", q=QUESTION, routed="1", truths="compliance")
    screen.button(key="filter.chips.clear").click().run()
    assert not screen.toggle(key="search.routed").value and "truths" not in screen.query_params


@pytest.mark.parametrize("field", ["documents", "exclude_documents", "recency_months", "top"])
def test_numbers_of_any_length_in_a_url_are_no_crash(stocked: Stack, opened: Opened, field: str) -> None:
    opened("search.py", q=QUESTION, **{field: "9" * 5000})
    opened("search.py", q=QUESTION, **{field: "9" * 18})


def test_a_place_that_no_passage_is_labelled_with_is_said(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="When must overtime be paid in California?")
    text = " ".join(each.value for each in screen.warning).replace("\\", "")
    assert "No passage in the library is labelled California" in text
    assert not opened("search.py", q=QUESTION).warning


def test_files_still_being_processed_are_counted_and_the_search_can_be_repeated(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stocked.workbench.documents, "count", lambda state=None: 3 if state is DocumentState.PENDING else 9
    )
    screen = opened("search.py", q=QUESTION)
    assert "3 files are still being processed" in words(screen)
    monkeypatch.undo()
    screen.button(key="search.again").click().run()
    assert "still being processed" not in words(screen)


def test_a_link_chooses_a_passage_and_a_number_of_results_also_after_another_question(
    stocked: Stack, opened: Opened
) -> None:
    screen = opened("search.py", q="overtime", top="20")
    hits = stocked.workbench.search.run(SearchRequest("overtime"), remember=False).hits
    second = hits[1].candidate.passage.id
    screen.query_params.clear()
    screen.query_params.update({"q": "overtime pay", "passage": str(second), "top": "20"})
    screen.run()
    assert screen.session_state["question"] == "overtime pay"
    assert screen.query_params["passage"] == str(second) and screen.query_params["top"] == "20"


def test_a_link_that_switches_a_chip_off_offers_it_again(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="When must overtime be paid in California?", without=["jurisdiction"])
    (chips,) = [each for each in screen.get("button_group") if each.key == "search.kept"]
    assert "jurisdiction" in chips.options and screen.session_state["search.without"] == ("jurisdiction",)


def test_only_an_answer_that_could_not_look_everywhere_is_asked_again_soon(stocked: Stack) -> None:
    found = stocked.workbench.search.run(SearchRequest(QUESTION), remember=False)
    whole = session.fresh_seconds(replace(found, notices=("The filter banana is not known.",)))
    legs = (replace(found.legs[0], error="no vectors"), *found.legs[1:])
    assert session.fresh_seconds(replace(found, legs=legs)) < whole
    reread = replace(found, request=replace(found.request, rerank="included"))
    assert session.fresh_seconds(reread) < session.fresh_seconds(replace(reread, reranked=10)) == whole


def test_a_chip_names_the_words_it_comes_from(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="When must overtime be paid in California?")
    (chips,) = screen.get("button_group") and [each for each in screen.get("button_group") if each.key == "search.kept"]
    assert any("“must”" in option or "“overtime”" in option for option in chips.options)


def test_a_failed_search_is_an_error_and_not_no_results(stocked: Stack, opened: Opened, monkeypatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(stocked.workbench.search, "run", broken)
    screen = opened("search.py", q=QUESTION)
    assert "The database went away" in screen.error[0].value
    assert "Nothing found" not in words(screen)


def test_every_problem_of_a_filter_is_told_at_once(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, truths=["gossip"], date_from="2026-13-99")
    text = screen.warning[0].value.replace("\\", "")
    assert "Invalid truths: ['gossip']" in text and "date_from is not a date: '2026-13-99'" in text


def test_text_with_markup_is_shown_as_it_stands(stocked: Stack, opened: Opened) -> None:
    text = words(opened("search.py", q="overtime rate per hour"))
    assert "bold" in text and "<b>" not in text
    assert "\\[link\\]\\(javascript" in text


def test_a_question_in_another_script_is_answered(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="残業")
    assert not screen.error and not screen.exception


def test_a_very_long_question_is_no_error(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="overtime " * 400)
    assert not screen.exception


def test_without_a_question_the_page_says_what_to_do(library: Stack, opened: Opened) -> None:
    assert "The library is empty" in words(opened("search.py"))
