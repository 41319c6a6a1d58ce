"""Dense search in a copy of the vectors where there is one, and in the database where there is none."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.filters import SearchFilters
from core.ports import PassageIds, VectorIndex, Vectors
from core.results import LegHits
from storage.mirror import Mirror
from storage.mirror_held import Held

__all__ = ["MirroredIndex"]

_WITHIN_SECONDS = 1.0
"""How old the copy may be that gives vectors by passage id: these ids come from a search, which has just looked, and a
passage's vector seldom changes."""


class MirroredIndex:
    """ports.VectorIndex. Writing goes to the index that is copied, which also answers while the copy cannot."""

    def __init__(self, copied: VectorIndex, mirror: Mirror) -> None:
        self._copied, self._mirror = copied, mirror

    @property
    def notice(self) -> str:
        """What the user should know of the copy; "" when all is well."""
        return self._mirror.notice

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages. Raises StoreFailed."""
        self._copied.add(passages, vectors)
        self._mirror.look_again()

    def update(self, passages: Sequence[Passage]) -> None:
        """What filters read of these passages changed. Raises StoreFailed."""
        self._copied.update(passages)
        self._mirror.look_again()

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget these documents' vectors. Raises StoreFailed."""
        self._copied.delete(document_ids)
        self._mirror.look_again()

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        held = self._mirror.current()
        if held is None or not _fits(held, vector):
            return self._copied.search(vector, filters, top_k, among)
        return held.search(_unit(vector), filters, top_k, among)

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        held = self._mirror.current()
        return self._copied.blocks(filters) if held is None else held.blocks(filters)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        held = self._mirror.current(_WITHIN_SECONDS)
        if held is None or not _fits(held, vector):
            return self._copied.similarities(vector, passage_ids)
        found = held.similarities(_unit(vector), passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._copied.similarities(vector, missing)} if missing else found

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        held = self._mirror.current(_WITHIN_SECONDS)
        if held is None:
            return self._copied.vectors(passage_ids)
        found = held.vectors(passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._copied.vectors(missing)} if missing else found

    def count(self) -> int:
        """Passages with a vector. Raises StoreFailed."""
        held = self._mirror.current()
        return self._copied.count() if held is None else held.count()


def _fits(held: Held, vector: NDArray[np.float32]) -> bool:
    """Whether the copy's vectors have the asked one's length; otherwise the database says what is wrong."""
    return held.dimensions in (0, len(vector))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The asked vector with length 1, as the stored ones have; one of length 0 stays."""
    asked = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(asked))
    return asked / np.float32(length) if length else asked
