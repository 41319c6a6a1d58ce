"""Fits the probability that one truth covers a topic, and measures it on collections left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.errors import BadRequest
from core.evaluation.metrics.measures import auroc
from core.evaluation.tuning.truth_fitting import fitted_logistic
from core.knowledge.answerability import TopicModel
from core.search.ranking.answerability import topic_probability

__all__ = [
    "CellCase",
    "CellShares",
    "LeftOutCells",
    "fit_topic_model",
    "left_out_cells",
    "measured_cells",
    "topic_model_toml",
]

_ADDED = [step / 100 for step in range(21)]
_DIGITS = 2


@dataclass(frozen=True, slots=True)
class CellCase:
    """One truth beside one topic. evidence: of its best passage in the topic's language, other_language: of its best
    one in another, None without one; cosine: the highest of its passages, what a stock pipeline has; each in [0, 1].
    covered: as people judged."""

    collection: str
    evidence: float | None
    other_language: float | None
    cosine: float
    covered: bool

    def probability(self, model: TopicModel) -> float:
        """That the truth covers the topic, by its best passage."""
        return topic_probability(self.best(model.other_language), model)

    def best(self, added: float) -> float:
        """The highest evidence, with what is added to that in another language; 0 without a passage."""
        known = [value for value in (self.evidence, self.other_language and self.other_language + added) if value]
        return max(known, default=0.0)


@dataclass(frozen=True, slots=True)
class CellShares:
    """Cells given one state, and how many of them are truly covered."""

    cells: int
    covered: int


@dataclass(frozen=True, slots=True)
class LeftOutCells:
    """How well the cells of a collection are told by a model fitted to the others.

    auroc, auroc_cosine: of covered cells against missing ones. brier: mean squared error of the probability. gap,
    partial, full: cells given these states; full stands for covered."""

    collection: str
    auroc: float
    auroc_cosine: float
    brier: float
    gap: CellShares
    partial: CellShares
    full: CellShares


def fit_topic_model(cases: Sequence[CellCase]) -> TopicModel:
    """The likeliest model for all cases; every collection weighs the same. What is added to passages in
    other languages is looked for in steps, because it decides which passage is the best."""
    sizes = Counter(case.collection for case in cases)
    weights, covered = np.array([1 / sizes[case.collection] for case in cases]), np.array([c.covered for c in cases])

    def fitted(added: float) -> tuple[float, TopicModel]:
        best = np.array([case.best(added) for case in cases])
        weight, intercept = fitted_logistic(best[:, None], covered.tolist(), weights)
        likelihood = -np.logaddexp(0, np.where(covered, -1, 1) * (weight * best + intercept))
        model = TopicModel(round(float(weight), _DIGITS), added, round(float(intercept), _DIGITS))
        return float(likelihood @ weights), model

    return max((fitted(added) for added in _ADDED), key=lambda found: found[0])[1]


def topic_model_toml(model: TopicModel, embedding_model: str) -> str:
    """The model as core/knowledge/topic_coverage.toml. embedding_model: whose cosines it was fitted to."""
    return (
        "# The probability that one truth covers a topic: a logistic regression over the evidence of its best\n"
        "# passage (docs/scores.md); other_language: added to that of a passage in another language than the topic.\n"
        f"# Written by `evaluate fit-coverage`. Fitted to cosines of {embedding_model}.\n"
        f"evidence = {model.evidence}\nother_language = {model.other_language}\nintercept = {model.intercept}\n"
    )


def left_out_cells(cases: Sequence[CellCase], partial: float, covered: float) -> tuple[LeftOutCells, ...]:
    """Each collection judged by the others. partial, covered: the least probabilities of these states. Raises
    BadRequest for fewer than two collections."""
    names = list(dict.fromkeys(case.collection for case in cases))
    if len(names) < 2:
        raise BadRequest("One collection cannot be judged by others.", "Name two folders or more.")
    return tuple(_left_out(name, cases, partial, covered) for name in names)


def _left_out(name: str, cases: Sequence[CellCase], partial: float, covered: float) -> LeftOutCells:
    own = [case for case in cases if case.collection == name]
    model = fit_topic_model([case for case in cases if case.collection != name])
    return measured_cells(own, model, partial, covered)


def measured_cells(own: Sequence[CellCase], model: TopicModel, partial: float, covered: float) -> LeftOutCells:
    """The cells of one collection judged by a model that was fitted without them. Raises ValueError for no cells."""
    if not own:
        raise ValueError("There are no cells to measure.")
    chances = [case.probability(model) for case in own]

    def shares(least: float, below: float) -> CellShares:
        some = [case for case, chance in zip(own, chances, strict=True) if least <= chance < below]
        return CellShares(len(some), sum(case.covered for case in some))

    def area(values: Sequence[float]) -> float:
        both = list(zip(own, values, strict=True))
        return auroc([v for case, v in both if case.covered], [v for case, v in both if not case.covered])

    return LeftOutCells(
        own[0].collection,
        area(chances),
        area([case.cosine for case in own]),
        float(np.mean([(chance - case.covered) ** 2 for case, chance in zip(own, chances, strict=True)])),
        shares(0.0, partial),
        shares(partial, covered),
        shares(covered, 2.0),
    )
