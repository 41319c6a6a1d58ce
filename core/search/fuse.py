"""Many ranked lists → one, by weighted reciprocal rank."""

from collections.abc import Mapping
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


def fuse(
    ranks: Mapping[int, Mapping[str, int]], weights: Mapping[str, float], k: int = RANK_CONSTANT
) -> tuple[Fused, ...]:
    """Σ weight / (k + rank) over the legs, divided by the best possible (first in every leg); ties by passage id.

    ranks: passage id → leg → 1-based rank. weights: of the legs that ran; one that did not has none here, and so does
    not lower what is possible.

    >>> fused = fuse({1: {"sparse": 1}, 2: {"sparse": 2, "dense": 1}, 3: {"dense": 2}}, {"sparse": 1, "dense": 1})
    >>> [(item.passage_id, round(item.score, 4)) for item in fused]
    [(2, 0.9919), (1, 0.5), (3, 0.4919)]
    """
    best = sum(weights.values()) / (k + 1)
    sums = {
        passage_id: sum(weight / (k + held[leg]) for leg, weight in weights.items() if leg in held)
        for passage_id, held in ranks.items()
    }
    order = sorted(sums, key=lambda passage_id: (-sums[passage_id], passage_id))
    return tuple(
        Fused(
            passage_id,
            min(sums[passage_id] / best, 1.0) if best else 0.0,
            {leg: ranks[passage_id][leg] for leg in weights if leg in ranks[passage_id]} | {"fused": position},
        )
        for position, passage_id in enumerate(order, 1)
    )
