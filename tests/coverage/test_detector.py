"""The board over a real searcher and real stores in memory."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import exp
from time import perf_counter
from typing import NoReturn

import pytest

from core.coverage.detection.detector import Detector, assess, cell_request
from core.domain.coverage import Board, CellState, GapKind, Topic
from core.domain.documents import Document, DocumentState, TableRole, Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.int8_vectors import packed
from core.knowledge.answerability import topic_model
from core.knowledge.gaps import evidence_row, gap_table
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import PassageIds, Vectors
from tests.fakes import FakeCatalogue, FakeVectorIndex
from tests.label_edits import store_labels
from tests.search.library import NOW, Library, WordEmbedder, payroll_library

PROFILE = profiles()["balanced"]


def detector_of(library: Library) -> Detector:
    return Detector(library.catalogue, library.vectors, library.sparse, library.embedder)


def board(library: Library, *topics: str, project: str | None = None) -> Board:
    return assess(
        detector_of(library),
        [Topic(name) for name in topics],
        project=project,
        now=NOW,
        profile=PROFILE,
        terms=BUILT_IN_TERMS,
        timer=perf_counter,
    )


def states(found: Board) -> set[CellState]:
    """The states of the five truths' cells."""
    return {cell.state for cell in found.cells if not cell.configuration}


def with_setup_table(library: Library) -> Library:
    """The library with a set-up table of three codes, its document 6 or 7."""
    library.add(
        "setup.csv",
        "code: OT1; description: Overtime at 1.5 of the regular rate; active: Y",
        "code: REG; description: Regular pay; active: Y",
        "code: JURY; description: Jury duty; active: N",
        truth=Truth.REALITY,
        table_role=TableRole.SETUP,
    )
    return library


def test_without_a_setup_table_nothing_is_said_of_the_configuration() -> None:
    cell = board(payroll_library(), "overtime rate").cell("overtime rate", GapKind.CONFIGURATION)
    assert (cell.state, cell.reason) == (CellState.NOT_ASSESSED, "No set-up table is in the library.")


def test_what_is_required_and_has_no_setup_row_is_a_configuration_gap() -> None:
    library = with_setup_table(payroll_library())
    found = board(library, "overtime configured for three locations", "vacation accrual per month", "zebra husbandry")
    assert found.cell("zebra husbandry", GapKind.CONFIGURATION).reason.startswith(
        "No regulation, policy or requirement"
    )
    missing = found.cell("vacation accrual per month", GapKind.CONFIGURATION)
    assert missing.state is CellState.GAP
    (gap,) = [gap for gap in found.gaps if gap.configuration and gap.topic == "vacation accrual per month"]
    assert gap.severity == "medium"
    assert "Required by “Vacation accrues at two days per month.” (handbook.md)" in gap.recommendation
    assert found.coverage == sum(
        cell.state is CellState.COVERED for cell in found.cells if not cell.configuration
    ) / len([cell for cell in found.cells if not cell.configuration])


def test_a_setup_row_covers_what_is_required_and_is_cited_by_itself() -> None:
    library = payroll_library()
    library.add("law.pdf", "Overtime at 1.5 of the regular rate is required.", truth=Truth.REGULATORY)
    topic = "overtime of the regular rate"
    assert board(library, topic).cell(topic, GapKind.CONFIGURATION).state is CellState.NOT_ASSESSED
    cell = board(with_setup_table(library), topic).cell(topic, GapKind.CONFIGURATION)
    assert cell.state is CellState.COVERED
    assert cell.evidence[0].quote == "code: OT1; description: Overtime at 1.5 of the regular rate; active: Y"
    assert cell.request is not None and cell.request.filters.documents == (7,)


def test_a_missing_row_says_which_setup_tables_were_looked_through() -> None:
    library = with_setup_table(payroll_library())
    library.add(
        "plans.csv", "plan: DEN; description: Dental insurance", truth=Truth.REALITY, table_role=TableRole.SETUP
    )
    missing = board(library, "vacation accrual per month").cell("vacation accrual per month", GapKind.CONFIGURATION)
    assert missing.state is CellState.GAP
    assert missing.reason.endswith(". Looked through plans.csv, setup.csv.")
    library.add("law.pdf", "Overtime at 1.5 of the regular rate is required.", truth=Truth.REGULATORY)
    covered = board(library, "overtime of the regular rate").cell("overtime of the regular rate", GapKind.CONFIGURATION)
    assert covered.state is CellState.COVERED
    assert "Looked through" not in covered.reason


