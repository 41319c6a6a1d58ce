"""The desk of a review over a real library in memory: decide, undo, change topics, change the library, look again."""

from dataclasses import replace
from datetime import datetime, timedelta
from time import perf_counter

import pytest

from core.coverage.service import CoverageService
from core.coverage.topics import merge_topics
from core.domain.coverage import Board, Cell, CellState, GapKind, ReviewerOpinion, ReviewVerdict, Topic
from core.domain.documents import Page, TableRole, Truth
from core.domain.errors import BadRequest, NotFound, Outdated
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.fakes import FakeCoverageBoardStore
from tests.label_edits import store_labels
from tests.search.library import NOW, Library, WordEmbedder, payroll_library

VACATION, ZEBRA = "vacation accrual per month", "zebra husbandry"
COMPLIANCE = GapKind.COMPLIANCE


class Office:
    """A desk, its library and a clock one can turn."""

    def __init__(self, library: Library | None = None) -> None:
        self.library, self.now = library or payroll_library(), NOW
        self.store = FakeCoverageBoardStore()
        stored = self.library
        self.desk = CoverageService(
            store=self.store,
            catalogue=stored.catalogue,
            vectors=stored.vectors,
            sparse=stored.sparse,
            embedder=stored.embedder,
            now=self.tick,
            terms=lambda: BUILT_IN_TERMS,
            timer=perf_counter,
        )
        self.topics = self.desk.add_topics([Topic(VACATION), Topic(ZEBRA)])

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def assess(self, project: str | None = None) -> Board:
        self.desk.runs.carry_out(self.desk.runs.start(project).id)
        return self.board(project)

    def board(self, project: str | None = None) -> Board:
        board = self.desk.board(project)
        assert board is not None
        return board

    def cell(self, name: str = VACATION, project: str | None = None) -> Cell:
        return self.board(project).cell(name, COMPLIANCE)

    def say(
        self, verdict: ReviewVerdict, name: str = VACATION, who: str = "Ada", after: int = 0, **more: object
    ) -> None:
        board = self.board()
        opinion = ReviewerOpinion(verdict, who, after, **more)  # type: ignore[arg-type]
        self.desk.decide(board, board.cell(name, COMPLIANCE), opinion)

    def cited(self) -> int:
        return self.cell().evidence[0].document_id

    def remove(self, document_id: int) -> None:
        self.library.sparse.delete([document_id])
        self.library.vectors.delete([document_id])
        self.library.catalogue.delete(document_id)


@pytest.fixture
def office() -> Office:
    room = Office()
    room.assess()
    return room


def test_without_a_run_there_is_no_board_and_nothing_to_compare() -> None:
    desk = Office().desk
    assert desk.board(None) is None
    with pytest.raises(NotFound):
        desk.changes(None, 1)


def test_a_decision_after_someone_elses_names_them(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED, who="Grace")
    with pytest.raises(Outdated) as refused:
        office.say(ReviewVerdict.NEEDS_WORK, who="Ada", after=0)
    assert "Grace" in str(refused.value) and VACATION in str(refused.value)
    assert "accepted as covered" in str(refused.value)
    assert [each.who for each in office.desk.log(None)] == ["Grace"]
    office.say(ReviewVerdict.NEEDS_WORK, who="Ada", after=1)
    assert [each.number for each in office.desk.log(None)] == [1, 2]


def test_undo_goes_back_one_decision_and_the_log_keeps_all(office: Office) -> None:
    office.say(ReviewVerdict.CONFIRMED, ZEBRA)
    office.say(ReviewVerdict.WAIVED, ZEBRA, after=1, reason="No zebras.", expires=NOW.date() + timedelta(days=30))
    assert office.cell(ZEBRA).state is CellState.WAIVED
    board = office.board()
    cell = board.cell(ZEBRA, COMPLIANCE)
    with pytest.raises(Outdated):
        office.desk.undo(board, cell, "Grace", after=1)
    with pytest.raises(BadRequest, match="name"):
        office.desk.undo(board, cell, " ", after=2)
    office.desk.undo(board, cell, "Grace", after=2)
    assert office.cell(ZEBRA).state is CellState.GAP
    office.desk.undo(office.board(), office.cell(ZEBRA), "Grace", after=3)
    with pytest.raises(BadRequest, match="no decision"):
        office.desk.undo(office.board(), office.cell(ZEBRA), "Grace", after=4)
    assert [d.verdict for d in office.desk.log(None)][2:] == [ReviewVerdict.UNDONE, ReviewVerdict.UNDONE]
    assert office.desk.current_decisions(None) == {}


