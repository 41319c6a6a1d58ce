"""Scoring: fused ranks, totals that add up, dropped candidates with reasons, and near duplicates collapsed into one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import repeat
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray

from core.domain.frozen import maker_of
from core.domain.queries import ScoreProfile
from core.domain.results import Candidate, Dropped, DropReason, Factor, Multiplier, Score, ScoreParts
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
    made = maker_of(FusedRank)
    return tuple(
        made(
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


def score(candidate: Candidate, context: ScoringContext) -> Score:
    """total = Σ weight · value × Π multipliers; the parts add up to the total within 1e-9, and are put into words when
    somebody looks at them."""
    return _scores([candidate], context)[0]


def _scores(candidates: Sequence[Candidate], context: ScoringContext) -> list[Score]:
    """The score of each candidate; one factor of all of them after the other."""
    strengths = context.multipliers
    factors = []
    for name, weight in context.profile.weights.items():
        factor = FACTORS[name]
        factors.append([weight * factor(each, context)[0] for each in candidates])
    multipliers = []
    for name, strength in strengths.items():
        factor = FACTORS[name]
        multipliers.append([1 - strength * (1 - factor(each, context)[0]) for each in candidates])
    sums = map(fsum, zip(*factors, strict=True)) if factors else repeat(0.0)
    products = map(prod, zip(*multipliers, strict=True)) if multipliers else repeat(1.0)
    return [
        Score(total * product, parts=partial(_parts, each, context, strengths))
        for each, total, product in zip(candidates, sums, products, strict=False)
    ]


def _parts(candidate: Candidate, context: ScoringContext, strengths: Mapping[str, float]) -> ScoreParts:
    """The factors and multipliers of a candidate's score, each with its reason."""
    factors = []
    for name, weight in context.profile.weights.items():
        result = FACTORS[name](candidate, context)
        factors.append(Factor(name, result.value, weight, weight * result.value, result.reason))
    multipliers = []
    for name, strength in strengths.items():
        result = FACTORS[name](candidate, context)
        partly = f" (strength {strength:.0%})" if strength < 1 else ""
        multipliers.append(Multiplier(name, 1 - strength * (1 - result.value), result.reason + partly))
    return tuple(factors), tuple(multipliers)


def rank(
    candidates: Sequence[Candidate], context: ScoringContext, *, thresholds: bool = True
) -> tuple[tuple[ScoredCandidates, ...], tuple[Dropped, ...]]:
    """All candidates scored, best first within each band (ties by passage id), and those below the evidence or score
    threshold.

    thresholds False keeps every candidate: when a leg failed, absolute limits would reject what was not measured.
    """
    accepted: list[ScoredCandidates] = []
    dropped: list[Dropped] = []
    for candidate, scored in zip(candidates, _scores(candidates, context), strict=True):
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
    if signals.similarity < profile.floor and signals.keyword_share + signals.wordings <= 0:
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

_PREFIX_COMMON = 16
"""k of prefix filtering: higher ones compare more shingles, and rule out more texts that share a heading or a phrase
with others. Chosen by hand."""

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

    Resemblance is the Jaccard index of shingles (Broder 1997). Only texts that may have a near duplicate are compared,
    all pairs at once: the product of the text × shingle matrix with its transpose counts common shingles."""
    shingles = [_shingles(text) for text in texts]
    suspects = _suspects(shingles)
    found: list[set[int]] = [set() for _ in texts]
    for later, earlier in _similar_pairs([shingles[index] for index in suspects]) if suspects else ():
        found[suspects[later]].add(suspects[earlier])
    return tuple(map(frozenset, found))


def _suspects(shingles: Sequence[NDArray[np.uint64]]) -> list[int]:
    """The indexes of the texts that may be near duplicates, ascending.

    Prefix filtering (Chaudhuri, Ganti & Kaushik 2006): of two sets with a Jaccard index of t, each shares ⌈t · size⌉
    elements at least. So whatever the order of elements, k of the first size - ⌈t · size⌉ + k are among the first ones
    of the other. The sizes differ by a factor of t at most, so that a small set's k is at least ⌈t² · size⌉."""
    least = NEAR_IDENTICAL - _SLACK
    sizes = np.array([len(each) for each in shingles], dtype=np.intp)
    common = np.ceil(least * sizes).astype(np.intp)
    lengths = sizes - common + np.minimum(_PREFIX_COMMON, common)
    first = np.concatenate([each[:length] for each, length in zip(shingles, lengths, strict=True)] or [_NO_SHINGLES])
    owners = np.repeat(np.arange(len(sizes)), lengths)
    order = np.argsort(first)
    ordered = first[order]
    again = ordered[1:] == ordered[:-1]
    repeated = np.zeros(len(first), np.bool_)
    repeated[order[1:][again]] = repeated[order[:-1][again]] = True
    counts = np.bincount(owners[repeated], minlength=len(sizes))
    found: list[int] = np.flatnonzero(counts >= np.minimum(_PREFIX_COMMON, np.ceil(least**2 * sizes))).tolist()
    return found


def _similar_pairs(shingles: Sequence[NDArray[np.uint64]]) -> list[tuple[int, int]]:
    """Each pair (later, earlier) of near duplicates."""
    from scipy.sparse import csr_array

    sizes = np.array([len(each) for each in shingles], dtype=np.intp)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    distinct, numbers, counts = np.unique(np.concatenate(shingles), return_inverse=True, return_counts=True)
    some = counts[numbers] > 1
    some &= (np.bincount(owners[some], minlength=len(sizes)) >= (NEAR_IDENTICAL - _SLACK) * sizes)[owners]
    if not some.any():
        return []
    pairs = (owners[some], numbers[some])
    incidence = csr_array((np.ones(len(pairs[0]), np.int32), pairs), shape=(len(sizes), len(distinct)))
    common = (incidence @ incidence.T).tocoo()  # sparse: thousands of texts, of which few have anything in common
    later, earlier = common.coords
    near = (later > earlier) & (common.data >= NEAR_IDENTICAL * (sizes[later] + sizes[earlier] - common.data))
    return list(zip(later[near].tolist(), earlier[near].tolist(), strict=True))


_NO_SHINGLES = np.empty(0, np.uint64)


@lru_cache(maxsize=1024)  # some 4 MB
def _shingles(text: str) -> NDArray[np.uint64]:
    """The hashes of a text's shingles, ascending, each once. A shingle is four consecutive words, separated by
    whitespace; a shorter text is one shingle."""
    words = text.lower().split()
    words.extend([""] * (_SHINGLE_WORDS - len(words)))
    hashes = np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)
    count = len(hashes) - _SHINGLE_WORDS + 1
    rolled = np.zeros(count, np.uint64)
    for at in range(_SHINGLE_WORDS):
        rolled *= _FACTOR
        rolled += hashes[at : at + count]
    rolled.sort()
    return rolled[np.concatenate(([True], rolled[1:] != rolled[:-1]))]  # as np.unique, in half the time
