"""Saved searches and usage events in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from threading import Lock, RLock

from core.library.saved_searches import SavedSearch, SavedSearchVisit, no_view, outdated_view, view_name_taken
from core.search.store import DocumentUsage, UsageEvent, UsageKind, tallied

__all__ = ["FakeSavedSearchStore", "FakeUsageLog"]


class FakeSavedSearchStore:
    """Implements core.library.saved_searches.SavedSearchStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._views: dict[int, SavedSearch] = {}
        self._looks: dict[tuple[str, int], SavedSearchVisit] = {}

    def views(self, *, retired: bool = False) -> Sequence[SavedSearch]:
        """Every saved search in use (or retired), oldest first."""
        with self._lock:
            return [view for view in self._views.values() if view.retired is retired]

    def view(self, view_id: int) -> SavedSearch:
        """One saved search. Raises NotFound."""
        with self._lock:
            if view_id not in self._views:
                raise no_view(view_id)
            return self._views[view_id]

    def add_view(self, view: SavedSearch) -> SavedSearch:
        """Store a new saved search. Raises BadRequest when the name is in use."""
        with self._lock:
            return self._kept(replace(view, id=next(self._ids), version=1))

    def change_view(self, view: SavedSearch) -> SavedSearch:
        """Store a changed saved search; returns it with its new version. Raises Outdated, BadRequest, NotFound."""
        with self._lock:
            known = self.view(view.id)
            if known.version != view.version:
                raise outdated_view(known)
            return self._kept(replace(view, version=view.version + 1))

    def _kept(self, new: SavedSearch) -> SavedSearch:
        others = [view for view in self._views.values() if not view.retired and view.id != new.id]
        if not new.retired and _key(new) in {_key(view) for view in others}:
            raise view_name_taken(new)
        self._views[new.id] = new
        return new

    def look(self, view_id: int, who: str) -> SavedSearchVisit | None:
        """This person's last visit to a saved search; None: never visited."""
        return self._looks.get((who, view_id))

    def last_looks(self, who: str) -> Mapping[int, datetime]:
        """Id of the saved search → time of this person's last visit."""
        with self._lock:
            return {view_id: look.at for (each, view_id), look in self._looks.items() if each == who}

    def save_look(self, look: SavedSearchVisit) -> None:
        """Store a visit. Raises NotFound for an unknown saved search."""
        with self._lock:
            self.view(look.view_id)
            self._looks[look.who, look.view_id] = look


def _key(view: SavedSearch) -> tuple[str | None, str, str]:
    return view.project, view.owner, view.name.lower()


class FakeUsageLog:
    """Implements core.search.store.UsageLog; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events: list[UsageEvent] = []

    def record(self, events: Sequence[UsageEvent]) -> None:
        """Append events, all or none, in their order."""
        with self._lock:
            self._events += events

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        """What `tallied` says of all events of these documents; those never used are absent."""
        wanted = set(document_ids)
        with self._lock:
            found = [event for event in self._events if event.document_id in wanted]
        return tallied(found)

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UsageEvent]:
        """The latest `limit` events other than shown, of a question, a passage or both, oldest first. Raises
        ValueError when neither is given."""
        if question is None and passage_id is None:
            raise ValueError("say whose events: of a question, of a passage, or of both")
        with self._lock:
            done = [event for event in self._events if event.kind is not UsageKind.SHOWN]
        return [
            event for event in done if question in (None, event.question) and passage_id in (None, event.passage_id)
        ][-limit:]

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the events and totals of these documents."""
        gone = set(document_ids)
        with self._lock:
            self._events = [event for event in self._events if event.document_id not in gone]
