"""Metrics on judged results, and minimum or maximum limits on their means. ir-measures computes the ranking metrics."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from random import Random
from statistics import fmean, median

from core.domain.errors import BadRequest
from core.domain.evaluation import Interval

__all__ = [
    "EQUAL_WITHIN",
    "MEASURES",
    "Measure",
    "MetricLimit",
    "MissedLimit",
    "auroc",
    "bounds",
    "calibration_bins",
    "calibration_error",
    "calibration_error_by_chance",
    "mean",
    "middle",
    "missed",
    "normalised",
    "ranking_measures",
]

_BINS = 15  # as in Guo et al. 2017
_DRAWS = 100  # their mean is then exact to two digits

_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‐": "-", "‑": "-", "–": "-", "—": "-", "­": None}
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of one question's results, in [0, 1].

    library: its ir-measures name for a ranking metric, "" when it is computed from the shown results.
    higher_is_better: whether larger values are better.
    """

    name: str
    library: str
    words: str
    higher_is_better: bool = True


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("ndcg@10", "nDCG@10", "how near the order of the first ten results comes to the best possible one"),
        Measure("map", "AP", "precision at the rank of each relevant result, averaged"),
        Measure("mrr@10", "RR@10", "1 ÷ rank of the first relevant result, 0 beyond rank 10"),
        Measure("recall@20", "R@20", "share of the relevant results that is among the first twenty"),
        Measure("p@5", "P@5", "share of the first five results that is relevant"),
        Measure("hit@5", "", "whether one of the first five results shown is relevant, or of a relevant document"),
        Measure("answer@5", "", "whether one of the first five passages carries an answer"),
        Measure("refused", "", "whether a question that nothing answers was rightly called unanswered"),
        Measure("false_refusal", "", "whether a question that has an answer was called unanswered", False),
    )
}
"""Metric by name, in the order of every table and chart. A result of grade 1 or more is relevant."""


def normalised(text: str) -> str:
    """Normalise text for comparison: lower case, single spaces, straight quotes and hyphens, no soft hyphens.

    >>> normalised("The  “Two\\nMonths”")
    'the "two months"'
    """
    return " ".join(text.translate(_QUOTES).casefold().split())


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Area under the ROC curve: how often a positive value exceeds a negative one, ties counting half; NaN without
    values of both kinds.

    >>> auroc([0.9, 0.6], [0.6, 0.1])
    0.875
    """
    from scipy.stats import rankdata

    if not positive or not negative:
        return float("nan")
    ranks = rankdata([*positive, *negative])[: len(positive)].sum()
    return float((ranks - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative)))


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; NaN for no values, so that an unmeasured share is never shown as 0."""
    return fmean(values) if values else nan


def middle(values: Sequence[float]) -> float:
    """Median; NaN for no values."""
    return median(values) if values else nan


def calibration_error(decided: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over (probability, right) pairs: 15 bins of equal count, in [0, 1].

    Σ |mean probability - share right| · bin size ÷ n. Bins of equal count rather than width, because on a small corpus
    most equal-width bins are empty (Nguyen & O'Connor 2015). NaN for no pairs.

    >>> calibration_error([(1.0, True), (1.0, True)]), calibration_error([(0.9, False)])
    (0.0, 0.9)
    """
    if not decided:
        return nan
    return sum(abs(confidence - right) * n for n, confidence, right in calibration_bins(decided)) / len(decided)


def calibration_error_by_chance(probabilities: Sequence[float]) -> float:
    """The calibration error to expect of exact probabilities, because few outcomes never match them: no figure below
    it shows a fault. The mean of `calibration_error` over outcomes drawn by the probabilities, always the same draws.

    >>> calibration_error_by_chance([1.0, 1.0]), round(calibration_error_by_chance([0.5] * 10_000), 3)
    (0.0, 0.004)
    """
    chance = Random(0)
    draws = [[(each, chance.random() < each) for each in probabilities] for _ in range(_DRAWS)]
    return mean([calibration_error(draw) for draw in draws])


def calibration_bins(decided: Sequence[tuple[float, bool]]) -> list[tuple[int, float, float]]:
    """The bins of `calibration_error` as (count, mean probability, share right), lowest probability first.

    >>> calibration_bins([(0.9, True), (0.9, False), (0.5, True)])
    [(1, 0.5, 1.0), (2, 0.9, 0.5)]
    """
    ordered = sorted(probability for probability, _ in decided)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, right in decided:
        # Equal probabilities share a bin, whatever their outcome.
        bins.setdefault(bisect_left(ordered, probability) * _BINS // len(ordered), []).append((probability, right))
    return [
        (len(part), fmean(p for p, _ in part), float(fmean(right for _, right in part)))
        for _, part in sorted(bins.items())
    ]


def ranking_measures(
    grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Query id → measure → value in [0, 1], for measures by their ir-measures names ("nDCG@10", "RR@10", "R@100").

    grades: query id → document id → grade (0 or less = not relevant). rankings: query id → document ids, best first; of
    duplicates the first counts. A query without a ranking has 0 in every metric; one without a relevant document is
    omitted.

    >>> ranking_measures({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "a"]}, ["RR@10", "R@20"])
    {'q': {'RR@10': 0.5, 'R@20': 0.5}}
    """
    import ir_measures

    judged = {
        query: {doc: max(grade, 0) for doc, grade in graded.items()}
        for query, graded in grades.items()
        if any(grade > 0 for grade in graded.values())
    }
    run = {query: _scored(docs) for query, docs in rankings.items() if docs and query in judged}
    measured: dict[str, dict[str, float]] = {query: dict.fromkeys(names, 0.0) for query in judged}
    if run:
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], judged, run):
            measured[metric.query_id][str(metric.measure)] = float(metric.value)
    return measured


