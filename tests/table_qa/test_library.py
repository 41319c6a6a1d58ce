"""Tables from upload to deletion: versions, roles and rows among everything else in the library."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from core.coverage.detection.detector import Detector, assess
from core.domain.coverage import Cell, CellState, GapKind, Topic
from core.domain.documents import DocumentState, TableRole, Truth
from core.domain.errors import ModelUnavailable
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Hit
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.citations.cite import CitationStyle, written
from tests.search.library import WordEmbedder
from tests.table_qa.domains import EMPLOYEES, LEAVE_REQUESTS, TODAY
from tests.workbench import Stores, built

PROFILE = profiles()["balanced"]

LAW = "# Overtime act\n\nAn employer shall pay overtime at one and one-half times the regular rate of pay.\n"
CODES = "code,description\nREG,Regular pay\nOT15,Overtime at one and one-half\nHOL,Paid holiday\n"
LATER = (
    EMPLOYEES.replace("2020-02-20,52000", "2020-02-20,61000")
    + "E113,Quentin,Zabriskie,M,LEG,Paralegal,NY,2026-02-02,64000,0,active,E111,N,\n"
)


class House:
    """A workbench over stores in memory. `jobs.run` reads what is uploaded; `embedder.broken` takes its model away."""

    def __init__(self, data_folder: Path) -> None:
        self.embedder = WordEmbedder()
        stored = Stores(self.embedder)
        self.jobs, self.stores = stored.jobs, stored.searched
        self.bench = built(stored, data_folder, lambda: TODAY)

    def add(self, name: str, text: str) -> int:
        """Upload a text and let it be read; gives its document id."""
        return self.bench.documents.upload(name, text.encode()).document_id

    def search(self, question: str, **narrowed: Any) -> Sequence[Hit]:
        """What a search finds, narrowed by filters."""
        return self.bench.search.run(SearchRequest(question, filters=SearchFilters(**narrowed))).hits

    def names(self, question: str, **narrowed: Any) -> set[str]:
        """The documents a search finds."""
        return {hit.citations[0].document_name for hit in self.search(question, **narrowed)}

    def configuration(self, topic: str) -> Cell:
        """A topic's cell in the column of what is configured."""
        detector = Detector(**self.stores, embedder=self.embedder)
        return assess(
            detector, [Topic(topic)], now=TODAY, profile=PROFILE, terms=BUILT_IN_TERMS, timer=perf_counter
        ).cell(topic, GapKind.CONFIGURATION)

    def roles(self, document_id: int) -> set[TableRole | None]:
        """What the passages that hold rows say of their table."""
        return {each.table_role for each in self.bench.documents.passages(document_id) if each.rows is not None}


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.add("overtime_act.md", LAW)
    house.add("leave_requests.csv", LEAVE_REQUESTS)
    return house


# Versions


def test_a_changed_table_of_the_same_name_is_its_next_version_and_the_older_document_is_archived(house: House) -> None:
    older, newer = house.add("employees.csv", EMPLOYEES), house.add("employees.csv", LATER)
    assert house.bench.tables.table("employees").version == 2
    assert house.bench.documents.get(older).archived and not house.bench.documents.get(newer).archived
    assert house.bench.documents.original(older) == EMPLOYEES.encode()
    found = [hit.candidate.passage.document_id for hit in house.search("Operator Eli Poe")]
    assert found[0] == newer and older not in found
    stored = house.search("Operator Eli Poe", archived=True)
    assert {hit.candidate.passage.document_id for hit in stored} == {older}
    diff = house.bench.tables.diff(*house.bench.tables.versions("employees"))
    assert (diff.by, diff.added, diff.removed, diff.changed) == ("employee_id", 1, 0, 1)
    assert house.bench.tables.ask("how many employees").headline == "13"


def test_when_the_newer_one_is_deleted_the_older_one_is_back(house: House) -> None:
    older, newer = house.add("employees.csv", EMPLOYEES), house.add("employees.csv", LATER)
    assert house.names("Zabriskie Paralegal") >= {"employees.csv"}
    house.bench.documents.delete(newer)
    assert not house.bench.documents.get(older).archived
    assert house.bench.tables.table("employees").version == 1
    assert house.bench.tables.ask("how many employees").headline == "12"
    found = [hit.candidate.passage.document_id for hit in house.search("Operator Eli Poe")]
    assert found[0] == older and newer not in found
    assert not any("Zabriskie" in hit.candidate.passage.text for hit in house.search("Zabriskie Paralegal"))


def test_the_first_file_uploaded_again_is_the_newest_version_once_more(house: House) -> None:
    house.add("employees.csv", EMPLOYEES)
    house.add("employees.csv", LATER)
    again = house.bench.documents.upload("employees.csv", EMPLOYEES.encode())
    assert again.duplicate_of == ""
    assert house.bench.tables.table("employees").version == 3
    assert house.bench.tables.ask("how many employees").headline == "12"
    assert house.bench.documents.upload("employees.csv", EMPLOYEES.encode()).duplicate_of == "employees.csv"


