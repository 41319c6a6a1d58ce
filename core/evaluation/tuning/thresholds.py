"""Score thresholds: how well they separate relevant from irrelevant results, and their effect on an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.evaluation import Experiment, QuestionOutcome
from core.evaluation.experiments import UNGRADED

__all__ = [
    "ThresholdConsequences",
    "ThresholdEffect",
    "ThresholdEffects",
    "ThresholdHelp",
    "Triple",
    "consequences",
    "cuts_of",
    "threshold_help",
]

_BINS = 20  # histogram bins: 0.05 wide for scores in [0, 1]

Triple = tuple[float, bool, str]
"""A graded result: its score, whether it is relevant, and the key of its question."""


@dataclass(frozen=True, slots=True)
class ThresholdHelp:
    """Scores of relevant and irrelevant results, and the threshold that separates them best.

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
class ThresholdConsequences:
    """Effect of keeping only scores of at least `threshold`.

    losing: keys of questions that lose their last relevant result; emptied: of those left without any result.
    """

    threshold: float
    relevant_retained: int
    relevant_lost: int
    irrelevant_retained: int
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
    best = max(range(len(f1)), key=lambda index: (round(f1[index], 12), -index))
    suggested = _below(thresholds, best)
    return ThresholdHelp(
        edges,
        relevant,
        irrelevant,
        _to_sentence(consequences(triples, suggested)),
        thresholds,
        precision,
        recall,
        suggested,
        f1[best],
    )


def consequences(triples: Sequence[Triple], threshold: float) -> ThresholdConsequences:
    """The results and questions a threshold keeps, drops and loses; questions in input order.

    >>> cut = consequences([(0.25, False, "q1"), (0.75, True, "q2"), (0.5, True, "q2")], 0.6)
    >>> cut.relevant_retained, cut.relevant_lost, cut.irrelevant_retained, cut.irrelevant_dropped
    (1, 1, 0, 1)
    >>> cut.losing, cut.emptied
    ((), ('q1',))
    """
    shown = [triple for triple in triples if triple[0] >= threshold]
    relevant_retained = sum(good for _, good, _ in shown)
    relevant = sum(good for _, good, _ in triples)
    finding = {key for _, good, key in shown if good}
    filled = {key for _, _, key in shown}
    return ThresholdConsequences(
        threshold,
        relevant_retained,
        relevant - relevant_retained,
        len(shown) - relevant_retained,
        len(triples) - relevant - (len(shown) - relevant_retained),
        tuple(dict.fromkeys(key for _, good, key in triples if good and key not in finding)),
        tuple(dict.fromkeys(key for _, _, key in triples if key not in filled)),
    )


def _histograms(triples: Sequence[Triple]) -> tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]:
    low = min([0.0, *(score for score, _, _ in triples)])
    high = max([1.0, *(score for score, _, _ in triples)])
    edges = (*(low + (high - low) * step / _BINS for step in range(_BINS)), high)
    return edges, _counts(edges, triples, True), _counts(edges, triples, False)


def _counts(edges: Sequence[float], triples: Sequence[Triple], relevant: bool) -> tuple[int, ...]:
    """Results per bin; a score on an edge belongs to the bin above it, the highest to the last."""
    import numpy as np

    return tuple(int(count) for count in np.histogram([s for s, good, _ in triples if good == relevant], edges)[0])


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


def _below(thresholds: Sequence[float], index: int) -> float:
    """Half way from a score to the next lower one, or to 0: it keeps the same results and sits on none of them."""
    score = thresholds[index]
    lower = thresholds[index - 1] if index else min(0.0, score)
    middle = (lower + score) / 2
    return middle if middle > lower or not index else score


def _to_sentence(cost: ThresholdConsequences) -> str:
    relevant = cost.relevant_retained + cost.relevant_lost
    irrelevant = cost.irrelevant_retained + cost.irrelevant_dropped
    return (
        f"From {cost.threshold:.3f} on, {cost.relevant_retained} of {relevant} relevant results are kept and "
        f"{cost.irrelevant_dropped} of {irrelevant} irrelevant ones dropped."
    )


_FEW = 20  # relevant or irrelevant results below which a warning appears. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """What showing only totals of at least `threshold` comes to, over all questions of an experiment.

    kept, lost, dropped: graded results, as `counts` holds them. losing: keys of questions that lose their last relevant
    result. silent: of those that have an answer and are shown nothing. answered: of those that nothing answers and are
    shown something all the same; refused: of those rightly shown nothing.
    """

    threshold: float
    counts: ThresholdConsequences
    losing: tuple[str, ...]
    silent: tuple[str, ...]
    answered: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThresholdEffects:
    """An experiment's graded results, to be evaluated at any threshold.

    help: their distribution, and the threshold that parts them best. relevant, irrelevant: how many of each there are;
    by_kind: how many of the irrelevant ones come from questions that nothing answers. doubts: why the figures flatter,
    in words.
    """

    help: ThresholdHelp
    triples: tuple[Triple, ...]
    outcomes: tuple[QuestionOutcome, ...]
    relevant: int
    irrelevant: int
    by_kind: int
    doubts: tuple[str, ...]

    def at(self, threshold: float) -> ThresholdEffect:
        """What a threshold in [0, 1] does; a result whose total equals it is shown."""
        counts = consequences(self.triples, threshold)
        shown = {each.key for each in self.outcomes if any(total >= threshold for _, total, _ in each.scored)}
        answerable = [each.key for each in self.outcomes if each.answerable]
        nothing = [each.key for each in self.outcomes if not each.answerable]
        return ThresholdEffect(
            threshold,
            counts,
            counts.losing,
            tuple(key for key in answerable if key not in shown),
            tuple(key for key in nothing if key in shown),
            tuple(key for key in nothing if key not in shown),
        )


def cuts_of(experiment: Experiment) -> ThresholdEffects:
    """The graded results of an experiment with its outcomes. Grade 1 or more is relevant; what nobody has graded only
    says whether a question is shown anything."""
    triples = tuple(
        (total, grade > 0, outcome.key)
        for outcome in experiment.outcomes
        for _, total, grade in outcome.scored
        if grade != UNGRADED
    )
    nothing = {outcome.key for outcome in experiment.outcomes if not outcome.answerable}
    relevant = sum(good for _, good, _ in triples)
    by_kind = sum(not good and key in nothing for _, good, key in triples)
    irrelevant = len(triples) - relevant
    return ThresholdEffects(
        threshold_help(triples),
        triples,
        experiment.outcomes,
        relevant,
        irrelevant,
        by_kind,
        _doubts(relevant, irrelevant, by_kind, experiment.unjudged),
    )


def _doubts(relevant: int, irrelevant: int, by_kind: int, unjudged: float | None) -> tuple[str, ...]:
    """Why precision looks better than it is, or says little."""
    notes = []
    if relevant and irrelevant and min(relevant, irrelevant) < _FEW:
        notes.append(
            f"Only {relevant} relevant and {irrelevant} irrelevant results are graded; a few more may move it."
        )
    if irrelevant and by_kind == irrelevant:
        notes.append(
            "Every irrelevant result belongs to a question that nothing answers; none beside an answer is graded."
        )
    if unjudged:
        notes.append(
            f"Nobody has graded {unjudged:.0%} of the first ten results. Most of these are usually irrelevant, so"
            " precision looks better than it is."
        )
    return tuple(notes)
