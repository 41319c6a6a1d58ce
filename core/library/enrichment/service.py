"""Enriches the documents of one tenant, by a job each or in batches, and applies manual edits."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from core.domain.documents import Document, Page, Passage
from core.domain.entities import EntityType
from core.domain.errors import FivefoldError, NotFound
from core.domain.results import Citation
from core.library.enrichment.document_reader import DocumentText, reading_of
from core.library.enrichment.operations import (
    OPERATIONS,
    EnrichmentReport,
    EnrichmentStatistics,
    OperationRow,
    counted,
    is_current,
)
from core.library.enrichment.store import Enrichment, EnrichmentEdits, EnrichmentStore
from core.library.enrichment.values import Operation, OperationOutcome, QuotedSpan, Result
from core.ports.catalogue import Catalogue
from core.ports.job_queue import JobKind, JobQueue
from core.ports.stores import Embedder, EntityGraph, Vectors
from core.search.citations.cite import citation_of

__all__ = ["EnrichmentService"]


class EnrichmentService:
    """Extracts keywords, a summary, questions, the type, citations and dates from documents; `edits` changes them by
    hand.

    It is a Follower (core.ports.stores): once a document is indexed, it queues an enrichment job. graph: None where a
    library has no entity store. operations: the available ones; replaced in tests. Every method raises StoreFailed when
    a store does not answer.
    """

    def __init__(
        self,
        *,
        store: EnrichmentStore,
        catalogue: Catalogue,
        embedder: Embedder,
        jobs: JobQueue,
        graph: EntityGraph | None = None,
        operations: Mapping[Operation, OperationRow] = OPERATIONS,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._embedder, self._jobs = store, catalogue, embedder, jobs
        self._graph, self._operations, self._now = graph, operations, now
        self.edits = EnrichmentEdits(store, self.of, now)

    # Following

    def follow(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors) -> None:
        """A document was read: drop its old results and queue a job for new ones."""
        self._store.forget([document.id])
        self._jobs.defer(JobKind.ENRICH, [document.id])

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted."""
        self._store.delete(document_ids)

    # Drawing

    def enrich(self, document_id: int, *, again: bool = False) -> Sequence[OperationOutcome]:
        """Run the operations that are missing, failed or outdated, each independently; returns and stores their
        outcomes. Idempotent.

        again: run all operations. Raises NotFound for an unknown document; one without text has no outcomes.
        """
        document = self._catalogue.document(document_id)
        passages = self._catalogue.passages_of(document_id)
        if not passages:
            return ()
        known = {each.operation: each for each in self._store.outcomes([document_id]).get(document_id, ())}
        first = passages[0].id
        wanted = [each for each in Operation if again or not self._stands(known.get(each), first)]
        if not wanted:
            return ()
        reading = reading_of(document, passages)
        outcomes = [self._outcome(document_id, each, reading, first) for each in wanted]
        self._store.save(outcomes)
        return outcomes

    def _stands(self, outcome: OperationOutcome | None, first: int) -> bool:
        if outcome is None or outcome.failed or outcome.reading != first:
            return False
        return outcome.version == self._operations[outcome.operation].version

    def _outcome(self, document_id: int, operation: Operation, reading: DocumentText, first: int) -> OperationOutcome:
        """One operation carried out; whatever it raises is its failure alone."""
        row = self._operations[operation]
        result: Result | None = None
        problem = hint = ""
        try:
            result = row.run(reading, self._embedder.embed)
        except FivefoldError as error:
            problem, hint = error.message, error.hint
        except Exception as error:  # noqa: BLE001 - kept as this operation's failure, and shown
            problem = f"Unexpected {type(error).__name__}: {error}"
            hint = "Run it again; if it fails again, report this document."
        return OperationOutcome(document_id, operation, row.version, first, self._now(), result, problem, hint)

    def enrich_many(
        self,
        document_ids: Sequence[int],
        *,
        again: bool = False,
        stop: Callable[[], bool] = lambda: False,
        on_document: Callable[[int, int], None] = lambda done, total: None,
    ) -> EnrichmentReport:
        """Enrich many documents in turn; a batch restarted after a stop continues where it ended.

        stop: polled before each document. on_document: receives the progress. Documents deleted meanwhile are left out.
        """
        failures: list[OperationOutcome] = []
        done = 0
        for document_id in document_ids:
            if stop():
                return EnrichmentReport(done, len(document_ids), tuple(failures), stopped=True)
            with suppress(NotFound):
                failures += [each for each in self.enrich(document_id, again=again) if each.failed]
            done += 1
            on_document(done, len(document_ids))
        return EnrichmentReport(done, len(document_ids), tuple(failures))

    # Looking

    def of(self, document_id: int) -> Enrichment:
        """Everything extracted from a document."""
        return self.of_many([document_id])[document_id]

    def of_many(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Enrichment]:
        """The results of these operations for each of many documents."""
        outcomes, edits = self._store.outcomes(document_ids, operations), self._store.edits(document_ids)
        return {
            i: Enrichment(
                i,
                {each.operation: each for each in outcomes.get(i, ())},
                {each.operation: each for each in edits.get(i, ())},
            )
            for i in document_ids
        }

    def citation(self, document: Document, said: QuotedSpan) -> Citation:
        """The citation of a quote. Raises NotFound when the document was read again since."""
        passage = self._catalogue.passages([said.passage_id]).get(said.passage_id)
        if passage is None:
            raise NotFound("This sentence is no longer in the library.", "Its document was read again; look anew.")
        return citation_of(passage, document, said.sentence)

    def statistics(self) -> EnrichmentStatistics:
        """How much of the library is enriched."""
        return counted(self._catalogue.documents(), self._store.all_outcomes())

    def lacking(self) -> Sequence[int]:
        """Documents with missing or outdated results, newest first."""
        good: dict[int, int] = {}
        for each in self._store.all_outcomes():
            good[each.document_id] = good.get(each.document_id, 0) + is_current(each)
        held = (each for each in self._catalogue.documents() if each.passages)
        return [each.id for each in held if good.get(each.id, 0) < len(Operation)]

    def failed(self) -> Sequence[int]:
        """Documents on which an operation failed, the newest first."""
        failed = {each.document_id for each in self._store.all_outcomes() if each.failed}
        return [each.id for each in self._catalogue.documents() if each.id in failed]

    def entities(self, document_id: int) -> Mapping[EntityType, Sequence[str]]:
        """The entities in a document, by type; those in most passages first."""
        counts: dict[str, int] = {}
        for passage in self._catalogue.passages_of(document_id):
            for name in passage.entities:
                counts[name] = counts.get(name, 0) + 1
        known = self._graph.known(list(counts)) if self._graph is not None and counts else {}
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        grouped = {
            kind: [name for name in ranked if name in known and known[name].entity.type is kind] for kind in EntityType
        }
        return {kind: names for kind, names in grouped.items() if names}
