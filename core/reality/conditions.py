"""Items of a question → what rows must fulfil. Each step takes the items it understands and leaves the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.reality.comparing import Comparisons
from core.reality.dating import Dated
from core.reality.having import Possessions
from core.reality.items import Conditions
from core.reality.reach import Reach
from core.reality.reading import Item, Words
from core.reality.valuing import Valued
from core.table_queries import AnyOf, Related

__all__ = ["conditions_of"]


def conditions_of(words: Words, items: list[Item], reach: Reach) -> Conditions:
    """Read the conditions; an item that was meant in another way is replaced in the list. Raises Unclear."""
    reader = _Reader(words, items, reach)
    reader.years_in_headers()
    reader.above()
    reader.comparisons()
    reader.empties()
    reader.values()
    reader.dates()
    reader.flags()
    reader.possessions()
    reader.found.where = _of_the_same_row(reader.found.where)
    return reader.found


@dataclass(slots=True)
class _Reader(Comparisons, Possessions, Valued, Dated):
    """All that can be read of the items."""


def _of_the_same_row(where: Sequence[tuple[int, AnyOf | Related]]) -> list[tuple[int, AnyOf | Related]]:
    """What is said of rows that point here is said of the same row: "requests for sick leave in 2023" – and when there
    shall be none, of none of them."""
    kept: list[tuple[int, AnyOf | Related]] = []
    for at, clause in where:
        same = next((n for n, (_, other) in enumerate(kept) if _points_alike(other, clause)), None)
        if same is None or not isinstance(clause, Related):
            kept.append((at, clause))
            continue
        first, other = kept[same]
        assert isinstance(other, Related)
        if other.negated and clause.negated and other.where and clause.where:
            kept.append((at, clause))
            continue
        joins = tuple(dict.fromkeys((*other.joins, *clause.joins)))
        tests = tuple(dict.fromkeys((*other.where, *clause.where)))
        kept[same] = first, replace(other, where=tests, joins=joins, negated=other.negated or clause.negated)
    return kept


def _points_alike(one: AnyOf | Related, other: AnyOf | Related) -> bool:
    both = isinstance(one, Related) and isinstance(other, Related)
    return both and (one.table, one.column, one.here) == (other.table, other.column, other.here)  # type: ignore[union-attr]
