"""A note is no evidence: it says what an analyst thinks, never what is required, agreed, recommended or so."""

from time import perf_counter

from bootstrap.environment import utc_now
from core.answers.service import AnswerService
from core.coverage.service import CoverageService
from core.domain.coverage import CellState, Topic
from core.domain.documents import Origin, Truth
from core.domain.filters import SearchFilters
from core.knowledge.profiles import BUILT_IN
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.table_qa.service import TableService
from tests.database import ScratchTableStore
from tests.fakes import FakeCoverageBoardStore
from tests.insights.office import Office

TOPIC = "zebra stripe deposits"
NOTE = "Zebra stripe deposits are required by law, agreed in the contract and set by our policy: zebra stripe deposits."


def office_with_notes() -> Office:
    office = Office()
    office.desk.save(NOTE)
    office.desk.finish_episode(TOPIC, reward=1, reflection=NOTE)
    return office


def test_a_topic_only_notes_speak_of_is_a_gap_everywhere() -> None:
    office = office_with_notes()
    stored = office.library
    desk = CoverageService(
        store=FakeCoverageBoardStore(),
        catalogue=stored.catalogue,
        vectors=stored.vectors,
        sparse=stored.sparse,
        embedder=stored.embedder,
        now=office.tick,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    desk.add_topics([Topic(TOPIC)])
    desk.runs.carry_out(desk.runs.start(None).id)
    board = desk.board(None)
    assert board is not None
    assessed = [cell for cell in board.cells if cell.state is not CellState.NOT_ASSESSED]
    assert {cell.state for cell in assessed} == {CellState.GAP}
    cited = [each for cell in board.cells for each in (*cell.evidence, *cell.near_misses)]
    notes = {each.id for each in stored.catalogue.documents(origin=None) if each.origin is not Origin.DOCUMENT}
    assert len(notes) == 2
    assert not notes & {each.document_id for each in cited}


def test_the_five_truths_are_silent_on_what_only_notes_say() -> None:
    office = office_with_notes()
    reality = TableService(ScratchTableStore(), office.library.catalogue, now=utc_now)
    desk = AnswerService(
        pipeline=office.library.searcher,
        catalogue=office.library.catalogue,
        profiles=BUILT_IN,
        figures=reality.figures,
        writer=None,
        terms=lambda: BUILT_IN_TERMS,
        now=office.tick,
    )
    answer = desk.ask(TOPIC, filters=SearchFilters(), profile="balanced")
    assert [each.truth for each in answer.truths] == list(Truth)
    assert not [citation for each in answer.truths for citation in each.citations]
    assert not answer.answered


def test_a_note_is_found_by_a_search_and_by_no_search_that_asks_for_a_truth() -> None:
    office = office_with_notes()
    notes = {each.id for each in office.library.catalogue.documents(origin=None) if each.origin is not Origin.DOCUMENT}
    assert notes <= office.found(TOPIC)
    for truth in Truth:
        assert not notes & office.found(TOPIC, truths=(truth.value,))
