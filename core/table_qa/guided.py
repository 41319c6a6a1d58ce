"""The guided form: a query as measure, by, where and period; filled from what was understood, and built back."""
# Over 300 lines: what the form can hold decides what is left out of it, on the way there and back.

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
    Related,
    TableQuery,
)
from core.domain.datasets import Column, ColumnType, RealityTable
from core.domain.errors import BadRequest
from core.table_qa.join_paths import flag_values, is_amount
from core.table_qa.parsing.items import AGGREGATIONS, COMPARISONS
from core.table_qa.parsing.reader import QuestionItem

__all__ = [
    "LISTED",
    "MOST_CONDITIONS",
    "GuidedCondition",
    "GuidedForm",
    "form_of_items",
    "form_of_query",
    "query_of_form",
]

LISTED = "list"
"""The measure that lists rows instead of aggregating them."""
_MOST_COLUMNS = 8
"""Columns of a list, as many as a page shows without scrolling."""
MOST_CONDITIONS = 3
"""Conditions of a form; more are asked for in SQL."""
_OPPOSITES = {
    Comparison.MORE: Comparison.AT_MOST,
    Comparison.AT_LEAST: Comparison.LESS,
    Comparison.LESS: Comparison.AT_LEAST,
    Comparison.AT_MOST: Comparison.MORE,
}
_YES = frozenset(("true", "yes", "y", "1", "t"))
_LAST_MOMENT = "23:59:59.999999"


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
    `start` to `end`, both included. left_out: what was understood of the question and has no place in the form.
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
    left_out: tuple[str, ...] = ()


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
    value = _typed(column, each.value.strip())
    if column.type is ColumnType.TIMESTAMP:  # a day of a moment is a whole day
        last = f"{value} {_LAST_MOMENT}"
        if test is Comparison.IS:
            return Condition(ref, Comparison.BETWEEN, (value, last), negated)
        value = last if test in (Comparison.MORE, Comparison.AT_MOST) else value
    return Condition(ref, test, (value,), negated)


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
    last = f"{form.end} {_LAST_MOMENT}" if form.end and column.type is ColumnType.TIMESTAMP else str(form.end)
    if form.start and form.end:
        if form.start > form.end:
            raise BadRequest("The period ends before it begins.", "Swap the two dates.")
        return [AnyOf((Condition(ref, Comparison.BETWEEN, (str(form.start), last)),))]
    if form.start:
        return [AnyOf((Condition(ref, Comparison.AT_LEAST, (str(form.start),)),))]
    return [AnyOf((Condition(ref, Comparison.AT_MOST, (last,)),))]


# From what was understood to the form


def form_of_query(query: TableQuery) -> GuidedForm:
    """The form of a query; what has no place in it is named as left out."""
    left: list[str] = []
    measure, column = _measure_of(query, left)
    group = next((group for group in query.groups if _own(group.ref, query)), None)
    left += [_name(each.ref, query) for each in query.groups if each is not group]
    where: list[GuidedCondition] = []
    period: tuple[str, date | None, date | None] = ("", None, None)
    for clause in query.where:
        single = clause.conditions[0] if isinstance(clause, AnyOf) and len(clause.conditions) == 1 else None
        own = single if single is not None and _own(single.ref, query) else None
        found = _guided(own) if own is not None else ()
        if own is not None and not period[0] and (days := _period_of(own)) is not None:
            period = days
        elif found and len(where) + len(found) <= MOST_CONDITIONS:
            where += found
        else:
            left.append("a condition on " + " or ".join(_clause_names(clause, query)))
    left += [f"a condition on groups ({having.test.value} {' and '.join(having.values)})" for having in query.having]
    left += ["the order"] if query.order is not None else []
    left += ["the number of groups"] if query.counted else []
    return GuidedForm(
        query.table,
        measure,
        column,
        group.ref.column if group else "",
        group.part.value if group and group.part else "",
        tuple(where),
        *period,
        tuple(dict.fromkeys(left)),
    )


def _measure_of(query: TableQuery, left: list[str]) -> tuple[str, str]:
    """The measure and its column; a share of anything but yes, and a column of another table, are added to `left`."""
    if not query.measures:
        left += ["different values only"] if query.distinct else []
        return LISTED, ""
    first = query.measures[0]
    left += ["the other measures"] if len(query.measures) > 1 else []
    if first.aggregation is not Aggregation.SHARE:
        if first.ref is None or _own(first.ref, query):
            return first.aggregation.value, first.ref.column if first.ref else ""
        left.append(_name(first.ref, query))
        return first.aggregation.value, ""
    of = first.of[0] if len(first.of) == 1 else None
    test = of.conditions[0] if isinstance(of, AnyOf) and len(of.conditions) == 1 else None
    yes = test is not None and test.test is Comparison.IS and not test.negated and _own(test.ref, query)
    if yes and test is not None and len(test.values) == 1 and test.values[0].lower() in _YES:
        return first.aggregation.value, test.ref.column
    left.append("the share of " + " and ".join(name for clause in first.of for name in _clause_names(clause, query)))
    return Aggregation.COUNT.value, ""


