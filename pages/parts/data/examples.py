"""Questions worth asking of the tables at hand, made from their profiles."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest

from core.documents import TableRole
from core.reality.reach import amounts_paid, is_amount
from core.tabular import Column, ColumnType, RealityTable

__all__ = ["answerable", "candidates"]

_TABLES = 3
_FEWEST, _MOST = 2, 30  # different values of a column worth grouping by


def answerable(tables: Sequence[RealityTable], answers: Callable[[str], bool], most: int) -> list[str]:
    """The first questions that have an answer. answers: whether the tables answer one."""
    return list(islice((question for question in candidates(tables) if answers(question)), most))


def candidates(tables: Sequence[RealityTable]) -> list[str]:
    """Questions in the order they are worth asking, the same for the same tables; the largest records come first."""
    ordered = sorted(tables, key=lambda table: (table.role is not TableRole.RECORDS, -table.rows, table.name))
    rounds = zip_longest(*(_of(table) for table in ordered[:_TABLES]))
    return list(dict.fromkeys(question for each in rounds for question in each if question))


def _of(table: RealityTable) -> Iterator[str]:
    """What one table can be asked."""
    noun = table.name.replace("_", " ")
    groups = [column for column in table.columns if _groups(column)]
    amounts = [*amounts_paid(table), *(column for column in table.columns if is_amount(table, column))]
    day = next((column for column in table.columns if column.type.dated and column.distinct > 1), None)
    yield f"How many {noun} are there?" if noun.endswith("s") else f"How many rows of {noun} are there?"
    if groups:
        yield f"{noun} by {_words(groups[0])}"
    if amounts and groups:
        yield f"average {_words(amounts[0])} by {_words(groups[-1 if len(groups) == 1 else 1])}"
    if day:
        yield f"{noun} by {_words(day)} year"
    if groups:
        narrow = min(groups, key=lambda column: column.distinct)
        value = narrow.top[-1][0] if narrow.top else ""
        if value:
            yield f"{noun} where {_words(narrow)} is {value}"


def _groups(column: Column) -> bool:
    fits = _FEWEST <= column.distinct <= _MOST and column.filled > column.distinct
    return fits and column.type is ColumnType.TEXT and not column.key and not column.personal


def _words(column: Column) -> str:
    return column.header.replace("_", " ").lower()
