"""Table queries answered in plain Python with the rules of SQL: NULL equals nothing, sorts last, and is left out of
every measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from statistics import median
from typing import Any

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    DatePart,
    Grouping,
    Having,
    Join,
    Related,
    TableQuery,
)
from core.domain.datasets import ROW_COLUMN, ColumnType, RealityTable
from core.domain.errors import BadRequest
from tests.fakes.dataset_types import ColumnKinds, kind_of, read_cell

__all__ = ["StoredTable", "answered", "as_point", "lower"]

Row = Mapping[str, Any]
Line = Mapping[str, Row | None]
"""One row of the queried table with those joined to it, by alias; None where nothing is joined."""

_SIGNS: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.IS: lambda cell, other: cell == other,
    Comparison.LESS: lambda cell, other: cell < other,
    Comparison.AT_MOST: lambda cell, other: cell <= other,
    Comparison.MORE: lambda cell, other: cell > other,
    Comparison.AT_LEAST: lambda cell, other: cell >= other,
}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table with its rows: column → int, Decimal, date, datetime, bool, str or None."""

    table: RealityTable
    rows: Sequence[Row]


def answered(query: TableQuery, kept: Mapping[str, StoredTable]) -> list[tuple[Any, ...]]:
    """All rows of the answer, in order. kept: the current tables by name. Raises BadRequest for what no such column
    can be asked."""
    ColumnKinds(query, {name: each.table for name, each in kept.items()}).check()
    asking = _QueryRun(query, kept)
    lines = [line for line in asking.lines() if all(asking.holds(each, line) for each in query.where)]
    if query.order and query.limit and isinstance(by := query.order.by, ColumnRef):
        lines = [line for line in lines if _cell(line, by) is not None]
    if query.groups or query.measures:
        found = _folded(query, asking, lines)
        return [(len(found),)] if query.counted else found
    columns = query.columns if query.distinct else (ColumnRef(query.table, ROW_COLUMN), *query.columns)
    key = query.order.by if query.order else columns[0]
    if not isinstance(key, ColumnRef) or (query.distinct and key not in columns):
        raise BadRequest("Rows are ordered by a column that is not listed.", "List it, or order by another.")
    found = [(_cell(line, key), tuple(_cell(line, ref) for ref in columns)) for line in lines]
    found = list({row: (value, row) for value, row in found}.values()) if query.distinct else found
    return _first(query, found, len(columns) if query.distinct else 1, descending=query.order is not None)


def _folded(query: TableQuery, asking: "_QueryRun", lines: Sequence[Line]) -> list[tuple[Any, ...]]:
    """One row for each group, or one for all lines."""
    groups: dict[tuple[Any, ...], list[Line]] = {} if query.groups else {(): []}
    for line in lines:
        groups.setdefault(tuple(asking.part(group, line) for group in query.groups), []).append(line)
    folds = () if query.timed else query.measures
    by = query.order.by if query.order else next(iter((*folds, *query.groups)), None)
    places = {each.ref: place for place, each in enumerate(query.groups) if each.part is None}
    if isinstance(by, ColumnRef) and by not in places:
        raise BadRequest(f"Groups cannot be ordered by '{by.column}'.", "Order them by what they are grouped by.")
    found = []
    for group, members in groups.items():
        row = (*group, *(asking.measure(each, members) for each in query.measures))
        if isinstance(by, AggregateMeasure):
            key = asking.measure(by, members)
        else:
            key = group[places[by]] if isinstance(by, ColumnRef) else row[0]
        if all(asking.having(each, members) for each in query.having):
            found.append((key, row))
    descending = isinstance(by, AggregateMeasure) or query.order is not None
    return _first(query, found, len(query.groups), descending=descending)


def _first(
    query: TableQuery, found: list[tuple[Any, tuple[Any, ...]]], whole: int, *, descending: bool
) -> list[tuple[Any, ...]]:
    """Rows in order, as many as asked and the last one's ties. found: each with what it is ordered by; whole: the first
    so many cells tell rows apart."""
    descending = query.order.descending if query.order else descending
    found.sort(key=lambda each: [_nulls_last(cell) for cell in each[1][:whole]])
    found.sort(key=lambda each: _nulls_last(each[0]), reverse=descending)
    found.sort(key=lambda each: each[0] is None)
    if query.limit and len(found) > query.limit:
        last = found[query.limit - 1][0]
        end = next((at for at in range(query.limit, len(found)) if found[at][0] != last), len(found))
        found = found[:end]
    return [row for _, row in found]


def _nulls_last(value: Any) -> tuple[bool, Any]:
    return (True, 0) if value is None else (False, value)


def _cell(line: Line, ref: ColumnRef) -> Any:
    row = line[ref.table]
    return None if row is None else row[ref.column]


