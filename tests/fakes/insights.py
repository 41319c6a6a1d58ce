"""Insights and episodes in dicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import ceil
from threading import RLock

from core.domain.documents import Origin
from core.insights.store import (
    InsightCounts,
    InsightOrEpisode,
    InsightPage,
    InsightQuery,
    M,
    check_paging,
    no_memory,
    outdated_memory,
)

__all__ = ["FakeInsightStore"]


class FakeInsightStore:
    """Implements core.insights.store.InsightStore."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._ids = count(1)
        self._kept: dict[tuple[Origin, int], InsightOrEpisode] = {}

    def add(self, memory: M) -> M:
        """Store a new insight or episode."""
        with self._lock:
            new = replace(memory, id=next(self._ids), version=1)
            self._kept[new.origin, new.id] = new
        return new

    def change(self, memory: M) -> M:
        """Store a changed insight or episode. Raises NotFound, and Outdated when it changed since it was read."""
        with self._lock:
            known = self.find(type(memory), memory.id)
            if known.version != memory.version:
                raise outdated_memory(memory)
            new = replace(memory, version=memory.version + 1, document_id=known.document_id)
            self._kept[new.origin, new.id] = new
        return new

    def place(self, memory: InsightOrEpisode, document_id: int) -> None:
        """Store which document makes it searchable. Raises NotFound."""
        with self._lock:
            known = self.find(type(memory), memory.id)
            self._kept[known.origin, known.id] = replace(known, document_id=document_id)

    def find(self, kind: type[M], memory_id: int) -> M:
        """One insight or episode, also a deleted one. Raises NotFound."""
        found = self._kept.get((kind.origin, memory_id))
        if not isinstance(found, kind):
            raise no_memory(kind, memory_id)
        return found

    def listed(self, kind: type[M], query: InsightQuery, page: int, per_page: int) -> InsightPage[M]:
        """Insights or episodes, newest first. Raises BadRequest for an invalid limit."""
        check_paging(page, per_page)
        found = [memory for memory in self._newest(kind) if _wanted(memory, query)]
        start = (page - 1) * per_page
        items = tuple(found[start : start + per_page])
        return InsightPage(items, len(found), page, max(1, ceil(len(found) / per_page)))

    def counts(self, kind: type[M], project: str | None) -> InsightCounts:
        """Counts of those not deleted, of a project and of the whole library; None: of all."""
        found = [memory for memory in self._newest(kind) if _wanted(memory, InsightQuery(project=project))]
        tags = Counter(tag for memory in found for tag in memory.tags)
        return InsightCounts(len(found), Counter(memory.sector for memory in found), tags)

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """Those not deleted that link to any of these documents, newest first."""
        wanted = set(document_ids)
        living = [memory for memory in self._newest(kind) if memory.deleted_at is None]
        return [memory for memory in living if wanted & {link.document_id for link in memory.links}]

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Searchable document → its insight or episode, unless deleted."""
        wanted = set(document_ids) - {0}
        living = [memory for memory in self._newest(kind) if memory.deleted_at is None]
        return {memory.document_id: memory for memory in living if memory.document_id in wanted}

    def every(self, kind: type[M]) -> Sequence[M]:
        """All of them, including deleted ones, oldest first."""
        return sorted(self._newest(kind), key=lambda memory: memory.id)

    def _newest(self, kind: type[M]) -> list[M]:
        with self._lock:
            found = [memory for memory in self._kept.values() if isinstance(memory, kind)]
        return sorted(found, key=lambda memory: (memory.at, memory.id), reverse=True)


def _wanted(memory: InsightOrEpisode, query: InsightQuery) -> bool:
    if (memory.deleted_at is not None) is not query.deleted:
        return False
    if query.words.strip().casefold() not in memory.told.casefold():
        return False
    if query.sectors and memory.sector not in query.sectors:
        return False
    if query.tags and not set(query.tags) & set(memory.tags):
        return False
    return query.project is None or memory.project in (None, query.project)
