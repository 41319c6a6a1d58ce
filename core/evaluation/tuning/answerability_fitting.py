"""Fits the probability that a library answers a question, and measures it on collections left out.

Every question is asked with and without the documents that answer it. A collection counts as one however many questions
it has, and is judged by weights fitted to the others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import BadRequest
from core.evaluation.metrics.measures import auroc
from core.knowledge.answerability import AnswerModel
from core.search.ranking.answerability import AnswerSignals, ReadSignals

__all__ = ["AnswerCase", "CalledUnanswered", "LeftOutCollection", "fit_answer_model", "left_out", "model_toml"]

MOST_FALSE = 0.02
"""Share of the answerable questions of a collection that may be called unanswered (behaviour.md)."""
_REGULARISATION = 1.0  # C of scikit-learn, its default: three weights need little
_CURVE = (0.01, 0.02, 0.05, 0.1, 0.2)  # shares of answerable questions at which the curve is reported
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """The signals of one question as asked once; answerable: whether its answering documents were there. found: whether
    one of them is among the first five passages when they are there."""

    collection: str
    signals: AnswerSignals | ReadSignals
    answerable: bool
    found: bool


@dataclass(frozen=True, slots=True)
class CalledUnanswered:
    """A point of the curve: the shares of answerable and of unanswerable questions called unanswered, in [0, 1]."""

    answerable: float
    unanswerable: float


@dataclass(frozen=True, slots=True)
class LeftOutCollection:
    """How well a collection is told by weights fitted to the others. at_threshold: with the threshold chosen on the
    others too; curve: with thresholds chosen on the collection itself.

    found: share of the answerable questions with an answering document among the first five passages, in [0, 1].
    auroc_found: of these questions alone; None without any."""

    collection: str
    cases: int
    auroc: float
    found: float
    auroc_found: float | None
    at_threshold: CalledUnanswered
    curve: tuple[CalledUnanswered, ...]

    @property
    def auroc_judged(self) -> float:
        """What somebody would reach who knows which of the first five passages answer, and nothing else: where none
        does, a question looks the same with and without its documents."""
        return (1 + self.found) / 2


def fit_answer_model(cases: Sequence[AnswerCase]) -> AnswerModel:
    """The model fitted to all cases. Its threshold is the highest at which, of each collection judged by the others,
    at most MOST_FALSE of the answerable questions are called unanswered. Raises BadRequest for fewer than two
    collections."""
    weights, intercept = _fitted(cases)
    threshold = _threshold(_judged(cases))
    named = {name: round(value, _DIGITS) for name, value in zip(cases[0].signals._fields, weights, strict=True)}
    return AnswerModel(named, round(intercept, _DIGITS), int(threshold * 10**_DIGITS) / 10**_DIGITS)


def left_out(cases: Sequence[AnswerCase]) -> tuple[LeftOutCollection, ...]:
    """Each collection judged by weights and a threshold of the others. Raises BadRequest for fewer than two."""
    found = []
    for name, judged in _judged(cases).items():
        others = [case for case in cases if case.collection != name]
        alone = len({case.collection for case in others}) == 1
        threshold = _threshold({"": _scored(others, others)} if alone else _judged(others))
        there = sorted(p for p, case in judged if case.answerable)
        missing = [p for p, case in judged if not case.answerable]
        reached = [[p for p, case in judged if case.found and case.answerable == has] for has in (True, False)]
        cuts = [there[int(share * len(there))] for share in _CURVE]
        found.append(
            LeftOutCollection(
                name,
                len(judged),
                auroc(there, missing),
                len(reached[0]) / len(there),
                auroc(*reached) if all(reached) else None,
                _called(there, missing, threshold),
                tuple(_called(there, missing, cut) for cut in cuts),
            )
        )
    return tuple(found)


def model_toml(model: AnswerModel, embedding_model: str) -> str:
    """The model as core/knowledge/answerability.toml, or as answerability_read.toml where a reranker has read.
    embedding_model: whose cosines it was fitted to."""
    weights = "\n".join(f"{name} = {value}" for name, value in model.weights.items())
    read = " and what the included reranker read" if "reading" in model.weights else ""
    return (
        "# The probability that a library answers a question (core.search.ranking.answerability): a logistic\n"
        "# regression, written by `evaluate fit-answerability`. threshold: the highest at which at most 2 % of the\n"
        "# answerable questions of each collection left out are called unanswered.\n"
        f"# Fitted to cosines of {embedding_model}{read}.\n"
        f"intercept = {model.intercept}\nthreshold = {model.threshold}\n\n[weights]\n{weights}\n"
    )


def _called(there: Sequence[float], missing: Sequence[float], threshold: float) -> CalledUnanswered:
    return CalledUnanswered(*(float(np.mean([p < threshold for p in each])) for each in (there, missing)))


def _judged(cases: Sequence[AnswerCase]) -> Mapping[str, Sequence[tuple[float, AnswerCase]]]:
    """Collection → (probability by the others' weights, case)."""
    names = list(dict.fromkeys(case.collection for case in cases))
    if len(names) < 2:
        raise BadRequest("One collection cannot be judged by others.", "Name two folders or more.")
    return {
        name: _scored(
            [case for case in cases if case.collection != name],
            [case for case in cases if case.collection == name],
        )
        for name in names
    }


def _scored(fitted_to: Sequence[AnswerCase], judged: Sequence[AnswerCase]) -> Sequence[tuple[float, AnswerCase]]:
    """(probability by weights fitted to the first, case) of the second."""
    weights, intercept = _fitted(fitted_to)
    margins = np.array([case.signals for case in judged]) @ weights + intercept
    return list(zip((1 / (1 + np.exp(-margins))).tolist(), judged, strict=True))


def _threshold(judged: Mapping[str, Sequence[tuple[float, AnswerCase]]]) -> float:
    """The highest at which at most MOST_FALSE of the answerable questions of each collection are called unanswered."""
    return min(
        float(np.quantile([p for p, case in each if case.answerable], MOST_FALSE, method="lower"))
        for each in judged.values()
    )


def _fitted(cases: Sequence[AnswerCase]) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept; every collection weighs the same."""
    from sklearn.linear_model import LogisticRegression

    sizes = Counter(case.collection for case in cases)
    counts = np.array([1 / sizes[case.collection] for case in cases])
    regression = LogisticRegression(C=_REGULARISATION)
    regression.fit(
        np.array([case.signals for case in cases]),
        [case.answerable for case in cases],
        sample_weight=counts * len(cases) / counts.sum(),
    )
    return regression.coef_[0], float(regression.intercept_[0])
