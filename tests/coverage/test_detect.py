"""The board over a real searcher and real stores in memory."""

from dataclasses import replace
from datetime import datetime

import pytest

from core.boards import Board, CellState
from core.coverage.detect import assess, cell_request
from core.documents import Document, DocumentState, Truth
from core.errors import BadRequest, StoreFailed
from core.filters import SearchFilters
from core.results import LegHits
from storage.memory import MemoryCatalogue, MemoryVectorIndex
from tests.search.library import NOW, Library, WordEmbedder, payroll_library


def board(library: Library, *topics: str, project: str | None = None) -> Board:
    return assess(library.searcher, library.catalogue, topics, project=project, now=NOW)


def test_a_topic_is_covered_where_a_passage_speaks_of_it_and_a_gap_elsewhere() -> None:
    found = board(payroll_library(), "deposit of withheld income taxes")
    assert found.cell("deposit of withheld income taxes", Truth.REGULATORY).state is CellState.COVERED
    assert {cell.truth for cell in found.cells if cell.state is CellState.GAP} == set(Truth) - {Truth.REGULATORY}
    assert found.coverage == 0.2
    assert [gap.truth for gap in found.gaps if gap.severity == "high"] == [Truth.COMPLIANCE]


def test_an_unrelated_topic_is_covered_nowhere() -> None:
    found = board(payroll_library(), "pesticide applicator certification")
    assert found.coverage == 0.0
    assert {cell.evidence_score for cell in found.cells} == {0.0}
    assert len(found.gaps) == 5


def test_evidence_is_quoted_from_its_page() -> None:
    library = payroll_library()
    cell = board(library, "vacation accrual per month").cell("vacation accrual per month", Truth.COMPLIANCE)
    (best, *_) = cell.evidence
    page = library.catalogue.page(best.document_id, best.page_number)
    assert best.quote == page.text[best.start : best.end]
    assert best.quote.startswith("Vacation accrues")
    assert cell.margin == cell.evidence_score - 0.5


def test_the_request_of_a_cell_reproduces_it() -> None:
    library = payroll_library()
    cell = board(library, "overtime rate").cell("overtime rate", Truth.REALITY)
    assert cell.request == cell_request("overtime rate", Truth.REALITY, None)
    assert cell.request is not None
    again = library.searcher.search(cell.request, NOW)
    assert cell.evidence[0].passage_id in {candidate.passage.id for candidate in again.candidates}
    assert {candidate.passage.truth for candidate in again.candidates} == {Truth.REALITY}


def test_an_empty_library_is_not_assessed() -> None:
    found = board(Library(), "overtime")
    assert {cell.state for cell in found.cells} == {CellState.NOT_ASSESSED}
    assert found.coverage is None
    assert found.gaps == ()


def test_a_project_without_documents_is_not_assessed_and_shared_ones_count() -> None:
    library = Library()
    library.add("a.md", "Overtime is paid.", truth=Truth.COMPLIANCE)
    passages = [replace(passage, project="north") for passage in library.catalogue.passages_of(1)]
    library.catalogue.save_labels(replace(library.catalogue.document(1), project="north"), passages)
    library.vectors.update(passages)
    assert {cell.state for cell in board(library, "overtime", project="south").cells} == {CellState.NOT_ASSESSED}
    assert board(library, "overtime", project="north").cell("overtime", Truth.COMPLIANCE).state is CellState.COVERED
    library.add("b.md", "Lunch is short.", truth=Truth.COMPLIANCE)
    assert {cell.state for cell in board(library, "overtime", project="south").cells} == {CellState.GAP}


def test_a_library_that_is_still_being_read_is_not_assessed() -> None:
    library = Library()
    library.catalogue.add_document(Document(0, "a.md", "0" * 64, 1, DocumentState.PENDING, NOW))
    assert {cell.state for cell in board(library, "overtime").cells} == {CellState.NOT_ASSESSED}


def test_a_truth_nobody_asked_for_is_not_assessed() -> None:
    library = payroll_library()
    found = assess(library.searcher, library.catalogue, ["overtime"], now=NOW, truths=[Truth.INTENT])
    assert [cell.state for cell in found.cells if cell.truth is not Truth.INTENT] == [CellState.NOT_ASSESSED] * 4
    assert found.coverage == 1.0


class FailingVectors(MemoryVectorIndex):
    """Dense search that fails for one truth."""

    def search(self, vector: object, filters: SearchFilters, top_k: int) -> LegHits:  # type: ignore[override]
        if Truth.REGULATORY in filters.truths:
            raise StoreFailed("The vector index did not answer.")
        return super().search(vector, filters, top_k)  # type: ignore[arg-type]


class FailingCatalogue(MemoryCatalogue):
    """A catalogue that fails when a truth is looked up."""

    def admissible(self, filters: SearchFilters) -> object:  # type: ignore[override]
        if Truth.REGULATORY in filters.truths:
            raise StoreFailed("The database did not answer.")
        return super().admissible(filters)


def failing_library(*, both_legs: bool) -> Library:
    """The payroll library on stores that fail for regulatory passages: the dense leg, or both."""
    library = payroll_library()
    library.vectors.__class__ = FailingVectors
    if both_legs:
        library.catalogue.__class__ = FailingCatalogue
    return library


@pytest.mark.parametrize("both_legs", [False, True])
def test_a_failed_search_is_an_error_and_never_a_gap(both_legs: bool) -> None:
    found = board(failing_library(both_legs=both_legs), "vacation", "pesticides")
    failed = [cell for cell in found.cells if cell.truth is Truth.REGULATORY]
    assert [cell.state for cell in failed] == [CellState.ERROR, CellState.ERROR]
    assert all("did not answer" in cell.error for cell in failed)
    assert Truth.REGULATORY not in {gap.truth for gap in found.gaps}
    assert found.cell("vacation", Truth.COMPLIANCE).state is CellState.COVERED
    assert found.coverage == 1 / 8


def test_a_catalogue_that_fails_leaves_only_errors() -> None:
    class Down(MemoryCatalogue):
        def documents(self, *, archived: bool | None = False) -> list[Document]:
            raise StoreFailed("The database did not answer.", "Start it.")

    library = payroll_library()
    library.catalogue.__class__ = Down
    found = board(library, "overtime")
    assert {(cell.state, cell.error) for cell in found.cells} == {
        (CellState.ERROR, "The database did not answer. Start it.")
    }
    assert found.gaps == ()


def test_a_model_that_is_gone_is_an_error() -> None:
    found = board(payroll_library(WordEmbedder(broken=True)), "pesticides")
    assert {cell.state for cell in found.cells} == {CellState.ERROR}


def test_progress_counts_every_cell_and_topics_are_embedded_in_one_batch() -> None:
    library, seen = payroll_library(), []
    assess(
        library.searcher, library.catalogue, ["overtime", "vacation"], now=NOW, on_cell=lambda d, t: seen.append((d, t))
    )
    assert seen == [(done, 10) for done in range(1, 11)]
    assert library.embedder.batches == 1


def test_the_same_library_gives_the_same_board() -> None:
    library = payroll_library()
    first, second = board(library, "overtime rate"), board(library, "overtime rate")
    assert first.cells == second.cells
    assert first.taken_at == datetime(2026, 1, 15, 12, tzinfo=NOW.tzinfo)


def test_a_board_needs_a_topic() -> None:
    with pytest.raises(BadRequest, match="no topic"):
        board(payroll_library())
