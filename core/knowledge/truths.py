"""The five truths: the question each answers, the severity of its absence, and signals in passages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.knowledge.label_signals import LabelSignal, signals_of
from core.knowledge.loading import check_keys, table

__all__ = ["TruthRow", "passage_signs", "truths"]

_KEYS = ("question", "severity", "passages")


@dataclass(frozen=True, slots=True)
class TruthRow:
    """question: what this truth answers. severity: of its absence, "high", "medium" or "low".

    passages: signals strong enough to give one passage this truth inside a document of another.
    """

    question: str
    severity: str
    passages: tuple[LabelSignal, ...]


@cache
def truths() -> Mapping[Truth, TruthRow]:
    """Truth → row, in enum order. Raises BadTable."""
    rows = table("truths")
    check_keys("truths", "top level", rows, [truth.value for truth in Truth])
    missing = [truth.value for truth in Truth if truth.value not in rows]
    if missing:
        raise BadTable(f"core/knowledge/truths.toml: [{missing[0]}] is missing.", "Add its table.")
    return {truth: _row(truth) for truth in Truth}


def _row(truth: Truth) -> TruthRow:
    row = table("truths")[truth.value]
    check_keys("truths", truth.value, row, _KEYS)
    if row.get("severity") not in ("high", "medium", "low"):
        raise BadTable(f"core/knowledge/truths.toml: [{truth}] severity must be high, medium or low.", "Correct it.")
    return TruthRow(row["question"], row["severity"], signals_of("truths", truth.value, row.get("passages", [])))


def passage_signs() -> tuple[LabelSignal, ...]:
    """The passage signals of all truths."""
    return tuple(sign for row in truths().values() for sign in row.passages)
