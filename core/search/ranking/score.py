"""Scoring: fused ranks, totals that add up, dropped candidates with reasons, and near duplicates collapsed into one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray

from core.domain.queries import ScoreProfile
from core.domain.results import Candidate, Dropped, DropReason, Factor, Multiplier, Score
from core.search.ranking.factors import FACTORS, ScoringContext

__all__ = [
    "DIGITS",
    "NEAR_IDENTICAL",
    "RANK_CONSTANT",
    "FusedRank",
    "ScoredCandidates",
    "collapse",
    "fuse",
    "near_duplicates",
    "rank",
    "score",
    "shortfall",
]

DIGITS = 9
"""Totals that differ by less are equal: the last bits of a cosine depend on the batch it was computed in."""


RANK_CONSTANT = 60
"""k of reciprocal rank fusion: Cormack, Clarke & Büttcher 2009."""


@dataclass(frozen=True, slots=True)
class FusedRank:
    """One fused item. score in [0, 1]: 1 means first in every leg. ranks: leg → 1-based rank, and "fused"."""

    passage_id: int
    score: float
    ranks: Mapping[str, int]


def fuse(
    ranks: Mapping[int, Mapping[str, int]],
    weights: Mapping[str, float],
    k: int = RANK_CONSTANT,
    bands: Mapping[int, int] | None = None,
) -> tuple[FusedRank, ...]:
    """Reciprocal rank fusion: Σ weight / (k + rank) over the legs, divided by the best possible score (first in every
    leg); ties by passage id.

    ranks: passage id → leg → 1-based rank. weights: of the legs that ran; a leg that did not run does not lower the
    best possible score. bands: passage id → band, 0 where absent; a lower one comes first.

    >>> fused = fuse({1: {"sparse": 1}, 2: {"sparse": 2, "dense": 1}, 3: {"dense": 2}}, {"sparse": 1, "dense": 1})
    >>> [(item.passage_id, round(item.score, 4)) for item in fused]
    [(2, 0.9919), (1, 0.5), (3, 0.4919)]
    """
    best = sum(weights.values()) / (k + 1)
    sums = {
        passage_id: sum(weight / (k + leg_ranks[leg]) for leg, weight in weights.items() if leg in leg_ranks)
        for passage_id, leg_ranks in ranks.items()
    }
    behind = bands or {}
    order = sorted(sums, key=lambda passage_id: (behind.get(passage_id, 0), -sums[passage_id], passage_id))
    return tuple(
        FusedRank(
            passage_id,
            min(sums[passage_id] / best, 1.0) if best else 0.0,
            {leg: ranks[passage_id][leg] for leg in weights if leg in ranks[passage_id]} | {"fused": position},
        )
        for position, passage_id in enumerate(order, 1)
    )


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """A candidate with its score."""

    candidate: Candidate
    score: Score


def score(candidate: Candidate, context: ScoringContext, strengths: Mapping[str, float] | None = None) -> Score:
    """total = Σ weight · value × Π multipliers; the parts add up to the total within 1e-9. strengths: the context's
    multipliers, where they are known already."""
    factors = []
    for name, weight in context.profile.weights.items():
        result = FACTORS[name](candidate, context)
        factors.append(Factor(name, result.value, weight, weight * result.value, result.reason))
    multipliers = []
    for name, strength in (context.multipliers if strengths is None else strengths).items():
        result = FACTORS[name](candidate, context)
        partly = f", counted by {strength:.0%}" if strength < 1 else ""
        multipliers.append(Multiplier(name, 1 - strength * (1 - result.value), result.reason + partly))
    total = fsum(factor.contribution for factor in factors) * prod(multiplier.value for multiplier in multipliers)
    return Score(total, tuple(factors), tuple(multipliers))


def rank(
    candidates: Sequence[Candidate], context: ScoringContext, *, thresholds: bool = True
) -> tuple[tuple[ScoredCandidates, ...], tuple[Dropped, ...]]:
    """All candidates scored, best first within each band (ties by passage id), and those below the evidence or score
    threshold.

    thresholds False keeps every candidate: when a leg failed, absolute limits would reject what was not measured.
    """
    accepted: list[ScoredCandidates] = []
    dropped: list[Dropped] = []
    strengths = context.multipliers
    for candidate in candidates:
        scored = score(candidate, context, strengths)
        found = shortfall(candidate, scored, context.profile) if thresholds else None
        if found is None:
            accepted.append(ScoredCandidates(candidate, scored))
        else:
            dropped.append(Dropped(candidate, *found, scored))
    accepted.sort(key=_sort_key)
    dropped.sort(key=lambda item: (-round(item.score.total if item.score else 0.0, DIGITS), item.candidate.passage.id))
    return tuple(accepted), tuple(dropped)


def _sort_key(item: ScoredCandidates) -> tuple[int, float, int]:
    return item.candidate.signals.band, -round(item.score.total, DIGITS), item.candidate.passage.id


def shortfall(candidate: Candidate, scored: Score, profile: ScoreProfile) -> tuple[DropReason, str] | None:
    """Why a candidate is dropped: too little evidence, or a total below the threshold; None when it is kept."""
    signals = candidate.signals
    if signals.similarity < profile.floor and signals.bm25 + signals.wordings <= 0:
        return DropReason.BELOW_FLOOR, f"similarity {_less(signals.similarity, profile.floor, 2)} and no keyword hit"
    if scored.total < profile.threshold:
        return DropReason.BELOW_THRESHOLD, f"score {_less(scored.total, profile.threshold, 3)}"
    return None


def _less(value: float, limit: float, digits: int) -> str:
    """A value below a limit, with enough digits to tell them apart: "0.2498 < 0.2500"."""
    while digits < DIGITS and f"{value:.{digits}f}" == f"{limit:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f} < {limit:.{digits}f}"


NEAR_IDENTICAL = 0.85
"""Least Jaccard resemblance of two passages shown as one: the same text with a few words changed. Chosen by hand."""

_SHINGLE_WORDS = 4  # words per shingle. Chosen by hand, not fitted.

_BUCKETS = 1 << 16  # a power of two, so that the last 16 bits of a shingle are its bucket

_SLACK = 1e-6  # tolerance for rounding

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, of mixed bits: Knuth 1973, 6.4


def collapse(
    ranked: Sequence[ScoredCandidates],
) -> tuple[tuple[tuple[ScoredCandidates, tuple[int, ...]], ...], tuple[Dropped, ...]]:
    """(passage, ids of its near duplicates) in ranked order, and the collapsed passages with their reason.

    Greedy from the best down, so the result depends only on the order. A passage of a later band is collapsed too, but
    is not counted with the other one's: what is listed of a result does not depend on how deep the legs were searched.
    """
    near = near_duplicates([scored.candidate.passage.text for scored in ranked])
    duplicates: dict[int, list[int]] = {}
    dropped: list[Dropped] = []
    for index, scored in enumerate(ranked):
        twin = min((other for other in near[index] if other in duplicates), default=None)
        if twin is None:
            duplicates[index] = []
            continue
        passage = ranked[twin].candidate.passage
        if scored.candidate.signals.band == ranked[twin].candidate.signals.band:
            duplicates[twin].append(scored.candidate.passage.id)
        detail = f"near-identical to passage {passage.id} of {passage.document_name}, which is shown"
        dropped.append(Dropped(scored.candidate, DropReason.COLLAPSED, detail, scored.score))
    return tuple((ranked[index], tuple(similar)) for index, similar in duplicates.items()), tuple(dropped)


def near_duplicates(texts: Sequence[str]) -> tuple[frozenset[int], ...]:
    """Per text the indexes of earlier texts that are near duplicates of it.

    Resemblance is the Jaccard index of shingles (Broder 1997). Only texts with enough repeated shingles are compared,
    all pairs at once: the product of the text × shingle matrix with its transpose counts common shingles."""
    from scipy.sparse import csr_array

    owners, shingles = _shingles(texts)
    some = _repeated(shingles)
    shared = np.bincount(owners[some], minlength=len(texts))
    may = shared >= (NEAR_IDENTICAL - _SLACK) * (shared + np.bincount(owners[~some], minlength=len(texts)))
    some &= may[owners]
    if not some.any():
        return (frozenset(),) * len(texts)
    distinct, numbers = np.unique(shingles[some], return_inverse=True)
    pairs = np.unique(owners[some] * len(distinct) + numbers)
    owner, shingle = np.divmod(pairs, len(distinct))
    incidence = csr_array((np.ones(len(owner), np.int32), (owner, shingle)), shape=(len(texts), len(distinct)))
    common = (incidence @ incidence.T).tocoo()  # sparse: thousands of texts, of which few have anything in common
    sizes = np.bincount(owners[~some], minlength=len(texts)) + np.bincount(owner, minlength=len(texts))
    later, earlier = common.coords
    near = (later > earlier) & (common.data >= NEAR_IDENTICAL * (sizes[later] + sizes[earlier] - common.data))
    found: list[set[int]] = [set() for _ in texts]
    for one, other in zip(later[near].tolist(), earlier[near].tolist(), strict=True):
        found[one].add(other)
    return tuple(frozenset(each) for each in found)


def _shingles(texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """For each shingle the index of its text, and its 64-bit hash. A shingle is four consecutive words, separated by
    whitespace; a shorter text is one shingle."""
    words_by_text = [text.lower().split() for text in texts]
    for words in words_by_text:
        words.extend([""] * (_SHINGLE_WORDS - len(words)))
    lengths = np.fromiter(map(len, words_by_text), np.intp, len(words_by_text))
    hashes = np.fromiter(map(hash, chain.from_iterable(words_by_text)), np.int64, int(lengths.sum())).view(np.uint64)
    count = max(len(hashes) - _SHINGLE_WORDS + 1, 0)
    rolled = np.zeros(count, np.uint64)
    for at in range(_SHINGLE_WORDS):
        rolled = rolled * _FACTOR + hashes[at : at + count]
    owners = np.repeat(np.arange(len(texts)), lengths)
    inside = owners[:count] == owners[_SHINGLE_WORDS - 1 :]
    return owners[:count][inside], rolled[inside]


def _repeated(shingles: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which shingles may occur more than once: all that do, and some with the same last bits."""
    ordered, last = np.sort(shingles), np.uint64(_BUCKETS - 1)
    repeated = np.zeros(_BUCKETS, np.bool_)
    repeated[ordered[1:][ordered[1:] == ordered[:-1]] & last] = True
    found: NDArray[np.bool_] = repeated[shingles & last]
    return found
