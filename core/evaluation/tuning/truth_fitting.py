"""Fits the probability that one truth answers a question, and measures it on collections left out.

Each truth is asked every question, with and without the documents that answer it. A truth answers when one of them is
among its first five passages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import BadRequest
from core.evaluation.metrics.measures import auroc
from core.knowledge.answerability import TruthModel
from core.search.ranking.answerability import truth_probability

__all__ = [
    "LeftOutTruths",
    "TruthCase",
    "TruthShares",
    "fit_truth_model",
    "fitted_logistic",
    "left_out_truths",
    "truth_model_toml",
]

_UNANSWERABLE = 0.2
"""Share of the questions that nothing answers, as people ask them. Chosen by hand, not fitted."""
_REGULARISATION = 100.0  # C of scikit-learn: next to none, because two numbers are learned from hundreds of cases
_DIGITS = 2


@dataclass(frozen=True, slots=True)
class TruthCase:
    """One truth asked one question once. question: the same for the five truths. evidence: of its best passage, lead:
    by how much it exceeds that of the other truths, as for `truth_probability`; cosine: the highest of its passages,
    what a stock pipeline has, in [0, 1]. answers: whether an answering document is among its first five passages;
    answerable: whether the library holds one."""

    collection: str
    question: str
    evidence: float
    lead: float
    cosine: float
    answers: bool
    answerable: bool


@dataclass(frozen=True, slots=True)
class TruthShares:
    """Of so many truths, how many are said to answer, to answer partly, and to be silent."""

    truths: int
    answered: int
    partly: int
    silent: int


@dataclass(frozen=True, slots=True)
class LeftOutTruths:
    """How well a collection is told by a model fitted to the others.

    auroc, auroc_cosine: of truths that answer against the others. answering, other: truths that answer a question, and
    those that do not answer it although the library does; without: truths where nothing answers. all_silent: answerable
    questions of which all five truths are said to be silent, of so many."""

    collection: str
    auroc: float
    auroc_cosine: float
    answering: TruthShares
    other: TruthShares
    without: TruthShares
    all_silent: int
    answerable: int


def fit_truth_model(cases: Sequence[TruthCase]) -> TruthModel:
    """The model fitted to all cases; every collection weighs the same, and its unanswerable questions a fifth of it."""
    return _fitted(cases)


def left_out_truths(cases: Sequence[TruthCase], partly: float, answered: float) -> tuple[LeftOutTruths, ...]:
    """Each collection judged by the others. partly, answered: the least probabilities of these states. Raises
    BadRequest for fewer than two collections."""
    names = list(dict.fromkeys(case.collection for case in cases))
    if len(names) < 2:
        raise BadRequest("One collection cannot be judged by others.", "Name two folders or more.")
    return tuple(_left_out(name, cases, partly, answered) for name in names)


def _left_out(name: str, cases: Sequence[TruthCase], partly: float, answered: float) -> LeftOutTruths:
    own = [case for case in cases if case.collection == name]
    model = _fitted([case for case in cases if case.collection != name])
    chances = {id(case): truth_probability(case.evidence, case.lead, model) for case in own}

    def shares(some: Sequence[TruthCase]) -> TruthShares:
        values = [chances[id(case)] for case in some]
        yes, silent = sum(p >= answered for p in values), sum(p < partly for p in values)
        return TruthShares(len(values), yes, len(values) - yes - silent, silent)

    answering, others = [case for case in own if case.answers], [case for case in own if not case.answers]
    questions = {case.question for case in own if case.answerable}
    reached = {case.question for case in own if case.answerable and chances[id(case)] >= partly}
    return LeftOutTruths(
        name,
        auroc([chances[id(case)] for case in answering], [chances[id(case)] for case in others]),
        auroc([case.cosine for case in answering], [case.cosine for case in others]),
        shares(answering),
        shares([case for case in others if case.answerable]),
        shares([case for case in others if not case.answerable]),
        len(questions - reached),
        len(questions),
    )


def truth_model_toml(model: TruthModel, embedding_model: str) -> str:
    """The model as core/knowledge/truth_answers.toml. embedding_model: whose cosines it was fitted to."""
    return (
        "# The probability that one truth answers a question: a logistic regression over the evidence of its\n"
        "# best passage, and how much this exceeds that of the other truths (docs/scores.md), written by\n"
        f"# `evaluate fit-truth-answers`. Fitted to cosines of {embedding_model}.\n"
        f"evidence = {model.evidence}\nlead = {model.lead}\nintercept = {model.intercept}\n"
    )


def fitted_logistic(
    signals: NDArray[np.float64], answers: Sequence[bool], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The logistic regression of answers on signals, shape (n, k): k weights, then the intercept. weights: of the
    cases, shape (n,)."""
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=_REGULARISATION)
    regression.fit(signals, answers, sample_weight=weights * len(weights) / weights.sum())
    return np.concatenate([regression.coef_[0], regression.intercept_])


def _fitted(cases: Sequence[TruthCase]) -> TruthModel:
    weights = np.zeros(len(cases))
    for name in {case.collection for case in cases}:
        for answerable, share in ((True, 1 - _UNANSWERABLE), (False, _UNANSWERABLE)):
            same = [case.collection == name and case.answerable == answerable for case in cases]
            weights[same] = share / max(1, sum(same))
    signals = np.array([(case.evidence, case.lead) for case in cases])
    return TruthModel(*np.round(fitted_logistic(signals, [case.answers for case in cases], weights), _DIGITS).tolist())
