"""The trash: deleted documents stay for some days, can be restored with everything that belonged to them, and are then
deleted for good, with everything made from them.

Deleting moves a document with its pages, passages, vectors, labels, comments and tables out of the library in one
transaction, so that no search, count or export has to leave it out. Restoring moves the same rows back: ids, vectors
and labels are those from before. Other stores follow, each also where another one fails.

Deleting for good goes in steps, each harmless when repeated, so that a program that was killed in between goes on where
it was: mark, vectors and keywords, rows and quotes, originals, and at last the entry in the trash. What stayed long
enough goes slice by slice, so that other scheduled work has its turn.
"""
# Over 300 lines: what enters the trash leaves it by one of two ways; the three are read together.

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import BadRequest, FivefoldError, StoreFailed
from core.library.bulk_edit.store import ChangeLog, ChangeSet, LabelEdit
from core.ports.catalogue import Catalogue
from core.ports.job_queue import WAITING, JobQueue
from core.ports.stores import BlobStore, EntityGraph, SparseIndex, VectorIndex
from core.table_qa.service import TableService

__all__ = [
    "DELETED",
    "ERASED",
    "REDACTED",
    "RETENTION",
    "TrashService",
    "TrashStore",
    "TrashedDocument",
    "without_answers",
    "without_quotes",
]

DELETED = "deleted"
"""The field of a change that moved a document to the trash; its value afterwards is the SHA-256 of the original."""
ERASED = "deleted for good"
"""The field of a change that deleted a document for good."""
REDACTED = "(deleted for good)"
"""What stands in place of a quote from a document that was deleted for good."""
RETENTION = "retention"
"""Who deletes what stayed in the trash long enough."""

_SLICE = 20
"""Documents that are deleted for good together: their quotes are looked for at once, and one look of the scheduler
deletes no more. Chosen by hand."""
_QUOTING = frozenset({"quote", "text", "sentence", "section", "title", "snippet", "summary", "context", "words"})
"""Keys of stored values that repeat what a document says."""