def test_an_incomplete_decision_is_not_kept(office: Office) -> None:
    with pytest.raises(BadRequest, match="reason"):
        office.say(ReviewVerdict.WAIVED, expires=NOW.date() + timedelta(days=3))
    with pytest.raises(BadRequest, match="no sentence"):
        office.say(ReviewVerdict.ACCEPTED, ZEBRA)
    assert list(office.desk.log(None)) == []


def test_a_waiver_is_over_when_its_day_has_passed(office: Office) -> None:
    office.say(ReviewVerdict.WAIVED, ZEBRA, reason="No zebras.", expires=NOW.date() + timedelta(days=2))
    office.now += timedelta(days=2)
    assert office.cell(ZEBRA).state is CellState.WAIVED
    office.now += timedelta(days=1)
    assert office.cell(ZEBRA).state is CellState.GAP


def test_an_accepted_cell_is_suspect_once_its_document_is_deleted(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    assert office.desk.log(None)[0].pinned == office.cell().evidence
    office.remove(office.cited())
    assert office.cell().state is CellState.SUSPECT
    assert "no longer in the library" in office.cell().reason
    office.assess()
    assert office.cell().state is CellState.SUSPECT
    assert office.desk.queue(office.board())[0].cell.kind is COMPLIANCE


def test_an_accepted_cell_is_suspect_when_a_new_version_says_otherwise(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    office.remove(office.cited())
    office.library.add("handbook.md", "Vacation accrues at three days per month.", truth=Truth.COMPLIANCE)
    assert office.cell().state is CellState.SUSPECT
    assert "says “Vacation accrues at three days per month" in office.cell().reason


def test_an_accepted_cell_is_suspect_when_its_document_is_relabelled(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    stored = office.library.catalogue
    document = stored.document(office.cited())
    moved = [replace(passage, truth=Truth.REFERENCE) for passage in stored.passages_of(document.id)]
    store_labels(stored, document, moved)
    office.library.vectors.update(moved)
    assert office.cell().state is CellState.SUSPECT and "classified as reference" in office.cell().reason


def test_reading_the_same_bytes_again_leaves_an_acceptance_alone(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    content = office.library.catalogue
    document = content.document(office.cited())
    before = content.passages_of(document.id)
    page = Page(1, content.page(document.id, 1).text)
    content.mark(document.id, step="read")
    assert office.cell().state is CellState.COVERED
    again = [replace(passage, id=0) for passage in before]
    vectors = WordEmbedder().embed([passage.text for passage in again])
    stored = content.save_ingested(document, [page], again, vectors)
    office.library.vectors.delete([document.id])
    office.library.sparse.delete([document.id])
    office.library.vectors.add(stored, vectors)
    office.library.sparse.add(stored)
    assert {p.id for p in stored}.isdisjoint(p.id for p in before)
    assert office.cell().state is CellState.COVERED
    assert office.assess().cell(VACATION, COMPLIANCE).state is CellState.COVERED


def test_a_confirmed_gap_is_suspect_once_evidence_arrives(office: Office) -> None:
    office.say(ReviewVerdict.CONFIRMED, ZEBRA)
    assert office.cell(ZEBRA).state is CellState.GAP
    office.library.add("zoo.md", "Zebra husbandry follows the keeper's plan.", truth=Truth.COMPLIANCE)
    office.assess()
    assert office.cell(ZEBRA).state is CellState.SUSPECT and "zoo.md" in office.cell(ZEBRA).reason


def test_a_renamed_topic_keeps_its_decisions_and_counts_as_no_change(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    first = office.board().run_id
    office.desk.change_topics([replace(office.topics[0], name="vacation days")])
    assert office.cell("vacation days").state is CellState.COVERED
    assert "Ada" in office.cell("vacation days").reason
    with pytest.raises(KeyError):
        office.board().cell(VACATION, COMPLIANCE)
    office.assess()
    reported = office.desk.changes(None, first)
    assert (reported.topics_added, reported.topics_gone) == ((), ())
    assert "Ada" in office.cell("vacation days").reason


def test_a_retired_topic_leaves_the_board(office: Office) -> None:
    office.desk.change_topics([replace(office.topics[1], retired=True)])
    assert [topic.name for topic in office.board().topics] == [VACATION]
    assert {cell.topic for cell in office.board().cells} == {VACATION}


def test_needs_changed_after_the_run_blank_the_cell_even_when_accepted(office: Office) -> None:
    office.say(ReviewVerdict.ACCEPTED)
    [less] = office.desk.change_topics([replace(office.topics[0], needs=(Truth.REGULATORY,))])
    assert office.cell().state is CellState.NOT_ASSESSED and "Not needed" in office.cell().reason
    office.assess()
    assert office.cell().state is CellState.NOT_ASSESSED
    office.desk.change_topics([replace(less, needs=tuple(Truth))])
    assert "assess again" in office.cell().reason
    office.assess()
    assert office.cell().state is CellState.COVERED and "Ada" in office.cell().reason


def test_two_who_change_one_topic_do_not_overwrite_each_other(office: Office) -> None:
    office.desk.change_topics([replace(office.topics[0], owner="Ada")])
    with pytest.raises(Outdated, match=VACATION):
        office.desk.change_topics([replace(office.topics[0], owner="Grace")])
    assert office.desk.topics(None)[0].owner == "Ada"


def test_a_project_has_its_own_topics_runs_and_decisions(office: Office) -> None:
    office.desk.add_topics([Topic("night shifts", project="north")])
    office.assess("north")
    assert [topic.name for topic in office.desk.topics("north")] == [VACATION, ZEBRA, "night shifts"]
    assert [topic.name for topic in office.desk.topics("south")] == [VACATION, ZEBRA]
    board = office.board("north")
    office.desk.decide(board, board.cell(ZEBRA, COMPLIANCE), ReviewerOpinion(ReviewVerdict.CONFIRMED, "Ada"))
    assert list(office.desk.log(None)) == [] and len(office.desk.log("north")) == 1
    office.say(ReviewVerdict.CONFIRMED, ZEBRA)
    assert office.desk.board("south") is None
    with pytest.raises(NotFound):
        office.desk.board("south", board.run_id)


def test_changes_speak_of_what_the_board_shows() -> None:
    """A set-up row that nothing asks for is not assessed on the board, whatever detection said of it."""
    library = payroll_library()
    library.add("setup.csv", "KEEP7 animal feed at 8.", truth=Truth.REALITY, table_role=TableRole.SETUP)
    office = Office(library)
    first = office.assess().run_id
    office.library.add("zoo.md", "Zebra husbandry follows the keeper's plan.", truth=Truth.COMPLIANCE)
    office.assess()
    values = {(c.topic, c.kind): (c.before, c.after) for c in office.desk.changes(None, first).cells}
    assert values[ZEBRA, COMPLIANCE] == (CellState.GAP, CellState.COVERED)
    assert values[ZEBRA, GapKind.CONFIGURATION] == (CellState.NOT_ASSESSED, CellState.GAP)
    assert len(values) == 2


def test_a_snapshot_can_be_named_looked_at_and_forgotten(office: Office) -> None:
    first = office.board().run_id
    office.say(ReviewVerdict.CONFIRMED, ZEBRA)
    office.desk.name_snapshot(first, "  March   review ")
    assert office.desk.snapshots(None)[0].name == "March review"
    office.desk.delete_snapshot(first)
    assert office.desk.board(None) is None and len(office.desk.log(None)) == 1


def test_conflicts_are_settled_once(office: Office) -> None:
    office.library.add("law.md", "Vacation accrues at least at three days per month.", truth=Truth.REGULATORY)
    board = office.assess()
    [conflict] = office.desk.conflicts(board)
    assert conflict.topic.name == VACATION and conflict.decision is None
    office.desk.settle(board, conflict, ReviewerOpinion(ReviewVerdict.NO_CONFLICT, "Ada"))
    with pytest.raises(Outdated, match="Ada"):
        office.desk.settle(board, conflict, ReviewerOpinion(ReviewVerdict.CONFLICT, "Grace"))
    [again] = office.desk.conflicts(office.board())
    assert again.decision is not None and again.decision.verdict is ReviewVerdict.NO_CONFLICT


def test_decisions_taken_together_are_single_entries_stored_all_or_none(office: Office) -> None:
    board = office.assess()
    cells = [board.cell(ZEBRA, kind) for kind in (GapKind.REGULATORY, GapKind.COMPLIANCE)]
    later = office.now.date() + timedelta(days=30)
    opinion = ReviewerOpinion(ReviewVerdict.WAIVED, "Ada", reason="Out of scope", owner="Zoe", expires=later)
    stored = office.desk.decide_together(board, [(cell, opinion) for cell in cells])
    assert [(each.kind, each.number, each.reason) for each in stored] == [
        ("regulatory", 1, "Out of scope"),
        ("compliance", 1, "Out of scope"),
    ]
    assert office.desk.people(None) == ("Zoe", "Ada")
    with pytest.raises(Outdated, match="Ada has decided"):
        office.desk.decide_together(board, [(board.cell(ZEBRA, GapKind.INTENT), opinion), (cells[0], opinion)])
    assert len(office.desk.log(None)) == 2


def test_a_refusal_of_decisions_taken_together_names_the_topics_it_is_about(office: Office) -> None:
    board = office.assess()
    cells = [board.cell(VACATION, COMPLIANCE), board.cell(ZEBRA, COMPLIANCE)]
    assert cells[0].evidence and not (cells[1].evidence or cells[1].near_misses)
    accepted = ReviewerOpinion(ReviewVerdict.ACCEPTED, "Ada")
    with pytest.raises(BadRequest) as refused:
        office.desk.decide_together(board, [(cell, accepted) for cell in cells])
    assert refused.value.message == f"{ZEBRA}: There is no sentence an acceptance could rest on."
    with pytest.raises(BadRequest) as unnamed:
        office.desk.decide_together(board, [(cell, replace(accepted, who=" ")) for cell in cells[:1] * 2])
    assert unnamed.value.message == "A decision needs the name of who takes it."
    assert office.desk.log(None) == []


def test_undoing_several_decisions_restores_what_was_before_unless_somebody_decided_since(office: Office) -> None:
    board = office.assess()
    cells = [board.cell(ZEBRA, kind) for kind in (GapKind.REGULATORY, GapKind.COMPLIANCE)]
    opinion = ReviewerOpinion(ReviewVerdict.CONFIRMED, "Ada")
    with pytest.raises(BadRequest, match="needs a name"):
        office.desk.undo_together(office.desk.decide_together(board, [(cells[0], opinion)]), " ")
    first = office.desk.log(None)
    second = office.desk.decide_together(board, [(cells[1], opinion)])
    office.desk.decide(board, cells[1], ReviewerOpinion(ReviewVerdict.NEEDS_WORK, "Bob", 1))
    with pytest.raises(Outdated, match="Bob has decided"):
        office.desk.undo_together([*first, *second], "Ada")
    undone = office.desk.undo_together(first, "Ada")
    assert [(each.verdict, each.number, each.topic, each.due) for each in undone] == [
        (ReviewVerdict.UNDONE, 2, ZEBRA, None)
    ]
    assert set(office.desk.current_decisions(None)) == {(cells[1].topic_id, "compliance")}


def test_a_requirement_that_is_a_topic_under_another_name_is_not_proposed_again() -> None:
    library = Library()
    library.add(
        "sow.md",
        "The vendor shall not store helium bottles upright. Ann must feed the zebras daily.",
        truth=Truth.INTENT,
    )
    office = Office(library)
    [first, second] = office.desk.found_requirements(None)
    assert first.name == "The vendor shall not store helium bottles upright."
    office.desk.add_topics([replace(first, name="store helium bottles upright")])
    assert [topic.name for topic in office.desk.found_requirements(None)] == [second.name]


def test_a_merged_topic_keeps_what_was_decided_on_its_parts_until_the_merge_is_undone(office: Office) -> None:
    office.say(ReviewVerdict.CONFIRMED, ZEBRA)
    before = {topic.name: topic for topic in office.desk.topics(None)}
    office.desk.change_topics(merge_topics([before[VACATION], before[ZEBRA]], VACATION), "Ada")
    current, cell = office.desk.current_decisions(None), office.cell(VACATION)
    assert current[before[VACATION].id, "compliance"].verdict is ReviewVerdict.CONFIRMED
    office.desk.undo(office.board(), cell, "Grace", after=0)
    assert (before[VACATION].id, "compliance") not in office.desk.current_decisions(None)
    edit, *_ = office.desk.topic_edits(9)
    office.desk.undo_topic_edit(edit.number, "Ada")
    assert set(office.desk.current_decisions(None)) == {(before[ZEBRA].id, "compliance")}
