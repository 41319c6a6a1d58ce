"""Ingests one stored original: job → parse → classify → chunk → embed → store.

Every index and every follower (versions, active learning, enrichment) is kept in step with the catalogue.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Lock

from core.domain.datasets import ReadTable
from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import BadFile, NotFound, StoreFailed, UnreadableFile, error_to_show
from core.ingestion.classification.relabel import apply_later_edits
from core.ingestion.pipeline import IngestedDocument, IngestionPipeline
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import ArchiveMembers
from core.library.documents import DocumentService, Follower
from core.library.step_progress import OverdueStep, StepClock
from core.library.upload_queue import UploadQueue
from core.ports.catalogue import Catalogue
from core.ports.job_queue import INDEXING, STOPPED
from core.ports.stores import BlobStore, EntityGraph, SparseIndex, VectorIndex
from core.search.query.expansion import SynonymFinder
from core.table_qa.service import TableService

__all__ = ["IngestionService"]


class IngestionService:
    """Ingests stored originals of one tenant. graph, synonyms: None where a library has none. embedded: called with the
    model of the vectors that were stored. clock: the deadlines of the steps."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        originals: BlobStore,
        pipeline: IngestionPipeline,
        documents: DocumentService,
        tables: TableService,
        members: ArchiveMembers,
        upload_queue: UploadQueue,
        graph: EntityGraph | None,
        synonyms: SynonymFinder | None,
        followers: Sequence[Follower],
        terms: Callable[[], WorkspaceTerms],
        embedded: Callable[[str], None],
        clock: StepClock,
        now: Callable[[], datetime],
    ) -> None:
        self._terms, self._embedded, self._clock = terms, embedded, clock
        self._catalogue, self._vectors, self._sparse, self._originals = catalogue, vectors, sparse, originals
        self._pipeline, self._documents, self._tables = pipeline, documents, tables
        self._members, self._upload_queue, self._graph, self._synonyms = members, upload_queue, graph, synonyms
        self._followers, self._now = tuple(followers), now
        self._storing = Lock()

    @property
    def notices(self) -> Sequence[str]:
        """Messages about degraded or slow components."""
        return self._pipeline.notices

    def ingest_pending(self, document_id: int) -> None:
        """Ingest a document unless it was read or stopped since its job was queued; one that an index may lack, because
        a process died, is ingested again. Raises NotFound, StoreFailed."""
        document = self._catalogue.document(document_id)
        if document.state is DocumentState.PENDING or document.step == INDEXING:
            self._ingest(document)

    def ingest(self, document_id: int) -> Document:
        """Run the whole ingestion of one stored original; called by jobs, idempotent.

        A bad file leaves the document failed with its reason; only a failing store raises.
        """
        self._ingest(self._catalogue.document(document_id))
        return self._catalogue.document(document_id)

    # The whole flow of one file, and each way it can end.
    def _ingest(self, document: Document) -> None:
        document_id, terms = document.id, self._terms()
        loaded: list[ReadTable] = []
        replaced: list[int] = []

        def tell(step: str) -> None:
            if not self._catalogue.progress(document_id, step=step):
                raise _IngestionStopped

        def load(tables: Sequence[ReadTable]) -> None:
            loaded.extend(tables)
            replaced.extend(self._tables.load(document, tables))

        with self._clock.begin(document_id, document.name, tell) as on_step:
            try:
                data = self._original(document)
                container = self._members.take_out(document, data, on_step)
                if container is not None:
                    self._store_container(container)
                    self._upload_queue.ended(document_id)
                    return
                corrections = self._catalogue.corrections(document.sha256)
                ingested = self._pipeline.run(
                    document,
                    data,
                    corrections,
                    on_step,
                    load,
                    terms=terms,
                )
                on_step("store")
                self._store(ingested, terms)
                if loaded:
                    self._follow_tables(document_id, replaced)
            except BadFile as error:
                self.fail(document_id, error, on_step.step)
            except _IngestionStopped:
                return
        self._upload_queue.ended(document_id)

    def overdue(self) -> Sequence[OverdueStep]:
        """Files of this process whose step has not ended long after its deadline: its thread can only be ended with
        the process."""
        return self._clock.overdue()

    def _original(self, document: Document) -> bytes:
        """The bytes to read. A lost original is the file's failure: NotFound would end the job as for a deleted one,
        and the file would wait for ever."""
        try:
            return self._originals.get(document.readable or document.sha256)
        except NotFound as error:
            raise UnreadableFile(error.message, error.hint) from error

    def fail(self, document_id: int, error: Exception, step: str | None = None) -> None:
        """Mark a document as failed with the message of an error. step: None for its current step. Raises NotFound."""
        shown, at = error_to_show(error), self._catalogue.document(document_id).step if step is None else step
        self._catalogue.fail(document_id, step=at, reason=shown.message, remedy=shown.hint, cure=shown.cure)

    def _follow_tables(self, document_id: int, replaced: Sequence[int]) -> None:
        """Archive the documents whose tables were replaced, once the new text is searchable. New passages take over the
        role an analyst has set on the version before."""
        for each in replaced:
            self._documents.archive(each, archived=True)
        for table in self._tables.tables():
            if table.document_id == document_id and table.role_by == "analyst":
                self._documents.set_table_role(table.name, table.role)

    def _store_container(self, container: Document) -> None:
        """Store a document that holds only other documents: it has no text to index."""
        import numpy as np

        self._sparse.delete([container.id])
        self._vectors.delete([container.id])
        self._catalogue.save_ingested(container, (), (), np.zeros((0, 0), dtype=np.float32))

    def _store(self, ingested: IngestedDocument, terms: WorkspaceTerms) -> None:
        """Store what was read, put it into every index, and tell the followers."""
        with self._storing:  # concurrent writers would only wait for each other's rows
            document, stored = self._save(ingested, terms)
            with self._pending_on_failure(document.id):
                self._index(ingested, stored)
        with self._pending_on_failure(document.id):
            for follower in self._followers:
                follower.follow(document, ingested.pages, stored, ingested.vectors)
            self._embedded(ingested.model)

    def _save(self, ingested: IngestedDocument, terms: WorkspaceTerms) -> tuple[Document, Sequence[Passage]]:
        """Replace the document's passages, with what people changed while it was read."""
        current = self._catalogue.document(ingested.document.id)
        if current.step == STOPPED:
            raise _IngestionStopped
        corrections = self._catalogue.corrections(current.sha256)
        document, passages = apply_later_edits(ingested.document, ingested.passages, current, corrections, terms)
        self._sparse.delete([document.id])
        self._vectors.delete([document.id])
        stored = self._catalogue.save_ingested(
            document, ingested.pages, passages, ingested.vectors, embedded_by=ingested.model, step=INDEXING
        )
        return document, stored

    @contextmanager
    def _pending_on_failure(self, document_id: int) -> Iterator[None]:
        """The catalogue calls a document read, but an index lacks it: pending, it is read again by the next attempt."""
        try:
            yield
        except StoreFailed:
            self._catalogue.mark(document_id, step="store")
            raise

    def _index(self, ingested: IngestedDocument, stored: Sequence[Passage]) -> None:
        """Put stored passages into every index."""
        self._vectors.add(stored, ingested.vectors, embedded_by=ingested.model)
        self._sparse.add(stored)
        if self._graph is not None:
            self._graph.add(stored, ingested.entities)
        if self._synonyms is not None:
            self._synonyms.learn(stored)


class _IngestionStopped(Exception):
    """A user stopped the document while it was being read."""
