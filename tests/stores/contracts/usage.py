"""Use events and saved views made by hand and at random."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.library.saved_searches import SavedSearch, SavedSearchVisit
from core.search.store import UsageEvent, UsageKind

__all__ = ["AT", "NOWHERE", "event", "histories", "look_of", "view_of"]

AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
NOWHERE = 10**9
"""An id that nothing has."""


def event(
    kind: UsageKind,
    document_id: int = 1,
    passage_id: int = 10,
    question: str = "Due?",
    who: str = "Ann",
    minute: int = 0,
) -> UsageEvent:
    return UsageEvent(kind, document_id, passage_id, question, who, AT + timedelta(minutes=minute))


def view_of(name: str, project: str | None = None, owner: str = "", **values: Any) -> SavedSearch:
    filters = SearchFilters(projects=() if project is None else (project,))
    saved = SavedSearch(name, SearchRequest("Due?", filters), "results", owner, "Ann", AT, login=owner.lower())
    return replace(saved, **values)


def look_of(view: SavedSearch, who: str = "Ann", *units: str, **values: Any) -> SavedSearchVisit:
    return replace(SavedSearchVisit(view.id, who, AT, units, login=who.lower()), **values)


_EVENTS = st.builds(
    event,
    kind=st.sampled_from(UsageKind),
    document_id=st.sampled_from([1, 2, -3]),
    passage_id=st.sampled_from([10, 11]),
    question=st.sampled_from(["", "Due?", "Why?", "Größe – 残業 'quoted'; --"]),
    who=st.sampled_from(["", "Ann", "Bob"]),
    minute=st.integers(0, 3),
)
histories: st.SearchStrategy[Sequence[Sequence[UsageEvent]]] = st.lists(st.lists(_EVENTS, max_size=8), max_size=5)
"""Batches of events of a few people, documents and questions, so that they meet."""
