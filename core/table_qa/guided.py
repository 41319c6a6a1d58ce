"""The guided form: a query as measure, by, where and period; filled from what was understood, and built back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    DatePart,
    Grouping,
    TableQuery,
)
from core.domain.datasets import Column, ColumnType, RealityTable
from core.domain.errors import BadRequest
from core.table_qa.join_paths import flag_values, is_amount
from core.table_qa.parsing.items import AGGREGATIONS, COMPARISONS
from core.table_qa.parsing.reader import QuestionItem

__all__ = ["LISTED", "GuidedCondition", "GuidedForm", "form_of_items", "form_of_query", "query_of_form"]

LISTED = "list"
"""The measure that lists rows instead of aggregating them."""
_MOST_COLUMNS = 8
"""Columns of a list, as many as a page shows without scrolling."""
_COUNTED = (Aggregation.COUNT, Aggregation.DISTINCT, Aggregation.SHARE)


@dataclass(frozen=True, slots=True)
class GuidedCondition:
    """One condition. column: its SQL name, "" for none. test: a Comparison, or "is not". value: as typed."""

    column: str = ""
    test: str = Comparison.IS.value
    value: str = ""


@dataclass(frozen=True, slots=True)
class GuidedForm:
    """A query over one table. measure: an Aggregation's value, or LISTED. column: what is aggregated, "" for a count of
    rows. by: the column rows are grouped by, "" for none; part: of a date. day: the date column of the period from
    `start` to `end`, both included.
    """

    table: str
    measure: str = Aggregation.COUNT.value
    column: str = ""
    by: str = ""
    part: str = ""
    where: tuple[GuidedCondition, ...] = ()
    day: str = ""
    start: date | None = None
    end: date | None = None


# From the form to a query


def query_of_form(form: GuidedForm, table: RealityTable) -> TableQuery:
    """The query a form asks for. Raises BadRequest naming the field that is missing or wrong."""
    where = [AnyOf((_condition(table, each),)) for each in form.where if each.column]
    where += _period(form, table)
    if form.measure == LISTED:
        columns = tuple(ColumnRef(table.name, column.name) for column in table.columns[:_MOST_COLUMNS])
        return TableQuery(table.name, where=tuple(where), columns=columns)
    groups: tuple[Grouping, ...] = ()
    if form.by:
        column = _column(table, form.by)
        part = DatePart(form.part) if form.part and column.type.dated else None
        groups = (Grouping(ColumnRef(table.name, column.name), part),)
    return TableQuery(table.name, where=tuple(where), measures=(_measure(form, table),), groups=groups)


def _measure(form: GuidedForm, table: RealityTable) -> AggregateMeasure:
    kind = Aggregation(form.measure)
    if kind is Aggregation.COUNT:
        return AggregateMeasure(kind)
    if not form.column:
        raise BadRequest("No column is chosen.", "Choose what to measure.")
    column = _column(table, form.column)
    ref = ColumnRef(table.name, column.name)
    if kind is Aggregation.SHARE:
        flags = flag_values(column)
        if flags is None:
            raise BadRequest(f"'{column.header}' does not hold yes and no.", "Choose a yes/no column, or count rows.")
        return AggregateMeasure(kind, None, (AnyOf((Condition(ref, Comparison.IS, (flags[0],)),)),))
    if kind is not Aggregation.DISTINCT and not column.type.numeric:
        raise BadRequest(f"'{column.header}' does not hold numbers.", "Choose a column of numbers.")
    return AggregateMeasure(kind, ref)


def _column(table: RealityTable, name: str) -> Column:
    column = table.column(name)
    if column is None:
        raise BadRequest(f"'{table.name}' has no column '{name}'.", "Choose a column from the list.")
    return column


def _condition(table: RealityTable, each: GuidedCondition) -> Condition:
    column, negated = _column(table, each.column), each.test == "is not"
    ref, test = ColumnRef(table.name, column.name), Comparison.IS if negated else Comparison(each.test)
    if test is Comparison.EMPTY:
        return Condition(ref, test)
    if not each.value.strip():
        raise BadRequest(f"The condition on '{column.header}' has no value.", "Type one, or remove the condition.")
    if test is Comparison.HOLDS and column.type is not ColumnType.TEXT:
        raise BadRequest(f"'{column.header}' does not hold text.", "Compare it with a value.")
    return Condition(ref, test, (_typed(column, each.value.strip()),), negated)


def _typed(column: Column, value: str) -> str:
    """A value as the column stores it. Raises BadRequest."""
    if column.type is ColumnType.TEXT:
        return next((known for known in column.values if known.lower() == value.lower()), value)
    if column.type is ColumnType.BOOLEAN:
        if value.lower() not in ("yes", "no", "true", "false"):
            raise BadRequest(f"'{value}' is not yes or no.", f"'{column.header}' holds yes and no.")
        return "true" if value.lower() in ("yes", "true") else "false"
    try:
        if column.type.dated:
            return date.fromisoformat(value).isoformat()
        return str(Decimal(value.replace(",", "")))
    except (ValueError, InvalidOperation) as error:
        kind = "a date such as 2024-03-31" if column.type.dated else "a number"
        raise BadRequest(f"'{value}' is not {kind}.", f"'{column.header}' needs one.") from error


def _period(form: GuidedForm, table: RealityTable) -> list[AnyOf]:
    if not form.day or (form.start is None and form.end is None):
        return []
    column = _column(table, form.day)
    ref = ColumnRef(table.name, column.name)
    last = f"{form.end} 23:59:59.999999" if form.end and column.type is ColumnType.TIMESTAMP else str(form.end)
    if form.start and form.end:
        if form.start > form.end:
            raise BadRequest("The period ends before it begins.", "Swap the two dates.")
        return [AnyOf((Condition(ref, Comparison.BETWEEN, (str(form.start), last)),))]
    if form.start:
        return [AnyOf((Condition(ref, Comparison.AT_LEAST, (str(form.start),)),))]
    return [AnyOf((Condition(ref, Comparison.AT_MOST, (last,)),))]


# From what was understood to the form


def form_of_query(query: TableQuery) -> GuidedForm:
    """The form of a query; joined tables and further groups have no place in it and are left out."""
    measure, column = LISTED, ""
    if query.measures:
        first = query.measures[0]
        measure, column = first.aggregation.value, first.ref.column if _own(first.ref, query) and first.ref else ""
        if first.aggregation is Aggregation.SHARE and isinstance(first.of[0], AnyOf):
            column = first.of[0].conditions[0].ref.column
    group = next((group for group in query.groups if _own(group.ref, query)), None)
    conditions = [clause.conditions[0] for clause in query.where if isinstance(clause, AnyOf)]
    return GuidedForm(
        query.table,
        measure,
        column,
        group.ref.column if group else "",
        group.part.value if group and group.part else "",
        tuple(
            GuidedCondition(each.ref.column, "is not" if each.negated else each.test.value, (*each.values, "")[0])
            for each in conditions
            if _own(each.ref, query) and each.other is None and not each.average and each.test is not Comparison.BETWEEN
        ),
        *_period_of([each for each in conditions if each.test is Comparison.BETWEEN and _own(each.ref, query)]),
    )


def _own(ref: ColumnRef | None, query: TableQuery) -> bool:
    return ref is not None and ref.table == query.table


def _period_of(conditions: Sequence[Condition]) -> tuple[str, date | None, date | None]:
    for each in conditions:
        if all(re.match(r"\d{4}-\d\d-\d\d", value) for value in each.values):
            first, last = (date.fromisoformat(value[:10]) for value in each.values)
            return each.ref.column, first, last
    return "", None, None


def form_of_items(items: Sequence[QuestionItem], table: RealityTable) -> GuidedForm:
    """The form filled with what was recognised of a question that could not be put together."""
    measure, column, by = Aggregation.COUNT.value, "", ""
    where: list[GuidedCondition] = []
    for at, item in enumerate(items):
        before = items[at - 1].kind if at else ""
        if item.kind in AGGREGATIONS and measure == Aggregation.COUNT.value:
            measure = AGGREGATIONS[item.kind].value
        elif item.kind == "share" or (item.kind == "rate" and _is_flag_item(items[at - 1 : at], table)):
            measure = Aggregation.SHARE.value
        own = item.meaning if item.meaning and item.meaning.path.hops == 0 and item.meaning.column else None
        if own is None or own.column is None:
            continue
        if item.kind == "value" and own.values:
            where.append(GuidedCondition(own.column.name, value=own.values[0]))
        elif before == "group" and not is_amount(table, own.column):
            by = by or own.column.name
        elif before in COMPARISONS and at + 1 < len(items) and items[at + 1].number:
            where.append(GuidedCondition(own.column.name, COMPARISONS[before].value, items[at + 1].number))
        elif is_amount(table, own.column) or flag_values(own.column):
            column = column or own.column.name
    if measure == Aggregation.SHARE.value and column and not flag_values(_column(table, column)):
        column = ""
    dated = next((each.name for each in table.columns if each.type.dated), "")
    span = next((item.date.dates for item in items if item.date is not None), None)
    day, start, end = (dated, span.start, span.end) if dated and span else ("", None, None)
    if column and measure == Aggregation.COUNT.value:
        measure = Aggregation.AVERAGE.value if is_amount(table, _column(table, column)) else Aggregation.SHARE.value
    target = column if measure != Aggregation.COUNT.value else ""
    return GuidedForm(table.name, measure, target, by, "", tuple(where), day, start, end)


def _is_flag_item(before: Sequence[QuestionItem], table: RealityTable) -> bool:
    """Whether the item before "rate" names a column of yes and no."""
    meanings = [item.meaning for item in before if item.meaning and item.meaning.path.table.name == table.name]
    return any(meaning.column is not None and flag_values(meaning.column) is not None for meaning in meanings)
