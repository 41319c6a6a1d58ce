"""The columns of an answer as a reader calls them, and how their numbers are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.reality.reach import is_amount
from core.table_queries import Fold, Grouping, Measure, Ref, Rows, TableQuery
from core.tabular import ROW_COLUMN, ColumnType, RealityTable

__all__ = ["Head", "heads_of", "named_heads", "readable"]

_FOLDS = {
    Fold.SUM: "Total",
    Fold.AVERAGE: "Average",
    Fold.MEDIAN: "Median",
    Fold.LEAST: "Lowest",
    Fold.MOST: "Highest",
    Fold.DISTINCT: "Different values of",
    Fold.COUNT: "Filled",
}


@dataclass(frozen=True, slots=True)
class Head:
    """words: what stands above a column. number: the format of a Streamlit number column, None for its own."""

    words: str
    number: str | None = None


def readable(header: str) -> str:
    """A header as words; one that is written for people stays as it is.

    >>> readable("pay_rate"), readable("Pay Rate (USD)"), readable("employeeId")
    ('Pay rate', 'Pay Rate (USD)', 'employeeId')
    """
    for_programs = header == header.lower() and ("_" in header.strip("_") or header.isalpha())
    return header.replace("_", " ").strip().capitalize() if for_programs else header


def heads_of(query: TableQuery, rows: Rows, tables: Sequence[RealityTable]) -> tuple[Head, ...]:
    """One head per column of an answer."""
    known = {table.name: table for table in tables}
    known |= {join.alias: known[join.table] for join in query.joins if join.table in known}
    if query.groups or query.measures:
        heads = [_group(each, known) for each in query.groups] + [
            _measure(each, query, known) for each in query.measures
        ]
    else:
        heads = [] if query.distinct else [Head("Row", "%d")]
        heads += [_column(ref, query, known) for ref in query.columns]
    return tuple(heads) if len(heads) == len(rows.columns) else named_heads(rows)


def named_heads(rows: Rows) -> tuple[Head, ...]:
    """The names SQL gave the columns."""
    return tuple(Head("Row" if name == ROW_COLUMN else name) for name in rows.columns)


def _column(ref: Ref, query: TableQuery, known: Mapping[str, RealityTable]) -> Head:
    words = _words(ref, known)
    return Head(words if ref.table == query.table else f"{ref.table} · {words}", _number(ref, known))


def _group(group: Grouping, known: Mapping[str, RealityTable]) -> Head:
    words = _words(group.ref, known)
    return Head(f"{group.part.value.capitalize()} of {words.lower()}", "%d") if group.part else Head(words, "plain")


def _measure(measure: Measure, query: TableQuery, known: Mapping[str, RealityTable]) -> Head:
    if measure.fold is Fold.SHARE:
        return Head("Share", "percent")
    if measure.ref is None:
        return Head(f"Rows of {query.table}", "localized")
    words = _words(measure.ref, known)
    counted = measure.fold in (Fold.COUNT, Fold.DISTINCT)
    return Head(f"{_FOLDS[measure.fold]} {words.lower()}", "localized" if counted else _number(measure.ref, known))


def _words(ref: Ref, known: Mapping[str, RealityTable]) -> str:
    table = known.get(ref.table)
    column = table.column(ref.column) if table else None
    return readable(column.header if column else ref.column)


def _number(ref: Ref, known: Mapping[str, RealityTable]) -> str | None:
    """Thousands are parted in amounts, never in numbers that name something (a year, a cost centre)."""
    table = known.get(ref.table)
    column = table.column(ref.column) if table else None
    if table is None or column is None or not column.type.numeric:
        return None
    if column.type is ColumnType.MONEY:
        return "accounting"
    return "localized" if is_amount(table, column) else "plain"
