"""Dense search by looking at every vector."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.filters import SearchFilters
from core.ports import PassageIds, Vectors
from core.results import LegHit, LegHits

__all__ = ["MemoryVectorIndex"]


@dataclass(frozen=True, slots=True)
class _Row:
    passage: Passage
    vector: NDArray[np.float64]


class MemoryVectorIndex:
    """ports.VectorIndex, exact: the measure the other indexes are tested against."""

    def __init__(self) -> None:
        self._rows: dict[int, _Row] = {}

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace; vectors: float32, shape (len(passages), dim)."""
        rows = {p.id: _Row(p, _unit(v)) for p, v in zip(passages, vectors, strict=True)}
        self._rows = {**self._rows, **rows}

    def update(self, passages: Sequence[Passage]) -> None:
        """New labels for passages that have a vector; others are ignored."""
        rows = {p.id: _Row(p, self._rows[p.id].vector) for p in passages if p.id in self._rows}
        self._rows = {**self._rows, **rows}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget every passage of these documents."""
        gone = set(document_ids)
        self._rows = {i: row for i, row in self._rows.items() if row.passage.document_id not in gone}

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id."""
        rows = self._rows
        chosen = rows if among is None else set(among.tolist()) & set(rows)
        admitted = [i for i in sorted(chosen) if filters.admits(rows[i].passage)]
        scores = self.similarities(vector, admitted)
        best = sorted(admitted, key=lambda i: (-scores[i], i))[: max(top_k, 0)]
        return LegHits(tuple(LegHit(i, scores[i]) for i in best), len(rows), len(admitted))

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector in one block; none without such passages."""
        rows = self._rows
        ids = [i for i in sorted(rows) if filters.admits(rows[i].passage)]
        if ids:
            yield np.array(ids, dtype=np.int64), np.stack([rows[i].vector for i in ids]).astype(np.float32)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Cosine in [-1, 1] per passage; ids without a vector are absent."""
        rows, known = self._rows, [i for i in passage_ids if i in self._rows]
        if not known:
            return {}
        cosines = np.stack([rows[i].vector for i in known]) @ _unit(vector)
        return dict(zip(known, np.clip(cosines, -1, 1).tolist(), strict=True))

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The vectors, of length 1; ids without one are absent."""
        rows = self._rows
        return {i: rows[i].vector.astype(np.float32) for i in passage_ids if i in rows}

    def count(self) -> int:
        """Passages with a vector."""
        return len(self._rows)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.linalg.norm(wide))
    return wide / length if length > 0 else wide
