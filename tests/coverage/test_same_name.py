"""Two projects have a topic of one name: on the board of the whole library each keeps its own cells and gaps."""

import io
from dataclasses import replace
from datetime import timedelta

import openpyxl
import pypdfium2
import pytest

from core.coverage.board_view import (
    BoardView,
    TopicOrder,
    apply_view,
    board_csv,
    board_rows,
    board_text,
    with_distinct_names,
)
from core.coverage.conflicts import find_conflicts
from core.coverage.gaps import assembled, gaps_of
from core.coverage.meeting_pack.pack import MeetingPack, pack_html
from core.coverage.meeting_pack.pdf import pack_pdf
from core.coverage.meeting_pack.xlsx import pack_xlsx
from core.coverage.review import apply_decisions, queue
from core.coverage.to_obtain import to_obtain
from core.coverage.traceability import trace
from core.domain.coverage import (
    Board,
    Cell,
    CellState,
    CoverageRun,
    Decision,
    Gap,
    GapKind,
    ReviewerOpinion,
    ReviewVerdict,
    RunState,
    Topic,
    TopicOrigin,
)
from core.domain.documents import Truth
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from storage.postgres.json_records import from_json, to_json
from tests.coverage.boards import NOW, board_of, citation
from tests.coverage.test_service import COMPLIANCE, ZEBRA, Office
from tests.search.library import Library

OPEN = Topic("overtime", id=1, project="Acme", owner="Ann", origin=TopicOrigin.REQUIREMENT)
DONE = replace(OPEN, id=2, project="Beta", owner="Bob")
BOARD = board_of({OPEN: "gpccc", DONE: "ccccc"})


def state(board: Board, topic: Topic, kind: GapKind = GapKind.REGULATORY) -> CellState:
    return board.cell(topic, kind).state


def test_a_board_gives_each_topic_its_own_cell() -> None:
    assert (state(BOARD, OPEN), state(BOARD, DONE)) == (CellState.GAP, CellState.COVERED)
    assert [BOARD.topic_of(cell) for cell in BOARD.cells] == [OPEN] * 5 + [DONE] * 5
    assert [gap.kind for cell in BOARD.cells if (gap := BOARD.gap_of(cell))] == [
        GapKind.REGULATORY,
        GapKind.COMPLIANCE,
    ]
    with pytest.raises(KeyError):
        BOARD.cell(replace(OPEN, id=3), GapKind.REGULATORY)


def test_cells_and_gaps_without_a_topic_id_are_found_by_name() -> None:
    plain = board_of({Topic("overtime", id=1): "gcccc", Topic("leave", id=2): "cgccc"})
    old = replace(
        plain,
        cells=tuple(replace(cell, topic_id=0) for cell in plain.cells),
        gaps=tuple(replace(gap, topic_id=0) for gap in plain.gaps),
    )
    for board in (replace(plain, cells=old.cells), replace(plain, gaps=old.gaps), old):
        assert state(board, board.topics[1], COMPLIANCE) is CellState.GAP
        assert board.cell("leave", COMPLIANCE) == board.cell(board.topics[1], COMPLIANCE)
        assert [board.topic_of(gap).name for gap in board.gaps] == ["overtime", "leave"]
        assert board.gap_of(board.cell("leave", COMPLIANCE)) == board.gaps[1]
        assert board.gap_of(board.cell("overtime", COMPLIANCE)) is None


def test_values_stored_before_gaps_had_a_topic_id_still_load() -> None:
    stored = to_json(BOARD.gaps[0])
    del stored["topic_id"]
    assert from_json(Gap, stored) == replace(BOARD.gaps[0], topic_id=0)
    cell = to_json(BOARD.cells[0])
    del cell["topic_id"]
    assert from_json(Cell, cell) == replace(BOARD.cells[0], topic_id=0)


def test_the_view_lights_and_orders_only_the_topic_that_has_the_gap() -> None:
    shown = apply_view(BOARD, BoardView(severities=("high",)), {})
    assert shown.topics == (OPEN,) and shown.lit == {(1, "regulatory"), (1, "compliance")}
    worst = apply_view(board_of({DONE: "ccccc", OPEN: "gpccc"}), BoardView(order=TopicOrder.WORST), {})
    assert worst.topics == (OPEN, DONE)


def test_exports_give_each_row_its_own_state_and_recommendation() -> None:
    assert [row.severity for row in board_rows(BOARD)] == ["high", "high"] + [""] * 8
    first, second = [line for line in board_text(BOARD).splitlines() if line.startswith("overtime ")]
    assert "gap 0.10" in first and "gap" not in second


def test_the_queue_holds_only_the_cells_of_the_topic_that_has_the_gaps() -> None:
    assert [(item.topic, item.cell.topic_id) for item in queue(BOARD, {})] == [(OPEN, 1)] * 2


def test_a_decision_and_its_gap_stay_with_their_topic() -> None:
    decided = {(1, "regulatory"): Decision(1, "regulatory", None, ReviewVerdict.NEEDS_WORK, "Ada", NOW, 1)}
    tasked = apply_decisions(BOARD, decided, {}, NOW.date(), BUILT_IN_TERMS)
    assert {gap.topic_id for gap in tasked.gaps} == {1}
    groups = to_obtain(tasked, decided)
    assert [(group.whom, [each.topic for each in group.items]) for group in groups] == [("Ann", [OPEN, OPEN])]
    assert [each.decision is not None for each in groups[0].items] == [True, False]


