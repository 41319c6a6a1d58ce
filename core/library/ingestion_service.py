"""Ingests stored originals, one by each job: parse → classify → chunk → embed → store.

Small files that are read at the same time are stored together: one transaction of each store, one segment of the
keyword index. Every index and every follower (versions, active learning, enrichment) is kept in step with the
catalogue: the former text of a document stays in every index until the catalogue has the new one, and a text that an
index may lack, because a store failed or a process died, counts as unread. A text that stays without vectors, such as
of a document back from the trash, is embedded again.
"""
# Over 300 lines: the flow of a file, and each way it can end, are one story.

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from core.domain.datasets import ReadTable
from core.domain.documents import Document, DocumentState, Passage
from core.domain.entities import Entity
from core.domain.errors import BadFile, NotFound, StoreFailed, UnreadableFile, error_to_show
from core.ingestion.classification.relabel import apply_later_edits
from core.ingestion.pipeline import IngestedDocument, IngestionPipeline
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import ArchiveMembers
from core.library.documents import DocumentService, Follower
from core.library.group_commit import Announced, GroupCommit
from core.library.step_progress import OverdueStep, StepClock
from core.library.upload_queue import UploadQueue
from core.ports.catalogue import Catalogue, DocumentContent
from core.ports.job_queue import INDEXING, STOPPED
from core.ports.stores import BlobStore, EntityGraph, SparseIndex, VectorIndex
from core.search.query.expansion import SynonymFinder
from core.table_qa.service import TableService

__all__ = ["IngestionService"]