class _QueryRun:
    """One query, or what it asks of a related table: which table each alias names, and what holds for its rows."""

    def __init__(self, query: TableQuery, kept: Mapping[str, StoredTable]) -> None:
        self._query, self._kept = query, kept
        self._tables = {query.table: kept[query.table], **{join.alias: kept[join.table] for join in query.joins}}
        self._averages: dict[ColumnRef, Decimal | None] = {}
        self._related: dict[Related, set[Any]] = {}

    def lines(self) -> list[Line]:
        """Every row, with what is joined to it."""
        lines: list[Line] = [{self._query.table: row} for row in self._tables[self._query.table].rows]
        for join in self._query.joins:
            lines = self._joined(lines, join)
        return lines

    def _joined(self, lines: Sequence[Line], join: Join) -> list[Line]:
        rows: dict[Any, list[Row]] = {}
        for row in self._tables[join.alias].rows:
            rows.setdefault(as_point(row[join.right]), []).append(row)
        rows.pop(None, None)
        return [
            {**line, join.alias: row} for line in lines for row in rows.get(as_point(_cell(line, join.left)), [None])
        ]

    def holds(self, clause: AnyOf | Related, line: Line) -> bool:
        """Whether a line passes: what is neither true nor false does not."""
        if isinstance(clause, Related):
            here = as_point(_cell(line, clause.here))
            return (here is not None and here in self.as_pointing(clause)) is not clause.negated
        return any(self._passes(each, line) for each in clause.conditions)

    def as_pointing(self, related: Related) -> set[Any]:
        """What the rows of another table that matter point to; found once for all lines."""
        if related not in self._related:
            inner = _QueryRun(TableQuery(related.table, related.joins), self._kept)
            pointer = ColumnRef(related.table, related.column)
            lines = [line for line in inner.lines() if all(inner.holds(each, line) for each in related.where)]
            self._related[related] = {as_point(_cell(line, pointer)) for line in lines}
        return self._related[related]

    def _passes(self, condition: Condition, line: Line) -> bool:
        cell = as_point(_cell(line, condition.ref))
        if condition.test is Comparison.HOLDS:
            held = cell is not None and any(lower(value) in lower(cell) for value in condition.values)
            return held is not condition.negated
        kind = kind_of(self._tables[condition.ref.table].table, condition.ref.column)
        values = [as_point(read_cell(value, kind)) for value in condition.values]
        if condition.test is Comparison.IS:
            return (cell in values) is not condition.negated
        if condition.test is Comparison.EMPTY:
            return (cell is None or cell in values) is not condition.negated
        if condition.test is Comparison.BETWEEN:
            return cell is not None and (values[0] <= cell <= values[1]) is not condition.negated
        against = self._against(condition, line) if condition.other or condition.average else values[0]
        if cell is None or against is None:
            return False
        return _SIGNS[condition.test](cell, against) is not condition.negated

    def _against(self, condition: Condition, line: Line) -> Any:
        if condition.other is not None:
            return as_point(_cell(line, condition.other))
        ref = condition.ref
        if ref not in self._averages:
            rows = self._tables[ref.table].rows
            whole = [{ref.table: row} for row in rows]
            self._averages[ref] = self.measure(AggregateMeasure(Aggregation.AVERAGE, ref), whole)
        return self._averages[ref]

    def measure(self, measure: AggregateMeasure, lines: Sequence[Line]) -> Any:
        """What the lines come to; None for no value at all."""
        if measure.aggregation is Aggregation.SHARE:
            held = sum(all(self.holds(each, line) for each in measure.of) for line in lines)
            return Decimal(held) / len(lines) if lines else None
        if measure.ref is None:
            return len(lines)
        ref = measure.ref
        cells = [cell for line in lines if (cell := _cell(line, ref)) is not None]
        if measure.aggregation in (Aggregation.COUNT, Aggregation.DISTINCT):
            return len(cells if measure.aggregation is Aggregation.COUNT else set(cells))
        return _FOLDS[measure.aggregation](cells) if cells else None

    def having(self, having: Having, lines: Sequence[Line]) -> bool:
        """Whether a group passes."""
        found = self.measure(having.measure, lines)
        values = [read_cell(value, ColumnType.NUMBER) for value in having.values]
        if found is None:
            return False
        if having.test is Comparison.BETWEEN:
            return bool(values[0] <= found <= values[1])
        return _SIGNS[having.test](found, values[0])

    def part(self, group: Grouping, line: Line) -> Any:
        """The value a line is grouped by."""
        cell = _cell(line, group.ref)
        if group.part is None or cell is None:
            return cell
        if group.part is DatePart.YEAR:
            return cell.year
        return f"{cell.year:04}-" + (
            f"{cell.month:02}" if group.part is DatePart.MONTH else f"Q{(cell.month + 2) // 3}"
        )


_FOLDS: Mapping[Aggregation, Callable[[Sequence[Any]], Any]] = {
    Aggregation.SUM: lambda cells: sum(cells, Decimal(0)),
    Aggregation.AVERAGE: lambda cells: sum(cells, Decimal(0)) / len(cells),
    Aggregation.MEDIAN: lambda cells: median(map(float, cells)),
    Aggregation.LEAST: min,
    Aggregation.MOST: max,
}


def as_point(value: Any) -> Any:
    """A day as its midnight, so that it compares with moments."""
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return datetime.combine(value, time()) if is_day else value


def lower(text: str) -> str:
    """Small letters, one for each letter, as PostgreSQL makes them.

    >>> lower("ÜBER"), len(lower("İ"))
    ('über', 1)
    """
    return "".join(letter.lower()[0] for letter in text)