def _scored(docs: Sequence[str]) -> dict[str, float]:
    """Decreasing scores that keep the order: ir-measures derives the order from scores."""
    once = tuple(dict.fromkeys(docs))
    return {doc: float(len(once) - index) for index, doc in enumerate(once)}


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

EQUAL_WITHIN = 1e-9
"""Values of a measure, and means of them, that differ by less are equal: sums of the same values in another order, and
rescoring instead of searching again, differ by less."""


@dataclass(frozen=True, slots=True)
class MetricLimit:
    """Limit on the mean of a metric, in [0, 1]: a minimum, or a maximum where lower is better."""

    measure: str
    value: float

    @property
    def word(self) -> str:
        """Whether it is a minimum or a maximum."""
        return "minimum" if MEASURES[self.measure].higher_is_better else "maximum"


@dataclass(frozen=True, slots=True)
class MissedLimit:
    """A missed limit. found: the measured mean, None when the metric applies to no question of the set."""

    bound: MetricLimit
    found: Interval | None

    @property
    def by(self) -> float | None:
        """Distance of the mean beyond the limit, in (0, 1]; None when nothing was measured."""
        return None if self.found is None else abs(self.found.mean - self.bound.value)

    @property
    def reached(self) -> bool:
        """Whether the confidence interval includes the limit, so that the miss may be chance."""
        if self.found is None:
            return False
        if MEASURES[self.bound.measure].higher_is_better:
            return self.found.high >= self.bound.value - EQUAL_WITHIN
        return self.found.low <= self.bound.value + EQUAL_WITHIN

    def __str__(self) -> str:
        """One sentence.

        >>> print(MissedLimit(MetricLimit("ndcg@10", 0.8), Interval(0.75, 0.7, 0.81, 60)))
        ndcg@10 is 0.750, 0.05 below the minimum 0.8; its interval, 0.700 to 0.810, reaches it.
        """
        name, limit = self.bound.measure, f"the {self.bound.word} {self.bound.value:g}"
        if self.found is None or self.by is None:
            return f"{name} was not measured: it applies to no question of the set; {limit} cannot be held."
        side = "below" if self.bound.word == "minimum" else "above"
        summary = f"{name} is {self.found.mean:.3f}, {self.by:.2g} {side} {limit}"
        reaches = "reaches it" if self.reached else "does not reach it"
        return f"{summary}; its interval, {self.found.low:.3f} to {self.found.high:.3f}, {reaches}."


def bounds(minimums: Iterable[str], maximums: Iterable[str] = ()) -> tuple[MetricLimit, ...]:
    """Parse limits such as "ndcg@10=0.8": minimums where higher is better, maximums where lower is.

    Raises BadRequest for an unknown metric, one limited at the wrong end or twice, and a value that is not a number in
    [0, 1].

    >>> bounds(["ndcg@10=0.8"], ["false_refusal=.1"])
    (MetricLimit(measure='ndcg@10', value=0.8), MetricLimit(measure='false_refusal', value=0.1))
    """
    found: dict[str, MetricLimit] = {}
    for word, texts in (("minimum", minimums), ("maximum", maximums)):
        for text in texts:
            bound = _bound(text, word)
            if bound.measure in found:
                raise BadRequest(f"'{bound.measure}' is bounded twice.", "Give one bound for each measure.")
            found[bound.measure] = bound
    return tuple(found.values())


def _bound(text: str, word: str) -> MetricLimit:
    name, equals, number = (part.strip() for part in text.partition("="))
    if not equals:
        raise BadRequest(f"'{text}' is not a {word}.", "Write measure=value, such as ndcg@10=0.8.")
    if name not in MEASURES:
        raise BadRequest(f"There is no measure '{name}'.", f"Measures are: {', '.join(MEASURES)}.")
    if not _NUMBER.fullmatch(number):
        raise BadRequest(f"'{number}' in '{text}' is not a number.", f"Write a share, such as {name}=0.8.")
    bound = MetricLimit(name, float(number))
    if bound.word != word:
        better = "more" if bound.word == "minimum" else "less"
        raise BadRequest(f"'{name}' has no {word}: {better} of it is better.", f"Give it a {bound.word} instead.")
    if not 0 <= bound.value <= 1:
        raise BadRequest(f"'{text}' is outside [0, 1].", f"{name} is a share between 0 and 1.")
    return bound


def missed(limits: Sequence[MetricLimit], measures: Mapping[str, Interval]) -> tuple[MissedLimit, ...]:
    """The missed limits, in order, including those of metrics that apply to no question: what could not be measured
    does not pass. measures: metric → mean with interval."""
    return tuple(
        MissedLimit(bound, measures.get(bound.measure))
        for bound in limits
        if not _is_met(bound, measures.get(bound.measure))
    )


def _is_met(bound: MetricLimit, found: Interval | None) -> bool:
    if found is None:
        return False
    beyond = bound.value - found.mean if bound.word == "minimum" else found.mean - bound.value
    return beyond <= EQUAL_WITHIN
