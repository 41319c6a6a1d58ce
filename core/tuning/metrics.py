"""Measures of judged answers; the ranking measures are those of the ir-measures library."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean, median

__all__ = [
    "MEASURES",
    "Measure",
    "calibration_bins",
    "calibration_error",
    "mean",
    "middle",
    "normalised",
    "ranking_measures",
]

_BINS = 15
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‐": "-", "‑": "-", "–": "-", "—": "-", "­": None}
)


@dataclass(frozen=True, slots=True)
class Measure:
    """How the results of one question are measured, in [0, 1].

    library: its ir-measures name when it measures a ranking, "" when it is reckoned from what was shown.
    higher_is_better: whether more of it is better.
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
        Measure("refused", "", "whether a question that nothing answers was rightly left without results"),
        Measure("false_refusal", "", "whether a question that has an answer was left without results", False),
    )
}
"""Measure by name, in the order of every table and chart. A result of grade 1 or more is relevant."""


def normalised(text: str) -> str:
    """Text for comparing: lower case, one space between words, straight quotes and hyphens, no soft hyphens.

    >>> normalised("The  “Two\\nMonths”")
    'the "two months"'
    """
    return " ".join(text.translate(_QUOTES).casefold().split())


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; NaN of nothing, so that an unmeasured share is never shown as 0."""
    return fmean(values) if values else nan


def middle(values: Sequence[float]) -> float:
    """Median; NaN of nothing."""
    return median(values) if values else nan


def calibration_error(decided: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over (probability, right) pairs: 15 bins of equal count, in [0, 1].

    Σ |mean probability - share right| · bin size ÷ n. Bins of equal count rather than width, because on a small corpus
    most equal-width bins are empty (Nguyen & O'Connor 2015). NaN of nothing.

    >>> calibration_error([(1.0, True), (1.0, True)]), calibration_error([(0.9, False)])
    (0.0, 0.9)
    """
    if not decided:
        return nan
    return sum(abs(said - right) * n for n, said, right in calibration_bins(decided)) / len(decided)


def calibration_bins(decided: Sequence[tuple[float, bool]]) -> list[tuple[int, float, float]]:
    """The bins of `calibration_error`, least sure first: how many, mean probability, share right.

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

    grades: query id → document id → grade (0 or less = not relevant). rankings: query id → document ids, best first;
    one that is named again counts where it stands first. A query without a ranking has 0 in every measure; one without
    a relevant document is left out.

    >>> ranking_measures({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "a"]}, ["RR@10", "R@20"])
    {'q': {'RR@10': 0.5, 'R@20': 0.5}}
    """
    import ir_measures

    judged = {
        query: {doc: max(grade, 0) for doc, grade in held.items()}
        for query, held in grades.items()
        if any(grade > 0 for grade in held.values())
    }
    run = {query: _scored(docs) for query, docs in rankings.items() if docs and query in judged}
    measured: dict[str, dict[str, float]] = {query: dict.fromkeys(names, 0.0) for query in judged}
    if run:
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], judged, run):
            measured[metric.query_id][str(metric.measure)] = float(metric.value)
    return measured


def _scored(docs: Sequence[str]) -> dict[str, float]:
    """Falling scores that keep the order; the library knows an order by scores only."""
    once = tuple(dict.fromkeys(docs))
    return {doc: float(len(once) - place) for place, doc in enumerate(once)}