def test_a_version_that_cannot_be_read_replaces_nothing(house: House) -> None:
    older = house.add("employees.csv", EMPLOYEES)
    bad = house.bench.documents.upload("employees.csv", b"\x00\x01\x02\xff\xfe" * 400)
    assert house.bench.documents.get(bad.document_id).state is DocumentState.FAILED
    assert not house.bench.documents.get(older).archived
    assert house.bench.tables.ask("how many employees").headline == "12"


def test_a_file_of_another_name_or_project_replaces_nothing(house: House) -> None:
    first = house.add("employees.csv", EMPLOYEES)
    house.add("employees_of_2027.csv", LATER)
    house.bench.documents.upload("employees.csv", LATER.encode(), project="north")
    assert not house.bench.documents.get(first).archived
    assert [table.name for table in house.bench.tables.tables()][:3] == [
        "employees",
        "employees_2",
        "employees_of_2027",
    ]


def test_a_table_can_be_asked_although_its_text_could_not_be_embedded(house: House) -> None:
    house.embedder.broken = True
    with pytest.raises(ModelUnavailable):
        house.add("employees.csv", EMPLOYEES)
    (waiting,) = [each for each in house.bench.documents.list() if each.name == "employees.csv"]
    assert waiting.state is DocumentState.PENDING
    assert house.bench.tables.ask("how many employees").headline == "12"
    house.embedder.broken = False
    assert "employees.csv" not in house.names("Operator Eli Poe")
    house.bench.documents.retry(waiting.id)
    assert house.bench.documents.get(waiting.id).state is DocumentState.READY
    assert "employees.csv" in house.names("Operator Eli Poe")
    assert house.bench.tables.table("employees").version == 1


# Roles


def test_a_table_that_is_no_setup_any_more_configures_nothing(house: House) -> None:
    codes = house.add("codes.csv", CODES)
    assert house.roles(codes) == {TableRole.SETUP}
    assert house.configuration("overtime at one and one-half").state is CellState.COVERED
    house.bench.documents.set_table_role("codes", TableRole.RECORDS)
    assert house.roles(codes) == {None}
    cell = house.configuration("overtime at one and one-half")
    assert (cell.state, cell.reason) == (CellState.NOT_ASSESSED, "No set-up table is in the library.")


def test_a_role_set_by_hand_reaches_the_passages_of_this_and_the_next_version(house: House) -> None:
    (requests,) = [each.id for each in house.bench.documents.list() if each.name == "leave_requests.csv"]
    assert house.roles(requests) == {None}
    house.bench.documents.correct(requests, "truth", "reality")  # which the small model of these tests may not see
    house.bench.documents.set_table_role("leave_requests", TableRole.SETUP)
    assert house.roles(requests) == {TableRole.SETUP}
    assert house.configuration("sick").state is not CellState.COVERED
    assert "Looked through leave_requests.csv." in house.configuration("overtime regular rate").reason
    newer = house.add("leave_requests.csv", LEAVE_REQUESTS + "9009,E101,overtime,2024-09-01,1,1\n")
    assert house.roles(newer) == {TableRole.SETUP}


# Rows among documents


def test_rows_are_found_by_search_and_cited_by_their_numbers(house: House) -> None:
    house.add("employees.csv", EMPLOYEES)
    best = house.search("Plant Manager Dee Orr")[0]
    citation = best.citations[0]
    assert written(citation, CitationStyle.BRIEF) == "[employees.csv, rows 1–5]"
    page = house.bench.documents.page(citation.document_id, citation.page_number)
    assert citation.quote == page.text[citation.start : citation.end]
    assert best.candidate.passage.truth is Truth.REALITY
    assert {factor.name for factor in best.score.factors} >= {"similarity", "keyword"}
    assert 0 < best.score.total <= 1


@pytest.mark.parametrize(
    ("narrowed", "names"),
    [
        ({}, {"overtime_act.md", "codes.csv"}),
        ({"truths": (Truth.REALITY,)}, {"codes.csv"}),
        ({"truths": (Truth.REGULATORY,)}, {"overtime_act.md"}),
        ({"exclude_truths": (Truth.REALITY,)}, {"overtime_act.md"}),
        ({"projects": ("south",)}, {"overtime_act.md", "codes.csv"}),
        ({"archived": True}, set()),
    ],
)
def test_filters_hold_for_rows_as_for_any_passage(house: House, narrowed: dict[str, Any], names: set[str]) -> None:
    house.add("codes.csv", CODES)
    found = house.names("overtime at one and one-half", **narrowed)
    assert found - {"leave_requests.csv"} == names  # the nearest passages are always listed, also those of other tables
