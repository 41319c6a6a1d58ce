"""Questions worth asking of the tables at hand, made from their profiles."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

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
    ranked = [
        (kind + 2 * place, place, question)
        for place, table in enumerate(ordered[:_TABLES])
        for kind, question in _of(table)
    ]
    return list(dict.fromkeys(question for _, _, question in sorted(ranked)))


def _of(table: RealityTable) -> Iterator[tuple[int, str]]:
    """What one table can be asked, by kind of question, the plainest kind first."""
    noun = table.name.replace("_", " ")
    groups = [column for column in table.columns if _groups(column)]
    amounts = [*amounts_paid(table), *(column for column in table.columns if is_amount(table, column))]
    day = next((column for column in table.columns if column.type.dated and column.distinct > 1), None)
    yield 0, f"How many {noun} are there?" if noun.endswith("s") else f"How many rows of {noun} are there?"
    if groups:
        yield 1, f"{noun} by {_words(groups[0])}"
    if amounts and groups:
        yield 2, f"average {_words(amounts[0])} by {_words(groups[min(1, len(groups) - 1)])}"
    if day:
        yield 3, f"{noun} by {_words(day)} year"
    if groups and (least := min(groups, key=lambda column: column.distinct)).top:
        yield 4, f"{noun} where {_words(least)} is {least.top[-1][0]}"


def _groups(column: Column) -> bool:
    fits = _FEWEST <= column.distinct <= _MOST and column.filled > column.distinct
    return fits and column.type is ColumnType.TEXT and not column.key and not column.personal


def _words(column: Column) -> str:
    return column.header.replace("_", " ").lower()
