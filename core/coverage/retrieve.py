"""Many topics at once against the admissible passages: one pass over the vectors, one look at the keywords."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.errors import FivefoldError
from core.filters import SearchFilters
from core.ports import Catalogue, PassageIds, SparseIndex, VectorIndex, Vectors
from core.search.route import question_terms

__all__ = ["Near", "nearest"]


@dataclass(frozen=True, slots=True)
class Near:
    """What stands near some topics. cosines: one per topic, passage id → cosine in [-1, 1], of the passages either leg
    found. dense_error, sparse_error: why a leg could not search, "" when it could."""

    cosines: tuple[Mapping[int, float], ...]
    dense_error: str = ""
    sparse_error: str = ""

    @property
    def error(self) -> str:
        """What went wrong, in one sentence; "" when both legs could search."""
        broken = [("dense", self.dense_error), ("sparse", self.sparse_error)]
        return " ".join(f"The {leg} search failed: {error}" for leg, error in broken if error)


@dataclass(slots=True)
class _Best:
    """The best passages of each topic so far, over the blocks seen."""

    top_k: int
    found: list[dict[int, float]] = field(default_factory=list)

    def take(self, ids: PassageIds, cosines: NDArray[np.float32]) -> None:
        """cosines: shape (len(ids), topics)."""
        keep = min(self.top_k, len(ids))
        rows = np.argpartition(-cosines, keep - 1, axis=0)[:keep]
        for number, known in enumerate(self.found):
            chosen = rows[:, number]
            known |= dict(zip(ids[chosen].tolist(), cosines[chosen, number].tolist(), strict=True))
            if len(known) > self.top_k:
                best = sorted(known.items(), key=lambda item: (-item[1], item[0]))[: self.top_k]
                self.found[number] = dict(best)


def nearest(
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
    questions: Sequence[str],
    asked: Vectors | FivefoldError,
    filters: SearchFilters,
    top_k: int,
) -> Near:
    """The top_k passages of both legs for each question, with their cosines. filters: resolved. asked: the questions'
    vectors, shape (n, dim), or why there are none.

    A leg that fails is said in the answer, so that the other can still find evidence. Raises StoreFailed when the
    filters cannot be applied at all.
    """
    admissible = catalogue.admissible(filters)
    by_words, sparse_error = _by_words(sparse, questions, admissible, top_k)
    wanted = np.unique(np.array([i for ids in by_words for i in ids], dtype=np.int64))
    if isinstance(asked, FivefoldError):
        return Near(tuple(dict.fromkeys(ids, 0.0) for ids in by_words), asked.message, sparse_error)
    best = _Best(top_k, [{} for _ in questions])
    rows: dict[int, NDArray[np.float32]] = {}
    try:
        for ids, block in vectors.blocks(filters):
            cosines = np.clip(block @ asked.T, -1.0, 1.0)
            best.take(ids, cosines)
            for at in np.flatnonzero(np.isin(ids, wanted, assume_unique=True)):
                rows[int(ids[at])] = cosines[at]
    except FivefoldError as failure:
        return Near(tuple(dict.fromkeys(ids, 0.0) for ids in by_words), failure.message, sparse_error)
    found = [
        known | {i: float(rows[i][number]) for i in by_words[number] if i in rows}
        for number, known in enumerate(best.found)
    ]
    return Near(tuple(found), "", sparse_error)


def _by_words(
    sparse: SparseIndex, questions: Sequence[str], admissible: PassageIds, top_k: int
) -> tuple[list[list[int]], str]:
    try:
        hits = sparse.search_many([question_terms(question) for question in questions], admissible, top_k)
    except FivefoldError as failure:
        return [[] for _ in questions], failure.message
    return [[hit.passage_id for hit in each.hits] for each in hits], ""
