"""What lifts or lowers a sentence of a summary."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["Lean", "leaning", "leans"]


@dataclass(frozen=True, slots=True)
class Lean:
    """A pattern over a sentence; weight: what it adds to its score, below 0 when it lowers it."""

    pattern: re.Pattern[str]
    weight: float
    rule: str


@cache
def leans() -> tuple[tuple[Lean, ...], tuple[Lean, ...]]:
    """(lifts, lowers), each in table order. Raises BadTable."""
    rows = table("summaries")
    check_keys("summaries", "top level", rows, ("lifts", "lowers"))
    return tuple(_lean("lifts", row, 1.0) for row in rows["lifts"]), tuple(
        _lean("lowers", row, -1.0) for row in rows["lowers"]
    )


def _lean(group: str, row: dict[str, Any], sign: float) -> Lean:
    check_keys("summaries", group, row, ("pattern", "weight", "rule"))
    if not isinstance(row.get("weight"), float) or row["weight"] <= 0:
        raise BadTable(f"core/tables/summaries.toml: [{group}] weight must be a number above 0.", "Correct it.")
    try:
        return Lean(re.compile(row["pattern"]), sign * row["weight"], row["rule"])
    except (KeyError, re.error) as error:
        raise BadTable(f"core/tables/summaries.toml: [{group}] pattern: {error}.", "Correct it.") from error


def leaning(sentence: str) -> float:
    """What the table adds to a sentence's score: its best lift and its worst lowering.

    >>> leaning("This policy explains how leave is requested.") > 0 > leaning("However, it may be late.")
    True
    """
    lifts, lowers = leans()
    lifted = max((each.weight for each in lifts if each.pattern.search(sentence)), default=0.0)
    return lifted + min((each.weight for each in lowers if each.pattern.search(sentence)), default=0.0)
