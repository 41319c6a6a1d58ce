"""What resembles the best matches is likely to answer as well: the question, moved towards them.

    best matches → their centre, the better ones counting more → question + pull · centre

Rocchio 1971, on vectors. Texts that mean the same in other words lie near the passages that share the question's words,
so the moved question ranks them higher. It is the same for the same candidates: nothing is learned or kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.tables.factors import factor_table

__all__ = ["Match", "best_matches", "moved", "strongest"]

_MEANING, _WORDS, _NEAR_WORDS = 0.4, 0.3, 0.3
"""What a match is judged by: meaning, and more by what it says: in the question's own words and in near ones."""

_LOOKED_AT = 3  # times as many matches as count are looked at, to pass over those that say the same
_SAME = 0.95  # least cosine of passages that say the same


@dataclass(frozen=True, slots=True)
class Match:
    """How well a passage matches before feedback, each in [0, 1]. nearness: None where near words are not known; then
    its own words count for them."""

    passage_id: int
    similarity: float
    keyword: float
    nearness: float | None = None

    @property
    def strength(self) -> float:
        """In [0, 1]."""
        near = self.keyword if self.nearness is None else self.nearness
        return _MEANING * self.similarity + _WORDS * self.keyword + _NEAR_WORDS * near


def strongest(matches: Sequence[Match]) -> tuple[Match, ...]:
    """The matches that may be among the few best, best first; more than the few, because some say the same."""
    most = _LOOKED_AT * int(factor_table()["feedback"]["passages"])
    return tuple(sorted(matches, key=lambda match: (-match.strength, match.passage_id))[:most])


def best_matches(
    matches: Sequence[Match], vectors: Mapping[int, NDArray[np.float32]] | None = None
) -> Mapping[int, float]:
    """Passage id → how much it counts, of the few best; the counts sum to 1. Empty without matches.

    A passage weaker than the best by `spread` of factors.toml counts 1/e of it, so one clear winner decides alone. Of
    passages that mean the same by their vectors (shape (dim,), L2-normalised), as the rows of a table do, only the best
    counts: ten of them are no better reason than one.

    >>> [round(weight, 2) for weight in best_matches([Match(1, 0.8, 0.4), Match(2, 0.2, 0.1)]).values()]
    [1.0, 0.0]
    """
    row = factor_table()["feedback"]
    best: list[Match] = []
    for match in strongest(matches):
        if len(best) < int(row["passages"]) and not _said(match, best, vectors or {}):
            best.append(match)
    counts = {match.passage_id: exp((match.strength - best[0].strength) / row["spread"]) for match in best}
    total = sum(counts.values())
    return {passage_id: count / total for passage_id, count in counts.items()}


def _said(match: Match, best: Sequence[Match], vectors: Mapping[int, NDArray[np.float32]]) -> bool:
    """Whether a better match means the same."""
    own = vectors.get(match.passage_id)
    others = [vectors[each.passage_id] for each in best if each.passage_id in vectors]
    return own is not None and any(float(own @ other) > _SAME for other in others)


def moved(
    question: NDArray[np.float32], vectors: Mapping[int, NDArray[np.float32]], counts: Mapping[int, float]
) -> NDArray[np.float32] | None:
    """The question's vector, shape (dim,), moved towards the centre of the best matches and L2-normalised.

    None when no best match has a vector: then there is nowhere to move.
    """
    known = [passage_id for passage_id in counts if passage_id in vectors]
    if not known:
        return None
    centre = _unit(np.sum([counts[i] * vectors[i].astype(np.float64) for i in known], axis=0))
    return _unit(_unit(question.astype(np.float64)) + factor_table()["feedback"]["pull"] * centre).astype(np.float32)


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
