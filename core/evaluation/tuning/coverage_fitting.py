"""Fits the probability that one truth covers a topic, and measures it on collections left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.errors import BadRequest
from core.evaluation.metrics.measures import auroc
from core.evaluation.tuning.truth_fitting import fitted_logistic
from core.knowledge.answerability import TruthModel
from core.search.ranking.answerability import evidence_probability

__all__ = ["CellCase", "CellShares", "LeftOutCells", "fit_topic_model", "left_out_cells", "measured_cells"]


@dataclass(frozen=True, slots=True)
class CellCase:
    """One truth beside one topic. evidence: of its best passage; cosine: the highest of its passages, what a stock
    pipeline has; both in [0, 1]. covered: as people judged."""

    collection: str
    evidence: float
    cosine: float
    covered: bool


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


def fit_topic_model(cases: Sequence[CellCase]) -> TruthModel:
    """The model fitted to all cases; every collection weighs the same."""
    sizes = {name: sum(case.collection == name for case in cases) for name in {case.collection for case in cases}}
    return fitted_logistic(
        [case.evidence for case in cases],
        [case.covered for case in cases],
        np.array([1 / sizes[case.collection] for case in cases]),
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


def measured_cells(own: Sequence[CellCase], model: TruthModel, partial: float, covered: float) -> LeftOutCells:
    """The cells of one collection judged by a model that was fitted without them. Raises ValueError for no cells."""
    if not own:
        raise ValueError("There are no cells to measure.")
    chances = [evidence_probability(case.evidence, model) for case in own]

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
