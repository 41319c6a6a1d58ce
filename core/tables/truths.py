"""The five truths: what each answers, how bad its absence is, and what in a text speaks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.documents import Truth
from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, signs_of

__all__ = ["TruthRow", "passage_signs", "truths"]

_KEYS = ("question", "severity", "names", "signs", "passages")


@dataclass(frozen=True, slots=True)
class TruthRow:
    """question: what this truth answers. severity: of its absence, "high", "medium" or "low".

    names: signs of a file name or folder. signs: signs of a text. passages: signs so clear that they let one
    passage state this truth inside a document of another.
    """

    question: str
    severity: str
    names: tuple[Sign, ...]
    signs: tuple[Sign, ...]
    passages: tuple[Sign, ...]


@cache
def truths() -> Mapping[Truth, TruthRow]:
    """Every truth's row, in the order of the enum. Raises BadTable."""
    rows = table("truths")
    check_keys("truths", "top level", rows, [truth.value for truth in Truth])
    missing = [truth.value for truth in Truth if truth.value not in rows]
    if missing:
        raise BadTable(f"core/tables/truths.toml: [{missing[0]}] is missing.", "Add its table.")
    return {truth: _row(truth) for truth in Truth}


def _row(truth: Truth) -> TruthRow:
    row = table("truths")[truth.value]
    check_keys("truths", truth.value, row, _KEYS)
    if row.get("severity") not in ("high", "medium", "low"):
        raise BadTable(f"core/tables/truths.toml: [{truth}] severity must be high, medium or low.", "Correct it.")
    kinds = [signs_of("truths", truth.value, row.get(kind, [])) for kind in ("names", "signs", "passages")]
    return TruthRow(row["question"], row["severity"], kinds[0], kinds[1], kinds[2])


def passage_signs() -> tuple[Sign, ...]:
    """The passage signs of all truths."""
    return tuple(sign for row in truths().values() for sign in row.passages)
