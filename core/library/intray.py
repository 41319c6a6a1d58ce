"""Files on their way in: taken in by the batch, listed page by page, stopped, tried again.

A batch of thousands is stored first and queued some dozens at a time; each of its files has a place in it, and the
queue reads the lowest places first (`core.jobs.JobQueue`), so that batches take turns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.documents import Document
from core.errors import FivefoldError
from core.jobs import JobQueue
from core.results import UploadReceipt

__all__ = ["STOPPED_BY_HAND", "InTray", "Kept", "NewFile", "Pace", "Shown", "TrayCounts", "TrayStore"]

STOPPED_BY_HAND = ("You stopped it before it was read.", "Try again whenever you like: its original is kept.")
"""What a document that was stopped says of itself: what happened, what to do."""

_STORED_AT_ONCE = 50
_PACE = timedelta(minutes=5)


class Shown(StrEnum):
    """Which files a list shows; each file is in one of the last four, and in ALL."""

    ALL = "all"
    RUNNING = "running"
    FAILED = "failed"
    DOUBTFUL = "doubtful"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class TrayCounts:
    """How many living documents there are of each kind. waiting are those of `running` whose turn has not come, again
    those of `failed` that trying again can help. An archive that holds only other documents is done when it was read:
    it has no truth."""

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

    def of(self, shown: Shown) -> int:
        """
        >>> TrayCounts(running=2, done=3).of(Shown.ALL)
        5
        """
        return int(getattr(self, shown.value))


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast files are read, by what was read in the last minutes. files_per_minute: 0 while nothing is known."""

    files_per_minute: float

    def minutes_left(self, files: int) -> float | None:
        """How long so many files will take; None while nothing is known.

        >>> Pace(30.0).minutes_left(90), Pace(0.0).minutes_left(90)
        (3.0, None)
        """
        return files / self.files_per_minute if self.files_per_minute > 0 else None


