"""Precision and recall of the coverage board on judged gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.coverage.gaps import ASSESSED
from core.domain.coverage import Board, Cell, CellState
from core.evaluation.judgments.files import TopicJudgment
from core.evaluation.metrics.measures import mean

__all__ = ["GapReport", "JudgedCell", "evaluate_coverage", "leave_one_topic_out"]


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """One cell beside its judgment."""

    cell: Cell
    covered: bool

    @property
    def assessed(self) -> bool:
        return self.cell.state in ASSESSED

    @property
    def right(self) -> bool:
        """An error or an unassessed cell is never right."""
        return self.assessed and (self.cell.state is CellState.COVERED) == self.covered


@dataclass(frozen=True, slots=True)
class GapReport:
    """Shares in [0, 1], NaN if unmeasured. A gap is an assessed cell below the threshold; errors do not count."""

    cells: tuple[JudgedCell, ...]
    milliseconds: float

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: the measures, those with thresholds chosen on the other topics, the wrong cells."""
        gaps = [j for j in self.cells if j.assessed and j.cell.state is not CellState.COVERED]
        missing = [j for j in self.cells if not j.covered]
        found = [j for j in gaps if not j.covered]
        return {
            "cell_accuracy": mean([j.right for j in self.cells]),
            "gap_precision": len(found) / len(gaps) if gaps else float("nan"),
            "gap_recall": len(found) / len(missing) if missing else float("nan"),
            "error_cells": sum(j.cell.state is CellState.ERROR for j in self.cells),
            "cells": len(self.cells),
            "milliseconds": self.milliseconds,
            **{f"left_out_{name}": value for name, value in leave_one_topic_out(self.cells).items()},
            "wrong": [_wrong(j) for j in self.cells if not j.right],
        }


def evaluate_coverage(topics: Sequence[TopicJudgment], board: Board) -> GapReport:
    """Compare a board of the judged topics, cell by cell."""
    judged = [
        JudgedCell(board.cell(" ".join(topic.topic.split()), truth), truth in topic.covered)
        for topic in topics
        for truth in sorted(topic.covered | topic.missing)
    ]
    return GapReport(tuple(judged), board.milliseconds)


def leave_one_topic_out(cells: Sequence[JudgedCell]) -> dict[str, float]:
    """The measures when each topic is judged by the threshold that is best on all other topics."""
    assessed = [j for j in cells if j.assessed]
    guesses: list[tuple[bool, bool]] = []
    for topic in dict.fromkeys(j.cell.topic for j in assessed):
        others = [j for j in assessed if j.cell.topic != topic]
        threshold = _best_threshold(others)
        guesses += [(j.cell.evidence_score >= threshold, j.covered) for j in assessed if j.cell.topic == topic]
    gaps = [covered for guess, covered in guesses if not guess]
    missing = [guess for guess, covered in guesses if not covered]
    return {
        "cell_accuracy": mean([guess == covered for guess, covered in guesses]),
        "gap_precision": mean([not covered for covered in gaps]),
        "gap_recall": mean([not guess for guess in missing]),
    }


def _best_threshold(cells: Sequence[JudgedCell]) -> float:
    """The threshold with most right cells; of equal ones the one nearest to 0.5."""
    scores = sorted({0.0, 1.0, *(j.cell.evidence_score for j in cells)})
    between = [(low + high) / 2 for low, high in pairwise(scores)] or [0.5]

    def right(threshold: float) -> int:
        return sum((j.cell.evidence_score >= threshold) == j.covered for j in cells)

    return max(between, key=lambda threshold: (right(threshold), -abs(threshold - 0.5)))


def _wrong(judged: JudgedCell) -> dict[str, Any]:
    cell = judged.cell
    best = next(iter(cell.evidence or cell.near_misses), None)
    return {
        "topic": cell.topic,
        "truth": cell.truth.value,
        "judged": "covered" if judged.covered else "missing",
        "state": cell.state.value,
        "evidence_score": cell.evidence_score,
        "reason": cell.error or cell.reason,
        "best": f"{best.document_name}: {best.quote}" if best else "",
    }
