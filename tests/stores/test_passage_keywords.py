"""Keywords drawn from a document, or written by hand, stand with its stored passages, where scoring reads them."""

from dataclasses import replace

import pytest

from bootstrap.environment import utc_now
from core.domain.documents import Page
from core.library.enrichment.service import EnrichmentService
from core.library.enrichment.values import Operation
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from storage.postgres.enrichments import SqlEnrichmentStore
from tests.enrich.reading import POLICY, document_of, passages_of
from tests.fakes import InlineJobs
from tests.search.library import WordEmbedder


@pytest.fixture
def catalogue(database: Database) -> SqlCatalogue:
    return SqlCatalogue(database, lambda: "words")


@pytest.fixture
def enrichment(database: Database, catalogue: SqlCatalogue) -> EnrichmentService:
    return EnrichmentService(
        store=SqlEnrichmentStore(database), catalogue=catalogue, embedder=WordEmbedder(), jobs=InlineJobs(), now=utc_now
    )


@pytest.fixture
def document_id(catalogue: SqlCatalogue) -> int:
    """A stored document of several passages without keywords."""
    return save(catalogue, catalogue.add_document(document_of()).id)


def save(catalogue: SqlCatalogue, document_id: int) -> int:
    passages = passages_of(POLICY)
    described = replace(document_of(), id=document_id)
    vectors = WordEmbedder().embed([each.text for each in passages])
    catalogue.save_ingested(described, [Page(1, POLICY)], passages, vectors)
    return document_id


def stored(catalogue: SqlCatalogue, document_id: int) -> set[tuple[str, ...]]:
    """The keywords of the passages: one element when all have the same."""
    return {passage.keywords for passage in catalogue.passages_of(document_id)}


def test_the_passages_have_the_keywords_of_their_document(
    catalogue: SqlCatalogue, enrichment: EnrichmentService, document_id: int
) -> None:
    assert stored(catalogue, document_id) == {()} and len(catalogue.passages_of(document_id)) > 1
    enrichment.enrich(document_id)
    found = enrichment.of(document_id).keywords.words
    assert found and stored(catalogue, document_id) == {found}


def test_they_follow_an_edit_and_its_reset(
    catalogue: SqlCatalogue, enrichment: EnrichmentService, document_id: int
) -> None:
    enrichment.enrich(document_id)
    found = enrichment.of(document_id).keywords.words
    enrichment.edits.set_keywords(document_id, ["harbour rules", found[1]], "Ann")
    assert stored(catalogue, document_id) == {(found[1], "harbour rules")}
    enrichment.enrich(document_id, again=True)
    assert stored(catalogue, document_id) == {(found[1], "harbour rules")}
    enrichment.edits.set_keywords(document_id, found, "Ann")
    assert stored(catalogue, document_id) == {found}
    enrichment.edits.set_keywords(document_id, [], "Ann")
    assert stored(catalogue, document_id) == {()}
    enrichment.edits.reset(document_id, Operation.KEYWORDS)
    assert stored(catalogue, document_id) == {found}


def test_a_document_read_again_has_them_after_the_next_run(
    catalogue: SqlCatalogue, enrichment: EnrichmentService, document_id: int
) -> None:
    enrichment.enrich(document_id)
    found = enrichment.of(document_id).keywords.words
    save(catalogue, document_id)
    assert stored(catalogue, document_id) == {()}
    enrichment.enrich(document_id)
    assert stored(catalogue, document_id) == {found}


def test_a_job_that_ended_before_it_wrote_them_writes_them_when_it_runs_again(
    catalogue: SqlCatalogue, enrichment: EnrichmentService, document_id: int
) -> None:
    enrichment.enrich(document_id)
    found = enrichment.of(document_id).keywords.words
    catalogue.save_keywords(document_id, ())
    assert enrichment.enrich(document_id) == ()
    assert stored(catalogue, document_id) == {found}


def test_keywords_of_a_deleted_document_are_dropped(catalogue: SqlCatalogue, document_id: int) -> None:
    catalogue.delete(document_id)
    catalogue.save_keywords(document_id, ["leave"])
    assert stored(catalogue, document_id) == set()
