"""Kinds of background jobs, and failed jobs."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

__all__ = ["STOPPED", "WAITING", "FailedWork", "JobKind"]

WAITING, STOPPED = "waiting", "stopped"
"""`Document.step` of one whose turn has not come, and of one that was taken out of the queue by hand."""


class JobKind(StrEnum):
    """Kind of a job, with the meaning of its number: a document, a feed, a watched folder or a run over the library
    (RELABEL); LEARN uses 0."""

    INGEST = "ingest"
    ENRICH = "enrich"
    FEED = "feed"
    FOLDER = "folder"
    LEARN = "learn"
    RELABEL = "relabel"


@dataclass(frozen=True, slots=True)
class FailedWork:
    """A failed job other than ingestion: when it failed, what happened, what to do."""

    kind: JobKind
    number: int
    at: datetime
    reason: str
    remedy: str
