"""Stores of user activity: usage of results, manual edits, saved searches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.domain.changes import ChangeSet
from core.domain.saved_searches import SavedSearch, SavedSearchVisit
from core.domain.usage import DocumentUsage, UsageEvent

__all__ = ["ChangeLog", "SavedSearchStore", "UsageLog"]


class UsageLog(Protocol):
    """Stores the usage events of one tenant. Every method raises StoreFailed when the store does not respond."""

    def record(self, events: Sequence[UsageEvent]) -> None:
        """Append events in order, all or none; the usage counts of the documents are updated in the same
        step."""
        ...

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        """`tallied` over all events of each of these documents; documents never used are absent."""
        ...

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UsageEvent]:
        """The latest `limit` events of a question (as `kept_question` writes it), of a passage, or both, in insertion
        order; shown events are left out. Raises ValueError when neither is given."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete all events of these documents."""
        ...


class SavedSearchStore(Protocol):
    """Stores the saved searches of one tenant. Every method raises StoreFailed when the store does not respond."""

    def views(self, *, retired: bool = False) -> Sequence[SavedSearch]:
        """All active (or retired) saved searches of every owner, oldest first."""
        ...

    def view(self, view_id: int) -> SavedSearch:
        """One saved search, retired ones too. Raises NotFound."""
        ...

    def add_view(self, view: SavedSearch) -> SavedSearch:
        """Store a new saved search (id 0). Raises BadRequest when the name is taken."""
        ...

    def change_view(self, view: SavedSearch) -> SavedSearch:
        """Store a changed saved search with the version it was read with; returns it with its new version.

        Raises Outdated when someone else changed it, BadRequest when the name is taken, NotFound.
        """
        ...

    def look(self, view_id: int, who: str) -> SavedSearchVisit | None:
        """How far this person has read a saved search; None: they never opened it."""
        ...

    def last_looks(self, who: str) -> Mapping[int, datetime]:
        """Saved search id → when this person last opened it; those never opened are absent."""
        ...

    def save_look(self, look: SavedSearchVisit) -> None:
        """Store how far a person has read, replacing the previous state. Raises NotFound for an unknown saved
        search."""
        ...


class ChangeLog(Protocol):
    """Every change set of a tenant. Sets are added and marked as undone, never removed."""

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a change set (id 0) and return it with its id."""
        ...

    def find(self, set_id: int) -> ChangeSet:
        """Raises NotFound."""
        ...

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest change sets, newest first. document_id: only those that changed it, with only its own changes."""
        ...

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Raises NotFound."""
        ...
