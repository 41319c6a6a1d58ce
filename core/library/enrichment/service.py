"""Enriches the documents of one tenant, by a job each or in batches, and applies manual edits."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from core.domain.documents import Document
from core.domain.entities import EntityType
from core.domain.errors import BadRequest, FivefoldError, NotFound
from core.domain.results import Citation
from core.knowledge.enrichment import document_types
from core.library.enrichment.document_reader import DocumentText, reading_of
from core.library.enrichment.store import (
    OPERATIONS,
    Enrichment,
    EnrichmentReport,
    EnrichmentStatistics,
    EnrichmentStore,
    OperationRow,
    counted,
    is_current,
)
from core.library.enrichment.values import (
    MOST_KEYWORDS,
    EnrichmentEdit,
    Keywords,
    Operation,
    OperationOutcome,
    QuotedSpan,
    Result,
)
from core.ports.catalogue import Catalogue, DocumentContent
from core.ports.job_queue import JobKind, JobQueue
from core.ports.stores import Embedder, EntityGraph
from core.search.citations.cite import citation_of

__all__ = ["EnrichmentEdits", "EnrichmentService"]


class EnrichmentService:
    """Extracts keywords, a summary, questions, the type, citations and dates from documents; `edits` changes them by
    hand.

    A Follower (core.library.documents): once a document is indexed, it queues an enrichment job. graph: None where a
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
        self.edits = EnrichmentEdits(store, self.of, catalogue.save_keywords, now)

    # Following

    def follow(self, read: Sequence[DocumentContent]) -> None:
        """Documents were read: drop their old results and queue jobs for new ones."""
        ids = [each.document.id for each in read]
        self._store.forget(ids)
        self._jobs.defer(JobKind.ENRICH, ids)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted."""
        self._store.delete(document_ids)

    # Drawing

    def enrich(
        self, document_id: int, *, again: bool = False, operations: Collection[Operation] = tuple(Operation)
    ) -> Sequence[OperationOutcome]:
        """Run the operations that are missing, failed or outdated, each independently; returns and stores their
        outcomes, and gives the passages their document's keywords. Idempotent.

        again: run all of `operations`. Raises NotFound for an unknown document; one without text has no outcomes.
        """
        document = self._catalogue.document(document_id)
        passages = self._catalogue.passages_of(document_id)
        if not passages:
            return ()
        known = {each.operation: each for each in self._store.outcomes([document_id]).get(document_id, ())}
        first = passages[0].id
        pending = [each for each in operations if again or not self._stands(known.get(each), first)]
        outcomes: Sequence[OperationOutcome] = ()
        if pending:
            reading = reading_of(document, passages)
            outcomes = [self._outcome(document_id, each, reading, first) for each in pending]
            self._store.save(outcomes)
        # Also when nothing was wanted: a job may have ended between the outcomes and this.
        self._catalogue.save_keywords(document_id, self.of(document_id).keywords.words)
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
        operations: Collection[Operation] = tuple(Operation),
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
                failures += [
                    each for each in self.enrich(document_id, again=again, operations=operations) if each.failed
                ]
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

    def citation(self, document: Document, quote: QuotedSpan) -> Citation:
        """The citation of a quote. Raises NotFound when the document was read again since."""
        passage = self._catalogue.passages([quote.passage_id]).get(quote.passage_id)
        if passage is None:
            raise NotFound("This sentence is no longer in the library.", "Its document was read again; search again.")
        return citation_of(passage, document, quote.sentence)

    def statistics(self) -> EnrichmentStatistics:
        """How much of the library is enriched."""
        return counted(self._catalogue.documents(), self._store.all_outcomes())

    def lacking(self, operations: Collection[Operation] = tuple(Operation)) -> Sequence[int]:
        """Documents with missing or outdated results of these operations, newest first."""
        good: dict[int, int] = {}
        for each in self._store.all_outcomes():
            if each.operation in operations:
                good[each.document_id] = good.get(each.document_id, 0) + is_current(each)
        with_text = (each for each in self._catalogue.documents() if each.passages)
        return [each.id for each in with_text if good.get(each.id, 0) < len(operations)]

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


_LONGEST_KEYWORD, _LONGEST_SUMMARY = 60, 2_000  # characters; chosen by hand


class EnrichmentEdits:
    """Manual edits. Every method raises NotFound for an unknown document, StoreFailed when a store does not answer.

    save_keywords: gives a document's passages its keywords, which scoring reads there.
    """

    def __init__(
        self,
        store: EnrichmentStore,
        enrichment: Callable[[int], Enrichment],
        save_keywords: Callable[[int, Sequence[str]], None],
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._enrichment, self._save_keywords, self._now = store, enrichment, save_keywords, now

    def set_keywords(self, document_id: int, words: Sequence[str], who: str) -> None:
        """Set the keywords: found ones missing from `words` are removed, new ones added.

        Raises BadRequest for more than ten, and for one that is empty or longer than 60 characters.
        """
        keywords = list({each.casefold(): each for each in (" ".join(word.split()) for word in words)}.values())
        if len(keywords) > MOST_KEYWORDS:
            raise BadRequest(
                f"A document has at most {MOST_KEYWORDS} keywords, not {len(keywords)}.", "Take some away."
            )
        wrong = next((each for each in keywords if not 0 < len(each) <= _LONGEST_KEYWORD), None)
        if wrong is not None:
            raise BadRequest(
                f"'{wrong[:80]}' cannot be a keyword.", f"Write between 1 and {_LONGEST_KEYWORD} characters."
            )
        found = self._enrichment(document_id).found(Operation.KEYWORDS)
        assert isinstance(found, Keywords)
        chosen = {each.casefold() for each in keywords}
        own = {each.casefold() for each in found.words}
        edit = self._edit(document_id, Operation.KEYWORDS, who)
        before = [each for each in edit.removed if each.casefold() not in chosen | own]
        self._save(
            replace(
                edit,
                added=tuple(each for each in keywords if each.casefold() not in own),
                removed=(*before, *(each for each in found.words if each.casefold() not in chosen)),
            )
        )

    def rewrite_summary(self, document_id: int, text: str, who: str) -> None:
        """Replace the summary. Raises BadRequest for an empty text or one longer than 2,000 characters."""
        written = " ".join(text.split())
        if not 0 < len(written) <= _LONGEST_SUMMARY:
            raise BadRequest(
                "A summary needs between 1 and 2,000 characters.", "Write it shorter, or reset it to what was found."
            )
        self._save(replace(self._edit(document_id, Operation.SUMMARY, who), value=written))

    def set_type(self, document_id: int, value: str, who: str) -> None:
        """Correct the type of a document. Raises BadRequest for an unknown type."""
        if value not in document_types():
            raise BadRequest(
                f"'{value}' is not a type of document.", f"Types are: {', '.join(sorted(document_types()))}."
            )
        self._save(replace(self._edit(document_id, Operation.DOCUMENT_TYPE, who), value=value))

    def remove_question(self, document_id: int, question: str, who: str) -> None:
        """Remove a question permanently."""
        edit = self._edit(document_id, Operation.QUESTIONS, who)
        self._save(replace(edit, removed=tuple(dict.fromkeys((*edit.removed, question)))))

    def reset(self, document_id: int, operation: Operation) -> None:
        """Remove the edits of an operation, so that its own result is shown again."""
        self._store.reset(document_id, operation)
        self._pass_on(document_id, operation)

    def _edit(self, document_id: int, operation: Operation, who: str) -> EnrichmentEdit:
        """The edit there is, or a fresh one, in this person's name."""
        known = next(
            (e for e in self._store.edits([document_id]).get(document_id, ()) if e.operation is operation), None
        )
        fresh = known or EnrichmentEdit(document_id, operation, who, self._now())
        return replace(fresh, who=who, at=self._now())

    def _save(self, edit: EnrichmentEdit) -> None:
        if edit.added or edit.removed or edit.value is not None:
            self._store.save_edit(edit)
        else:
            self._store.reset(edit.document_id, edit.operation)
        self._pass_on(edit.document_id, edit.operation)

    def _pass_on(self, document_id: int, operation: Operation) -> None:
        """Give the passages the keywords as edited."""
        if operation is Operation.KEYWORDS:
            self._save_keywords(document_id, self._enrichment(document_id).keywords.words)
