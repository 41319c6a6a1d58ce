"""What one snapshot says otherwise than another, and a board added up."""

from dataclasses import replace

from core.coverage.board_view import NO_DOMAIN, by_domain, by_kind
from core.coverage.runs import changes
from core.domain.coverage import Board, BoardChanges, Cell, CellState, CoverageRun, GapKind, RunState, Topic
from core.domain.documents import Truth
from tests.coverage.boards import NOW, board_of

ONE, TWO = Topic("fire drills", id=1, domain="safety"), Topic("key handover", id=2)


def run_of(number: int, *topics: Topic, coverage: float | None = None) -> CoverageRun:
    return CoverageRun(number, None, RunState.DONE, topics, 5, NOW, NOW, coverage=coverage)


def changed(before: str, after: str) -> BoardChanges:
    old, new = board_of({ONE: before}), board_of({ONE: after})
    return changes(run_of(1, ONE, coverage=0.4), old.cells, run_of(2, ONE, coverage=0.6), new.cells)


def test_the_same_board_has_no_changes() -> None:
    assert changed("cpgne", "cpgne").cells == ()


def test_losses_come_before_gains_and_name_the_sentence() -> None:
    found = changed("cgccc", "gcccc")
    assert [(c.kind, c.before, c.after) for c in found.cells] == [
        (GapKind.REGULATORY, CellState.COVERED, CellState.GAP),
        (GapKind.COMPLIANCE, CellState.GAP, CellState.COVERED),
    ]
    assert found.cells[0].why == "No longer there: “fire drills under regulatory.” (policy.pdf)."
    assert found.cells[1].why == "New evidence: “fire drills under compliance.” (policy.pdf)."
    assert (found.coverage_before, found.coverage_after) == (0.4, 0.6)


def test_a_failed_search_is_told_as_one_not_as_a_loss() -> None:
    def failed(board: Board) -> list[Cell]:
        return [replace(c, error="The index did not answer.") if c.state is CellState.ERROR else c for c in board.cells]

    fine, broken = board_of({ONE: "ccccc"}), board_of({ONE: "ecccc"})
    down = changes(run_of(1, ONE), fine.cells, run_of(2, ONE), failed(broken)).cells
    up = changes(run_of(1, ONE), failed(broken), run_of(2, ONE), fine.cells).cells
    assert [c.why for c in down] == ["The index did not answer."]
    assert [c.why for c in up] == ["The search had failed before."]


def test_another_threshold_is_named_when_the_evidence_is_the_same() -> None:
    cells = board_of({ONE: "gcccc"}).cells
    moved = [replace(cells[0], state=CellState.PARTIAL), *cells[1:]]
    assert "threshold" in changes(run_of(1, ONE), cells, run_of(2, ONE), moved).cells[0].why


def test_a_renamed_topic_is_the_same_and_new_and_gone_ones_are_named() -> None:
    named = replace(ONE, name="fire and smoke drills")
    old, new = board_of({ONE: "ccccc"}), board_of({named: "ccccc", TWO: "ggggg"})
    found = changes(run_of(1, ONE), old.cells, run_of(2, named, TWO), new.cells)
    assert (found.cells, found.topics_added, found.topics_gone) == ((), ("key handover",), ())
    back = changes(run_of(2, named, TWO), new.cells, run_of(1, ONE), old.cells)
    assert (back.cells, back.topics_added, back.topics_gone) == ((), (), ("key handover",))


def test_shares_count_what_was_assessed_and_leave_failures_out() -> None:
    board = board_of({ONE: "cgpne", TWO: "cwsnc"})
    shares = {share.name: share for share in by_kind(board)}
    assert [shares[truth].coverage for truth in Truth] == [1.0, 0.0, 0.0, None, 1.0]
    assert (shares["reality"].covered, shares["reality"].assessed) == (1, 1)


def test_domains_come_worst_first_and_topics_without_one_last() -> None:
    other = Topic("badges", id=3, domain="access")
    board = board_of({TWO: "ggggg", ONE: "ccccg", other: "cgggg"})
    assert [share.name for share in by_domain(board)] == ["access", "safety", NO_DOMAIN]
    assert [share.coverage for share in by_domain(board)] == [0.2, 0.8, 0.0]
    assert [share.name for share in by_domain(board_of({ONE: "nnnnn", other: "ccccc"}))] == ["access", "safety"]
