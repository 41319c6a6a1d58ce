"""Manners of speaking: marks of how a text speaks, which tell something of every truth."""

import re
from dataclasses import dataclass
from functools import cache

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["Manner", "manners"]

_KEYS = ("rule", "pattern", "words_per")


@dataclass(frozen=True, slots=True)
class Manner:
    """rule: what it shows, in words; no two share one. words_per: such a mark is expected once in so many words."""

    rule: str
    pattern: re.Pattern[str]
    words_per: float


@cache
def manners() -> tuple[Manner, ...]:
    """Every manner, in table order. Raises BadTable."""
    rows = table("manners")
    check_keys("manners", "top level", rows, ("manners",))
    found = tuple(_manner(row) for row in rows["manners"])
    if len({manner.rule for manner in found}) < len(found):
        raise BadTable("core/tables/manners.toml: two rows have the same rule.", "Say in each what it alone shows.")
    return found


def _manner(row: dict[str, object]) -> Manner:
    check_keys("manners", "manners", row, _KEYS)
    try:
        rule, pattern, words_per = (row[key] for key in _KEYS)
    except KeyError as error:
        raise BadTable(f"core/tables/manners.toml: a row lacks {error}.", "Add it.") from error
    if not isinstance(words_per, int | float) or words_per <= 0:
        raise BadTable(f"core/tables/manners.toml: '{rule}' words_per must be above 0.", "Correct it.")
    try:
        return Manner(str(rule), re.compile(str(pattern)), float(words_per))
    except re.error as error:
        raise BadTable(f"core/tables/manners.toml: '{rule}' pattern: {error}.", "Correct the expression.") from error