# Chosen by hand, not fitted.
_STORED_TOGETHER = 8  # files
_WAIT_SECONDS = 0.3  # of a small file that is read, for others to be stored with
_SMALL = 50  # passages of a file that waits; another one is read meanwhile


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """What was read of a file, and the terms it was classified with. last_step: storing ends the reading of it. first:
    nothing of it was searchable before."""

    ingested: IngestedDocument
    terms: WorkspaceTerms
    last_step: bool
    first: bool


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
        self._waits: Callable[[int], None] = lambda document_id: None
        self._group = GroupCommit(self._store_together, most=_STORED_TOGETHER, seconds=_WAIT_SECONDS)

    @property
    def notices(self) -> Sequence[str]:
        """Messages about degraded or slow components."""
        return self._pipeline.notices

    def tell_waiting(self, listener: Callable[[int], None]) -> None:
        """Call `listener` with each document that was read and only waits to be stored, so that another one may be read
        meanwhile."""
        self._waits = listener

    def ingest_pending(self, document_id: int) -> None:
        """Ingest a document unless it was read or stopped since its job was queued; one that an index may lack, because
        a process died, is ingested again. Raises NotFound, StoreFailed."""
        document = self._catalogue.document(document_id)
        if document.state is DocumentState.PENDING or document.step == INDEXING:
            self._ingest(document)

    def ingest(self, document_id: int) -> Document:
        """Run the whole ingestion of one stored original; called by jobs, idempotent.

        A bad file leaves the document failed with its reason, or with its former text and a warning; only a failing
        store raises.
        """
        self._ingest(self._catalogue.document(document_id))
        return self._catalogue.document(document_id)

    def ingest_together(self, document_ids: Sequence[int]) -> Sequence[Document]:
        """What `ingest` does with each of a few, read in as many threads and stored together, in the order of their
        ids."""
        documents = [self._catalogue.document(each) for each in document_ids]
        group = GroupCommit(self._store_together, most=len(documents), seconds=None)
        with ThreadPoolExecutor(max(1, len(documents))) as threads, ExitStack() as leaving:
            announced = [leaving.enter_context(group.announced()) for _ in documents]
            for _ in threads.map(self._ingest, documents, announced):
                pass
        return [self._catalogue.document(each) for each in document_ids]

    def _ingest(self, document: Document, announced: Announced[_ReadFile] | None = None) -> None:
        """announced: how it is stored; None: it is announced when it is read."""
        with announced or nullcontext(), suppress(_IngestionStopped):
            self._read_and_store(self._without_unindexed_text(document), announced)

    # The whole flow of one file, and each way it can end.
    def _read_and_store(self, document: Document, announced: Announced[_ReadFile] | None) -> None:
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
                    self._upload_queue.ended([document_id])
                    return
                with announced or self._group.announced() as store:
                    corrections = self._catalogue.corrections(document_id)
                    ingested = self._pipeline.run(document, data, corrections, on_step, load, terms=terms)
                    on_step("store")
                    small = len(ingested.passages) <= _SMALL and not loaded
                    if small:
                        self._waits(document_id)
                    read = _ReadFile(ingested, terms, last_step=not loaded, first=not document.passages)
                    store(read, patient=small)
                if not loaded:
                    return
                self._follow_tables(document_id, replaced)
            except BadFile as error:
                step = on_step.step
                with suppress(BadFile):  # too slow: `fail` warns of missing vectors
                    self._embed_former_text(document_id, on_step)
                self.fail(document_id, error, step)
        self._upload_queue.ended([document_id])

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
        """Mark a document as failed with the message of an error; one that was read before keeps its text, and warns
        of it, and of missing vectors. step: None for its current step. Raises NotFound."""
        shown, document = error_to_show(error), self._without_unindexed_text(self._catalogue.document(document_id))
        at = document.step if step is None else step
        reason = f"{shown.message} {self._warn_of_missing_vectors(document_id)}".rstrip()
        self._catalogue.fail(document_id, step=at, reason=reason, remedy=shown.hint, cure=shown.cure)

    def _embed_former_text(self, document_id: int, on_step: Callable[[str], None]) -> None:
        """Store the vectors that the text of an earlier reading lacks. Raises StoreFailed, ModelUnavailable."""
        passages = self._without_vectors(document_id)
        if passages:
            found = self._pipeline.embed(passages, on_step)
            self._vectors.add(passages, found.vectors, embedded_by=found.model)
            self._embedded(found.model)

    def _without_vectors(self, document_id: int) -> Sequence[Passage]:
        passages = self._catalogue.passages_of(document_id)
        known = self._vectors.vectors([each.id for each in passages])
        return [each for each in passages if each.id not in known]

    def _warn_of_missing_vectors(self, document_id: int) -> str:
        """What to know of a text that stays without vectors, or with an index that does not answer; else ""."""
        try:
            complete = not self._without_vectors(document_id)
        except StoreFailed:  # perhaps the very reason of the failure
            complete = not self._catalogue.passages_of(document_id)
        return "" if complete else "Until it is read again, it may be found by its words only."

    def _without_unindexed_text(self, document: Document) -> Document:
        """The document, unread if a process died before every index had its text."""
        if document.step != INDEXING:
            return document
        self._catalogue.mark(document.id, step="store", unread=True)
        return self._catalogue.document(document.id)

    def _follow_tables(self, document_id: int, replaced: Sequence[int]) -> None:
        """Archive the documents whose tables were replaced, once the new text is searchable. New passages take over the
        role an analyst has set on the version before."""
        for each in replaced:
            self._documents.archive(each, archived=True)
        for table in self._tables.tables():
            if table.document_id == document_id and table.role_by == "analyst":
                self._documents.set_table_role(table.name, table.role)

    def _store_container(self, container: Document) -> None:
        """Store a document that holds only other documents: it has no text to index, and no former one any more."""
        self._catalogue.save_ingested(container, (), (), np.zeros((0, 0), dtype=np.float32), step=INDEXING)
        self._vectors.delete([container.id])
        self._sparse.delete([container.id])

    def _store_together(self, files: Sequence[_ReadFile]) -> Sequence[Exception | None]:
        """Store what was read, put it into every index, and tell the followers; for each file None, or why not. In the
        order of their ids, so that equal files give equal libraries."""
        errors: dict[int, Exception] = {}
        ordered = sorted(files, key=lambda each: each.ingested.document.id)
        for model in dict.fromkeys(each.ingested.model for each in ordered):
            errors |= self._store_alike([each for each in ordered if each.ingested.model == model], model)
        return [errors.get(each.ingested.document.id) for each in files]

    def _store_alike(self, files: Sequence[_ReadFile], model: str) -> dict[int, Exception]:
        """Store files with vectors of one model. Returns why some were not, by document id."""
        contents, errors = self._as_edited(files)
        entities = {each.ingested.document.id: each.ingested.entities for each in files}
        if not contents:
            return errors
        ids = [each.document.id for each in contents]
        self._vectors.ping()  # the last moment at which every index has the former texts
        passages = self._catalogue.save_all_ingested(contents, embedded_by=model, step=INDEXING)
        stored = [
            replace(each, passages=passages[each.document.id]) for each in contents if each.document.id in passages
        ]
        errors |= {each: _deleted(each) for each in ids if each not in passages}
        if not stored:
            return errors
        with self._pending_on_failure(list(passages), {each.ingested.document.id for each in files if each.first}):
            with self._pending_on_failure(list(passages), passages):
                self._index(stored, entities, model)
            for follower in self._followers:
                follower.follow(stored)
            self._embedded(model)
        read = [each.ingested.document.id for each in files if each.last_step]
        self._upload_queue.ended([each for each in read if each in passages])
        return errors

    def _as_edited(self, files: Sequence[_ReadFile]) -> tuple[list[DocumentContent], dict[int, Exception]]:
        """The files with what people changed while they were read, and why some are not stored, by document id."""
        now = self._catalogue.documents_by_id([each.ingested.document.id for each in files])
        corrections = self._catalogue.corrections_of_each(list(now))
        contents: list[DocumentContent] = []
        errors: dict[int, Exception] = {}
        for each in files:
            read, current = each.ingested, now.get(each.ingested.document.id)
            if current is None:
                errors[read.document.id] = _deleted(read.document.id)
            elif current.step == STOPPED:
                errors[read.document.id] = _IngestionStopped()
            else:
                confirmed = corrections[current.id]
                edited = apply_later_edits(read.document, read.passages, current, confirmed, each.terms)
                contents.append(DocumentContent(edited[0], read.pages, edited[1], read.vectors))
        return contents, errors

    @contextmanager
    def _pending_on_failure(self, document_ids: Sequence[int], unread: Collection[int]) -> Iterator[None]:
        """Documents that the catalogue calls read, but an index or a follower lacks, are pending, and read again by the
        next attempt. unread: those whose text goes: an index lacks it, or a follower has never had any of it. Else it
        would be taken for the text of an earlier reading when the last attempt fails too."""
        try:
            yield
        except Exception:
            for each in document_ids:
                with suppress(NotFound):
                    self._catalogue.mark(each, step="store", unread=each in unread)
            raise

    def _index(self, stored: Sequence[DocumentContent], entities: Mapping[int, Sequence[Entity]], model: str) -> None:
        """Put stored passages into every index, in place of the former ones of their documents. entities: those named
        in each document."""
        ids, passages = [each.document.id for each in stored], [passage for each in stored for passage in each.passages]
        if passages:
            vectors = np.concatenate([each.vectors for each in stored if each.passages])
            self._vectors.add(passages, vectors, embedded_by=model)
        self._vectors.delete(ids, but=passages)
        self._sparse.delete(ids)
        if not passages:
            return
        self._sparse.add(passages)
        if self._graph is not None:
            self._graph.add_each([(each.passages, entities[each.document.id]) for each in stored])
        if self._synonyms is not None:
            self._synonyms.learn(passages)


def _deleted(document_id: int) -> NotFound:
    return NotFound(f"Document {document_id} was deleted while it was read.", "Upload its file again if you need it.")


class _IngestionStopped(Exception):
    """A user stopped the document while it was being read."""