@dataclass(frozen=True, slots=True)
class TrashedDocument:
    """A document in the trash.

    at: when it was deleted, by whom. readable: the SHA-256 of the decrypted copy, "" without one. contents: what goes
    with it, noun in the singular → number above 0. earlier, later: the versions before and after it. purging: it is
    being deleted for good and cannot be restored.
    """

    document_id: int
    name: str
    sha256: str
    size_bytes: int
    who: str
    at: datetime
    project: str | None = None
    readable: str = ""
    contents: Mapping[str, int] = field(default_factory=dict)
    earlier: int | None = None
    later: int | None = None
    purging: bool = False

    def leaves_at(self, days: int) -> datetime | None:
        """When it is deleted for good; None: never by itself. days: how long the trash keeps documents, 0 for ever."""
        return self.at + timedelta(days=days) if days else None

    def days_left(self, days: int, now: datetime) -> int | None:
        """Whole days until then, at least 0; None: never by itself.

        >>> from datetime import UTC
        >>> gone = TrashedDocument(1, "a.pdf", "", 0, "Ann", datetime(2026, 1, 1, tzinfo=UTC))
        >>> gone.days_left(30, datetime(2026, 1, 30, 12, tzinfo=UTC)), gone.days_left(0, gone.at)
        (1, None)
        """
        leaves = self.leaves_at(days)
        return None if leaves is None else max(0, -((now - leaves) // timedelta(days=1)))


class TrashStore(Protocol):
    """The trash of one tenant. Every method raises StoreFailed when the store does not answer."""

    def put(
        self, document_id: int, who: str, at: datetime, earlier: int | None = None, later: int | None = None
    ) -> TrashedDocument:
        """Move a document with everything that belongs to it out of the library, at once. Raises NotFound."""
        ...

    def listed(self) -> Sequence[TrashedDocument]:
        """What is in the trash, the last deleted first."""
        ...

    def find(self, document_id: int) -> TrashedDocument:
        """Raises NotFound."""
        ...

    def take_back(self, document_id: int) -> TrashedDocument:
        """Move a document back as it was, at once. Raises NotFound, BadRequest when the same file is in the library
        again."""
        ...

    def begin_purge(self, document_id: int) -> TrashedDocument:
        """Mark a document as being deleted for good: it can no longer be restored. Raises NotFound."""
        ...

    def texts(self, document_id: int) -> Sequence[str]:
        """The texts of the passages of a document in the trash."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete all rows and tables of documents in the trash, and what other rows quote from them. Their entries in
        the trash stay."""
        ...

    def unreferenced(self, sha256: str) -> AbstractContextManager[bool]:
        """Whether no document of any tenant uses these bytes, besides those being deleted for good. Nobody can begin to
        use them until the context ends."""
        ...

    def finish(self, document_id: int) -> None:
        """Delete the entry in the trash."""
        ...

    def alone(self) -> AbstractContextManager[bool]:
        """Whether this program alone empties the trash now, until the context ends."""
        ...

    def unused_originals(self, names: Sequence[str]) -> Sequence[str]:
        """Those of these SHA-256 that no document of any tenant uses, in the library or in the trash; order kept."""
        ...

    def leftover_tables(self) -> Sequence[str]:
        """Stored tables of uploaded data that belong to no document in the library or in the trash."""
        ...

    def drop_leftover_tables(self) -> None: ...


class VersionChain(Protocol):
    """What the trash needs of core.library.versions."""

    def leave(self, document: Document) -> tuple[int | None, int | None]:
        """Take a document out of its chain; returns the versions before and after it."""
        ...

    def rejoin(self, document_id: int, earlier: int | None, later: int | None) -> None:
        """Put a restored document between these versions again, as far as they are still there."""
        ...


class Forgetter(Protocol):
    """A service that keeps its own record of every document."""

    def forget(self, document_ids: Sequence[int]) -> None: ...


class WordForgetter(Protocol):
    """What the trash needs of core.search.query.expansion.SynonymFinder."""

    def forget(self, texts: Iterable[str], unused: Callable[[Sequence[str]], Sequence[str]]) -> None:
        """Delete the vectors of words of these texts that are used nowhere else."""
        ...


class TrashService:
    """The trash of one library. days: how long it keeps documents; 0: until somebody deletes them for good."""

    def __init__(
        self,
        *,
        store: TrashStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        graph: EntityGraph | None,
        originals: BlobStore,
        jobs: JobQueue,
        tables: TableService,
        versions: VersionChain,
        words: WordForgetter,
        followers: Sequence[Forgetter],
        on_delete: Sequence[Callable[[Sequence[int]], object]],
        on_restore: Sequence[Callable[[Sequence[int]], object]],
        archive: Callable[[int, bool], None],
        renew_notes: Callable[[Sequence[int]], object],
        log: ChangeLog,
        now: Callable[[], datetime],
        days: int,
    ) -> None:
        """on_delete, on_restore: called with documents that left the library, or came back. archive: hides a document,
        or shows it again. renew_notes: indexes notes again whose quotes of these documents are gone."""
        self._store, self._catalogue, self._vectors, self._sparse = store, catalogue, vectors, sparse
        self._graph, self._originals, self._jobs, self._tables = graph, originals, jobs, tables
        self._versions, self._words, self._followers = versions, words, tuple(followers)
        self._on_delete, self._on_restore = tuple(on_delete), tuple(on_restore)
        self._archive, self._renew_notes = archive, renew_notes
        self._log, self._now, self.days = log, now, days

    # Looking

    def listed(self) -> Sequence[TrashedDocument]:
        """What is in the trash, the last deleted first."""
        return self._store.listed()

    def get(self, document_id: int) -> TrashedDocument:
        """Raises NotFound."""
        return self._store.find(document_id)

    # In and out

    def put(self, document_id: int, who: str) -> TrashedDocument:
        """Move a document to the trash. Versions of tables that it had replaced become current again, and so does the
        document that it had replaced, unless the same file is in the library again.

        Raises NotFound, and StoreFailed: before anything is changed, or with a message that says what is.
        """
        document, tables = self._catalogue.document(document_id), self._tables.tables()
        self._vectors.ping()
        earlier, later = self._versions.leave(document)
        try:
            trashed = self._store.put(document_id, who, self._now(), earlier, later)
        except FivefoldError:
            self._versions.rejoin(document_id, earlier, later)
            raise
        indexes = (self._sparse, self._vectors, *(() if self._graph is None else (self._graph,)))
        listeners = (*(each.delete for each in indexes), *(each.forget for each in self._followers), *self._on_delete)
        _follow(
            f"'{document.name}' is in the trash",
            *(partial(each, [document_id]) for each in listeners),
            partial(self._tables.forget, document_id, tables),
            partial(self._bring_back, {table.document_id for table in tables}),
        )
        return trashed

    def _bring_back(self, before: Collection[int]) -> None:
        """Take documents out of the archive whose tables have become current. before: those that had current ones."""
        for each in sorted({table.document_id for table in self._tables.tables()} - set(before)):
            with suppress(BadRequest):  # the same file is in the library again
                self._archive(each, False)

    def _archive_replaced(self, before: Collection[int]) -> None:
        """Archive documents whose tables are no longer current. before: those that had current ones."""
        for each in sorted(set(before) - {table.document_id for table in self._tables.tables()}):
            self._archive(each, True)

    def restore(self, document_ids: Sequence[int], who: str = "analyst") -> Sequence[Document]:
        """Bring documents back with everything that belonged to them, under the same ids; their deletion counts as
        undone. Vectors kept outside the database are made again by a job.

        Raises NotFound, BadRequest where the same file is in the library again, and StoreFailed. Of several documents
        the others are restored then, up to a store that fails, and the message says why some are not.
        """
        self._vectors.ping()
        restored: list[Document] = []
        problems: list[FivefoldError] = []
        for each in document_ids:
            try:
                restored.append(self._restored(each, who))
            except FivefoldError as problem:
                problems.append(problem)
                if isinstance(problem, StoreFailed):
                    break
        if len(document_ids) == len(problems) == 1:
            raise problems[0]
        if problems:
            raise _partly_restored(len(restored), len(document_ids), problems)
        return restored

    def _restored(self, document_id: int, who: str) -> Document:
        before = {table.document_id for table in self._tables.tables()}
        trashed = self._store.take_back(document_id)
        passages = self._catalogue.passages_of(document_id)
        _follow(
            f"'{trashed.name}' was restored",
            partial(self._sparse.add, passages),
            partial(self._complete_vectors, document_id, passages),
            partial(self._mark_undone, document_id, who),
            partial(self._tables.relink, before),
            partial(self._archive_replaced, before),
            partial(self._versions.rejoin, document_id, trashed.earlier, trashed.later),
            *(partial(note, [document_id]) for note in self._on_restore),
        )
        return self._catalogue.document(document_id)

    def _complete_vectors(self, document_id: int, passages: Sequence[Passage]) -> None:
        """Let a document be read again that was not read to its end, or whose vectors are not in its rows."""
        unread = self._catalogue.document(document_id).state is DocumentState.PENDING
        if unread or self._lacks_vectors(passages):
            self._catalogue.mark(document_id, step=WAITING)
            self._jobs.defer_ingest([document_id])
        else:
            self._vectors.update(passages)  # searches of this process find them at once

    def _lacks_vectors(self, passages: Sequence[Passage]) -> bool:
        ids = [each.id for each in passages]
        return len(self._vectors.vectors(ids)) < len(ids)

    def _mark_undone(self, document_id: int, who: str) -> None:
        """In the entries of the history that an undo would restore the document by."""
        for each in self._log.newest(_ENTRIES, document_id):
            if each.undone_at is None and any(change.field == DELETED for change in each.changes):
                self._log.mark_undone(each.id, who, self._now())

    # For good

    def purge(self, document_ids: Sequence[int], who: str = "analyst") -> Sequence[TrashedDocument]:
        """Delete documents of the trash for good: text, vectors, keywords, tables, pictures, caches, and the originals
        that no other document uses. Returns what is gone.

        What people did stays: audit log, history, decisions and judgments, without the document's words. Repeat it when
        it was interrupted. Raises NotFound, and StoreFailed for vectors that do not answer, before anything is deleted.
        """
        ids = [self._store.find(each).document_id for each in document_ids]
        if not ids:
            return ()
        self._vectors.ping()
        purged = [self._store.begin_purge(each) for each in ids]
        self._vectors.delete(ids)
        self._sparse.delete(ids)
        self._vectors.vacuum()
        self._sparse.vacuum()
        for start in range(0, len(purged), _SLICE):
            self._erase(purged[start : start + _SLICE], who)
        return purged

    def _erase(self, purged: Sequence[TrashedDocument], who: str) -> None:
        """Delete words, rows, quotes, originals and entries of some documents. One whose original cannot be deleted
        holds up no other; its error is raised at the end."""
        ids = [each.document_id for each in purged]
        self._words.forget((text for each in ids for text in self._store.texts(each)), self._sparse.unused)
        self._store.forget(ids)
        self._renew_notes(ids)
        failures: list[FivefoldError] = []
        for each in purged:
            try:
                self._finish(each, who)
            except FivefoldError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]

    def _finish(self, document: TrashedDocument, who: str) -> None:
        for name in filter(None, (document.sha256, document.readable)):
            with self._store.unreferenced(name) as unused:
                if unused:
                    self._originals.delete(name)
        self._note(document, who)
        self._store.finish(document.document_id)

    def _note(self, document: TrashedDocument, who: str) -> None:
        """Once, also when the purge is repeated."""
        noted = self._log.newest(_ENTRIES, document.document_id)
        if not any(change.field == ERASED for each in noted for change in each.changes):
            change = LabelEdit(document.document_id, document.name, ERASED, "", document.sha256)
            self._log.add(ChangeSet(self._now(), who, "Deleted for good", (change,)))

    def purge_due(self) -> Sequence[TrashedDocument]:
        """Go on with what was interrupted, then delete what stayed long enough, the longest first: one slice, the rest
        at the next call. One program at a time does it."""
        with self._store.alone() as alone:
            if not alone:
                return ()
            due = sorted(filter(self._is_due, self._store.listed()), key=lambda each: (not each.purging, each.at))
            return self.purge([each.document_id for each in due[:_SLICE]], RETENTION)

    def _is_due(self, trashed: TrashedDocument) -> bool:
        leaves = trashed.leaves_at(self.days)
        return trashed.purging or (leaves is not None and leaves <= self._now())

    def restorable(self) -> frozenset[int]:
        """The ids of the documents that can be restored."""
        return frozenset(each.document_id for each in self._store.listed() if not each.purging)


_ENTRIES = 200  # of the history of one document that are looked through; chosen by hand
_NAMED = 20  # documents whose problems a message tells; chosen by hand


def _follow(done: str, *steps: Callable[[], object]) -> None:
    """Take the steps that follow a move between library and trash, each also where another one fails. done: the move,
    for the message. Raises StoreFailed."""
    failures: list[FivefoldError] = []
    for step in steps:
        try:
            step()
        except FivefoldError as failure:
            failures.append(failure)
    if failures:
        raise StoreFailed(
            f"{done}, but not everything that belongs to it has followed. {failures[0].message}",
            "Run 'python -m cli check --repair' when everything answers again.",
        ) from failures[0]


def _partly_restored(restored: int, total: int, problems: Sequence[FivefoldError]) -> FivefoldError:
    """The error of a restore of several documents."""
    more = f" And {len(problems) - _NAMED} more." if len(problems) > _NAMED else ""
    reasons = " ".join(each.message for each in problems[:_NAMED])
    kind = StoreFailed if isinstance(problems[-1], StoreFailed) else BadRequest
    return kind(f"{restored} of {total} documents were restored. {reasons}{more}", problems[-1].hint)


def without_quotes(value: object, document_ids: Collection[int]) -> object:
    """Stored JSON in which nothing quotes these documents any more: inside each object that names one of them as its
    document, the texts say so.

    >>> kept = {"note": "mine", "links": [{"document_id": 7, "quote": "secret"}, {"document_id": 8, "quote": "open"}]}
    >>> without_quotes(kept, {7})["links"]
    [{'document_id': 7, 'quote': '(deleted for good)'}, {'document_id': 8, 'quote': 'open'}]
    """
    return _redacted(value, document_ids, inside=False)


def without_answers(question: Mapping[str, Any], files: Collection[str]) -> Mapping[str, Any]:
    """A stored question without the words of its known answers in these files, by their SHA-256.

    >>> without_answers({"relevant": [{"sha256": "00ff", "must_contain": ["secret"], "grade": 3}]}, {"00ff"})
    {'relevant': [{'sha256': '00ff', 'must_contain': ['(deleted for good)'], 'grade': 3}]}
    """
    answers = question.get("relevant", ())
    return {
        **question,
        "relevant": [{**each, "must_contain": [REDACTED]} if each["sha256"] in files else each for each in answers],
    }


def _redacted(value: object, document_ids: Collection[int], *, inside: bool) -> object:
    if isinstance(value, Mapping):
        named = value.get("document_id")
        within = named in document_ids if isinstance(named, int) else inside
        return {
            key: REDACTED
            if within and key in _QUOTING and isinstance(item, str) and item
            else _redacted(item, document_ids, inside=within)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redacted(each, document_ids, inside=inside) for each in value]
    return value
