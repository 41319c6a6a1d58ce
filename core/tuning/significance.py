"""Whether a difference between two measurements is more than chance, and how sure a mean is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean
from typing import Any

from core.experiments import Change, Interval, Outcome
from core.tuning.metrics import MEASURES

__all__ = ["Paired", "changed", "compared", "interval", "paired"]

_RESAMPLES = 9_999
"""With what was observed, 10,000; fewer than 14 questions have no more ways of swapping and are tested exactly."""
_BATCH = 1_000
_SAME = 1e-9
"""Values nearer than this are equal: rescoring agrees with a full search to as much."""


@dataclass(frozen=True, slots=True)
class Paired:
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
    if max(values) - min(values) <= _SAME:
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


def paired(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Paired:
    """Two-sided paired randomisation test of the mean difference: which of the two is which is swapped per question.

    Smucker, Allan & Carterette 2007 recommend it for rankings: it assumes no distribution. Exact up to 13 questions,
    from 10,000 swaps beyond. No question, one, or no difference anywhere has p = 1. Raises ValueError for unequal
    lengths.

    >>> paired([0.0] * 5, [1.0] * 5).p_value
    0.0625
    """
    gains = [new - old for old, new in zip(before, after, strict=True)]
    gain = interval(gains, seed)
    if len(gains) < 2 or all(abs(difference) <= _SAME for difference in gains):
        return Paired(gain, 1.0, len(gains))
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
    return Paired(gain, float(found.pvalue), len(gains))


def compared(first: Sequence[Outcome], second: Sequence[Outcome], seed: int = 0) -> Mapping[str, Paired]:
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
    first: Sequence[Outcome], second: Sequence[Outcome], measure: str
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """The questions whose measure got worse and those whose got better, largest change first, then by key."""
    changes = [
        Change(new.key, new.question, new.kind, old.measures[measure], new.measures[measure])
        for old, new in _pairs(first, second)
        if measure in old.measures and measure in new.measures
    ]
    moved = [change for change in changes if abs(change.after - change.before) > _SAME]
    moved.sort(key=lambda change: (-abs(change.after - change.before), change.key))
    up = tuple(change for change in moved if change.after > change.before)
    down = tuple(change for change in moved if change.after < change.before)
    higher_is_better = measure not in MEASURES or MEASURES[measure].higher_is_better
    return (down, up) if higher_is_better else (up, down)


def _pairs(first: Sequence[Outcome], second: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """The outcomes of the same question, in the order of the second."""
    before = {outcome.question_id: outcome for outcome in first}
    return [(before[outcome.question_id], outcome) for outcome in second if outcome.question_id in before]
