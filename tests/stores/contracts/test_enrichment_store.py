"""What every core.library.enrichment.store.EnrichmentStore does."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from core.domain.documents import Evidence, EvidenceSource
from core.domain.errors import NotFound
from core.library.enrichment.store import EnrichmentStore
from core.library.enrichment.values import (
    Citations,
    Dates,
    DocumentDate,
    DocumentType,
    EnrichmentEdit,
    Keywords,
    LegalCitation,
    Operation,
    OperationOutcome,
    Question,
    Questions,
    QuotedSpan,
    Result,
    Summary,
)
from core.ner.legal_citations import CitationKind
from core.ports.catalogue import Catalogue
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.enrichments import SqlEnrichmentStore
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeEnrichmentStore
from tests.stores.contracts.usage import NOWHERE
from tests.stores.libraries import document

AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
SAID = QuotedSpan("Größe – 残業 'quoted'; --", 3, 7, 29, 42, 0)
RESULTS: dict[Operation, Result] = {
    Operation.SUMMARY: Summary((SAID, replace(SAID, page=1))),
    Operation.KEYWORDS: Keywords(("Überstunden", "W-2")),
    Operation.QUESTIONS: Questions((Question("Wann?", SAID),)),
    Operation.DOCUMENT_TYPE: DocumentType(
        "policy", (Evidence("q", EvidenceSource.NAME, "policy", 1.5, "r"),), "report"
    ),
    Operation.CITATIONS: Citations((LegalCitation("45 F.3d 67", CitationKind.CASE, 2, SAID, "A v. B"),)),
    Operation.DATES: Dates((DocumentDate("2024-03", "due", SAID),)),
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """A store, and the catalogue its documents are in."""

    store: EnrichmentStore
    catalogue: Catalogue
    new: Callable[[str], int]


@pytest.fixture(params=["memory", "postgres"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    """An empty store of each kind."""
    if request.param == "memory":
        memory = FakeCatalogue()
        store: EnrichmentStore = FakeEnrichmentStore(memory)
        catalogue: Catalogue = memory
    else:
        database = new_tenant(request.getfixturevalue("engine"))
        catalogue, store = SqlCatalogue(database), SqlEnrichmentStore(database)
    return Shelf(store, catalogue, lambda name: catalogue.add_document(document(name)).id)


def outcome(document_id: int, operation: Operation, **values: object) -> OperationOutcome:
    return replace(OperationOutcome(document_id, operation, 1, 42, AT, RESULTS[operation]), **values)  # type: ignore[arg-type]


def test_outcomes_are_read_back_exactly_and_in_the_order_of_operations(shelf: Shelf) -> None:
    first, second = shelf.new("a"), shelf.new("b")
    reported = [outcome(first, operation) for operation in Operation]
    failed = outcome(second, Operation.DATES, result=None, problem="It broke – ж", hint="Try again.")
    shelf.store.save([*reversed(reported), failed])
    assert shelf.store.outcomes([first, second]) == {first: reported, second: [failed]}
    assert list(shelf.store.outcomes([first])[first]) == reported
    assert shelf.store.outcomes([NOWHERE]) == {} == shelf.store.outcomes([])


def test_some_operations_are_read_alone(shelf: Shelf) -> None:
    first = shelf.new("a")
    shelf.store.save([outcome(first, operation) for operation in Operation])
    expected = (Operation.DATES, Operation.KEYWORDS)
    assert [each.operation for each in shelf.store.outcomes([first], expected)[first]] == [
        Operation.KEYWORDS,
        Operation.DATES,
    ]


def test_a_later_outcome_replaces_the_one_before_also_a_result_by_a_failure(shelf: Shelf) -> None:
    first = shelf.new("a")
    shelf.store.save([outcome(first, Operation.KEYWORDS)])
    later = outcome(first, Operation.KEYWORDS, version=2, reading=50, result=None, problem="No model.")
    shelf.store.save([later])
    assert shelf.store.outcomes([first]) == {first: [later]}
    assert list(shelf.store.all_outcomes()) == [later]


def test_all_outcomes_come_by_document_and_operation_without_results(shelf: Shelf) -> None:
    first, second = shelf.new("a"), shelf.new("b")
    shelf.store.save(
        [outcome(second, Operation.SUMMARY), outcome(first, Operation.DATES), outcome(first, Operation.SUMMARY)]
    )
    reported = [(each.document_id, each.operation, each.result) for each in shelf.store.all_outcomes()]
    assert reported == [
        (first, Operation.SUMMARY, None),
        (first, Operation.DATES, None),
        (second, Operation.SUMMARY, None),
    ]


def test_outcomes_of_a_deleted_document_are_dropped_and_an_edit_of_it_is_refused(shelf: Shelf) -> None:
    first = shelf.new("a")
    shelf.catalogue.delete(first)
    shelf.store.save([outcome(first, Operation.KEYWORDS), outcome(NOWHERE, Operation.KEYWORDS)])
    assert shelf.store.outcomes([first, NOWHERE]) == {}
    with pytest.raises(NotFound, match=str(first)):
        shelf.store.save_edit(EnrichmentEdit(first, Operation.KEYWORDS, "Ann", AT))


def test_edits_are_kept_one_per_operation_and_outlive_forgotten_outcomes(shelf: Shelf) -> None:
    first = shelf.new("a")
    words = EnrichmentEdit(first, Operation.KEYWORDS, "Ann ж", AT, ("Überstunden",), ("pay", "W-2"))
    text = EnrichmentEdit(first, Operation.SUMMARY, "", AT, value="Neu – ganz 'neu'; --")
    shelf.store.save([outcome(first, Operation.KEYWORDS)])
    for edit in (text, replace(words, added=()), words):
        shelf.store.save_edit(edit)
    shelf.store.forget([first])
    assert shelf.store.outcomes([first]) == {}
    assert shelf.store.edits([first, NOWHERE]) == {first: [text, words]}


def test_an_edit_can_be_reset_and_goes_with_what_is_deleted(shelf: Shelf) -> None:
    first, second = shelf.new("a"), shelf.new("b")
    for document_id in (first, second):
        shelf.store.save_edit(EnrichmentEdit(document_id, Operation.SUMMARY, "Ann", AT, value="x"))
        shelf.store.save_edit(EnrichmentEdit(document_id, Operation.KEYWORDS, "Ann", AT, ("y",)))
    shelf.store.reset(first, Operation.SUMMARY)
    shelf.store.reset(first, Operation.DATES)
    assert [each.operation for each in shelf.store.edits([first])[first]] == [Operation.KEYWORDS]
    shelf.store.save([outcome(second, Operation.DATES)])
    shelf.store.delete([second])
    assert shelf.store.edits([second]) == {} == shelf.store.outcomes([second])
