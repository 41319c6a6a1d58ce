"""Dense search in the vector cache, with the database as fallback."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.domain.results import LegHits
from core.ports.stores import PassageIds, VectorIndex, Vectors
from storage.vectors.cache.cache import VectorCache
from storage.vectors.cache.snapshot import Snapshot

__all__ = ["CachedVectorIndex"]

_WITHIN_SECONDS = 1.0
"""Greatest age of the cache when it is asked by passage id: the ids come from a search, which has just checked for
changes, and a passage's vector seldom changes. Chosen by hand."""


class CachedVectorIndex:
    """Implements core.ports.stores.VectorIndex. Writes go to the cached index, which also answers while the cache
    cannot."""

    def __init__(self, index: VectorIndex, cache: VectorCache) -> None:
        self._index, self._cache = index, cache

    @property
    def notice(self) -> str:
        """A message for the user about the cache; "" when there is none."""
        return self._cache.notice

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages. Raises StoreFailed."""
        self._index.add(passages, vectors)
        self._cache.invalidate()

    def update(self, passages: Sequence[Passage]) -> None:
        """Changed filter fields of these passages. Raises StoreFailed."""
        self._index.update(passages)
        self._cache.invalidate()

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the vectors of these documents. Raises StoreFailed."""
        self._index.delete(document_ids)
        self._cache.invalidate()

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        snapshot = self._cache.current()
        if snapshot is None or not _fits(snapshot, vector):
            return self._index.search(vector, filters, top_k, among)
        return snapshot.search(_unit(vector), filters, top_k, among)

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        snapshot = self._cache.current()
        return self._index.blocks(filters) if snapshot is None else snapshot.blocks(filters)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        snapshot = self._cache.current(_WITHIN_SECONDS)
        if snapshot is None or not _fits(snapshot, vector):
            return self._index.similarities(vector, passage_ids)
        found = snapshot.similarities(_unit(vector), passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._index.similarities(vector, missing)} if missing else found

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        snapshot = self._cache.current(_WITHIN_SECONDS)
        if snapshot is None:
            return self._index.vectors(passage_ids)
        found = snapshot.vectors(passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._index.vectors(missing)} if missing else found

    def count(self) -> int:
        """Passages with a vector. Raises StoreFailed."""
        snapshot = self._cache.current()
        return self._index.count() if snapshot is None else snapshot.count()

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector in the database, ascending. Raises StoreFailed."""
        return self._index.passage_ids()

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages. Raises StoreFailed."""
        self._index.discard(passage_ids)
        self._cache.invalidate()


def _fits(snapshot: Snapshot, vector: NDArray[np.float32]) -> bool:
    """Whether the cached vectors have the length of the query vector; otherwise the database reports the error."""
    return snapshot.dimensions in (0, len(vector))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vector scaled to length 1, like the stored ones; a zero vector stays."""
    asked = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(asked))
    return asked / np.float32(length) if length else asked
