"""Inspect: one result in depth, also one that is not among the results."""

from pathlib import Path

import pytest

from core.domain.queries import SearchRequest
from core.domain.results import DropReason
from core.search.explanation import ScoreDifference
from pages.components import why_missing
from pages.components.search import compare
from tests.browser.paper import make_pdf
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def test_without_a_question_it_says_what_to_do(stocked: Stack, opened: Opened) -> None:
    assert "Nothing to inspect yet" in words(opened("inspection.py"))


def test_every_part_of_the_sum_has_a_value_and_a_reason(stocked: Stack, opened: Opened) -> None:
    screen = opened("inspection.py", q=QUESTION)
    parts = screen.table[0].value
    hit = stocked.workbench.search.run(SearchRequest(QUESTION)).hits[0]
    assert sum(float(each or 0) for each in parts["Adds"]) == pytest.approx(round(hit.score.total, 3), abs=1e-9)
    assert all(parts["Why"])
    assert f"= {hit.score.total:.3f}" in words(screen).replace("\\", "")


def test_a_rank_is_counted_among_all_results_not_among_those_shown(stocked: Stack, opened: Opened) -> None:
    result = stocked.workbench.search.run(SearchRequest(QUESTION, top_k=1))
    assert result.total > len(result.hits)
    screen = opened("inspection.py", q=QUESTION, top="1")
    assert f"rank 1 of {result.total}" in str([each.proto for each in screen.markdown])


def test_the_weight_shown_gives_the_contribution_shown(stocked: Stack, opened: Opened) -> None:
    """With a reranker or a profile of one's own, a weight has three decimals: "0.800 × 0.32 = 0.252" is no sum."""
    part = ScoreDifference("similarity", 0.8, 0.5, 0.315, 0.252, 0.1575, 0.0945)
    assert compare._value_text(part.left, part) == "0.800 × 0.315 = 0.252"
    shown = opened("inspection.py", q=QUESTION).table[0].value["Value × weight"]
    assert "× 0.400" in " ".join(shown)


def test_the_cited_sentence_is_marked_in_its_page(stocked: Stack, opened: Opened) -> None:
    text = words(opened("inspection.py", q=QUESTION, view="Page"))
    assert ":yellow-background[An employer shall pay overtime at one and one\\-half times" in text


def test_beside_the_picture_of_its_page_the_text_begins_at_the_passage(
    stocked: Stack, opened: Opened, tmp_path: Path
) -> None:
    filler = " ".join(f"Gliders of class {number} are inspected by the workshop in spring." for number in range(40))
    sections = {"Fleet": f"{filler}\n\nEvery tug must be weighed on the seventh of May by the airfield warden."}
    stocked.workbench.documents.upload(
        "airfield.pdf", make_pdf(tmp_path / "airfield.pdf", "Airfield", sections).read_bytes()
    )
    requested = "When must every tug be weighed?"
    passage = stocked.workbench.search.run(SearchRequest(requested)).hits[0].candidate.passage
    assert passage.document_name == "airfield.pdf" and passage.start > 500
    screen = opened("inspection.py", q=requested, view="Page")
    text = next(each.value for each in screen.markdown if "yellow-background" in each.value)
    assert text.startswith(":gray[…]") and "seventh of May" in text and "class 3 " not in text


def test_citations_are_written_in_every_style(stocked: Stack, opened: Opened) -> None:
    screen = opened("inspection.py", q=QUESTION, view="Citations")
    written = [each.value for each in screen.code]
    assert "[flsa_section_207.md, Fair Labor Standards Act, section 207]" in written
    assert len(written) % 4 == 0


def test_what_was_found_and_not_shown_says_why(stocked: Stack, opened: Opened) -> None:
    result = stocked.workbench.search.run(SearchRequest(QUESTION, profile="relevance"))
    assert result.dropped, "the profile's threshold leaves something out of this answer"
    text = words(opened("inspection.py", q=QUESTION, profile="relevance", view="Not shown")).replace("\\", "")
    assert result.dropped[0].detail in text


@pytest.mark.parametrize("reason", DropReason)
def test_every_reason_not_to_be_shown_has_its_words(reason: DropReason) -> None:
    assert why_missing.REASON_TITLES[reason]


def test_a_document_without_a_date_is_undated_in_one_word(stocked: Stack, opened: Opened) -> None:
    text = words(opened("inspection.py", q=QUESTION))
    assert " · undated · SHA" in text and "dated undated" not in text


@pytest.mark.parametrize("passage", ["9" * 5000, "-1", "²", "1 or 1"])
def test_nonsense_for_a_passage_in_the_url_opens_the_first_result(stocked: Stack, opened: Opened, passage: str) -> None:
    assert "rank 1 of" in str([each.proto for each in opened("inspection.py", q=QUESTION, passage=passage).markdown])


def test_a_passage_that_is_not_a_result_can_be_inspected_too(stocked: Stack, opened: Opened) -> None:
    dropped = stocked.workbench.search.run(SearchRequest(QUESTION, profile="relevance")).dropped[0]
    screen = opened("inspection.py", q=QUESTION, profile="relevance", passage=str(dropped.candidate.passage.id))
    assert "not shown" in str([each.proto for each in screen.markdown])


def test_a_passage_that_is_gone_is_told(stocked: Stack, opened: Opened) -> None:
    screen = opened("inspection.py", q=QUESTION, passage="99999")
    assert "not among the candidates" in screen.warning[0].value


def test_the_side_looked_at_is_part_of_the_url(stocked: Stack, opened: Opened) -> None:
    screen = opened("inspection.py", q=QUESTION)
    screen.segmented_control(key="view").set_value("Citations").run()
    assert screen.query_params["view"] == "Citations"
