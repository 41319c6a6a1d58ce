"""Background jobs: their kinds, their queue, and the failed ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

__all__ = ["INDEXING", "STOPPED", "WAITING", "FailedWork", "JobKind", "JobQueue"]

WAITING, INDEXING, STOPPED = "waiting", "indexing", "stopped"
"""`Document.step` of one whose turn has not come, of a ready one that an index may still lack, and of one that was
taken out of the queue by hand."""


class JobKind(StrEnum):
    """Kind of a job, with the meaning of its number: a document, a feed, a watched folder, a run over the library
    (RELABEL), a person's alert of a saved search (ALERT), a notification (WEBHOOK; MAIL: the oldest one of its person);
    LEARN and EMBED use 0."""

    INGEST = "ingest"
    ENRICH = "enrich"
    FEED = "feed"
    FOLDER = "folder"
    LEARN = "learn"
    RELABEL = "relabel"
    EMBED = "embed"
    ALERT = "alert"
    MAIL = "mail"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class FailedWork:
    """A failed job other than ingestion: when it failed, what happened, what to do."""

    kind: JobKind
    number: int
    at: datetime
    reason: str
    remedy: str


class JobQueue(Protocol):
    """Background jobs that survive a killed process."""

    def defer_ingest(self, document_ids: Sequence[int], place: int | None = None) -> int:
        """Queue the ingestion of stored originals; a job may run twice, so ingestion is idempotent.

        place: of the first document; None: these begin a batch, directly behind the lowest place that waits. The lowest
        place runs first, the older job on ties: so batches take turns, a small batch never waits for the end of a large
        one, and newer batches can pass a waiting file only a limited number of times. Returns the place at which
        this batch goes on."""
        ...

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue a job of another kind; one that already waits is not queued again. Jobs are idempotent."""
        ...

    def without_job(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Those among these documents that neither wait in the queue nor are being read; order kept."""
        ...

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Remove waiting documents from the queue (None: all); the ids removed, ascending."""
        ...

    def waiting(self) -> int:
        """Jobs queued or running that change the library: alerts and deliveries do not count."""
        ...

    def give_up(self, failed: FailedWork) -> None:
        """Record a job that will not be retried automatically."""
        ...

    def settle(self, kind: JobKind, number: int) -> None:
        """Remove the record of a failed job: it succeeded after all, or is no longer wanted."""
        ...

    def failures(self) -> Sequence[FailedWork]:
        """Failed jobs that have neither succeeded since nor been queued again, newest first."""
        ...
