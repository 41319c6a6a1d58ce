"""Where documents come from, in memory: uploads, originals, feeds, watched folders, and jobs that run at once."""
# Over 300 lines: five stores with many short methods.

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from itertools import count
from threading import RLock

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure, NotFound, StoreFailed
from core.library.archive_members import is_container
from core.library.idempotency import IdempotentRequest
from core.library.sources.store import (
    Feed,
    FolderTally,
    WatchedFile,
    WatchedFolder,
    feed_known,
    no_feed,
    watched_already,
)
from core.library.upload_queue import STOPPED_BY_HAND, UploadCounts, UploadQueueView
from core.ports.job_queue import INDEXING, STOPPED, WAITING, FailedWork, JobKind
from tests.fakes.catalogue import FakeCatalogue

__all__ = [
    "FakeBlobs",
    "FakeFeedStore",
    "FakeFolderStore",
    "FakeIdempotencyStore",
    "FakeUploadQueueStore",
    "InlineJobs",
]


class FakeUploadQueueStore:
    """Implements core.library.upload_queue.UploadQueueStore."""

    def __init__(self, catalogue: FakeCatalogue) -> None:
        self._catalogue = catalogue
        self._ends: dict[int, datetime] = {}

    def counts(self, sure: float, words: str = "") -> UploadCounts:
        """Number of files by state whose name contains the words. sure: probability, in [0, 1], below which a label is
        uncertain."""
        kinds = [(_kind(each, sure), _waits(each)) for each in self._listed(words)]
        stored = [kind for kind, _ in kinds]
        return UploadCounts(
            running=stored.count(UploadQueueView.RUNNING),
            waiting=sum(kind is UploadQueueView.RUNNING and waits for kind, waits in kinds),
            failed=stored.count(UploadQueueView.FAILED),
            again=sum(_worth_again(each) for each in self._listed(words)),
            doubtful=stored.count(UploadQueueView.DOUBTFUL),
            done=stored.count(UploadQueueView.DONE),
        )

    def page(self, shown: UploadQueueView, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """One page of files; those that need attention come first."""
        found = [each for each in self._listed(words) if shown in (UploadQueueView.ALL, _kind(each, sure))]
        return sorted(found, key=lambda each: (_ease(each, sure), -each.id))[offset : offset + limit]

    def reading(self, limit: int) -> Sequence[Document]:
        """The files being processed now, oldest first."""
        running = [each for each in self._listed("") if each.state is DocumentState.PENDING and not _waits(each)]
        return sorted(running, key=lambda each: each.id)[:limit]

    def members(self, parents: Sequence[int]) -> Sequence[Document]:
        """The documents extracted from these container files, archived ones aside."""
        return sorted((each for each in self._listed("") if each.parent in parents), key=lambda each: each.id)

    def projects(self) -> Sequence[str]:
        """Every project with a document that is not archived, by name."""
        return sorted({each.project for each in self._listed("") if each.project is not None})

    def oldest(self) -> datetime | None:
        """Upload time of the oldest file not processed yet; None without one."""
        pending = [each.uploaded_at for each in self._listed("") if each.state is DocumentState.PENDING]
        return min(pending, default=None)

    def to_try_again(self) -> Sequence[int]:
        """Ids, ascending, of files that were stopped, or that failed for a reason a retry may resolve."""
        return sorted(each.id for each in self._all() if _worth_again(each))

    def pending(self) -> Sequence[int]:
        """Ids, ascending, of all files not processed yet, or that an index may lack."""
        unread = (each for each in self._all() if each.state is DocumentState.PENDING or each.step == INDEXING)
        return sorted(each.id for each in unread)

    def _in_state(self, state: DocumentState) -> list[int]:
        return sorted(each.id for each in self._all() if each.state is state)

    def _all(self) -> Sequence[Document]:
        return self._catalogue.documents(archived=None, origin=None)

    def requeue(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Mark failed ones among these as waiting; returns their ids."""
        chosen = sorted(set(self._in_state(DocumentState.FAILED)) & set(document_ids))
        for document_id in chosen:
            self._catalogue.mark(document_id, step=WAITING)
        return chosen

    def stop(self, document_ids: Sequence[int] | None) -> Sequence[int]:
        """Stop files not processed yet (None: all); returns their ids."""
        unread = self._in_state(DocumentState.PENDING)
        chosen = [each for each in unread if document_ids is None or each in document_ids]
        for document_id in chosen:
            document = self._catalogue.document(document_id)
            if document.passages:
                self._catalogue.put(replace(document, state=DocumentState.READY, step=STOPPED))
            else:
                failure, remedy = STOPPED_BY_HAND
                self._catalogue.fail(document_id, step=STOPPED, reason=failure, remedy=remedy)
        return chosen

    def ended(self, document_ids: Sequence[int], at: datetime) -> None:
        """Record that processing of documents ended: no index lacks them. Ignores those deleted meanwhile."""
        for document_id, document in self._catalogue.documents_by_id(document_ids).items():
            self._ends[document_id] = at
            if document.step == INDEXING:
                self._catalogue.put(replace(document, step=""))

    def ends(self, since: datetime, *, read: bool = False) -> tuple[int, datetime | None]:
        """How many files ended since then and are not queued again, and when the first of them ended. read: without
        those that failed."""
        known = self._catalogue.documents_by_id(list(self._ends))
        states = {DocumentState.READY} if read else {DocumentState.READY, DocumentState.FAILED}
        counted = {number for number, each in known.items() if each.state in states}
        recent = [at for number, at in self._ends.items() if at >= since and number in counted]
        return len(recent), min(recent, default=None)

    def _listed(self, words: str) -> list[Document]:
        expected = words.strip().lower()
        return [each for each in self._catalogue.documents() if expected in each.name.lower()]


def _worth_again(document: Document) -> bool:
    return document.state is DocumentState.FAILED and document.cure is Cure.AGAIN


def _waits(document: Document) -> bool:
    return document.step in ("", WAITING)


def _kind(document: Document, sure: float) -> UploadQueueView:
    if document.state is DocumentState.PENDING:
        return UploadQueueView.RUNNING
    if document.state is DocumentState.FAILED:
        return UploadQueueView.FAILED
    label = document.labels.truth
    if is_container(document):
        return UploadQueueView.DONE
    unsure = not label.confirmed and (label.value is None or label.probability < sure)
    return UploadQueueView.DOUBTFUL if unsure else UploadQueueView.DONE


def _ease(document: Document, sure: float) -> float:
    """Low for what needs a look most."""
    label = document.labels.truth
    probability = label.probability if label.value else 0.0
    match _kind(document, sure):
        case UploadQueueView.FAILED:
            return 0.0
        case UploadQueueView.RUNNING:
            return 3.0 if _waits(document) else 1.0
        case UploadQueueView.DOUBTFUL:
            return 2.0 + probability / 2
    return 6.0 if label.confirmed or is_container(document) else 4.0 + probability


class FakeBlobs:
    """Implements core.ports.stores.BlobStore that forgets when the process ends."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep the bytes under their hex SHA-256."""
        name = sha256(data).hexdigest()
        self._data[name] = bytes(data)
        return name

    def get(self, sha256: str) -> bytes:
        """Raises NotFound, or StoreFailed when the bytes no longer match their name."""
        if sha256 not in self._data:
            raise NotFound(f"No original with SHA-256 {sha256[:12]}….", "Upload the file again.")
        data = self._data[sha256]
        if _digest(data) != sha256:
            raise StoreFailed(f"The original {sha256[:12]}… is damaged.", "Upload the file again.")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether these bytes are stored."""
        return sha256 in self._data

    def delete(self, sha256: str) -> None:
        """Delete the bytes; harmless when they are gone."""
        self._data.pop(sha256, None)

    def names(self) -> Iterator[str]:
        """The SHA-256 of everything stored, sorted."""
        yield from sorted(self._data)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _nothing(document_id: int) -> None:
    """Until `run` is set, a deferred job stays undone."""


class InlineJobs:
    """core.ports.job_queue.JobQueue whose jobs end before `defer_ingest` returns. `run` can be set after construction,
    because the workbench that runs a job also needs the queue. With `held` they wait until `run_held`.

    >>> done = []
    >>> jobs = InlineJobs(); jobs.run = done.append
    >>> jobs.defer_ingest([3, 4]), done, jobs.waiting()
    (2, [3, 4], 0)
    >>> jobs.held = True; jobs.defer_ingest([5, 6]), jobs.waiting(), jobs.cancel([5])
    (2, 2, [5])
    >>> jobs.run_held(); done
    [3, 4, 6]
    """

    def __init__(self, run: Callable[[int], object] = _nothing) -> None:
        self.run = run
        self.work: Callable[[JobKind, int], object] = lambda kind, number: None
        self.held = False
        self._pending: dict[int, int] = {}  # document → its place
        self._running = 0
        self._failed: dict[tuple[JobKind, int], FailedWork] = {}

    def defer_ingest(self, document_ids: Sequence[int], place: int | None = None) -> int:
        """Run each job now, in order."""
        first = min(self._pending.values(), default=-1) + 1 if place is None else place
        for turn, document_id in enumerate(document_ids):
            if self.held:
                self._pending.setdefault(document_id, first + turn)
            else:
                self._now(partial(self.run, document_id))
        return first + len(document_ids)

    def run_held(self) -> None:
        """Run what was held, those with the lowest place first."""
        waiting, self._pending = sorted(self._pending, key=self._pending.__getitem__), {}
        for document_id in waiting:
            self._now(partial(self.run, document_id))

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Do the work now, in order."""
        for number in ids:
            self._now(partial(self.work, kind, number))

    def _now(self, job: Callable[[], object]) -> None:
        self._running += 1
        try:
            job()
        finally:
            self._running -= 1

    def without_job(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Those not held."""
        return [each for each in document_ids if each not in self._pending]

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Take what is held out of the queue."""
        removed = sorted(self._pending if document_ids is None else self._pending.keys() & set(document_ids))
        for document_id in removed:
            del self._pending[document_id]
        return removed

    def waiting(self) -> int:
        """Jobs held or running: above 0 without held ones only while seen from inside a job."""
        return self._running + len(self._pending)

    def give_up(self, failed: FailedWork) -> None:
        """Note work that failed for good."""
        self._failed[failed.kind, failed.number] = failed

    def settle(self, kind: JobKind, number: int) -> None:
        """Forget that it failed."""
        self._failed.pop((kind, number), None)

    def failures(self) -> Sequence[FailedWork]:
        """What failed for good, newest first."""
        return sorted(self._failed.values(), key=lambda each: (-each.at.timestamp(), each.number))


class FakeFeedStore:
    """Implements core.library.sources.store.FeedStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._feeds: dict[int, Feed] = {}
        self._seen: dict[int, dict[str, str]] = {}

    def feeds(self) -> Sequence[Feed]:
        """Every feed, oldest first."""
        with self._lock:
            return list(self._feeds.values())

    def feed(self, feed_id: int) -> Feed:
        """One feed. Raises NotFound."""
        with self._lock:
            if feed_id not in self._feeds:
                raise no_feed(feed_id)
            return self._feeds[feed_id]

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed. Raises BadRequest when its project already follows this address."""
        with self._lock:
            if (feed.url, feed.project) in {(each.url, each.project) for each in self._feeds.values()}:
                raise feed_known(feed)
            new = replace(feed, id=next(self._ids))
            self._feeds[new.id], self._seen[new.id] = new, {}
            return new

    def save_feed(self, feed: Feed) -> None:
        """Store a changed feed. Raises NotFound."""
        with self._lock:
            self.feed(feed.id)
            self._feeds[feed.id] = feed

    def delete_feed(self, feed_id: int) -> None:
        """Delete a feed and its record of imported entries."""
        with self._lock:
            self._feeds.pop(feed_id, None)
            self._seen.pop(feed_id, None)

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that became a document."""
        with self._lock:
            return dict(self._seen.get(feed_id, {}))

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """Record that an entry became a document. Raises NotFound."""
        with self._lock:
            self.feed(feed_id)
            self._seen[feed_id][key] = digest


class FakeFolderStore:
    """Implements core.library.sources.store.FolderStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._folders: dict[int, WatchedFolder] = {}
        self._files: dict[int, dict[str, WatchedFile]] = {}

    def folders(self) -> Sequence[WatchedFolder]:
        """All folders, oldest first."""
        with self._lock:
            return list(self._folders.values())

    def folder(self, folder_id: int) -> WatchedFolder:
        """One folder. Raises NotFound."""
        with self._lock:
            if folder_id not in self._folders:
                raise NotFound(f"Folder {folder_id} is watched no more.", "Add it again on Upload.")
            return self._folders[folder_id]

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new folder. Raises BadRequest when its path is already watched."""
        with self._lock:
            if folder.path in {each.path for each in self._folders.values()}:
                raise watched_already(folder)
            new = replace(folder, id=next(self._ids))
            self._folders[new.id], self._files[new.id] = new, {}
            return new

    def change(self, folder: WatchedFolder) -> None:
        """Store the changeable fields of a folder; ignores a folder removed meanwhile."""
        with self._lock:
            if folder.id in self._folders:
                self._folders[folder.id] = replace(folder, path=self._folders[folder.id].path)

    def remove(self, folder_id: int) -> None:
        """Delete a folder and its files."""
        with self._lock:
            self._folders.pop(folder_id, None)
            self._files.pop(folder_id, None)

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → the stored state of the file."""
        with self._lock:
            return dict(self._files.get(folder_id, {}))

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store the state of files; those of a folder removed meanwhile are dropped."""
        with self._lock:
            if folder_id in self._files:
                self._files[folder_id] |= {file.path: file for file in files}

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → counts of its files by state."""
        with self._lock:
            return {number: _tally(list(files.values())) for number, files in self._files.items() if files}

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be imported, ordered by path."""
        failed = [each for each in self.files(folder_id).values() if each.failure and not each.moving]
        return sorted(failed, key=lambda each: each.path)[:limit]


def _tally(files: Sequence[WatchedFile]) -> FolderTally:
    left = sum(each.moving for each in files)
    failed = sum(bool(each.failure) and not each.moving for each in files)
    taken = sum(bool(each.sha256) and not each.moving and not each.failure for each in files)
    return FolderTally(taken, left, failed)


class FakeIdempotencyStore:
    """Implements core.library.idempotency.IdempotencyStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._requests: dict[tuple[str, str], IdempotentRequest] = {}

    def claim(self, request: IdempotentRequest, *, retained_since: datetime) -> IdempotentRequest | None:
        """Store a new key, or return the request that has it. Keys claimed before `retained_since` are deleted."""
        with self._lock:
            self._requests = {key: each for key, each in self._requests.items() if each.at >= retained_since}
            known = self._requests.get((request.login, request.key))
            if known is None:
                self._requests[request.login, request.key] = request
            return known

    def reclaim(self, request: IdempotentRequest, before: IdempotentRequest) -> bool:
        """Replace an abandoned claim; False when another process did so first, or the reply has arrived."""
        with self._lock:
            if self._requests.get((before.login, before.key)) != before or before.status:
                return False
            self._requests[before.login, before.key] = replace(before, at=request.at)
            return True

    def finish(self, request: IdempotentRequest) -> None:
        """Store the reply of a claimed request."""
        with self._lock:
            known = self._requests[request.login, request.key]
            self._requests[request.login, request.key] = replace(known, status=request.status, reply=request.reply)

    def release(self, login: str, key: str) -> None:
        """Delete a claim that has no reply, so that the request can be repeated."""
        with self._lock:
            if (login, key) in self._requests and not self._requests[login, key].status:
                del self._requests[login, key]