def test_of_many_setup_tables_the_first_five_are_named() -> None:
    library = payroll_library()
    for n in range(1, 8):
        library.add(f"t{n}.csv", f"code: C{n}; description: Zebra{n}", truth=Truth.REALITY, table_role=TableRole.SETUP)
    found = board(library, "vacation accrual per month")
    reason = found.cell("vacation accrual per month", GapKind.CONFIGURATION).reason
    assert reason.endswith(" Looked through t1.csv, t2.csv, t3.csv, t4.csv, t5.csv and 2 more.")
    assert all("Looked through" not in cell.reason for cell in found.cells if not cell.configuration)


def test_records_are_no_setup_rows() -> None:
    library = payroll_library()
    library.add("law.pdf", "Overtime at 1.5 of the regular rate is required.", truth=Truth.REGULATORY)
    library.add(
        "plans.csv", "plan: DEN; description: Dental insurance", truth=Truth.REALITY, table_role=TableRole.SETUP
    )
    found = board(library, "overtime of the regular rate")
    assert found.cell("overtime of the regular rate", GapKind.REALITY).state is CellState.COVERED
    assert found.cell("overtime of the regular rate", GapKind.CONFIGURATION).state is CellState.GAP


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


def test_a_score_is_the_probability_that_its_reason_adds_up_to() -> None:
    cell = board(payroll_library(), "deposit of withheld income taxes").cell(
        "deposit of withheld income taxes", Truth.REGULATORY
    )
    parts = [float(each) for each in re.findall(r"(?:similarity|sentence|words) (\d\.\d\d)", cell.reason)]
    assert len(parts) == 3
    model = topic_model()
    told = 1 / (1 + exp(-(model.intercept + model.evidence * sum(parts) / 3)))
    assert cell.evidence_score == pytest.approx(told, abs=0.02)


def test_the_weighed_passages_of_a_truth_hold_what_is_below_the_floor() -> None:
    library = payroll_library()
    unrelated = Topic("pesticide applicator certification")
    (weighed,) = detector_of(library).weighed([unrelated], GapKind.REGULATORY, now=NOW, profile=PROFILE)
    assert weighed and 0 < weighed[0].score < gap_table().evidence.floor
    assert [item.score for item in weighed] == sorted((item.score for item in weighed), reverse=True)
    cell = board(library, unrelated.name).cell(unrelated.name, Truth.REGULATORY)
    assert (cell.evidence_score, cell.near_misses) == (0.0, ())
    assert cell.reason.startswith("Probably no regulatory passage is about it. The closest scores 0.0")


def test_the_floor_never_exceeds_the_partial_threshold_of_a_profile() -> None:
    assert evidence_row(replace(PROFILE, partial=0.02)).floor == 0.02
    assert evidence_row(PROFILE).floor == gap_table().evidence.floor


def test_half_a_search_is_no_evidence_to_fit_to() -> None:
    library = payroll_library()
    library.sparse.search_many = _broken  # type: ignore[method-assign]
    with pytest.raises(StoreFailed):
        detector_of(library).weighed([Topic("overtime rate")], GapKind.REALITY, now=NOW, profile=PROFILE)


def _broken(*_: object) -> NoReturn:
    raise StoreFailed("The index is gone.", "Wait.")


def test_other_documents_do_not_change_a_score() -> None:
    library = payroll_library()
    before = board(library, "vacation accrual per month").cell("vacation accrual per month", Truth.COMPLIANCE)
    for number in range(5):
        library.add(f"{number}.md", f"Vacation of the {number}th month is a word here.", truth=Truth.REALITY)
    after = board(library, "vacation accrual per month").cell("vacation accrual per month", Truth.COMPLIANCE)
    assert after.evidence_score == before.evidence_score > 0.5