def _guided(each: Condition) -> tuple[GuidedCondition, ...]:
    """A condition in the tests of the form; () for one that it cannot hold."""
    column, test, values = each.ref.column, each.test, [_day(each.test, value) for value in each.values]
    if each.other is not None or each.average:
        return ()
    if test is Comparison.EMPTY:
        return () if each.negated or values else (GuidedCondition(column, test.value),)
    if test is Comparison.BETWEEN and not each.negated:
        low, high = values
        at_least, at_most = Comparison.AT_LEAST.value, Comparison.AT_MOST.value
        return GuidedCondition(column, at_least, low), GuidedCondition(column, at_most, high)
    if len(values) != 1 or (each.negated and test not in (*_OPPOSITES, Comparison.IS)):
        return ()
    word = "is not" if test is Comparison.IS else _OPPOSITES.get(test, test).value
    return (GuidedCondition(column, word if each.negated else test.value, values[0]),)


def _day(test: Comparison, value: str) -> str:
    """The day of a moment that a form's day stands for."""
    ends = test in (Comparison.MORE, Comparison.AT_MOST, Comparison.BETWEEN)
    return value.removesuffix(f" {_LAST_MOMENT}") if ends else value.removesuffix(" 00:00:00")


def _clause_names(clause: AnyOf | Related, query: TableQuery) -> list[str]:
    """The columns or the table that a clause is about."""
    if isinstance(clause, Related):
        return [clause.table]
    return list(dict.fromkeys(_name(each.ref, query) for each in clause.conditions))


def _name(ref: ColumnRef, query: TableQuery) -> str:
    return ref.column if _own(ref, query) else f"{ref.table}.{ref.column}"


def _own(ref: ColumnRef | None, query: TableQuery) -> bool:
    return ref is not None and ref.table == query.table


def _period_of(each: Condition) -> tuple[str, date, date] | None:
    """The column and the days of a condition on a period; None for another one."""
    dates = all(re.match(r"\d{4}-\d\d-\d\d", value) for value in each.values)
    if each.test is not Comparison.BETWEEN or each.negated or not dates:
        return None
    first, last = (date.fromisoformat(value[:10]) for value in each.values)
    return each.ref.column, first, last


def form_of_items(items: Sequence[QuestionItem], table: RealityTable) -> GuidedForm:
    """The form filled with what was recognised of a question that could not be put together."""
    measure, column, by = Aggregation.COUNT.value, "", ""
    where: list[GuidedCondition] = []
    left: list[str] = []
    for at, item in enumerate(items):
        before = items[at - 1].kind if at else ""
        if item.kind in AGGREGATIONS and measure == Aggregation.COUNT.value:
            measure = AGGREGATIONS[item.kind].value
        elif item.kind == "share" or (item.kind == "rate" and _is_flag_item(items[at - 1 : at], table)):
            measure = Aggregation.SHARE.value
        elif item.number and not (at > 1 and items[at - 2].kind in COMPARISONS and items[at - 1].meaning):
            left.append(item.number)
        own = item.meaning if item.meaning and item.meaning.path.hops == 0 and item.meaning.column else None
        if own is None or own.column is None:
            continue
        if item.kind == "value" and own.values:
            test = "is not" if before == "not" else Comparison.IS.value
            where.append(GuidedCondition(own.column.name, test, own.values[0]))
            left += own.values[1:]
        elif before == "group" and not is_amount(table, own.column):
            by = by or own.column.name
        elif before in COMPARISONS and at + 1 < len(items) and items[at + 1].number:
            where.append(GuidedCondition(own.column.name, COMPARISONS[before].value, items[at + 1].number))
        elif is_amount(table, own.column) or flag_values(own.column):
            column = column or own.column.name
    if measure == Aggregation.SHARE.value and column and not flag_values(_column(table, column)):
        column = ""
    dated = next((each.name for each in table.columns if each.type.dated), "")
    spans = [item.date.dates for item in items if item.date is not None]
    span = spans[0] if len(spans) == 1 and not any(item.kind == "not" for item in items) else None
    left += [] if span else [each.words for each in spans]
    columns = [each.column for each in where]
    alone = [each for each in where if columns.count(each.column) == 1][:MOST_CONDITIONS]
    left += [each.value for each in where if each not in alone]
    day, start, end = (dated, span.start, span.end) if dated and span else ("", None, None)
    if column and measure == Aggregation.COUNT.value:
        measure = Aggregation.AVERAGE.value if is_amount(table, _column(table, column)) else Aggregation.SHARE.value
    target = column if measure != Aggregation.COUNT.value else ""
    return GuidedForm(table.name, measure, target, by, "", tuple(alone), day, start, end, tuple(dict.fromkeys(left)))


def _is_flag_item(before: Sequence[QuestionItem], table: RealityTable) -> bool:
    """Whether the item before "rate" names a column of yes and no."""
    meanings = [item.meaning for item in before if item.meaning and item.meaning.path.table.name == table.name]
    return any(meaning.column is not None and flag_values(meaning.column) is not None for meaning in meanings)
