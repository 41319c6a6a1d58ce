"""Decisions over detection: which holds, what has changed since, what a meeting looks at first."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from core.coverage.review import apply_decisions, check_decision, current_decisions, queue
from core.domain.coverage import Board, CellState, Decision, GapKind, ReviewVerdict, Risk, RiskKind, Topic
from core.domain.documents import Truth
from core.domain.errors import BadRequest
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import NOW, board_of, citation

LEAVE, PAY = Topic("sick leave", id=1), Topic("overtime pay", id=2)
TODAY = NOW.date()


def decision(verdict: ReviewVerdict, number: int = 1, **values: object) -> Decision:
    return replace(Decision(1, "regulatory", None, verdict, "Ann", NOW, number, id=number), **values)


def under(board: Board, *log: Decision, broken: dict[int, str] | None = None, today: date = TODAY) -> Board:
    return apply_decisions(board, current_decisions(log), broken or {}, today, terms=BUILT_IN_TERMS)


def test_the_latest_decision_holds_and_undoing_goes_back_one_by_one() -> None:
    first, second = decision(ReviewVerdict.CONFIRMED, 1), decision(ReviewVerdict.NEEDS_WORK, 2)
    undone = [decision(ReviewVerdict.UNDONE, 3), decision(ReviewVerdict.UNDONE, 4), decision(ReviewVerdict.UNDONE, 5)]
    about = (1, "regulatory")
    assert current_decisions([first, second])[about] is second
    assert current_decisions([first, second, undone[0]])[about] is first
    assert current_decisions([first, second, *undone[:2]]) == {}
    last = decision(ReviewVerdict.ACCEPTED, 6)
    assert current_decisions([first, second, *undone, last])[about] is last


def test_an_accepted_cell_is_covered_and_no_gap_any_more() -> None:
    before = board_of({LEAVE: "pgccc"})
    after = under(before, decision(ReviewVerdict.ACCEPTED))
    cell = after.cell("sick leave", Truth.REGULATORY)
    assert (cell.state, cell.detected) == (CellState.COVERED, CellState.PARTIAL)
    assert "Accepted as covered by Ann, 2026-01-15" in cell.reason
    assert [gap.kind for gap in after.gaps] == [GapKind.COMPLIANCE]
    assert (before.coverage, after.coverage) == (0.6, 0.8)


def test_an_acceptance_whose_sentence_changed_is_suspect_and_says_which() -> None:
    after = under(board_of({LEAVE: "ccccc"}), decision(ReviewVerdict.ACCEPTED), broken={1: "“Old.” (a.pdf) is gone."})
    cell = after.cell("sick leave", Truth.REGULATORY)
    assert cell.state is CellState.SUSPECT
    assert "“Old.” (a.pdf) is gone." in cell.reason
    assert after.coverage == 0.8


def test_a_waiver_holds_until_its_day_has_passed() -> None:
    waiver = decision(ReviewVerdict.WAIVED, reason="Out of scope", expires=TODAY + timedelta(1))
    board = board_of({LEAVE: "gcccc"})
    stored = under(board, waiver)
    assert stored.cell("sick leave", Truth.REGULATORY).state is CellState.WAIVED
    assert stored.gaps == ()
    assert under(board, waiver, today=TODAY + timedelta(1)).gaps == ()
    late = under(board, waiver, today=TODAY + timedelta(2))
    assert late.cell("sick leave", Truth.REGULATORY).state is CellState.GAP
    assert "expired" in late.cell("sick leave", Truth.REGULATORY).reason
    assert [item.decision for item in queue(late, current_decisions([waiver]))] == [None]


def test_a_confirmed_gap_stays_and_is_suspect_once_evidence_appears() -> None:
    confirmed = decision(ReviewVerdict.CONFIRMED)
    assert under(board_of({LEAVE: "gcccc"}), confirmed).cell("sick leave", Truth.REGULATORY).state is CellState.GAP
    found = under(board_of({LEAVE: "ccccc"}), confirmed).cell("sick leave", Truth.REGULATORY)
    assert found.state is CellState.SUSPECT
    assert "sick leave under regulatory." in found.reason


def test_a_failed_search_stays_an_error_whatever_was_decided() -> None:
    for verdict in (ReviewVerdict.ACCEPTED, ReviewVerdict.WAIVED, ReviewVerdict.CONFIRMED):
        after = under(board_of({LEAVE: "ecccc"}), decision(verdict, expires=TODAY + timedelta(9)))
        assert after.cell("sick leave", Truth.REGULATORY).state is CellState.ERROR


def test_needs_work_changes_no_state() -> None:
    board = board_of({LEAVE: "gcccc"})
    after = under(board, decision(ReviewVerdict.NEEDS_WORK))
    assert (after.cells, after.coverage) == (board.cells, board.coverage)
    assert [gap.kind for gap in after.gaps] == [gap.kind for gap in board.gaps]


def test_the_queue_has_the_worst_first_and_what_is_settled_carries_its_decision() -> None:
    board = board_of({LEAVE: "ecgps", PAY: "cgccc"})
    doubtful = [
        replace(cell, risks=(Risk(RiskKind.OUT_OF_DATE, "old"),))
        if cell.topic_id == 2 and cell.truth == "intent"
        else cell
        for cell in board.cells
    ]
    items = queue(
        replace(board, cells=tuple(doubtful)), {(2, "compliance"): decision(ReviewVerdict.CONFIRMED, topic_id=2)}
    )
    assert [(item.cell.state.value, item.cell.truth.value) for item in items] == [
        ("suspect", "reality"),
        ("gap", "compliance"),
        ("gap", "intent"),
        ("partial", "reference"),
        ("covered", "intent"),
        ("error", "regulatory"),
    ]
    assert [item.decision is not None for item in items] == [False, True, False, False, False, False]


@pytest.mark.parametrize(
    ("verdict", "values", "problem"),
    [
        (ReviewVerdict.CONFIRMED, {"who": " "}, "name"),
        (ReviewVerdict.WAIVED, {"reason": "", "expires": TODAY + timedelta(1)}, "reason"),
        (ReviewVerdict.WAIVED, {"reason": "x", "expires": None}, "day after today"),
        (ReviewVerdict.WAIVED, {"reason": "x", "expires": TODAY}, "day after today"),
        (ReviewVerdict.NEEDS_WORK, {"due": TODAY - timedelta(1)}, "has passed"),
        (ReviewVerdict.ACCEPTED, {"letter": "g"}, "no sentence"),
        (ReviewVerdict.CONFIRMED, {"letter": "e"}, "nothing to judge"),
        (ReviewVerdict.CONFIRMED, {"letter": "n"}, "nothing to judge"),
    ],
)
def test_what_a_decision_lacks_is_told(verdict: ReviewVerdict, values: dict, problem: str) -> None:
    fields = {"who": "Ann", "reason": "", "expires": None, "due": None, "letter": "c"} | values
    cell = board_of({LEAVE: fields["letter"] + "cccc"}).cell("sick leave", Truth.REGULATORY)
    with pytest.raises(BadRequest, match=problem):
        check_decision(verdict, fields["who"], fields["reason"], fields["expires"], fields["due"], cell, TODAY)


def test_a_sound_decision_passes() -> None:
    cell = replace(board_of({LEAVE: "pcccc"}).cells[0], near_misses=(citation(),))
    check_decision(ReviewVerdict.ACCEPTED, "Ann", "", None, TODAY, cell, TODAY)