class _OtherWords(WordEmbedder):
    """Knows that time off is vacation."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed([text.replace("time off", "vacation") for text in texts])


def test_a_truth_that_says_it_in_other_words_covers_the_topic_and_its_nearest_sentence_is_cited() -> None:
    library, topic = Library(_OtherWords()), "time off"
    (stored,) = library.add("rules.md", "Lunch. Vacation.", truth=Truth.COMPLIANCE)
    sentences = library.embedder.embed([span.of(stored.text) for span in stored.sentences])
    library.catalogue.replace_meanings({stored.id: packed(sentences).tobytes()})
    cell = board(library, topic).cell(topic, Truth.COMPLIANCE)
    assert cell.reason.endswith("similarity 0.71, best sentence 1.00, words 0.00.")
    assert cell.state is CellState.COVERED and cell.evidence[0].quote == "Vacation."


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
    assert cell.request == cell_request("overtime rate", Truth.REALITY, None, PROFILE)
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
    store_labels(library.catalogue, replace(library.catalogue.document(1), project="north"), passages)
    library.vectors.update(passages)
    assert {cell.state for cell in board(library, "overtime", project="south").cells} == {CellState.NOT_ASSESSED}
    assert board(library, "overtime", project="north").cell("overtime", Truth.COMPLIANCE).state is CellState.COVERED
    library.add("b.md", "Lunch is short.", truth=Truth.COMPLIANCE)
    assert states(board(library, "overtime", project="south")) == {CellState.GAP}


def test_a_library_that_is_still_being_read_is_not_assessed() -> None:
    library = Library()
    library.catalogue.add_document(Document(0, "a.md", "0" * 64, 1, DocumentState.PENDING, NOW))
    assert {cell.state for cell in board(library, "overtime").cells} == {CellState.NOT_ASSESSED}


def test_a_truth_the_topic_does_not_need_is_not_assessed() -> None:
    found = assess(
        detector_of(payroll_library()),
        [Topic("overtime", needs=(Truth.INTENT,))],
        now=NOW,
        profile=PROFILE,
        terms=BUILT_IN_TERMS,
        timer=perf_counter,
    )
    assert [cell.state for cell in found.cells if cell.truth is not Truth.INTENT] == [CellState.NOT_ASSESSED] * 5
    assert found.coverage == 1.0


class FailingVectors(FakeVectorIndex):
    """Dense search that fails for one truth."""

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        if Truth.REGULATORY in filters.truths:
            raise StoreFailed("The vector index did not answer.")
        return super().blocks(filters)


class FailingCatalogue(FakeCatalogue):
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
    class Down(FakeCatalogue):
        def count_documents(self, state: DocumentState | None = None, project: str | None = None) -> int:
            raise StoreFailed("The database did not answer.", "Start it.")

    library = payroll_library()
    library.catalogue.__class__ = Down
    found = board(library, "overtime")
    assert {(cell.state, cell.error) for cell in found.cells} == {
        (CellState.ERROR, "The database did not answer. Start it.")
    }
    assert found.gaps == ()


def test_no_document_is_read_but_those_that_are_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    library = payroll_library()
    monkeypatch.setattr(library.catalogue, "documents", None)
    found = board(library, "overtime")
    assert not any(cell.error for cell in found.cells) and found.coverage


def test_a_model_that_is_gone_is_an_error() -> None:
    assert states(board(payroll_library(WordEmbedder(broken=True)), "pesticides")) == {CellState.ERROR}


def test_progress_counts_every_cell_and_topics_are_embedded_in_one_batch() -> None:
    library, seen = payroll_library(), []
    topics = [Topic("overtime"), Topic("vacation")]
    assess(
        detector_of(library),
        topics,
        now=NOW,
        profile=PROFILE,
        on_cell=lambda d, t: seen.append((d, t)),
        terms=BUILT_IN_TERMS,
        timer=perf_counter,
    )
    assert seen == [(12, 12)]
    assert library.embedder.batches == 1


def test_the_same_library_gives_the_same_board() -> None:
    library = payroll_library()
    first, second = board(library, "overtime rate"), board(library, "overtime rate")
    assert first.cells == second.cells
    assert first.taken_at == datetime(2026, 1, 15, 12, tzinfo=NOW.tzinfo)


def test_a_board_needs_a_topic() -> None:
    with pytest.raises(BadRequest, match="no topic"):
        board(payroll_library())
