"""Confidence intervals, paired significance tests, and the overlap of two rankings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean
from typing import Any

from core.domain.errors import BadRequest
from core.domain.evaluation import Interval, MetricChange, QuestionOutcome
from core.evaluation.metrics.measures import EQUAL_WITHIN, MEASURES

__all__ = ["PairedTest", "changed", "compared", "interval", "jaccard", "paired", "rank_biased_overlap"]

_RESAMPLES = 9_999
"""With the observation itself 10,000; up to 13 questions have fewer permutations (2^13) and are tested exactly."""

_BATCH = 1_000  # resamples per batch: limits memory


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One measure before and after on the same n questions. gain: mean of after - before, in [-1, 1].

    p_value: chance of a gain or loss at least as large if both were the same, in (0, 1].
    """

    gain: Interval
    p_value: float
    n: int


def interval(values: Sequence[float], seed: int = 0) -> Interval:
    """Mean with its 95 % percentile bootstrap interval (Efron & Tibshirani 1993, 10,000 resamples less one).

    Percentiles stay among the values, and exist for any of them. Of one value, or of equal ones, low = high = mean. Of
    nothing everything is NaN and n is 0.

    >>> interval([0.5, 0.5])
    Interval(mean=0.5, low=0.5, high=0.5, n=2)
    """
    if not values:
        return Interval(nan, nan, nan, 0)
    mean = fmean(values)
    if max(values) - min(values) <= EQUAL_WITHIN:
        return Interval(mean, mean, mean, len(values))
    import numpy as np
    from scipy.stats import bootstrap

    generator: Any = np.random.default_rng(seed)
    found = bootstrap(
        (np.asarray(values, dtype=float),),
        np.mean,
        method="percentile",
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        rng=generator,
    ).confidence_interval
    return Interval(mean, min(float(found.low), mean), max(float(found.high), mean), len(values))


def paired(before: Sequence[float], after: Sequence[float], seed: int = 0) -> PairedTest:
    """Two-sided paired randomisation test of the mean difference: which of the two is which is swapped per question.

    Smucker, Allan & Carterette 2007 recommend it for rankings: it assumes no distribution. Exact up to 13 questions,
    from 10,000 swaps beyond. No question, one, or no difference anywhere has p = 1. Raises ValueError for unequal
    lengths.

    >>> paired([0.0] * 5, [1.0] * 5).p_value
    0.0625
    """
    gains = [new - old for old, new in zip(before, after, strict=True)]
    gain = interval(gains, seed)
    if len(gains) < 2 or all(abs(difference) <= EQUAL_WITHIN for difference in gains):
        return PairedTest(gain, 1.0, len(gains))
    import numpy as np
    from scipy.stats import permutation_test

    found = permutation_test(
        (np.asarray(gains),),
        np.mean,
        permutation_type="samples",
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return PairedTest(gain, float(found.pvalue), len(gains))


def compared(
    first: Sequence[QuestionOutcome], second: Sequence[QuestionOutcome], seed: int = 0
) -> Mapping[str, PairedTest]:
    """Measure → gain of the second over the first, over the questions for which both have it.

    A measure that no question has in both is absent.
    """
    pairs = _pairs(first, second)
    names = dict.fromkeys([*MEASURES, *(name for old, _ in pairs for name in old.measures)])
    found = {}
    for name in names:
        both = [(o.measures[name], n.measures[name]) for o, n in pairs if name in o.measures and name in n.measures]
        if both:
            found[name] = paired([old for old, _ in both], [new for _, new in both], seed)
    return found


def changed(
    first: Sequence[QuestionOutcome], second: Sequence[QuestionOutcome], measure: str
) -> tuple[tuple[MetricChange, ...], tuple[MetricChange, ...]]:
    """The questions whose measure got worse and those whose got better, largest change first, then by key."""
    changes = [
        MetricChange(new.key, new.question, new.kind, old.measures[measure], new.measures[measure])
        for old, new in _pairs(first, second)
        if measure in old.measures and measure in new.measures
    ]
    moved = [change for change in changes if abs(change.after - change.before) > EQUAL_WITHIN]
    moved.sort(key=lambda change: (-abs(change.after - change.before), change.key))
    up = tuple(change for change in moved if change.after > change.before)
    down = tuple(change for change in moved if change.after < change.before)
    higher_is_better = measure not in MEASURES or MEASURES[measure].higher_is_better
    return (down, up) if higher_is_better else (up, down)


def _pairs(
    first: Sequence[QuestionOutcome], second: Sequence[QuestionOutcome]
) -> list[tuple[QuestionOutcome, QuestionOutcome]]:
    """The outcomes of the same question, in the order of the second."""
    before = {outcome.question_id: outcome for outcome in first}
    return [(before[outcome.question_id], outcome) for outcome in second if outcome.question_id in before]


def jaccard(a: Sequence[str], b: Sequence[str]) -> float:
    """Shared items ÷ all items, in [0, 1], whatever their order; two empty lists are the same: 1.

    >>> jaccard(["a", "b", "c"], ["c", "b", "d"])
    0.5
    """
    first, second = set(a), set(b)
    return len(first & second) / len(first | second) if first | second else 1.0


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Extrapolated rank-biased overlap of two rankings, in [0, 1]: 1 when alike; the top counts most.

    p in (0, 1) is the chance that a reader goes on to the next rank; with 0.9 the first ten hold 86 % of the weight.
    Webber, Moffat & Zobel 2010, equation 32, for lists of lengths s ≤ l; X_d: items shared by the first d of each:

        (1-p)/p · (Σ_{d=1..l} X_d/d · p^d + Σ_{d=s+1..l} X_s·(d-s)/(s·d) · p^d) + ((X_l-X_s)/l + X_s/s) · p^l

    An item that is named again counts where it stands first. Two empty lists are alike, an empty and a filled one are
    not. It is our own because the `rbo` package (0.1.3) asks for a NumPy below 2. Raises BadRequest for another p.

    >>> round(rank_biased_overlap(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    """
    if not 0 < p < 1:
        raise BadRequest(f"p is {p:g}, which is not between 0 and 1.", "Take 0.9 to weigh the first ten ranks most.")
    short, long = sorted((list(dict.fromkeys(a)), list(dict.fromkeys(b))), key=len)
    if not short:
        return 0.0 if long else 1.0
    shared = _shared(short, long)
    least, most = len(short), len(long)
    early, late = shared[least - 1], shared[-1]
    seen = sum(count / depth * p**depth for depth, count in enumerate(shared, 1))
    beyond = sum(early * (depth - least) / (least * depth) * p**depth for depth in range(least + 1, most + 1))
    return min((1 - p) / p * (seen + beyond) + ((late - early) / most + early / least) * p**most, 1.0)


def _shared(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """X_d for d = 1 … the longer length: how many items the first d of both lists share."""
    counts, count = [], 0
    in_short: set[str] = set()
    in_long: set[str] = set()
    for depth, item in enumerate(long):
        in_long.add(item)
        count += item in in_short
        if depth < len(short):
            in_short.add(short[depth])
            count += short[depth] in in_long
        counts.append(count)
    return counts
