"""Work done in the background: its kinds, and the queue it waits in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

__all__ = ["STOPPED", "WAITING", "FailedWork", "JobKind", "JobQueue"]

WAITING, STOPPED = "waiting", "stopped"
"""`Document.step` of one whose turn has not come, and of one that was taken out of the queue by hand."""


class JobKind(StrEnum):
    """What a job does, and what its number names: a document, a feed, a watched folder or a run
    over the library (RELABEL); LEARN names nothing (0)."""

    INGEST = "ingest"
    ENRICH = "enrich"
    FEED = "feed"
    FOLDER = "folder"
    LEARN = "learn"
    RELABEL = "relabel"


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Work of another kind than ingestion that was given up: when, what happened, what to do."""

    kind: JobKind
    number: int
    at: datetime
    reason: str
    remedy: str


class JobQueue(Protocol):
    """Background work that survives a killed process."""

    def defer_ingest(self, document_ids: Sequence[int], place: int = 0) -> None:
        """Queue the ingestion of stored originals; a job may run twice, so ingestion is idempotent.

        place: of the first of them in its batch, from 0. Whoever has the lowest place comes next, the older of two: so
        batches take turns, and a small one never waits for the end of a large one.
        """
        ...

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue work of another kind than ingestion; what waits already is not queued again, and work is idempotent."""
        ...

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Take documents that still wait out of the queue, None: all of them; those taken out, ascending."""
        ...

    def waiting(self) -> int:
        """Jobs queued or running."""
        ...

    def give_up(self, failed: FailedWork) -> None:
        """Note work that will not be tried again by itself."""
        ...

    def settle(self, kind: JobKind, number: int) -> None:
        """Forget that work was given up: it was done after all, or nobody wants it any more."""
        ...

    def given_up(self) -> Sequence[FailedWork]:
        """Work given up and neither done since nor queued again, newest first."""
        ...
