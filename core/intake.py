"""The upload half of the front door: originals in, documents read, labelled, stored, followed by every index.

stored original → job → extract → classify → chunk → embed → store
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from threading import Lock

from core.documents import Document, DocumentState, Label, SourceType, TableRole
from core.entities import EntityGraph
from core.errors import BadFile, EmptyFile, FivefoldError
from core.ingest.file_names import clean_name
from core.ingest.isolate import IsolatedReader
from core.ingest.pipeline import Ingested, Ingestor
from core.ingest.relabel import caught_up
from core.jobs import STOPPED, WAITING, FailedWork, JobKind, JobQueue
from core.library.intray import InTray, TrayStore
from core.library.lessons_correcting import Corrector
from core.library.members import Members, arrived
from core.moments import right_now
from core.ports import BlobStore, Catalogue, Follower, SparseIndex, VectorIndex
from core.reality.desk import RealityDesk
from core.results import UploadReceipt
from core.search.near import NearWords
from core.speaking import Words, built_in_words, in_its_words

__all__ = ["Intake"]


class Intake:
    """Takes files in and keeps all stores in step with them. graph, near: None where a library keeps none."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        blobs: BlobStore,
        jobs: JobQueue,
        ingestor: Ingestor,
        reality: RealityDesk,
        reader: IsolatedReader,
        corrector: Corrector,
        tray: TrayStore,
        graph: EntityGraph | None = None,
        near: NearWords | None = None,
        followers: Sequence[Follower] = (),
        words: Words = built_in_words,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self.words = words
        self._followers, self._storing = tuple(followers), Lock()
        self._work: dict[JobKind, Callable[[int], object]] = {}
        self._catalogue, self._vectors, self._sparse = catalogue, vectors, sparse
        self._blobs, self._jobs = blobs, jobs
        self._ingestor, self._graph, self._near, self._now = ingestor, graph, near, now
        self.reality = reality
        self.tray = InTray(tray, jobs, self.keep, now)
        self._members, self._corrector = Members(catalogue, reader, self.upload), corrector

    # One document is made of all that is said of the file.
    def upload(
        self,
        name: str,
        data: bytes,
        *,
        project: str | None = None,
        tags: Sequence[str] = (),
        source_type: SourceType = SourceType.UPLOAD,
        parent: int | None = None,
        url: str = "",
        queue: bool = True,
    ) -> UploadReceipt:
        """Keep the original, then queue its ingestion; the same bytes in the same project are recognised.

        name: with the folders it lies in, as `clean_name` leaves it. parent: the document it came in. url: where it was
        fetched from. queue: False leaves queueing to the caller. Raises EmptyFile for a file of 0 bytes, StoreFailed
        when nothing could be stored.
        """
        name = clean_name(name)
        if not data:
            raise EmptyFile(f"'{name}' is empty (0 bytes).", "Export or download the file again, then upload it.")
        digest = sha256(data).hexdigest()
        known = self._catalogue.document_by_hash(digest, project)
        if known is not None:
            if known.state is DocumentState.FAILED:
                self.retry(known.id)
            return UploadReceipt(known.id, name, digest, duplicate_of=known.name)
        self._blobs.put(data)
        document = self._catalogue.add_document(
            Document(
                id=0,
                name=name,
                sha256=digest,
                size_bytes=len(data),
                state=DocumentState.PENDING,
                uploaded_at=self._now(),
                project=project,
                tags=tuple(tags),
                source_type=arrived(name, source_type),
                parent=parent,
                url=url,
                step=WAITING,
            )
        )
        if queue:
            self._jobs.defer_ingest([document.id])
        return UploadReceipt(document.id, name, digest)

    def keep(self, name: str, data: bytes, *, project: str | None = None, tags: Sequence[str] = ()) -> UploadReceipt:
        """Keep the original of a batch, whose queueing is the caller's business."""
        return self.upload(name, data, project=project, tags=tags, queue=False)

    # The whole flow of one file, and each way it can end.
    @in_its_words
    def ingest(self, document_id: int) -> Document:
        """Run the whole upload flow for one stored original; called by jobs, safe to repeat.

        A bad file leaves the document failed with its reason; only a failing store raises.
        """
        document = self._catalogue.document(document_id)
        step = "read"
        replaced: list[int] = []

        def on_step(name: str) -> None:
            nonlocal step
            step = name
            if self._catalogue.document(document_id).step == STOPPED:
                raise _Stopped
            self._catalogue.mark(document_id, step=name)

        try:
            data = self._blobs.get(document.readable or document.sha256)
            container = self._members.take_out(document, data, on_step)
            if container is not None:
                self._shelve(container)
                self.tray.ended(document_id)
                return self._catalogue.document(document_id)
            corrections = self._catalogue.corrections(document.sha256)
            ingested = self._ingestor.run(
                document,
                data,
                corrections,
                on_step,
                lambda tables: replaced.extend(self.reality.load(document, tables)),
            )
            on_step("store")
            with self._storing:  # those who write at once would only wait for each other's rows
                self._store(ingested)
                self._follow_tables(document_id, replaced)
        except BadFile as error:
            self.fail(document_id, error, step)
        except _Stopped:
            return self._catalogue.document(document_id)
        self.tray.ended(document_id)
        return self._catalogue.document(document_id)

    def _follow_tables(self, document_id: int, replaced: Sequence[int]) -> None:
        """What new tables replaced leaves the search, not lost, once the new text is there; their passages take over
        the role an analyst has set on the version before."""
        for each in replaced:
            self.archive(each, archived=True)
        for table in self.reality.tables():
            if table.document_id == document_id and table.role_by == "analyst":
                self.set_table_role(table.name, table.role)

    def _shelve(self, container: Document) -> None:
        """Store a document that holds only other documents: nothing of its own is searched or followed."""
        import numpy as np

        self._sparse.delete([container.id])
        self._vectors.delete([container.id])
        self._catalogue.save_ingested(container, (), (), np.zeros((0, 0), dtype=np.float32))

    def _store(self, ingested: Ingested) -> None:
        now, vectors = self._catalogue.document(ingested.document.id), ingested.vectors
        corrections = self._catalogue.corrections(now.sha256)
        document, passages = caught_up(ingested.document, ingested.passages, now, corrections)
        self._sparse.delete([document.id])
        self._vectors.delete([document.id])
        stored = self._catalogue.save_ingested(document, ingested.pages, passages, vectors)
        self._vectors.add(stored, vectors)
        self._sparse.add(stored)
        if self._graph is not None:
            self._graph.add(stored, ingested.entities)
        if self._near is not None:
            self._near.learn(stored)
        for each in self._followers:
            each.follow(document, ingested.pages, stored, vectors)

    @in_its_words
    def work(self, kind: JobKind, number: int) -> None:
        """Do one job of another kind than ingestion; called by jobs, safe to repeat."""
        job = self._work.get(kind)
        if job is not None:
            job(number)
        self._jobs.settle(kind, number)

    def give_up(self, kind: JobKind, number: int, error: Exception) -> None:
        """Note a job of another kind than ingestion that failed for good, so that somebody sees it."""
        told = _told(error)
        self._jobs.give_up(FailedWork(kind, number, self._now(), told.message, told.hint))

    def given_up(self) -> Sequence[FailedWork]:
        """Work in the background that failed for good and was not done since, newest first."""
        return self._jobs.given_up()

    def try_again(self, failed: FailedWork) -> None:
        """Queue work that was given up."""
        self._jobs.settle(failed.kind, failed.number)
        self._jobs.defer(failed.kind, [failed.number])

    def fail(self, document_id: int, error: Exception, step: str | None = None) -> None:
        """Leave a document failed with what its error says. step: None for the one it was at."""
        told, at = _told(error), self._catalogue.document(document_id).step if step is None else step
        self._catalogue.fail(document_id, step=at, reason=told.message, remedy=told.hint, cure=told.cure)

    def read_again(self) -> int:
        """Queue every document to be read again, as a new version of the product asks for; how many there are. Labels
        set by hand stay, and what was read before is searched until it is replaced."""
        documents = self._catalogue.documents(archived=None)
        for document in documents:
            self._catalogue.mark(document.id, step=WAITING)
        self._jobs.defer_ingest([document.id for document in documents])
        return len(documents)

    def retry(self, document_id: int) -> None:
        """Queue a document's ingestion again."""
        self._catalogue.mark(document_id, step=WAITING)
        self._jobs.defer_ingest([document_id])

    def archive(self, document_id: int, *, archived: bool) -> None:
        """Take a document out of searches and counts, or put it back; nothing of it is deleted."""
        document = self._catalogue.document(document_id)
        passages = [replace(each, archived=archived) for each in self._catalogue.passages_of(document_id)]
        self._catalogue.save_labels(replace(document, archived=archived), passages)
        self._vectors.update(passages)

    def delete(self, document_id: int) -> None:
        """Remove a document from every index and the catalogue; its original stays until purged. A version of a table
        that it had replaced is current again."""
        for restored in self.reality.forget(document_id):
            self.archive(restored, archived=False)
        self._sparse.delete([document_id])
        self._vectors.delete([document_id])
        if self._graph is not None:
            self._graph.delete([document_id])
        for each in self._followers:
            each.forget([document_id])
        self._catalogue.delete(document_id)

    def correct(self, document_id: int, field: str, value: str, who: str = "analyst") -> Document:
        """Set a label by hand: stored, confirmed, and it wins for ever, also when the document is read again.

        Raises BadRequest for an unknown field or a value outside a closed set.
        """
        return self.correct_many([(document_id, field, value)], who)[0]

    @in_its_words
    def correct_many(self, changes: Sequence[tuple[int, str, str]], who: str = "analyst") -> Sequence[Document]:
        """Set labels by hand, (document id, field, value) each, all or none; what they teach is learned once. Gives the
        changed documents. Raises BadRequest, NotFound."""
        return self._corrector.correct_many(changes, who)

    @in_its_words
    def uncorrect(self, document_id: int, field: str, label: Label | None = None, who: str = "analyst") -> Document:
        """Give a label set by hand back to the classifier, with the label it had (`label`, where that is not on
        record); the correction stays on record. Raises BadRequest."""
        return self._corrector.uncorrect(document_id, field, who, label)

    def set_table_role(self, name: str, role: TableRole) -> None:
        """Say what a table is for; its passages follow, so that coverage looks for set-up rows where they are."""
        table = self.reality.set_role(name, role)
        pages: dict[int, bool] = {}
        changed = []
        for passage in self._catalogue.passages_of(table.document_id):
            if passage.rows is None:
                continue
            if passage.page not in pages:
                label = self._catalogue.page(table.document_id, passage.page).label
                pages[passage.page] = label == table.label or label.startswith(f"{table.label}, rows ")
            if pages[passage.page]:
                changed.append(replace(passage, table_role=role if role is TableRole.SETUP else None))
        self._catalogue.save_labels(self._catalogue.document(table.document_id), changed)
        self._vectors.update(changed)


class _Stopped(Exception):
    """Somebody stopped the document while it was read."""


def _told(error: Exception) -> FivefoldError:
    """What happened, and what to do."""
    if isinstance(error, FivefoldError):
        return error
    return FivefoldError(f"Unexpected {type(error).__name__}: {error}", "Try again; if it stays, report this message.")
