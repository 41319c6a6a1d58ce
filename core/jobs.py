"""Work done in the background: its kinds, and the queue it waits in."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

__all__ = ["JobKind", "JobQueue"]


class JobKind(StrEnum):
    """What a job does, and what its number names: a document, a feed or a watched folder; LEARN names nothing (0)."""

    INGEST = "ingest"
    ENRICH = "enrich"
    FEED = "feed"
    FOLDER = "folder"
    LEARN = "learn"


class JobQueue(Protocol):
    """Background work that survives a killed process."""

    def defer_ingest(self, document_ids: Sequence[int]) -> None:
        """Queue the ingestion of stored originals; a job may run twice, so ingestion is idempotent."""
        ...

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue work of another kind than ingestion; what waits already is not queued again, and work is idempotent."""
        ...

    def waiting(self) -> int:
        """Jobs queued or running."""
        ...
