"""Decisions on a board's edges: undo chains, the last day of a waiver, what nobody judged, all a refusal tells."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.coverage.review import apply_decisions, check_decision, current_decisions, decisions_about, queue
from core.coverage.topics import merge_topics
from core.domain.coverage import Cell, CellState, Decision, GapKind, ReviewVerdict, Topic
from core.domain.errors import BadRequest
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import NOW, board_of

TODAY = NOW.date()
ONE, TWO = Topic("fire drills", id=1), Topic("key handover", id=2)


def decision(
    verdict: ReviewVerdict, number: int = 1, topic_id: int = 1, kind: str = "compliance", **options: object
) -> Decision:
    values = {"id": topic_id * 100 + number} | options
    return Decision(topic_id, kind, None, verdict, "Ada", NOW, number, **values)  # type: ignore[arg-type]


def cell_under(letters: str, verdict: Decision, broken: dict[int, str] | None = None) -> Cell:
    board = apply_decisions(
        board_of({ONE: letters}), current_decisions([verdict]), broken or {}, TODAY, terms=BUILT_IN_TERMS
    )
    return board.cell(ONE.name, GapKind.COMPLIANCE)


def test_each_undone_takes_back_one_decision() -> None:
    log = [decision(ReviewVerdict.CONFIRMED, 1), decision(ReviewVerdict.ACCEPTED, 2), decision(ReviewVerdict.UNDONE, 3)]
    assert current_decisions(log)[1, "compliance"].verdict is ReviewVerdict.CONFIRMED
    log.append(decision(ReviewVerdict.UNDONE, 4))
    assert current_decisions(log) == {}
    log.append(decision(ReviewVerdict.UNDONE, 5))
    assert current_decisions(log) == {}
    log.append(decision(ReviewVerdict.NEEDS_WORK, 6))
    assert current_decisions(log)[1, "compliance"].number == 6


def test_undoing_one_cell_leaves_the_others() -> None:
    log = [
        decision(ReviewVerdict.ACCEPTED, topic_id=1),
        decision(ReviewVerdict.ACCEPTED, topic_id=2),
        decision(ReviewVerdict.CONFIRMED, kind="reality"),
        decision(ReviewVerdict.UNDONE, 2, topic_id=1),
    ]
    assert set(current_decisions(log)) == {(2, "compliance"), (1, "reality")}


def test_a_waiver_is_open_again_the_day_after_its_last() -> None:
    stored = current_decisions([decision(ReviewVerdict.WAIVED, expires=TODAY, reason="Later.")])
    plain = board_of({ONE: "cgccc"})
    now, later = (
        apply_decisions(plain, stored, {}, TODAY + timedelta(days=days), terms=BUILT_IN_TERMS) for days in (0, 1)
    )
    assert [(item.cell.state, item.decision is None) for item in queue(now, stored)] == [(CellState.WAIVED, False)]
    assert [(item.cell.state, item.decision is None) for item in queue(later, stored)] == [(CellState.GAP, True)]
    assert f"expired on {TODAY}" in later.cell(ONE.name, GapKind.COMPLIANCE).reason
    assert now.gaps == () and len(later.gaps) == 1


def test_a_gap_confirmed_over_evidence_that_was_shown_stays_a_gap() -> None:
    shown = cell_under("ccccc", decision(ReviewVerdict.CONFIRMED, state=CellState.COVERED))
    later = cell_under("ccccc", decision(ReviewVerdict.CONFIRMED, state=CellState.GAP))
    assert (shown.state, shown.detected) == (CellState.GAP, CellState.COVERED)
    assert later.state is CellState.SUSPECT
    assert "since then" not in shown.reason and "since then" in later.reason


def test_a_merged_topic_has_the_decisions_on_its_parts_where_it_has_none_itself() -> None:
    merged, *_ = merge_topics([ONE, TWO, replace(TWO, id=3)], "fire drills")
    log = [
        decision(ReviewVerdict.ACCEPTED, topic_id=1),
        decision(ReviewVerdict.CONFIRMED, topic_id=2),
        decision(ReviewVerdict.NEEDS_WORK, topic_id=2, kind="reality"),
        decision(ReviewVerdict.CONFIRMED, topic_id=3, kind="reality"),
        decision(ReviewVerdict.ACCEPTED, topic_id=2, kind="intent"),
        decision(ReviewVerdict.UNDONE, 2, topic_id=2, kind="intent"),
    ]
    current = current_decisions(log, [merged])
    of_merged = {kind: each.id for (topic_id, kind), each in current.items() if topic_id == 1}
    assert of_merged == {"compliance": 101, "reality": 301}
    reality = board_of({merged: "ccccc"}).cell(merged, GapKind.REALITY)
    assert [each.topic_id for each in decisions_about(reality, merged, log)] == [2, 3]


def test_a_decision_on_a_part_is_undone_or_replaced_under_the_merged_topic() -> None:
    merged, _ = merge_topics([ONE, TWO], "fire drills")
    part = decision(ReviewVerdict.CONFIRMED, topic_id=2)
    undone = decision(ReviewVerdict.UNDONE, topic_id=1)
    assert (1, "compliance") not in current_decisions([part, undone], [merged])
    other = decision(ReviewVerdict.NEEDS_WORK, topic_id=1)
    assert current_decisions([part, other], [merged])[1, "compliance"] == other
    assert (1, "compliance") not in current_decisions([part], [ONE, TWO])  # as it is after the merge was undone


@pytest.mark.parametrize(("name", "state"), [("key handover", CellState.COVERED), ("fire drills", CellState.SUSPECT)])
def test_what_settles_a_part_settles_the_merged_topic_only_if_it_is_about_the_same(name: str, state: CellState) -> None:
    merged, _ = merge_topics([ONE, TWO], name)
    log = [decision(ReviewVerdict.ACCEPTED, topic_id=2, topic="key handover")]
    board = apply_decisions(board_of({merged: "cgccc"}), current_decisions(log, [merged]), {}, TODAY, BUILT_IN_TERMS)
    cell = board.cell(merged, GapKind.COMPLIANCE)
    assert cell.state is state
    assert state is CellState.COVERED or "for “key handover”; merged since." in cell.reason


@pytest.mark.parametrize(
    "verdict", [ReviewVerdict.ACCEPTED, ReviewVerdict.CONFIRMED, ReviewVerdict.WAIVED, ReviewVerdict.NEEDS_WORK]
)
@pytest.mark.parametrize("letters", ["ceccc", "cnccc"])
def test_what_was_not_judged_stays_so_whatever_was_decided(verdict: ReviewVerdict, letters: str) -> None:
    decided = decision(verdict, expires=TODAY, reason="Later.")
    plain = board_of({ONE: letters}).cell(ONE.name, GapKind.COMPLIANCE)
    assert cell_under(letters, decided) == plain
    assert cell_under(letters, decided, {decided.id: "gone"}) == plain


def test_of_gaps_of_one_severity_the_one_furthest_below_comes_first() -> None:
    items = queue(board_of({ONE: "cpccc", TWO: "cgccc"}), {})
    assert [item.topic.id for item in items] == [2, 1]


def test_a_refusal_tells_everything_that_is_missing_at_once() -> None:
    cell = replace(board_of({ONE: "cgccc"}).cell(ONE.name, GapKind.COMPLIANCE))
    with pytest.raises(BadRequest) as refused:
        check_decision(ReviewVerdict.WAIVED, " ", "", None, TODAY - timedelta(days=1), cell, TODAY)
    assert refused.value.message == (
        "A decision needs the name of who takes it. A waiver needs a reason. "
        "A waiver needs a day after today on which it ends. The due date 2026-01-14 has passed."
    )
