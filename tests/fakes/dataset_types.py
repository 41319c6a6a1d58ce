"""Type rules of columns: like the database, the fake store rejects a sum of names or the comparison of a date with a
number."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Join,
    Related,
    TableQuery,
)
from core.domain.datasets import ROW_COLUMN, ColumnType, RealityTable
from core.domain.errors import BadRequest

__all__ = ["ColumnKinds", "kind_of", "must_compare", "must_hold_text", "read_cell"]


def kind_of(table: RealityTable, column: str) -> ColumnType:
    """What the values of a column are. Raises BadRequest for a column that is not there."""
    if column == ROW_COLUMN:
        return ColumnType.INTEGER
    found = table.column(column)
    if found is None:
        raise BadRequest(f"There is no column '{column}' in '{table.name}'.", "The table has changed; ask again.")
    return found.type


def must_compare(first: ColumnType, second: ColumnType) -> None:
    """Raises BadRequest for two columns whose values cannot be compared, as a number with a text."""
    if first is not second and not (first.numeric and second.numeric) and not (first.dated and second.dated):
        raise BadRequest(f"A {first.value} cannot be compared with a {second.value}.", "Compare other columns.")


def must_hold_text(kind: ColumnType, column: str) -> None:
    """Raises BadRequest for a column in which no words can be looked for."""
    if kind is not ColumnType.TEXT:
        raise BadRequest(f"'{column}' holds no text to look in.", "Compare its values instead.")


def read_cell(text: str, kind: ColumnType) -> Any:
    """Text as PostgreSQL reads it in a column of this type. Raises BadRequest for a date that is none.

    >>> read_cell("10.50", ColumnType.MONEY), read_cell("2024-02-29", ColumnType.DATE)
    (Decimal('10.50'), datetime.date(2024, 2, 29))
    """
    if kind.numeric:
        return int(text) if kind is ColumnType.INTEGER and text.lstrip("+-").isdecimal() else Decimal(text)
    if kind is ColumnType.BOOLEAN:
        return text == "true"
    if kind is ColumnType.TEXT:
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a date.", "Write it as year-month-day.") from error
    return moment.date() if kind is ColumnType.DATE else moment


class ColumnKinds:
    """The types of the columns one query can name. tables: the current ones by name."""

    def __init__(self, query: TableQuery, tables: Mapping[str, RealityTable]) -> None:
        self._query, self._tables = query, tables
        self._aliases = {query.table: query.table, **{join.alias: join.table for join in query.joins}}

    def of(self, ref: ColumnRef) -> ColumnType:
        """What the values of a column are."""
        return kind_of(self._tables[self._aliases[ref.table]], ref.column)

    def check(self) -> None:
        """Raises BadRequest unless everything the query asks makes sense, whatever the rows are."""
        query = self._query
        self._check_joins(query.joins)
        self._check_clauses(query.where)
        for group in query.groups:
            if group.part is not None and not self.of(group.ref).dated:
                raise BadRequest(f"'{group.ref.column}' is not a date.", "Group by the whole value.")
        by = query.order.by if query.order else None
        tested = [having.measure for having in query.having]
        for measure in (*query.measures, *tested, *([by] if isinstance(by, AggregateMeasure) else [])):
            self._check_measure(measure)
        for measure in tested:
            if (
                measure.aggregation in (Aggregation.LEAST, Aggregation.MOST)
                and measure.ref
                and not self.of(measure.ref).numeric
            ):
                raise BadRequest(
                    f"The {measure.aggregation.value} {measure.ref.column} is no number.", "Ask for a number."
                )

    def _check_joins(self, joins: tuple[Join, ...]) -> None:
        for join in joins:
            must_compare(self.of(join.left), self.of(ColumnRef(join.alias, join.right)))

    def _check_clauses(self, clauses: tuple[AnyOf | Related, ...]) -> None:
        for clause in clauses:
            if isinstance(clause, Related):
                inner = ColumnKinds(TableQuery(clause.table, clause.joins), self._tables)
                must_compare(inner.of(ColumnRef(clause.table, clause.column)), self.of(clause.here))
                inner._check_joins(clause.joins)
                inner._check_clauses(clause.where)
            else:
                for condition in clause.conditions:
                    self._check_condition(condition)

    def _check_condition(self, condition: Condition) -> None:
        kind = self.of(condition.ref)
        if condition.test is Comparison.HOLDS:
            return must_hold_text(kind, condition.ref.column)
        if condition.other is not None:
            must_compare(kind, self.of(condition.other))
        if condition.average:
            self._check_measure(AggregateMeasure(Aggregation.AVERAGE, condition.ref))
        for value in condition.values:
            read_cell(value, kind)
        return None

    def _check_measure(self, measure: AggregateMeasure) -> None:
        self._check_clauses(measure.of)
        if measure.ref is None:
            return
        kind = self.of(measure.ref)
        adding = measure.aggregation in (Aggregation.SUM, Aggregation.AVERAGE, Aggregation.MEDIAN) and not kind.numeric
        if adding or (measure.aggregation in (Aggregation.LEAST, Aggregation.MOST) and kind is ColumnType.BOOLEAN):
            raise BadRequest(
                f"'{measure.ref.column}' has no {measure.aggregation.value}: it is a {kind.value}.",
                "Ask of another column.",
            )
