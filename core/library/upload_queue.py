"""The upload queue: stores batches, lists files page by page, stops and retries them.

A batch of thousands is stored first and queued in groups of 50. Each file has a place in its batch, and the job queue
takes the lowest places first (`core.ports.job_queue.JobQueue`), so that batches take turns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.domain.results import UploadReceipt
from core.ports.job_queue import JobQueue

__all__ = [
    "STOPPED_BY_HAND",
    "NewFile",
    "StoredOriginal",
    "UploadCounts",
    "UploadPace",
    "UploadQueue",
    "UploadQueueStore",
    "UploadQueueView",
]

STOPPED_BY_HAND = ("You stopped it before it was read.", "Try again whenever you like: its original is kept.")
"""Message and hint of a stopped document."""

# Chosen by hand, not fitted.
_STORED_AT_ONCE = 50  # files stored before their jobs are queued
_PACE = timedelta(minutes=5)  # window of the measured reading speed
_LEAST = timedelta(seconds=5)  # a speed of fewer seconds says little about the files to come. Chosen by hand.
_MINUTE = timedelta(minutes=1)


class UploadQueueView(StrEnum):
    """Which files a list shows; every file is in exactly one of the last four, and in ALL."""

    ALL = "all"
    RUNNING = "running"
    FAILED = "failed"
    DOUBTFUL = "doubtful"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class UploadCounts:
    """Counts of living documents by state. waiting: those of `running` not started yet; again: those of `failed` that a
    retry can help. A read archive that holds only other documents counts as done: it has no truth.
    """

    running: int = 0
    waiting: int = 0
    failed: int = 0
    again: int = 0
    doubtful: int = 0
    done: int = 0

    @property
    def all(self) -> int:
        """All of them."""
        return self.running + self.failed + self.doubtful + self.done

    def of(self, shown: UploadQueueView) -> int:
        """
        >>> UploadCounts(running=2, done=3).of(UploadQueueView.ALL)
        5
        """
        return int(getattr(self, shown.value))


@dataclass(frozen=True, slots=True)
class UploadPace:
    """Reading speed over the last minutes. files_per_minute: 0 while unknown."""

    files_per_minute: float

    def minutes_left(self, files: int) -> float | None:
        """Estimated minutes for this many files; None while the pace is unknown.

        >>> UploadPace(30.0).minutes_left(90), UploadPace(0.0).minutes_left(90)
        (3.0, None)
        """
        return files / self.files_per_minute if self.files_per_minute > 0 else None


class UploadQueueStore(Protocol):
    """Queries of the upload list on the catalogue, for libraries of any size.

    sure: an unconfirmed truth with a probability below this, in [0, 1], is doubtful. words: part of a name, in any
    case.
    """

    def counts(self, sure: float, words: str = "") -> UploadCounts:
        """How many files of each state have a name containing the words."""
        ...

    def page(self, shown: UploadQueueView, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """Failed files first, then those being read, doubtful ones (least certain first), waiting ones, certain ones
        (least certain first), confirmed ones; newest first among equals.
        """
        ...

    def reading(self, limit: int) -> Sequence[Document]:
        """Those being read at this moment, the oldest first."""
        ...

    def members(self, parents: Sequence[int]) -> Sequence[Document]:
        """The living documents extracted from these ones."""
        ...

    def projects(self) -> Sequence[str]:
        """Every project that has a living document, by name."""
        ...

    def oldest(self) -> datetime | None:
        """When the oldest unread document was uploaded; None: all are read."""
        ...

    def to_try_again(self) -> Sequence[int]:
        """Ids, ascending, of all documents that were stopped, or failed in a way that a retry can help."""
        ...

    def pending(self) -> Sequence[int]:
        """Ids, ascending, of all that are not read yet, or that an index may lack."""
        ...

    def requeue(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Mark the failed ones among them as waiting; returns their ids, ascending."""
        ...

    def stop(self, document_ids: Sequence[int] | None) -> Sequence[int]:
        """Stop unread documents, None: all of them; returns the ids of the stopped ones, ascending. A document read
        before is ready again as it was; the others fail at the step "stopped" with STOPPED_BY_HAND.
        """
        ...

    def ended(self, document_ids: Sequence[int], at: datetime) -> None:
        """Record that reading documents ended, with success or failure: no index lacks them. Those deleted meanwhile
        are ignored."""
        ...

    def ends(self, since: datetime, *, read: bool = False) -> tuple[int, datetime | None]:
        """How many documents finished since then and are not queued again, and when the first of them did. read:
        without those that failed."""
        ...


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to upload: its name, a function that returns its bytes when it is its turn, and its size in bytes."""

    name: str
    read: Callable[[], bytes]
    size: int = 0


class StoredOriginal(Protocol):
    """`DocumentService.store`: stores an original and leaves queueing to the caller."""

    def __call__(
        self, name: str, data: bytes, *, project: str | None = None, tags: Sequence[str] = ()
    ) -> UploadReceipt: ...


class UploadQueue:
    """Accepts batches and manages the files waiting to be read."""

    def __init__(
        self, store: UploadQueueStore, jobs: JobQueue, keep: StoredOriginal, now: Callable[[], datetime]
    ) -> None:
        self._store, self._jobs, self._keep, self._now = store, jobs, keep, now

    def take_in(
        self, files: Sequence[NewFile], *, project: str | None = None, tags: Sequence[str] = ()
    ) -> Iterator[UploadReceipt | FivefoldError]:
        """Store and queue each file, the smallest first; yields a receipt or an error for each in that order. One bad
        file stops no other.
        """
        queue_position: int | None = None
        ordered = sorted(files, key=lambda file: file.size)
        for start in range(0, len(ordered), _STORED_AT_ONCE):
            stored = [self._stored(file, project, tags) for file in ordered[start : start + _STORED_AT_ONCE]]
            new = [each.document_id for each in stored if isinstance(each, UploadReceipt) and not each.duplicate_of]
            queue_position = self._jobs.defer_ingest(new, queue_position)
            yield from stored

    def _stored(self, file: NewFile, project: str | None, tags: Sequence[str]) -> UploadReceipt | FivefoldError:
        try:
            return self._keep(file.name, file.read(), project=project, tags=tags)
        except FivefoldError as problem:
            return problem

    def counts(self, sure: float, words: str = "") -> UploadCounts:
        """How many files there are of each kind."""
        return self._store.counts(sure, words)

    def page(self, shown: UploadQueueView, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """A page of the files, those that need attention first (see UploadQueueStore.page)."""
        return self._store.page(shown, words, sure, limit, offset)

    def reading(self, limit: int = 4) -> Sequence[Document]:
        """Files being read at this moment."""
        return self._store.reading(limit)

    def members(self, parents: Sequence[int]) -> Mapping[int, Sequence[Document]]:
        """Parent → the documents extracted from it; a parent without any is absent."""
        found: dict[int, list[Document]] = {}
        for each in self._store.members(parents) if parents else ():
            if each.parent is not None:
                found.setdefault(each.parent, []).append(each)
        return found

    def pace(self) -> UploadPace:
        """How fast files are read now; unknown until the first was read and some seconds more. A file that fails, which
        takes no time, does not count: the model may still be loading. Nor does what was read before the files that wait
        were uploaded."""
        now = self._now()
        _, first = self._store.ends(max(now - _PACE, self._store.oldest() or now - _PACE), read=True)
        if first is None:
            return UploadPace(0.0)
        # The first end opens the time that is looked at, so those that ended with it, stored together, do not count.
        later, _ = self._store.ends(first + timedelta.resolution, read=True)
        return UploadPace(later * _MINUTE / (now - first) if now - first >= _LEAST else 0.0)

    def read_since(self) -> int:
        """How many files were read since the oldest unread one was uploaded: the progress of the current batch."""
        oldest = self._store.oldest()
        return 0 if oldest is None else self._store.ends(oldest)[0]

    def projects(self) -> Sequence[str]:
        """Every project that has a living document, by name."""
        return self._store.projects()

    def ended(self, document_ids: Sequence[int]) -> None:
        """Note that documents were read to their end, well or not."""
        self._store.ended(document_ids, self._now())

    def stop(self, document_ids: Sequence[int] | None = None) -> int:
        """Stop waiting or running files, None: all of them; returns their number. Nothing is lost: originals stay, text
        read before stays searchable, and a running file ends at its next step.
        """
        self._jobs.cancel(document_ids)
        stopped = self._store.stop(document_ids)
        self._jobs.cancel(stopped)  # one that was queued in between
        return len(stopped)

    def try_again(self, document_ids: Sequence[int] | None = None) -> int:
        """Queue failed or stopped files again, None: all that a retry can help; returns their number."""
        ids = self._store.to_try_again() if document_ids is None else document_ids
        waiting = self._store.requeue(ids)
        self._jobs.defer_ingest(waiting)
        return len(waiting)

    def recover(self) -> int:
        """Queue documents that wait without a job, because a process died between storing and queueing. A worker calls
        it every minute. Returns how many were queued.
        """
        lost = self._jobs.without_job(self._store.pending())
        if lost:
            self._jobs.defer_ingest(lost)
        return len(lost)
