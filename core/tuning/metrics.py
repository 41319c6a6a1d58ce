"""Measures of judged answers; the ranking measures are those of the ir-measures library."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import nan
from statistics import fmean, median

__all__ = ["calibration_error", "mean", "middle", "normalised", "ranking_measures"]

_BINS = 15
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‐": "-", "‑": "-", "–": "-", "—": "-", "­": None}
)


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
    ordered = sorted(probability for probability, _ in decided)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, right in decided:
        # Equal probabilities share a bin, whatever their outcome.
        bins.setdefault(bisect_left(ordered, probability) * _BINS // len(ordered), []).append((probability, right))
    gaps = [abs(fmean(p for p, _ in part) - fmean(right for _, right in part)) * len(part) for part in bins.values()]
    return sum(gaps) / len(decided)


def ranking_measures(
    grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Query id → measure → value in [0, 1], for measures by their ir-measures names ("nDCG@10", "RR@10", "R@100").

    grades: query id → document id → grade (0 = not relevant). rankings: query id → document ids, best first, each once.
    A query without a ranking has 0 in every measure; one without a relevant document is left out.
    """
    import ir_measures

    judged = {query: held for query, held in grades.items() if any(grade > 0 for grade in held.values())}
    qrels = [ir_measures.Qrel(query, doc, grade) for query, held in judged.items() for doc, grade in held.items()]
    run = [
        ir_measures.ScoredDoc(query, doc, float(len(docs) - place))
        for query, docs in rankings.items()
        if query in judged
        for place, doc in enumerate(docs)
    ]
    measured: dict[str, dict[str, float]] = {query: dict.fromkeys(names, 0.0) for query in judged}
    if run:
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], qrels, run):
            measured[metric.query_id][str(metric.measure)] = float(metric.value)
    return measured
