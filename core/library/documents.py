"""The documents of a library: stores, lists, corrects, archives and decrypts them; every index follows."""
# Over 300 lines: what pages and routes ask of the documents, most of it passed on in one line.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from core.domain.documents import Document, DocumentState, Label, Page, Passage, SourceType, TableRole
from core.domain.errors import BadRequest, Cure, EmptyFile, NotFound
from core.domain.results import Statistics, UploadReceipt
from core.ingestion.file_names import clean_name
from core.knowledge.languages import NATIVE
from core.library.active_learning.corrections import LabelCorrector
from core.library.archive_members import arrived
from core.library.trash import TrashService
from core.library.versions.store import check_free
from core.ports.catalogue import NOT_READ_AGAIN, Catalogue, DocumentContent, set_archived
from core.ports.job_queue import WAITING, JobQueue
from core.ports.reader import FileReader
from core.ports.stores import BlobStore, VectorIndex
from core.table_qa.service import TableService

__all__ = ["DecryptionService", "DocumentService", "Follower", "asks_for_password"]


class Follower(Protocol):
    """A service that keeps its own record of every document. Called in an ingestion job once the documents are
    searchable. An exception fails the jobs, which are then retried, so both methods must be idempotent."""

    def follow(self, read: Sequence[DocumentContent]) -> None:
        """Documents were ingested, for the first time or again; their passages are stored."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted."""
        ...


