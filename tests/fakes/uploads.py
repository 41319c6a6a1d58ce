"""Uploads in memory: the queue, the originals, and a job queue that runs each job at once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure, NotFound, StoreFailed
from core.library.archive_members import is_container
from core.library.upload_queue import STOPPED_BY_HAND, UploadCounts, UploadQueueView
from core.ports.job_queue import STOPPED, WAITING, FailedWork, JobKind
from tests.fakes.catalogue import FakeCatalogue

__all__ = ["FakeBlobs", "FakeUploadQueueStore", "InlineJobs"]


class FakeUploadQueueStore:
    """Implements core.library.upload_queue.UploadQueueStore."""

    def __init__(self, catalogue: FakeCatalogue) -> None:
        self._catalogue = catalogue
        self._ends: dict[int, datetime] = {}

    def counts(self, sure: float, words: str = "") -> UploadCounts:
        """Number of files by state whose name contains the words. sure: probability, in [0, 1], below which a label is
        uncertain."""
        kinds = [(_kind(each, sure), _waits(each)) for each in self._listed(words)]
        held = [kind for kind, _ in kinds]
        return UploadCounts(
            running=held.count(UploadQueueView.RUNNING),
            waiting=sum(kind is UploadQueueView.RUNNING and waits for kind, waits in kinds),
            failed=held.count(UploadQueueView.FAILED),
            again=sum(_worth_again(each) for each in self._listed(words)),
            doubtful=held.count(UploadQueueView.DOUBTFUL),
            done=held.count(UploadQueueView.DONE),
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
        """Ids, ascending, of all files not processed yet."""
        return self._in_state(DocumentState.PENDING)

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
        chosen = [each for each in self.pending() if document_ids is None or each in document_ids]
        for document_id in chosen:
            document = self._catalogue.document(document_id)
            if document.passages:
                self._catalogue.save_labels(replace(document, state=DocumentState.READY, step=STOPPED), [])
            else:
                failure, remedy = STOPPED_BY_HAND
                self._catalogue.fail(document_id, step=STOPPED, reason=failure, remedy=remedy)
        return chosen

    def ended(self, document_id: int, at: datetime) -> None:
        """Record that processing of a document ended; ignores one deleted meanwhile."""
        if document_id in self._catalogue.documents_by_id([document_id]):
            self._ends[document_id] = at

    def ends(self, since: datetime) -> tuple[int, datetime | None]:
        """How many files ended since then and are not queued again, and when the first of them ended."""
        known = self._catalogue.documents_by_id(list(self._ends))
        read = {number for number, each in known.items() if each.state is not DocumentState.PENDING}
        recent = [at for number, at in self._ends.items() if at >= since and number in read]
        return len(recent), min(recent, default=None)

    def _listed(self, words: str) -> list[Document]:
        wanted = words.strip().lower()
        return [each for each in self._catalogue.documents() if wanted in each.name.lower()]


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


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _nothing(document_id: int) -> None:
    """Until `run` is set, a deferred job stays undone."""


class InlineJobs:
    """core.ports.job_queue.JobQueue whose jobs end before `defer_ingest` returns. `run` can be set after construction,
    because the workbench that runs a job also needs the queue. With `held` they wait until `run_held`.

    >>> done = []
    >>> jobs = InlineJobs(); jobs.run = done.append
    >>> jobs.defer_ingest([3, 4]); done, jobs.waiting()
    ([3, 4], 0)
    >>> jobs.held = True; jobs.defer_ingest([5, 6]); jobs.waiting(), jobs.cancel([5])
    (2, [5])
    >>> jobs.run_held(); done
    [3, 4, 6]
    """

    def __init__(self, run: Callable[[int], object] = _nothing) -> None:
        self.run = run
        self.work: Callable[[JobKind, int], object] = lambda kind, number: None
        self.held = False
        self._held: dict[int, int] = {}  # document → its place in its batch
        self._running = 0
        self._failed: dict[tuple[JobKind, int], FailedWork] = {}

    def defer_ingest(self, document_ids: Sequence[int], place: int = 0) -> None:
        """Run each job now, in order."""
        for turn, document_id in enumerate(document_ids):
            if self.held:
                self._held.setdefault(document_id, place + turn)
            else:
                self._now(partial(self.run, document_id))

    def run_held(self) -> None:
        """Run what was held, those with the lowest place in their batch first."""
        waiting, self._held = sorted(self._held, key=self._held.__getitem__), {}
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

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Take what is held out of the queue."""
        gone = sorted(self._held if document_ids is None else self._held.keys() & set(document_ids))
        for document_id in gone:
            del self._held[document_id]
        return gone

    def waiting(self) -> int:
        """Jobs held or running: above 0 without held ones only while seen from inside a job."""
        return self._running + len(self._held)

    def give_up(self, failed: FailedWork) -> None:
        """Note work that failed for good."""
        self._failed[failed.kind, failed.number] = failed

    def settle(self, kind: JobKind, number: int) -> None:
        """Forget that it failed."""
        self._failed.pop((kind, number), None)

    def given_up(self) -> Sequence[FailedWork]:
        """What failed for good, newest first."""
        return sorted(self._failed.values(), key=lambda each: (-each.at.timestamp(), each.number))
