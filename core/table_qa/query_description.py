"""Describes queries, answers and citations in words."""
# Over 300 lines: the sentence, the headline and the citation of one query use the same names of columns.

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    Having,
    Related,
    Rows,
    TableAnswer,
    TableQuery,
)
from core.domain.datasets import ROW_COLUMN, ColumnType, RealityTable
from core.formats.terminal import aligned
from core.table_qa.join_paths import is_amount

__all__ = ["citation_of", "describe_query", "format_cell", "headline", "limits_of", "table_answer_text", "tables_of"]

_AGGREGATIONS = {
    Aggregation.SUM: "total",
    Aggregation.AVERAGE: "average",
    Aggregation.MEDIAN: "median",
    Aggregation.LEAST: "lowest",
    Aggregation.MOST: "highest",
    Aggregation.DISTINCT: "number of different values of",
    Aggregation.COUNT: "number of filled",
}
_DATE_COMPARISONS = {Comparison.MORE: "after", Comparison.LESS: "before"}
_MOST_VALUES = 4
"""Values of a condition that are listed; the sentence stays one line."""
_MOST_NAMED = 3
"""Rows, groups or values that a headline names; of more it says the number."""
_MOST_RANGES = 3
"""Ranges of rows that a citation lists."""


def describe_query(query: TableQuery, tables: Mapping[str, RealityTable]) -> str:
    """What a query asks, in one sentence.

    "Number of rows of employees where state is 'TX' and status is 'active'"
    """
    return _QueryWriter(query, tables).sentence()


class _QueryWriter:
    def __init__(self, query: TableQuery, tables: Mapping[str, RealityTable]) -> None:
        self._query = query
        self._tables = {query.table: tables.get(query.table)}
        for join in query.joins:
            self._tables[join.alias] = tables.get(join.table)
        self._all = tables

    def sentence(self) -> str:
        query = self._query
        parts = [("number of groups: " if query.counted else "") + self._what()]
        if query.where:
            parts.append("where " + " and ".join(self._clause(each) for each in query.where))
        if query.groups:
            parts.append("by " + ", ".join(self._grouping(group) for group in query.groups))
        if query.having:
            parts.append("with " + " and ".join(self._having(each) for each in query.having))
        if query.order is not None:
            by = query.order.by
            key = self._ref(by) if isinstance(by, ColumnRef) else self._measure(by)
            parts.append(f"{'highest' if query.order.descending else 'lowest'} {key} first")
        if query.limit is not None:
            parts.append(f"the first {query.limit} (and equals)" if query.limit > 1 else "the first (and equals)")
        text = ", ".join(parts[:1]) + "".join(
            f" {part}" if part.startswith(("where", "by", "with")) else f", {part}" for part in parts[1:]
        )
        return text[0].upper() + text[1:]

    def _what(self) -> str:
        query = self._query
        if query.measures:
            of = "" if any("rows of" in self._measure(each) for each in query.measures) else f" in {query.table}"
            return " and ".join(self._measure(each) for each in query.measures) + of
        if query.distinct:
            return f"different values of {', '.join(self._ref(ref) for ref in query.columns)} in {query.table}"
        return f"rows of {query.table}"

    def _ref(self, ref: ColumnRef) -> str:
        table = self._tables.get(ref.table) or self._all.get(ref.table)
        column = table.column(ref.column) if table else None
        name = column.header if column else ref.column
        owner = f"{ref.table}'" if ref.table.endswith("s") else f"{ref.table}'s"
        return name if ref.table == self._query.table else f"{owner} {name}"

    def _kind(self, ref: ColumnRef) -> ColumnType:
        table = self._tables.get(ref.table) or self._all.get(ref.table)
        column = table.column(ref.column) if table else None
        return column.type if column else ColumnType.TEXT

    def _is_name(self, ref: ColumnRef) -> bool:
        """Whether a column's numbers name something, and get no thousands separator: a year, a cost centre."""
        table = self._tables.get(ref.table) or self._all.get(ref.table)
        column = table.column(ref.column) if table else None
        return column is not None and table is not None and column.type.numeric and not is_amount(table, column)

    def cell(self, ref: ColumnRef, value: object) -> str:
        """A cell for a sentence; numbers that name something get no thousands separator."""
        return str(value) if isinstance(value, int) and self._is_name(ref) else format_cell(value)

    def _measure(self, measure: AggregateMeasure) -> str:
        if measure.aggregation is Aggregation.SHARE:
            return f"share of rows of {self._query.table} for which " + " and ".join(map(self._clause, measure.of))
        if measure.ref is None:
            return f"number of rows of {self._query.table}"
        return f"{_AGGREGATIONS[measure.aggregation]} {self._ref(measure.ref)}"

    def _grouping(self, group: Grouping) -> str:
        return f"{group.part.value} of {self._ref(group.ref)}" if group.part else self._ref(group.ref)

    def _having(self, having: Having) -> str:
        values = " and ".join(having.values)
        return f"{self._measure(having.measure)} {having.test.value} {values}"

    def _clause(self, clause: AnyOf | Related) -> str:
        if isinstance(clause, Related):
            inner = " and ".join(self._clause(each) for each in clause.where)
            rows = f"row of {clause.table}" + (f" where {inner}" if inner else "")
            return f"there is {'no' if clause.negated else 'a'} {rows}"
        conditions = [self._condition(each) for each in clause.conditions]
        return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"

    def _condition(self, condition: Condition) -> str:
        name = self._ref(condition.ref)
        if condition.test is Comparison.EMPTY:
            also = "" if not condition.values else f" or {' or '.join(condition.values)}"
            if condition.negated:
                return f"{name} is filled" + (f" and not {' or '.join(condition.values)}" if condition.values else "")
            return f"{name} is empty{also}"
        not_ = "not " if condition.negated else ""
        if condition.other is not None:
            dated = self._kind(condition.ref).dated
            words = _DATE_COMPARISONS.get(condition.test, condition.test.value) if dated else condition.test.value
            return f"{name} is {not_}{words} {self._ref(condition.other)}"
        if condition.average:
            return f"{name} is {not_}{condition.test.value} its average"
        return self._value_condition(condition, name, not_)

    def _value_condition(self, condition: Condition, name: str, not_: str) -> str:
        kind = self._kind(condition.ref)
        plain = self._is_name(condition.ref)
        values = [value if plain else _value(value, kind) for value in condition.values]
        if condition.test is Comparison.IS:
            listed = " or ".join(values[:_MOST_VALUES])
            more = f" or {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
            return f"{name} is {not_}{listed}{more}"
        if condition.test is Comparison.BETWEEN:
            return f"{name} is {not_}from {values[0]} to {values[1]}"
        if kind.dated:
            words = {
                Comparison.AT_LEAST: "from {} on",
                Comparison.AT_MOST: "up to {}",
                Comparison.LESS: "before {}",
                Comparison.MORE: "after {}",
            }
            return f"{name} is {not_}{words.get(condition.test, '{}').format(values[0])}"
        return (
            f"{name} {'does not hold' if not_ else 'holds'} {values[0]}"
            if condition.test is Comparison.HOLDS
            else (f"{name} is {not_}{condition.test.value} {values[0]}")
        )


