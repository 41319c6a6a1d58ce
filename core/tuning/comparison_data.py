"""Experiments as data and as rows, for files: everything that is drawn, and what it stands on."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.experiments import Experiment, Outcome
from core.tuning.comparison import comparison
from core.tuning.metrics import MEASURES
from core.tuning.report import experiment_data

__all__ = ["comparison_data", "comparison_table"]

_ABOUT = ("key", "question", "kind", "answerable")
_BESIDE = ("hits", "unjudged", "first")


def comparison_data(experiments: Sequence[Experiment]) -> dict[str, Any]:
    """Experiments with their outcomes as plain data for JSON, and their differences from the first."""
    found = comparison(experiments)
    return {
        "experiments": [experiment_data(each) | {"scored_with": asdict(each.profile)} for each in experiments],
        "differences": [
            {
                "experiment": each.id,
                "from": experiments[0].id,
                "measures": {
                    row.measure.name: asdict(pair.gain) | {"p_value": pair.p_value}
                    for row in found.rows
                    if (pair := row.gains[place]) is not None
                },
            }
            for place, each in enumerate(experiments)
            if place
        ],
        "questions_in_common": found.shared,
        "doubts": list(found.doubts),
    }


def comparison_table(experiments: Sequence[Experiment]) -> tuple[list[str], list[list[object]]]:
    """Heads and rows, a question each: what was measured under every experiment, side by side. None: not measured."""
    used = [name for name in MEASURES if any(name in each.measures for each in experiments)]
    heads = [*_ABOUT]
    for each in experiments:
        called = each.profile.ref if len(experiments) == 1 else f"{each.profile.ref} #{each.id}"
        heads += [f"{called} {name}" for name in (*used, *_BESIDE)]
    outcomes = [{outcome.question_id: outcome for outcome in each.outcomes} for each in experiments]
    known = {number: outcome for held in outcomes for number, outcome in held.items()}
    rows: list[list[object]] = []
    for number, outcome in known.items():
        row: list[object] = [getattr(outcome, name) for name in _ABOUT]
        for held in outcomes:
            row += _cells(held.get(number), used)
        rows.append(row)
    return heads, rows


def _cells(outcome: Outcome | None, measures: Sequence[str]) -> list[object]:
    if outcome is None:
        return [None] * (len(measures) + len(_BESIDE))
    return [*(outcome.measures.get(name) for name in measures), *(getattr(outcome, name) for name in _BESIDE)]
