"""The dense and sparse legs of a search, and the fusion of all legs' ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.domain.filters import SearchFilters
from core.domain.results import LegHits, TermScore
from core.ports.stores import Embedder, PassageIds, SparseIndex, VectorIndex

__all__ = [
    "RANK_CONSTANT",
    "FusedRank",
    "covered_share",
    "fuse",
    "question_vector",
    "search_dense",
    "search_sparse",
    "with_more",
]


def question_vector(embedder: Embedder, question: str) -> NDArray[np.float32]:
    """The question as a vector of shape (dim,), L2-normalised. Raises ModelUnavailable."""
    vector: NDArray[np.float32] = embedder.embed([question])[0]
    return vector


def search_dense(
    index: VectorIndex,
    vector: NDArray[np.float32],
    filters: SearchFilters,
    top_k: int,
    among: PassageIds | None = None,
) -> LegHits:
    """The nearest admissible passages by cosine, best first. Raises StoreFailed."""
    return index.search(vector, filters, top_k, among)


def search_sparse(index: SparseIndex, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
    """The admissible passages with the highest BM25 > 0, best first; none without terms. Raises StoreFailed."""
    if not terms:
        rows = index.count()
        return LegHits((), rows, rows if admissible is None else len(admissible))
    return index.search(terms, admissible, top_k)


def with_more(own: LegHits, wider: LegHits, most: int) -> LegHits:
    """The hits of the question's own words, followed by hits only of other wordings, among the `most` best of them."""
    known = {hit.passage_id for hit in own.hits}
    return replace(own, hits=(*own.hits, *(hit for hit in wider.hits[:most] if hit.passage_id not in known)))


def covered_share(terms: Sequence[TermScore], rarity: Mapping[str, float]) -> float:
    """Share of the question's words that a passage contains, weighted by rarity; in [0, 1], 0 without terms.

    >>> covered_share([TermScore("fsbid", "fsbid", 2.0)], {"fsbid": 6.0, "form": 2.0})
    0.75
    """
    total = sum(rarity.values())
    covered = sum(rarity.get(term.term, 0.0) for term in terms if term.score > 0)
    return min(covered / total, 1.0) if total > 0 else 0.0


RANK_CONSTANT = 60
"""k of reciprocal rank fusion: Cormack, Clarke & Büttcher 2009."""


@dataclass(frozen=True, slots=True)
class FusedRank:
    """One fused item. score in [0, 1]: 1 means first in every leg. ranks: leg → 1-based rank, and "fused"."""

    passage_id: int
    score: float
    ranks: Mapping[str, int]


def fuse(
    ranks: Mapping[int, Mapping[str, int]], weights: Mapping[str, float], k: int = RANK_CONSTANT
) -> tuple[FusedRank, ...]:
    """Reciprocal rank fusion: Σ weight / (k + rank) over the legs, divided by the best possible score (first in every
    leg); ties by passage id.

    ranks: passage id → leg → 1-based rank. weights: of the legs that ran; a leg that did not run does not lower the
    best possible score.

    >>> fused = fuse({1: {"sparse": 1}, 2: {"sparse": 2, "dense": 1}, 3: {"dense": 2}}, {"sparse": 1, "dense": 1})
    >>> [(item.passage_id, round(item.score, 4)) for item in fused]
    [(2, 0.9919), (1, 0.5), (3, 0.4919)]
    """
    best = sum(weights.values()) / (k + 1)
    sums = {
        passage_id: sum(weight / (k + leg_ranks[leg]) for leg, weight in weights.items() if leg in leg_ranks)
        for passage_id, leg_ranks in ranks.items()
    }
    order = sorted(sums, key=lambda passage_id: (-sums[passage_id], passage_id))
    return tuple(
        FusedRank(
            passage_id,
            min(sums[passage_id] / best, 1.0) if best else 0.0,
            {leg: ranks[passage_id][leg] for leg in weights if leg in ranks[passage_id]} | {"fused": position},
        )
        for position, passage_id in enumerate(order, 1)
    )
