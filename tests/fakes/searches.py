"""What people keep in dicts: saved searches, usage events, insights and episodes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from math import ceil
from threading import Lock, RLock

from core.domain.documents import Origin
from core.insights.store import (
    InsightCounts,
    InsightOrEpisode,
    InsightPage,
    InsightQuery,
    M,
    check_paging,
    insight_not_found,
    outdated_insight,
)
from core.library.saved_searches import SavedSearch, SavedSearchVisit, no_view, outdated_view, view_name_taken
from core.library.shortlists import Shortlist, no_shortlist, outdated_shortlist, shortlist_name_taken
from core.search.store import DocumentUsage, UsageEvent, UsageKind, UsageSummary, summarised, tallied
from tests.fakes.catalogue import FakeCatalogue

__all__ = ["FakeInsightStore", "FakeSavedSearchStore", "FakeShortlistStore", "FakeUsageLog"]


class FakeSavedSearchStore:
    """Implements core.library.saved_searches.SavedSearchStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._views: dict[int, SavedSearch] = {}
        self._visits: dict[tuple[str, str, int], SavedSearchVisit] = {}

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
            return self._stored(replace(view, id=next(self._ids), version=1))

    def change_view(self, view: SavedSearch) -> SavedSearch:
        """Store a changed saved search; returns it with its new version. Raises Outdated, BadRequest, NotFound."""
        with self._lock:
            known = self.view(view.id)
            if known.version != view.version:
                raise outdated_view(known)
            return self._stored(replace(view, version=view.version + 1))

    def _stored(self, new: SavedSearch) -> SavedSearch:
        others = [view for view in self._views.values() if not view.retired and view.id != new.id]
        if not new.retired and _key(new) in {_key(view) for view in others}:
            raise view_name_taken(new)
        self._views[new.id] = new
        return new

    def visit(self, view_id: int, login: str, who: str) -> SavedSearchVisit | None:
        """This person's last visit to a saved search; None: never visited."""
        return self._visits.get((login, who, view_id))

    def last_visits(self, login: str, who: str) -> Mapping[int, datetime]:
        """Id of the saved search → time of this person's last visit."""
        with self._lock:
            return {key[2]: visit.at for key, visit in self._visits.items() if key[:2] == (login, who)}

    def save_visit(self, visit: SavedSearchVisit) -> None:
        """Store a visit. Raises NotFound for an unknown saved search."""
        with self._lock:
            self.view(visit.view_id)
            self._visits[visit.login, visit.who, visit.view_id] = visit


def _key(view: SavedSearch) -> tuple[str | None, str, str, str]:
    return view.project, view.login, view.owner, view.name.lower()


class FakeShortlistStore:
    """Implements core.library.shortlists.ShortlistStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._shortlists: dict[int, Shortlist] = {}

    def shortlists(self) -> Sequence[Shortlist]:
        """All shortlists in use, oldest first."""
        with self._lock:
            return [each for each in self._shortlists.values() if not each.retired]

    def shortlist(self, shortlist_id: int) -> Shortlist:
        """One shortlist. Raises NotFound."""
        with self._lock:
            if shortlist_id not in self._shortlists:
                raise no_shortlist(shortlist_id)
            return self._shortlists[shortlist_id]

    def add_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a new shortlist. Raises BadRequest when the name is in use."""
        with self._lock:
            return self._stored(replace(shortlist, id=next(self._ids), version=1))

    def change_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a changed shortlist; returns it with its new version. Raises Outdated, BadRequest, NotFound."""
        with self._lock:
            known = self.shortlist(shortlist.id)
            if known.version != shortlist.version:
                raise outdated_shortlist(known)
            return self._stored(replace(shortlist, version=shortlist.version + 1))

    def _stored(self, new: Shortlist) -> Shortlist:
        others = [each for each in self.shortlists() if each.id != new.id]
        if not new.retired and new.name.lower() in {each.name.lower() for each in others}:
            raise shortlist_name_taken(new)
        self._shortlists[new.id] = new
        return new


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
        expected = set(document_ids)
        with self._lock:
            found = [event for event in self._events if event.document_id in expected]
        return tallied(found)

    def last_used(self, limit: int) -> Sequence[tuple[int, datetime]]:
        """The documents used last, with the time; the latest first."""
        with self._lock:
            used = [(number, each.last) for number, each in tallied(self._events).items() if each.uses and each.last]
        return sorted(used, key=lambda each: (-each[1].timestamp(), each[0]))[:limit]

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

    def summary(self, document_id: int) -> UsageSummary:
        """How often a document was shown, opened and cited, by question."""
        with self._lock:
            found = [event for event in self._events if event.document_id == document_id]
        return summarised((event.question, event.kind, 1, event.at) for event in found)

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the events and totals of these documents."""
        removed = set(document_ids)
        with self._lock:
            self._events = [event for event in self._events if event.document_id not in removed]


