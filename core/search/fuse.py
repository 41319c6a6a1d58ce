"""Many ranked lists → one, by weighted reciprocal rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["RANK_CONSTANT", "Fused", "fuse"]

RANK_CONSTANT = 60
"""k of reciprocal rank fusion: Cormack, Clarke & Büttcher 2009."""


@dataclass(frozen=True, slots=True)
class Fused:
    """One fused item. score in [0, 1]: 1 is first in every leg. ranks: leg → 1-based rank, and "fused"."""

    passage_id: int
    score: float
    ranks: Mapping[str, int]


def fuse(legs: Mapping[str, Sequence[int]], weights: Mapping[str, float], k: int = RANK_CONSTANT) -> tuple[Fused, ...]:
    """Σ weight / (k + rank) over the legs, divided by the best possible (first in every leg); ties by passage id.

    A leg that did not run has no list here, and so does not lower what is possible.

    >>> fused = fuse({"sparse": [1, 2], "dense": [2, 3]}, {"sparse": 1, "dense": 1})
    >>> [(item.passage_id, round(item.score, 4)) for item in fused]
    [(2, 0.9919), (1, 0.5), (3, 0.4919)]
    """
    best = sum(weights.get(leg, 0.0) for leg in legs) / (k + 1)
    sums: dict[int, float] = {}
    ranks: dict[int, dict[str, int]] = {}
    for leg, found in legs.items():
        for rank, passage_id in enumerate(found, 1):
            sums[passage_id] = sums.get(passage_id, 0.0) + weights.get(leg, 0.0) / (k + rank)
            ranks.setdefault(passage_id, {})[leg] = rank
    order = sorted(sums, key=lambda passage_id: (-sums[passage_id], passage_id))
    return tuple(
        Fused(passage_id, min(sums[passage_id] / best, 1.0) if best else 0.0, ranks[passage_id] | {"fused": position})
        for position, passage_id in enumerate(order, 1)
    )