class TrayStore(Protocol):
    """What the list of files on their way asks of the catalogue, whatever its size.

    sure: a truth that is not confirmed and less probable, in [0, 1], is doubtful. words: part of a name, any case.
    """

    def counts(self, sure: float, words: str = "") -> TrayCounts:
        """How many there are of each kind whose name holds the words."""
        ...

    def page(self, shown: Shown, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """Failed ones first, then those being read, doubtful ones from the least sure on, those that wait, sure ones
        from the least sure on, confirmed ones; newest first among equals."""
        ...

    def reading(self, limit: int) -> Sequence[Document]:
        """Those being read at this moment, the oldest first."""
        ...

    def members(self, parents: Sequence[int]) -> Sequence[Document]:
        """The living documents that came in these ones."""
        ...

    def projects(self) -> Sequence[str]:
        """Every project that has a living document, by name."""
        ...

    def oldest(self) -> datetime | None:
        """When the first of those that are not read yet was uploaded; None: all are read."""
        ...

    def to_try_again(self) -> Sequence[int]:
        """Ids, ascending, of all that were stopped, or failed in a way that trying again can help."""
        ...

    def pending(self) -> Sequence[int]:
        """Ids, ascending, of all that are not read yet."""
        ...

    def requeue(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Mark those of them that failed as waiting; which they are, ascending."""
        ...

    def stop(self, document_ids: Sequence[int] | None) -> Sequence[int]:
        """Stop what is not read yet, None: all of it; which documents were stopped, ascending. What was read before
        is ready again as it was; the rest is failed at the step "stopped" and says STOPPED_BY_HAND."""
        ...

    def ended(self, document_id: int, at: datetime) -> None:
        """Note that a document was read to its end, well or not; one deleted meanwhile is left."""
        ...

    def ends(self, since: datetime) -> tuple[int, datetime | None]:
        """How many were read to their end since then and are not to be read again, and when the first of them was."""
        ...


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to take in: its name, and what gives its bytes when it is its turn."""

    name: str
    read: Callable[[], bytes]


class Kept(Protocol):
    """`Intake.keep`: stores an original, and leaves queueing to the caller."""

    def __call__(
        self, name: str, data: bytes, *, project: str | None = None, tags: Sequence[str] = ()
    ) -> UploadReceipt: ...


class InTray:
    """Takes batches in and looks after what is on its way."""

    def __init__(self, store: TrayStore, jobs: JobQueue, keep: Kept, now: Callable[[], datetime]) -> None:
        self._store, self._jobs, self._keep, self._now = store, jobs, keep, now

    def take_in(
        self, files: Sequence[NewFile], *, project: str | None = None, tags: Sequence[str] = ()
    ) -> Iterator[UploadReceipt | FivefoldError]:
        """Store each file, and queue it; gives what became of each, in their order. One bad file stops no other."""
        place = 0
        for start in range(0, len(files), _STORED_AT_ONCE):
            told = [self._stored(file, project, tags) for file in files[start : start + _STORED_AT_ONCE]]
            new = [each.document_id for each in told if isinstance(each, UploadReceipt) and not each.duplicate_of]
            self._jobs.defer_ingest(new, place)
            place += len(new)
            yield from told

    def _stored(self, file: NewFile, project: str | None, tags: Sequence[str]) -> UploadReceipt | FivefoldError:
        try:
            return self._keep(file.name, file.read(), project=project, tags=tags)
        except FivefoldError as problem:
            return problem

    def counts(self, sure: float, words: str = "") -> TrayCounts:
        """How many files there are of each kind."""
        return self._store.counts(sure, words)

    def page(self, shown: Shown, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """Some of the files, those that need a look first (TrayStore.page)."""
        return self._store.page(shown, words, sure, limit, offset)

    def reading(self, limit: int = 4) -> Sequence[Document]:
        """Files being read at this moment."""
        return self._store.reading(limit)

    def members(self, parents: Sequence[int]) -> Mapping[int, Sequence[Document]]:
        """Parent → the documents that came in it; a parent without any is absent."""
        found: dict[int, list[Document]] = {}
        for each in self._store.members(parents) if parents else ():
            if each.parent is not None:
                found.setdefault(each.parent, []).append(each)
        return found

    def pace(self) -> Pace:
        """How fast files are read now."""
        now = self._now()
        number, first = self._store.ends(now - _PACE)
        if first is None or number < 2:
            return Pace(0.0)
        # The first end opens the time that is looked at, so what came to an end with it does not count.
        return Pace((number - 1) * 60 / max((now - first).total_seconds(), 10.0))

    def read_since(self) -> int:
        """How many files were read since the first of those that are not read yet was uploaded: what a batch under way
        has behind it."""
        oldest = self._store.oldest()
        return 0 if oldest is None else self._store.ends(oldest)[0]

    def projects(self) -> Sequence[str]:
        """Every project that has a living document, by name."""
        return self._store.projects()

    def ended(self, document_id: int) -> None:
        """Note that a document was read to its end, well or not."""
        self._store.ended(document_id, self._now())

    def stop(self, document_ids: Sequence[int] | None = None) -> int:
        """Stop files that wait or are being read, None: all of them; how many. Nothing is lost: an original stays, what
        was read before is searched as before, and a file under way ends at its next step."""
        self._jobs.cancel(document_ids)
        stopped = self._store.stop(document_ids)
        self._jobs.cancel(stopped)  # one that was queued in between
        return len(stopped)

    def try_again(self, document_ids: Sequence[int] | None = None) -> int:
        """Queue files that failed or were stopped, None: all that it can help; how many."""
        wanted = self._store.to_try_again() if document_ids is None else document_ids
        waiting = self._store.requeue(wanted)
        self._jobs.defer_ingest(waiting)
        return len(waiting)

    def recover(self) -> int:
        """Queue what is not read and may not be queued: a process may have died between storing and queueing. What is
        queued already stays as it is. How many were looked at."""
        pending = self._store.pending()
        self._jobs.defer_ingest(pending)
        return len(pending)