class DocumentService:
    """The documents of one tenant."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        vectors: VectorIndex,
        originals: BlobStore,
        jobs: JobQueue,
        tables: TableService,
        corrector: LabelCorrector,
        trash: TrashService,
        now: Callable[[], datetime],
    ) -> None:
        self._catalogue, self._vectors, self._originals, self._trash = catalogue, vectors, originals, trash
        self._jobs, self._tables, self._corrector, self._now = jobs, tables, corrector, now

    # Upload

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
        """Store the original, then queue its ingestion; the same bytes in the same project are recognised as a
        duplicate, whose original is repaired where it is lost or damaged. A duplicate that could not be read is queued.

        name: with its folders, as `clean_name` leaves it. parent: the containing document. url: where it was fetched
        from. queue: False leaves queueing to the caller. Raises EmptyFile for a file of 0 bytes, StoreFailed when
        nothing could be stored.
        """
        name = clean_name(name)
        if not data:
            raise EmptyFile(f"'{name}' is empty (0 bytes).", "Export or download the file again, then upload it.")
        digest = sha256(data).hexdigest()
        known = self._catalogue.document_by_hash(digest, project)
        if known is not None:
            self._originals.put(data)  # the message of a lost or damaged original says to upload it again
            if known.state is DocumentState.FAILED or _lacks_last_reading(known):
                self.retry(known.id)
            return UploadReceipt(known.id, name, digest, duplicate_of=known.name)
        self._originals.put(data)
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
        if not self._originals.exists(digest):  # the last document that used it was deleted for good meanwhile
            self._originals.put(data)
        if queue:
            self._jobs.defer_ingest([document.id])
        return UploadReceipt(document.id, name, digest)

    def store(self, name: str, data: bytes, *, project: str | None = None, tags: Sequence[str] = ()) -> UploadReceipt:
        """Store one original of a batch; the caller queues it. Raises what `upload` raises."""
        return self.upload(name, data, project=project, tags=tags, queue=False)

    def replace(self, document_id: int, name: str, data: bytes, who: str = "analyst") -> UploadReceipt:
        """Upload a file in place of an unreadable one; it takes over project, tags and origin, and the old document is
        moved to the trash.

        Raises what `upload` raises, and NotFound.
        """
        old = self._catalogue.document(document_id)
        receipt = self.upload(
            name, data, project=old.project, tags=old.tags, source_type=old.source_type, parent=old.parent, url=old.url
        )
        if receipt.document_id != document_id:
            self.delete(document_id, who)
        return receipt

    def retry(self, document_id: int) -> None:
        """Queue a document's ingestion again."""
        self._catalogue.mark(document_id, step=WAITING)
        self._jobs.defer_ingest([document_id])

    def read_all_again(self, *, other_languages: bool = False) -> int:
        """Queue every document for reading again, as after an update; returns their number.

        other_languages: only those in another language than English. Manual labels stay, and the old text stays
        searchable until it is replaced.
        """
        documents = [
            each
            for each in self._catalogue.documents(archived=None)
            if not other_languages or each.labels.language.value not in (None, NATIVE)
        ]
        for document in documents:
            self._catalogue.mark(document.id, step=WAITING)
        self._jobs.defer_ingest([document.id for document in documents])
        return len(documents)

    # Reading

    def get(self, document_id: int) -> Document:
        """Raises NotFound."""
        return self._catalogue.document(document_id)

    def list(self, *, archived: bool | None = False) -> Sequence[Document]:
        """All living documents, newest first; archived True: the archived ones, None: both."""
        return self._catalogue.documents(archived=archived)

    def names(self, *, archived: bool | None = False) -> Mapping[int, str]:
        """The names of all living documents by id, newest first; archived True: of the archived ones, None: of both."""
        return self._catalogue.names(archived=archived)

    def original(self, document_id: int) -> bytes:
        """The bytes that are parsed and rendered: those uploaded, or the decrypted copy of an encrypted file. Raises
        NotFound.
        """
        document = self._catalogue.document(document_id)
        return self._originals.get(document.readable or document.sha256)

    def uploaded(self, document_id: int) -> bytes:
        """The bytes as uploaded. Raises NotFound."""
        return self._originals.get(self._catalogue.document(document_id).sha256)

    def page(self, document_id: int, number: int) -> Page:
        """Raises NotFound."""
        return self._catalogue.page(document_id, number)

    def texts(self, document: Document) -> Mapping[int, str]:
        """The text of every page by its number."""
        keys = [(document.id, number) for number in range(1, document.pages + 1)]
        return {key[1]: text for key, text in self._catalogue.page_texts(keys).items()}

    def passage(self, passage_id: int) -> Passage:
        """Raises NotFound."""
        passages = self._catalogue.passages([passage_id])
        if passage_id not in passages:
            raise NotFound(
                f"Passage {passage_id} is not in the library.", "Its document was replaced or deleted; search again."
            )
        return passages[passage_id]

    def passages(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        return self._catalogue.passages_of(document_id)

    def count(self, state: DocumentState | None = None) -> int:
        """Number of living documents. state: only those in it."""
        return self._catalogue.count_documents(state)

    def count_unknown_truths(self) -> int:
        """Number of ready documents with text that belong to no truth."""
        return self._catalogue.count_unknown_truths()

    def has_passages(self) -> bool:
        """Whether there is anything to search, also while it is read again."""
        return self._catalogue.has_passages()

    def last_change(self) -> str:
        """A name for the state of all passages, for results that hold as long as it is the same."""
        return self._catalogue.last_change()

    def waiting_jobs(self) -> int:
        """Number of jobs queued or running, without alerts and deliveries."""
        return self._jobs.waiting()

    def statistics(self) -> Statistics:
        """Counts of the library, and of waiting jobs. Reads the labels of all documents: the counts above do not."""
        return replace(self._catalogue.statistics(), waiting_jobs=self._jobs.waiting())

    # Changing

    def archive(self, document_id: int, *, archived: bool) -> None:
        """Archive a document, which takes it out of searches and counts, or restore it; nothing is deleted. Raises
        NotFound, and BadRequest for one to restore whose bytes another document of its project has."""
        if not archived:
            check_free(self._catalogue, self._catalogue.document(document_id))
        self._vectors.update(self._catalogue.edit_labels(document_id, set_archived(archived)))

    def delete(self, document_id: int, who: str = "analyst") -> None:
        """Move a document to the trash, out of every index and count. Raises NotFound."""
        self._trash.put(document_id, who)

    def correct(self, document_id: int, field: str, value: str, who: str = "analyst") -> Document:
        """Set a label by hand: it is stored as confirmed, and stays when the document is read again.

        Raises BadRequest for an unknown field or a value outside a closed set.
        """
        return self.correct_many([(document_id, field, value)], who)[0]

    def correct_many(self, changes: Sequence[tuple[int, str, str]], who: str = "analyst") -> Sequence[Document]:
        """Set labels by hand, (document id, field, value) each, all or none; the classifier learns from them once.
        Returns the changed documents. Raises BadRequest, NotFound."""
        return self._corrector.correct_many(changes, who)

    def uncorrect(self, document_id: int, field: str, label: Label | None = None, who: str = "analyst") -> Document:
        """Give a label set by hand back to the classifier, with the label it had (`label`, where that is not on
        record); the correction stays on record. Raises BadRequest."""
        return self._corrector.uncorrect(document_id, field, who, label)

    def set_table_role(self, name: str, role: TableRole) -> None:
        """Say what a table is for. Its passages follow, so that coverage finds set-up rows."""
        table = self._tables.set_role(name, role)
        of_rows = {each.page for each in self._catalogue.passages_of(table.document_id) if each.rows is not None}
        labels = {page: self._catalogue.page(table.document_id, page).label for page in of_rows}
        pages = {p for p, label in labels.items() if label == table.label or label.startswith(f"{table.label}, rows ")}
        now = role if role is TableRole.SETUP else None

        def set_role(document: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            of_table = [each.rows is not None and each.page in pages for each in passages]
            pairs = zip(passages, of_table, strict=True)
            return document, [replace(each, table_role=now) if own else each for each, own in pairs]

        self._vectors.update(self._catalogue.edit_labels(table.document_id, set_role))


def _lacks_last_reading(document: Document) -> bool:
    """Whether its text is an earlier one, because reading it again failed."""
    return any(each.startswith(NOT_READ_AGAIN) for each in document.warnings)


def asks_for_password(document: Document) -> bool:
    """Whether reading failed because of a password that `DecryptionService.unlock` can use."""
    return document.state is DocumentState.FAILED and document.cure is Cure.PASSWORD


class DecryptionService:
    """Decrypts one document at a time. The password is used once; it is neither stored nor logged."""

    def __init__(
        self, catalogue: Catalogue, blobs: BlobStore, reader: FileReader, retry: Callable[[int], None]
    ) -> None:
        self._catalogue, self._blobs, self._reader, self._retry = catalogue, blobs, reader, retry

    def unlock(self, document_id: int, password: str) -> None:
        """Store a decrypted copy of a document, and queue the document for reading.

        Raises EncryptedFile for a wrong password, BadRequest for an empty one, UnreadableFile, UnsupportedFile,
        NotFound or StoreFailed.
        """
        if not password:
            raise BadRequest("No password was given.", "Type the password of the file.")
        document = self._catalogue.document(document_id)
        copy = self._reader.unlock(document.name, self._blobs.get(document.sha256), password)
        readable = self._blobs.put(copy)
        self._catalogue.edit_labels(document_id, lambda now, passages: (replace(now, readable=readable), passages))
        if not self._blobs.exists(readable):  # the last document that used it was deleted for good meanwhile
            self._blobs.put(copy)
        self._retry(document_id)