def _value(value: str, kind: ColumnType) -> str:
    if kind is ColumnType.BOOLEAN:
        return "yes" if value == "true" else "no"
    if kind.dated:
        return value[:10]
    return format_cell(Decimal(value)) if kind.numeric else f"'{value}'"


def format_cell(cell: object) -> str:
    """A cell for display: thousands separators, at most two decimals, yes and no.

    >>> format_cell(Decimal("1234.50")), format_cell(True), format_cell(None), format_cell(12)
    ('1,234.5', 'yes', '(empty)', '12')
    """
    match cell:
        case None:
            return "(empty)"
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case float() | Decimal():
            text = f"{cell:,.2f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        case datetime():
            return cell.isoformat(" ", "minutes")
        case date():
            return cell.isoformat()
        case _:
            return str(cell)


def headline(query: TableQuery, rows: Rows, tables: Mapping[str, RealityTable]) -> str:
    """The answer in short: the number itself, the highest and the lowest group, the names of a few rows, else a count.

    "Clerk: 39.8% (highest of 9) · Director: 2.5% (lowest)"
    """
    if query.counted and rows.rows:
        return format_cell(rows.rows[0][0])
    if query.measures and not query.groups:
        return " and ".join(map(_measure_cell, query.measures, rows.rows[0]))
    if query.groups:
        return _groups_in_short(query, rows)
    if query.distinct:
        if 0 < rows.total <= _MOST_NAMED:
            return "; ".join(" ".join(map(format_cell, row)) for row in rows.rows)
        return f"{rows.total:,} different {'value' if rows.total == 1 else 'values'}"
    outputs = [(query.columns.index(ref) + 1, ref) for ref in query.requested if ref in query.columns]
    if outputs and 0 < rows.total <= _MOST_NAMED and len(rows.columns) == len(query.columns) + 1:
        writer = _QueryWriter(query, tables)
        return "; ".join(
            _row_in_short(query, [writer.cell(ref, row[index]) for index, ref in outputs]) for row in rows.rows
        )
    if query.limit == 1 and query.order is not None and outputs and rows.rows:
        index, ref = outputs[-1]
        return f"{rows.total:,} rows tie at {_QueryWriter(query, tables).cell(ref, rows.rows[0][index])}"
    return f"{rows.total:,} {'row' if rows.total == 1 else 'rows'}"