def test_a_recommendation_speaks_of_its_own_topics_place_and_rules() -> None:
    rule = Cell("overtime", Truth.COMPLIANCE, CellState.COVERED, 0.9, 0.5, evidence=(citation(),), topic_id=2)
    missing = Cell("overtime", Truth.REALITY, CellState.GAP, 0.0, 0.5, configuration=True, topic_id=1)
    law = Cell("overtime", Truth.REGULATORY, CellState.GAP, 0.0, 0.5, topic_id=1)
    topics = (replace(OPEN, jurisdiction="state:CA"), replace(DONE, jurisdiction="country:DE"))
    run = CoverageRun(1, None, RunState.DONE, topics, 3, NOW, NOW)
    gap = assembled(run, [law, rule], BUILT_IN_TERMS).gaps[0]
    assert "California" in gap.recommendation and gap.topic_id == 1
    assert "Required by" not in gaps_of([missing, rule], BUILT_IN_TERMS)[0].recommendation


def test_requirements_are_traced_with_their_own_cells() -> None:
    assert [row.holes for row in trace(BOARD)] == [(GapKind.REGULATORY, GapKind.COMPLIANCE), ()]


def test_a_conflict_is_found_in_the_evidence_of_its_own_topic() -> None:
    library = Library()
    words = {
        Truth.REGULATORY: "Overtime is paid at least at two times the regular rate.",
        Truth.COMPLIANCE: "Overtime is paid at 1.5 times the regular rate.",
    }
    found = {truth: library.add(f"{truth.value}.md", text, truth=truth)[0] for truth, text in words.items()}
    plain = board_of({DONE: "ccccc", OPEN: "ggggg"})
    cells = [replace(cell, evidence=()) for cell in plain.cells]
    cells[:2] = [replace(cells[n], evidence=(citation(passage_id=each.id),)) for n, each in enumerate(found.values())]
    passages = {each.id: each for each in found.values()}
    documents = library.catalogue.documents_by_id([each.document_id for each in found.values()])
    assert [each.topic for each in find_conflicts(replace(plain, cells=tuple(cells)), passages, documents)] == [DONE]


def test_the_pack_draws_each_topic_with_its_own_cells_owner_and_decision() -> None:
    decision = Decision(1, "regulatory", None, ReviewVerdict.CONFIRMED, "Ada", NOW, 1, topic="overtime")
    run = CoverageRun(1, None, RunState.DONE, BOARD.topics, 10, NOW, NOW)
    pack = MeetingPack(BOARD, run, (decision,), (), (), trace(BOARD), None, NOW)
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    assert [book["Matrix"].cell(row, 4).value for row in (2, 3)] == ["✕ gap 0.10", "✓ covered 0.90"]
    listed = [tuple(tile.value for tile in row) for row in book["To obtain"].iter_rows(min_row=2)]
    assert [(row[4], row[6] or "") for row in listed] == [("Ann", "gap confirmed"), ("Ann", "")]
    matrix, _, rest = pack_html(pack).partition("<h2>What to obtain")
    assert matrix.count("✕ gap 0.10") == 1 and matrix.count("◐ partial 0.40") == 1
    assert rest.partition("<h2>Decisions")[0].count("gap confirmed") == 1
    with pypdfium2.PdfDocument(pack_pdf(pack)) as pdf:
        cover = pdf[0].get_textpage().get_text_bounded()
    assert cover.count("✕ gap 0.10") == 1 and "Ann" in cover and "Bob" not in cover


def test_names_that_occur_twice_carry_their_project_for_display() -> None:
    board = board_of(
        {OPEN: "gpccc", replace(DONE, project=None, name="Overtime"): "ccccc", Topic("leave", id=3): "ccccc"}
    )
    named = with_distinct_names(board)
    assert [topic.name for topic in named.topics] == ["overtime (Acme)", "Overtime (all projects)", "leave"]
    assert {cell.topic for cell in named.cells} == {topic.name for topic in named.topics}
    assert [gap.topic for gap in named.gaps] == ["overtime (Acme)"] * 2
    assert [named.cell(topic.name, GapKind.REGULATORY).topic_id for topic in named.topics] == [1, 2, 3]
    assert "overtime (Acme)" in board_csv(named)
    alone = board_of({OPEN: "gpccc"})
    assert with_distinct_names(alone) is alone


def test_a_decision_on_one_row_is_stored_on_its_own_topic() -> None:
    office = Office()
    [north] = office.desk.add_topics([Topic(ZEBRA, project="north", owner="Nora")])
    board, shared = office.assess(), office.topics[1]
    until = office.now.date() + timedelta(days=30)
    opinion = ReviewerOpinion(ReviewVerdict.WAIVED, "Ada", reason="No zebras.", expires=until)
    stored = office.desk.decide(board, board.cell(shared, COMPLIANCE), opinion)
    assert stored.topic_id == shared.id
    after = office.board()
    assert state(after, shared, COMPLIANCE) is CellState.WAIVED
    assert state(after, north, COMPLIANCE) is CellState.GAP
