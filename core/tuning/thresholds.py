"""Where to cut: how well a threshold parts relevant from irrelevant results, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Consequences", "ThresholdHelp", "Triple", "consequences", "threshold_help"]

_BINS = 20

Triple = tuple[float, bool, str]
"""A graded result: its score, whether it is relevant, and the key of its question."""


@dataclass(frozen=True, slots=True)
class ThresholdHelp:
    """Scores of relevant and irrelevant results, and the threshold that parts them best.

    edges: of the 20 bins both histograms share, 21 rising scores, from 0 to 1 unless a score lies beyond; relevant,
    irrelevant: results per bin. thresholds: the scores that occur, rising; precision, recall in [0, 1]: of keeping what
    scores at least so much. suggested: highest F1 (`f1`, in [0, 1]), half way to the next lower score. Without relevant
    or without irrelevant results there is no curve and no suggestion; `words` say so.
    """

    edges: tuple[float, ...]
    relevant: tuple[int, ...]
    irrelevant: tuple[int, ...]
    words: str
    thresholds: tuple[float, ...] = ()
    precision: tuple[float, ...] = ()
    recall: tuple[float, ...] = ()
    suggested: float | None = None
    f1: float | None = None


@dataclass(frozen=True, slots=True)
class Consequences:
    """What keeping only scores of at least `threshold` does.

    losing: keys of questions that lose their last relevant result; emptied: of those left without any result.
    """

    threshold: float
    relevant_kept: int
    relevant_lost: int
    irrelevant_kept: int
    irrelevant_dropped: int
    losing: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def threshold_help(triples: Sequence[Triple]) -> ThresholdHelp:
    """Histograms, precision and recall over the threshold, and the threshold of the highest F1.

    Of equally good ones the lowest, which loses least. A result whose score equals the threshold is kept.

    >>> found = threshold_help([(0.25, False, "q1"), (0.75, True, "q1"), (0.875, True, "q2")])
    >>> found.suggested, found.f1
    (0.5, 1.0)
    """
    scores = [score for score, _, _ in triples]
    edges, relevant, irrelevant = _histograms(triples)
    if reason := _one_sided(triples):
        return ThresholdHelp(edges, relevant, irrelevant, reason)
    from sklearn.metrics import precision_recall_curve

    # The curve ends in a point (precision 1, recall 0) that belongs to no score.
    precisions, recalls, at = precision_recall_curve([good for _, good, _ in triples], scores)
    thresholds = tuple(float(score) for score in at)
    precision = tuple(float(value) for value in precisions[:-1])
    recall = tuple(float(value) for value in recalls[:-1])
    f1 = [_f1(p, r) for p, r in zip(precision, recall, strict=True)]
    best = max(range(len(f1)), key=lambda place: (round(f1[place], 12), -place))
    suggested = _below(thresholds, best)
    return ThresholdHelp(
        edges,
        relevant,
        irrelevant,
        _told(consequences(triples, suggested)),
        thresholds,
        precision,
        recall,
        suggested,
        f1[best],
    )


def consequences(triples: Sequence[Triple], threshold: float) -> Consequences:
    """What a threshold keeps, drops and loses; questions in the order they come.

    >>> consequences([(0.25, False, "q1"), (0.75, True, "q2"), (0.5, True, "q2")], 0.6)
    Consequences(threshold=0.6, relevant_kept=1, relevant_lost=1, irrelevant_kept=0, irrelevant_dropped=1, losing=(), \
emptied=('q1',))
    """
    kept = [triple for triple in triples if triple[0] >= threshold]
    relevant_kept = sum(good for _, good, _ in kept)
    relevant = sum(good for _, good, _ in triples)
    finding = {key for _, good, key in kept if good}
    filled = {key for _, _, key in kept}
    return Consequences(
        threshold,
        relevant_kept,
        relevant - relevant_kept,
        len(kept) - relevant_kept,
        len(triples) - relevant - (len(kept) - relevant_kept),
        tuple(dict.fromkeys(key for _, good, key in triples if good and key not in finding)),
        tuple(dict.fromkeys(key for _, _, key in triples if key not in filled)),
    )


def _histograms(triples: Sequence[Triple]) -> tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]:
    low = min([0.0, *(score for score, _, _ in triples)])
    high = max([1.0, *(score for score, _, _ in triples)])
    edges = (*(low + (high - low) * place / _BINS for place in range(_BINS)), high)
    return edges, _counts(edges, triples, True), _counts(edges, triples, False)


def _counts(edges: Sequence[float], triples: Sequence[Triple], wanted: bool) -> tuple[int, ...]:
    """Results per bin; a score on an edge belongs to the bin above it, the highest to the last."""
    import numpy as np

    return tuple(int(count) for count in np.histogram([s for s, good, _ in triples if good == wanted], edges)[0])


def _one_sided(triples: Sequence[Triple]) -> str:
    """Why no threshold can be suggested; "" when one can."""
    relevant = sum(good for _, good, _ in triples)
    if not triples:
        return "No result has been graded yet."
    if not relevant:
        return "No relevant result has been graded: every threshold would lose nothing."
    if relevant == len(triples):
        return "No irrelevant result has been graded: every threshold would only lose relevant ones."
    return ""


def _f1(precision: float, recall: float) -> float:
    """Harmonic mean (van Rijsbergen 1979)."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _below(thresholds: Sequence[float], place: int) -> float:
    """Half way from a score to the next lower one, or to 0: it keeps the same results and sits on none of them."""
    score = thresholds[place]
    lower = thresholds[place - 1] if place else min(0.0, score)
    middle = (lower + score) / 2
    return middle if middle > lower or not place else score


def _told(cost: Consequences) -> str:
    relevant = cost.relevant_kept + cost.relevant_lost
    irrelevant = cost.irrelevant_kept + cost.irrelevant_dropped
    return (
        f"From {cost.threshold:.3f} on, {cost.relevant_kept} of {relevant} relevant results are kept and "
        f"{cost.irrelevant_dropped} of {irrelevant} irrelevant ones dropped."
    )
