"""Changes made by hand, in a list."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock

from core.changes import ChangeSet, no_change_set

__all__ = ["MemoryChangeLog"]


class MemoryChangeLog:
    """core.changes.ChangeLog; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._sets: list[ChangeSet] = []

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a set and give it back with its id."""
        with self._lock:
            self._sets.append(replace(changed, id=len(self._sets) + 1))
            return self._sets[-1]

    def find(self, set_id: int) -> ChangeSet:
        """Raises NotFound."""
        with self._lock:
            if not 0 < set_id <= len(self._sets):
                raise no_change_set(set_id)
            return self._sets[set_id - 1]

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest sets, newest first; of a document: those that changed it, with its own changes only."""
        with self._lock:
            newest = self._sets[::-1]
        if document_id is not None:
            own = [replace(s, changes=tuple(c for c in s.changes if c.document_id == document_id)) for s in newest]
            newest = [each for each in own if each.changes]
        return newest[:limit]

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Raises NotFound."""
        with self._lock:
            self._sets[set_id - 1] = replace(self.find(set_id), undone_at=at, undone_by=who)
