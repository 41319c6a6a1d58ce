"""Files that were not read when a board was assessed are counted beside its gaps."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from api.mcp.library_results import CoverageResult
from core.coverage.board_view import waiting_in_words
from core.coverage.detection.risks import RiskReader
from core.coverage.meeting_pack.pack import pack_data
from core.coverage.unread_files import unread_files_data, unread_files_in_words
from core.domain.coverage import Cell, CellState, CoverageRun, RunState, Topic
from core.domain.documents import Document, DocumentState, Page, Passage, Truth
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import board_of
from tests.coverage.test_service import VACATION, ZEBRA, Office
from tests.search.library import NOW, WordEmbedder

HOLE = Cell(ZEBRA, Truth.COMPLIANCE, CellState.GAP, 0.0, 0.5, topic_id=1)


def upload(office: Office, name: str, at: datetime, project: str | None = None) -> Document:
    """A file that waits to be read."""
    waiting = Document(0, name, name.ljust(64, "0"), 10, DocumentState.PENDING, at, project=project)
    return office.library.catalogue.add_document(waiting)


def read(office: Office, document: Document, text: str) -> None:
    """The file is read: it has one passage."""
    passage = Passage(text, 1, 0, len(text), (), truth=Truth.COMPLIANCE, document_id=document.id)
    ready = replace(document, state=DocumentState.READY, passages=1, pages=1)
    vectors = WordEmbedder().embed([text])
    stored = office.library.catalogue.save_ingested(ready, [Page(1, text)], [passage], vectors)
    office.library.vectors.add(stored, vectors)
    office.library.sparse.add(stored)


def test_files_not_read_when_the_board_was_assessed_are_counted_as_of_then() -> None:
    office = Office()
    first, second = (upload(office, name, NOW) for name in ("zoo.md", "gate.md"))
    board = office.assess()
    assert board.waiting == 2
    assert waiting_in_words(board) == "2 files were not read yet when this was assessed and may fill a gap."
    read(office, first, "Zebra husbandry follows the keeper's plan.")
    upload(office, "later.md", office.now + timedelta(seconds=1))
    assert office.board().waiting == 2, "what was read or came since changes nothing about that assessment"
    office.library.catalogue.delete(second.id)
    office.now += timedelta(minutes=1)
    board = office.assess()
    assert waiting_in_words(board) == "1 file was not read yet when this was assessed and may fill a gap."


def test_files_of_other_projects_and_files_read_before_are_not_counted() -> None:
    office = Office()
    upload(office, "south.md", NOW, project="south")
    upload(office, "north.md", NOW, project="north")
    assert office.assess("north").waiting == 1
    known = office.library.catalogue.documents()[0]
    assert known.passages == 0
    read_before = next(each for each in office.library.catalogue.documents() if each.passages)
    office.library.catalogue.mark(read_before.id, step="read")
    assert office.board("north").waiting == 1, "a file that is read again was read when the board was assessed"


def test_without_a_gap_or_a_waiting_file_there_is_no_hint() -> None:
    office = Office()
    assert waiting_in_words(office.assess()) == ""
    covered = replace(HOLE, state=CellState.COVERED)
    run = CoverageRun(1, None, RunState.DONE, (), 1, NOW, NOW, configuration_hash="ab")
    document = Document(7, "zoo.md", "0" * 64, 10, DocumentState.PENDING, NOW)
    reader = RiskReader([document], NOW, BUILT_IN_TERMS)
    assert (reader.waiting([covered], run), reader.waiting([HOLE], run)) == (0, 1)
    failed = replace(document, state=DocumentState.FAILED)
    assert RiskReader([failed], NOW, BUILT_IN_TERMS).waiting([HOLE], run) == 0, "failed files are named instead"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "As of now, 1 file is not read yet and may fill a gap."),
        (1200, "As of now, 1,200 files are not read yet and may fill a gap."),
    ],
)
def test_of_a_run_stored_without_its_documents_the_count_is_of_now_and_says_so(number: int, words: str) -> None:
    run = CoverageRun(1, None, RunState.DONE, (), 1, NOW, NOW)
    later = Document(7, "zoo.md", "0" * 64, 10, DocumentState.PENDING, NOW + timedelta(days=1))
    reader = RiskReader([later, replace(later, state=DocumentState.READY, passages=3)], NOW, BUILT_IN_TERMS)
    assert reader.waiting([HOLE], run) == 1
    assert waiting_in_words(replace(board_of({Topic(VACATION, id=1): "ggggg"}), waiting=number)) == words


def test_topics_assessed_at_once_tell_what_is_not_read_now() -> None:
    office = Office()
    failed = upload(office, "scan.pdf", NOW)
    office.library.catalogue.fail(failed.id, step="read", reason="It is encrypted.", remedy="Remove the password.")
    upload(office, "zoo.md", office.now)
    upload(office, "south.md", office.now, project="south")
    board = office.desk.glance([Topic(ZEBRA)], "north")
    assert (board.unread, board.waiting) == (("scan.pdf",), 1)
    words = "1 document could not be read in full and may fill a gap: scan.pdf. As of now, 1 file is not read yet and"
    assert unread_files_in_words(board).startswith(words)


def test_every_answer_for_programs_says_what_was_not_read() -> None:
    office = Office()
    upload(office, "zoo.md", NOW)
    board = replace(office.assess(), unread=("scan.pdf",))
    data = unread_files_data(board)
    assert data == {"unread": ["scan.pdf"], "waiting": 1, "not_read": unread_files_in_words(board)}
    assert data["not_read"].endswith(waiting_in_words(board))
    pack = pack_data(office.desk.pack(board))["board"]
    found = CoverageResult.of(board, only_gaps=False).model_dump()
    assert [{key: each[key] for key in data} for each in (pack, found)] == [data, data]


def test_the_meeting_pack_says_what_was_not_read() -> None:
    office = Office()
    upload(office, "zoo.md", NOW)
    board = office.assess()
    facts = dict(office.desk.pack(board).facts)
    assert facts["Not read"] == "1 file was not read yet when this was assessed and may fill a gap."
    pack = office.desk.pack(replace(board, unread=("scan.pdf",)))
    assert dict(pack.facts)["Not read"] == (
        "1 document could not be read in full and may fill a gap: scan.pdf."
        " 1 file was not read yet when this was assessed and may fill a gap."
    )