def _groups_in_short(query: TableQuery, rows: Rows) -> str:
    """Up to three groups with their numbers; of more, the highest and the lowest."""
    keys = len(query.groups)
    if not rows.rows or len(query.measures) > 1 or rows.truncated:
        return f"{rows.total:,} {'group' if rows.total == 1 else 'groups'}"

    def shown(row: tuple[object, ...]) -> str:
        names = [str(cell) if isinstance(cell, int) else format_cell(cell) for cell in row[:keys] if cell is not None]
        return f"{' '.join(names) or '(empty)'}: {_measure_cell(query.measures[0], row[-1])}"

    if len(rows.rows) <= _MOST_NAMED:
        return "; ".join(map(shown, rows.rows))
    filled = [row for row in rows.rows if row[-1] is not None and any(cell is not None for cell in row[:keys])]
    if not filled or not all(isinstance(row[-1], int | float | Decimal) for row in filled):
        return f"{rows.total:,} groups"
    ordered = sorted(filled, key=lambda row: float(str(row[-1])), reverse=True)
    return f"{shown(ordered[0])} (highest of {rows.total:,}) · {shown(ordered[-1])} (lowest)"


def _row_in_short(query: TableQuery, texts: Sequence[str]) -> str:
    """The cells that answer; of a ranked row its names and, behind a colon, the number it is ranked by."""
    if query.order is not None and len(texts) > 1:
        return f"{' '.join(texts[:-1])}: {texts[-1]}"
    return " ".join(texts)


def _measure_cell(measure: AggregateMeasure, cell: object) -> str:
    if measure.aggregation is Aggregation.SHARE and isinstance(cell, int | float | Decimal):
        return f"{float(cell):.1%}"
    return format_cell(cell)


def tables_of(query: TableQuery) -> tuple[str, ...]:
    """Every table a query reads, the one asked about first."""
    names = [query.table, *(join.table for join in query.joins)]
    for clause in query.where:
        if isinstance(clause, Related):
            names += [clause.table, *(join.table for join in clause.joins)]
    return tuple(dict.fromkeys(names))


def citation_of(query: TableQuery, rows: Rows, tables: Mapping[str, RealityTable]) -> str:
    """The citation of an answer: the rows listed, else the whole table; and the other tables that were read.

    "[employees.csv, rows 12–14, 18] [departments.csv, 9 rows]"
    """
    first, *others = (tables[name] for name in tables_of(query))
    return " ".join([_citation(rows, first), *(f"[{each.document_name}, {each.rows:,} rows]" for each in others)])


def _citation(rows: Rows, table: RealityTable) -> str:
    if ROW_COLUMN not in rows.columns:
        return f"[{table.document_name}, {table.rows:,} rows]"
    ranges = _ranges(int(str(row)) for row in rows.column(ROW_COLUMN))
    if not ranges:
        return f"[{table.document_name}, none of {table.rows:,} rows]"
    listed = ", ".join(ranges[:_MOST_RANGES]) + (" …" if len(ranges) > _MOST_RANGES or rows.truncated else "")
    word = "row" if len(ranges) == 1 and "–" not in ranges[0] else "rows"
    return f"[{table.document_name}, {word} {listed}]"


def _ranges(numbers: Iterable[int]) -> Sequence[str]:
    """
    >>> _ranges([3, 1, 2, 7])
    ['1–3', '7']
    """
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return [str(first) if first == last else f"{first}–{last}" for first, last in ranges]


_SHOWN_ROWS = 20
"""Rows a terminal shows without scrolling."""


def limits_of(answer: TableAnswer) -> tuple[str, ...]:
    """What limits an answer, as sentences: words of the question that were not used, and its notes."""
    unused = (f"Not used: {', '.join(answer.unused)}",) if answer.unused else ()
    return (*unused, *answer.notes)


def table_answer_text(answer: TableAnswer) -> str:
    """The answer, how the question was read, its first rows, their citation and SQL; or the reason for a refusal."""
    if answer.rows is None:
        return "\n".join([f"No answer: {answer.refusal}", *(f"Perhaps: {other.reading}" for other in answer.others)])
    rows = [tuple(format_cell(cell) for cell in row) for row in answer.rows.rows[:_SHOWN_ROWS]]
    more = answer.rows.total - len(rows)
    parts = [answer.headline, f"Interpreted as: {answer.reading}", *limits_of(answer), ""]
    parts += [aligned(answer.rows.columns, rows), *([f"… and {more:,} more"] if more > 0 else []), ""]
    parts += [answer.citation, "", answer.rows.sql]
    parts += [f"Or: {other.reading}" for other in answer.others]
    return "\n".join(parts)