class FakeInsightStore:
    """Implements core.insights.store.InsightStore. catalogue: whose documents are cited; of a deleted one, the project
    that it had when it was asked for is known."""

    def __init__(self, catalogue: FakeCatalogue) -> None:
        self._catalogue = catalogue
        self._projects: dict[int, str | None] = {}
        self._lock = RLock()
        self._ids = count(1)
        self._stored: dict[tuple[Origin, int], InsightOrEpisode] = {}

    def add(self, memory: M) -> M:
        """Store a new insight or episode."""
        with self._lock:
            new = replace(memory, id=next(self._ids), version=1)
            self._stored[new.origin, new.id] = new
        return new

    def change(self, memory: M) -> M:
        """Store a changed insight or episode. Raises NotFound, and Outdated when it changed since it was read."""
        with self._lock:
            known = self.find(type(memory), memory.id)
            if known.version != memory.version:
                raise outdated_insight(memory)
            new = replace(memory, version=memory.version + 1, document_id=known.document_id)
            self._stored[new.origin, new.id] = new
        return new

    def assign_document(self, memory: InsightOrEpisode, document_id: int) -> None:
        """Store which document makes it searchable. Raises NotFound."""
        with self._lock:
            known = self.find(type(memory), memory.id)
            self._stored[known.origin, known.id] = replace(known, document_id=document_id)

    def find(self, kind: type[M], memory_id: int) -> M:
        """One insight or episode, also a deleted one. Raises NotFound."""
        found = self._stored.get((kind.origin, memory_id))
        if not isinstance(found, kind):
            raise insight_not_found(kind, memory_id)
        return found

    def listed(self, kind: type[M], query: InsightQuery, page: int, per_page: int) -> InsightPage[M]:
        """Insights or episodes, newest first. Raises BadRequest for an invalid limit."""
        check_paging(page, per_page)
        found = [memory for memory in self._newest(kind) if _matches(memory, query)]
        start = (page - 1) * per_page
        items = tuple(found[start : start + per_page])
        return InsightPage(items, len(found), page, max(1, ceil(len(found) / per_page)))

    def counts(self, kind: type[M], query: InsightQuery) -> InsightCounts:
        """Counts beside the filters of a list: of sectors and of tags under the other filters."""

        def matching(filters: InsightQuery) -> list[M]:
            return [memory for memory in self._newest(kind) if _matches(memory, filters)]

        sectors = Counter(memory.sector for memory in matching(replace(query, sectors=())))
        tags = Counter(tag for memory in matching(replace(query, tags=())) for tag in memory.tags)
        return InsightCounts(len(matching(InsightQuery(deleted=query.deleted))), sectors, tags)

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """Those not deleted that link to any of these documents, newest first."""
        expected = set(document_ids)
        living = [memory for memory in self._newest(kind) if memory.deleted_at is None]
        return [memory for memory in living if expected & {link.document_id for link in memory.links}]

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Searchable document → its insight or episode, unless deleted."""
        expected = set(document_ids) - {0}
        living = [memory for memory in self._newest(kind) if memory.deleted_at is None]
        return {memory.document_id: memory for memory in living if memory.document_id in expected}

    def every(self, kind: type[M]) -> Sequence[M]:
        """All of them, including deleted ones, oldest first."""
        return sorted(self._newest(kind), key=lambda memory: memory.id)

    def projects_of(self, document_ids: Sequence[int]) -> Mapping[int, str | None]:
        """Document → its project, or the last one of a deleted document; those that never were are absent."""
        living = self._catalogue.documents_by_id(document_ids)
        self._projects |= {number: document.project for number, document in living.items()}
        return {each: self._projects[each] for each in document_ids if each in self._projects}

    def _newest(self, kind: type[M]) -> list[M]:
        with self._lock:
            found = [memory for memory in self._stored.values() if isinstance(memory, kind)]
        return sorted(found, key=lambda memory: (memory.at, memory.id), reverse=True)


def _matches(memory: InsightOrEpisode, query: InsightQuery) -> bool:
    if (memory.deleted_at is not None) is not query.deleted:
        return False
    if query.words.strip().casefold() not in memory.searchable_text.casefold():
        return False
    if query.sectors and memory.sector not in query.sectors:
        return False
    if query.tags and not set(query.tags) & set(memory.tags):
        return False
    return query.project is None or memory.project in (None, query.project)
