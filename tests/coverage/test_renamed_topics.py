"""A topic renamed to another subject keeps neither what was found for the old one nor what was decided about it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.coverage.gaps import as_needed
from core.domain.coverage import CellState, ReviewVerdict, Topic
from core.domain.documents import Truth
from tests.coverage.boards import board_of
from tests.coverage.test_review import LEAVE, TODAY, decision, under


@pytest.mark.parametrize("verdict", [ReviewVerdict.ACCEPTED, ReviewVerdict.WAIVED])
def test_what_settled_the_old_subject_is_suspect_for_the_new_one(verdict: ReviewVerdict) -> None:
    settled = decision(verdict, topic="sick leave", reason="Not ours", expires=TODAY + timedelta(30))
    renamed = under(board_of({replace(LEAVE, name="jury duty leave"): "ggggg"}), settled)
    cell = renamed.cell("jury duty leave", Truth.REGULATORY)
    assert (cell.state, cell.detected) == (CellState.SUSPECT, CellState.GAP)
    assert "Ann, 2026-01-15, for “sick leave”; renamed since." in cell.reason


def test_a_waiver_of_the_old_subject_that_has_expired_leaves_the_gap() -> None:
    waived = decision(ReviewVerdict.WAIVED, topic="sick leave", expires=TODAY - timedelta(1))
    renamed = under(board_of({replace(LEAVE, name="jury duty leave"): "ggggg"}), waived)
    assert renamed.cell("jury duty leave", Truth.REGULATORY).state is CellState.GAP


def test_what_settled_the_old_subject_holds_for_the_same_in_other_words() -> None:
    accepted = decision(ReviewVerdict.ACCEPTED, topic="sick leave")
    renamed = under(board_of({replace(LEAVE, name="Leave, sick"): "ggggg"}), accepted)
    assert renamed.cell("Leave, sick", Truth.REGULATORY).state is CellState.COVERED


@pytest.mark.parametrize(
    ("name", "assessed"), [("leave", True), ("jury duty leave", False), ("sick leave 2027", False)]
)
def test_what_was_found_for_another_subject_is_not_shown(name: str, assessed: bool) -> None:
    found = board_of({LEAVE: "ccccc"}).cell("sick leave", Truth.REGULATORY)
    cell = as_needed(found, Topic(name, id=1), LEAVE)
    assert (cell.state is CellState.COVERED, bool(cell.evidence)) == (assessed, assessed)
    assert cell.reason.startswith("Assessed as “sick leave”; assess again.")


def test_what_was_found_for_another_subject_is_not_shown_where_it_is_not_needed_either() -> None:
    found = board_of({LEAVE: "ccccc"}).cell("sick leave", Truth.REGULATORY)
    needs = (Truth.INTENT,)
    assert as_needed(found, Topic("leave", id=1, needs=needs), LEAVE).evidence
    cell = as_needed(found, Topic("jury duty leave", id=1, needs=needs), LEAVE)
    assert (cell.evidence, cell.needed, cell.reason) == ((), False, "Not needed for this topic.")
