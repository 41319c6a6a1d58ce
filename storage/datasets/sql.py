"""Translates table queries to SQL. Identifiers come from the registry; values are literals of their column's type."""
# Over 300 lines: one writer turns every part of a query into SQL; the parts share its aliases and types.

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    Having,
    Join,
    Ordering,
    Related,
    TableQuery,
)
from core.domain.datasets import ROW_COLUMN, ColumnType, RealityTable
from core.domain.errors import BadRequest

__all__ = ["COUNTED", "SQL_TYPES", "group_name", "sql_of", "written_measure"]

COUNTED = "groups"


def written_measure(measure: AggregateMeasure) -> str:
    """A measure's column name in the answer.

    >>> written_measure(AggregateMeasure(Aggregation.AVERAGE, ColumnRef("employees", "pay_rate")))
    'average_pay_rate'
    """
    if measure.aggregation is Aggregation.COUNT and measure.ref is None:
        return "rows"
    if measure.ref is None:
        return "share"
    words = {
        Aggregation.DISTINCT: "different",
        Aggregation.SUM: "total",
        Aggregation.LEAST: "lowest",
        Aggregation.MOST: "highest",
    }
    return f"{words.get(measure.aggregation, measure.aggregation.value)}_{measure.ref.column.strip('_')}"[:63]


def group_name(group: Grouping) -> str:
    """The column name of a group's value in the answer."""
    return group.ref.column if group.part is None else f"{group.part.value}_of_{group.ref.column}"


SQL_TYPES = {
    ColumnType.TEXT: "text",
    ColumnType.INTEGER: "bigint",
    ColumnType.NUMBER: "numeric",
    ColumnType.MONEY: "numeric",
    ColumnType.DATE: "date",
    ColumnType.TIMESTAMP: "timestamp",
    ColumnType.BOOLEAN: "boolean",
}
_SIGNS = {Comparison.LESS: "<", Comparison.AT_MOST: "<=", Comparison.MORE: ">", Comparison.AT_LEAST: ">="}
_MOST_DIGITS = 200
"""Most digits before or after the decimal point; PostgreSQL would write out 1e100000 in full. Chosen by hand, not
fitted.
"""
_FOLDS = {Aggregation.SUM: "sum", Aggregation.AVERAGE: "avg", Aggregation.LEAST: "min", Aggregation.MOST: "max"}


def sql_of(query: TableQuery, tables: Mapping[str, RealityTable], *, pretty: bool = True) -> str:
    """The SELECT statement. tables: the current tables by name. Raises BadRequest for an unknown table or column."""
    import sqlglot

    text = _Writer(replace(query, counted=False), tables).select()
    if query.counted:
        text = f"SELECT count(*) AS {COUNTED} FROM (\n{text}\n) AS found"
    return sqlglot.transpile(text, read="postgres", write="postgres", pretty=pretty)[0]


class _Writer:
    """Writes one query. Maps each alias to its table and its SQL name. outer: aliases of the enclosing statement,
    which a subquery must not hide.
    """

    def __init__(self, query: TableQuery, tables: Mapping[str, RealityTable], outer: Collection[str] = ()) -> None:
        self._query, self._tables = query, tables
        self._aliases = {query.table: self._table(query.table)}
        for join in query.joins:
            self._aliases[join.alias] = self._table(join.table)
        self._written = {alias: f"other_{alias}" if alias in outer else alias for alias in self._aliases}

    def _table(self, name: str) -> RealityTable:
        if name not in self._tables:
            raise BadRequest(f"There is no table '{name}'.", "It was deleted or renamed; ask again.")
        return self._tables[name]

    def select(self) -> str:
        query = self._query
        outputs = self._outputs()
        listed = ", ".join(f"{cell} AS {_name(name)}" if name else cell for cell, name in outputs)
        lines = [self._from()]
        where = [self._clause(each) for each in query.where]
        if query.order and query.limit and isinstance(query.order.by, ColumnRef):
            where.append(f"{self._ref(query.order.by)} IS NOT NULL")
        if where:
            lines.append(f"WHERE {' AND '.join(where)}")
        if query.groups:
            lines.append(f"GROUP BY {', '.join(self._grouping(group) for group in query.groups)}")
        if query.having:
            lines.append(f"HAVING {' AND '.join(self._having(each) for each in query.having)}")
        head = f"SELECT {'DISTINCT ' if query.distinct else ''}{listed}"
        return self._ordered(head, "\n".join(lines), [cell for cell, _ in outputs])

    def _outputs(self) -> list[tuple[str, str]]:
        """The selected expressions, each with its name in the answer where that differs from the column name."""
        query = self._query
        groups = [(self._grouping(group), group_name(group)) for group in query.groups]
        measures = [(self._measure(each), written_measure(each)) for each in query.measures]
        if groups or measures:
            return groups + measures
        listed = [(self._ref(ref), "") for ref in query.columns]
        return listed if query.distinct else [(self._row(), ""), *listed]

    def _row(self) -> str:
        return self._ref(ColumnRef(self._query.table, ROW_COLUMN))

    def _ordered(self, head: str, body: str, outputs: Sequence[str]) -> str:
        """The statement with ORDER BY, ties broken by row or group. FETCH … WITH TIES leaves ties unordered, so the
        rows it selects are ordered again by the statement around it.
        """
        query = self._query
        folded = bool(query.groups or query.measures)
        if query.order is None and folded and not query.groups:
            return f"{head}\n{body}"
        key, way = self._way(outputs)
        positions = range(1, 1 + (len(query.groups) if folded else len(outputs) if query.distinct else 1))
        rest = [str(position) for position in positions if outputs[position - 1] != key]
        if not query.limit:
            return f"{head}\n{body}\nORDER BY {', '.join([key + way, *rest])}"
        first = f"ORDER BY {key}{way}\nFETCH FIRST {int(query.limit)} ROWS WITH TIES"
        if key in outputs and rest:
            ordering = ", ".join([f"{outputs.index(key) + 1}{way}", *rest])
            return f"SELECT * FROM (\n{head}\n{body}\n{first}\n) AS chosen\nORDER BY {ordering}"
        if rest and not query.distinct and not folded and query.order and isinstance(query.order.by, ColumnRef):
            among = f"AND {self._row()} IN (SELECT {self._row()}\n{body}\n{first})"
            return f"{head}\n{body}\n{among}\nORDER BY {key}{way}, 1"
        return f"{head}\n{body}\n{first}"

    def _way(self, outputs: Sequence[str]) -> tuple[str, str]:
        """The ORDER BY expression and direction: groups by their first measure, years in time order."""
        order = self._query.order
        if order is None and self._query.measures and not self._query.timed:
            order = Ordering(self._query.measures[0])
        if order is None:
            return outputs[0], ""
        key = self._ref(order.by) if isinstance(order.by, ColumnRef) else self._measure(order.by)
        return key, f" {'DESC' if order.descending else 'ASC'} NULLS LAST"

    def _from(self) -> str:
        table = self._query.table
        return " ".join([f"FROM {self._named(table, table)}", *map(self._join, self._query.joins)])

    def _named(self, table: str, alias: str) -> str:
        written = self._written[alias]
        return _name(table) if written == table else f"{_name(table)} AS {_name(written)}"

    def _join(self, join: Join) -> str:
        named = self._named(join.table, join.alias)
        return f"LEFT JOIN {named} ON {self._ref(ColumnRef(join.alias, join.right))} = {self._ref(join.left)}"

    def _clause(self, clause: AnyOf | Related) -> str:
        if isinstance(clause, Related):
            return self._related(clause)
        parts = [self._condition(each) for each in clause.conditions]
        return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"

    def _related(self, related: Related) -> str:
        inner = _Writer(TableQuery(related.table, related.joins), self._tables, self._aliases)
        here = self._ref(related.here)
        tests = [f"{inner._ref(ColumnRef(related.table, related.column))} = {here}", *map(inner._clause, related.where)]
        found = f"EXISTS (SELECT 1 {inner._from()} WHERE {' AND '.join(tests)})"
        return f"NOT {found}" if related.negated else found

    def _condition(self, condition: Condition) -> str:
        cell = self._ref(condition.ref)
        kind = self._type(condition.ref)
        match condition.test:
            case Comparison.EMPTY:
                return self._empty(condition, cell)
            case Comparison.IS:
                values = [_literal(value, kind) for value in condition.values]
                if condition.negated:
                    return f"({cell} IS NULL OR {cell} NOT IN ({', '.join(values)}))"
                return f"{cell} = {values[0]}" if len(values) == 1 else f"{cell} IN ({', '.join(values)})"
            case Comparison.HOLDS:
                likes = [
                    f"{cell} ILIKE {_literal(f'%{_liked(value)}%', ColumnType.TEXT)}" for value in condition.values
                ]
                holds = f"({' OR '.join(likes)})"
                return f"({cell} IS NULL OR NOT {holds})" if condition.negated else holds
            case Comparison.BETWEEN:
                first, last = (_literal(value, kind) for value in condition.values)
                return f"{cell} {'NOT ' if condition.negated else ''}BETWEEN {first} AND {last}"
            case _:
                return self._compared(condition, cell, kind)

    def _compared(self, condition: Condition, cell: str, kind: ColumnType) -> str:
        if condition.other is not None:
            against = self._ref(condition.other)
        elif condition.average:
            table = self._aliases[condition.ref.table].name
            against = f"(SELECT avg({_name(condition.ref.column)}) FROM {_name(table)})"
        else:
            against = _literal(condition.values[0], kind)
        compared = f"{cell} {_SIGNS[condition.test]} {against}"
        return f"NOT ({compared})" if condition.negated else compared

    def _empty(self, condition: Condition, cell: str) -> str:
        kind = self._type(condition.ref)
        values = ", ".join(_literal(value, kind) for value in condition.values)
        if condition.negated:
            return f"({cell} IS NOT NULL AND {cell} NOT IN ({values}))" if values else f"{cell} IS NOT NULL"
        return f"({cell} IS NULL OR {cell} IN ({values}))" if values else f"{cell} IS NULL"

    def _measure(self, measure: AggregateMeasure) -> str:
        if measure.aggregation is Aggregation.SHARE:
            holds = " AND ".join(self._clause(each) for each in measure.of) or "TRUE"
            return f"count(*) FILTER (WHERE {holds})::numeric / NULLIF(count(*), 0)"
        if measure.ref is None:
            return "count(*)"
        cell = self._ref(measure.ref)
        match measure.aggregation:
            case Aggregation.COUNT:
                return f"count({cell})"
            case Aggregation.DISTINCT:
                return f"count(DISTINCT {cell})"
            case Aggregation.MEDIAN:
                return f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {cell})"
            case aggregation:
                return f"{_FOLDS[aggregation]}({cell})"

    def _grouping(self, group: Grouping) -> str:
        cell = self._ref(group.ref)
        if group.part is None:
            return cell
        if not self._type(group.ref).dated:
            raise BadRequest(f"'{group.ref.column}' is not a date.", "Group by the whole value.")
        if group.part.value == "year":
            return f"EXTRACT(YEAR FROM {cell})::int"
        shape = "YYYY-MM" if group.part.value == "month" else 'YYYY-"Q"Q'
        return f"to_char({cell}, '{shape}')"

    def _having(self, having: Having) -> str:
        measure = self._measure(having.measure)
        values = [_literal(value, ColumnType.NUMBER) for value in having.values]
        if having.test is Comparison.BETWEEN:
            return f"{measure} BETWEEN {values[0]} AND {values[1]}"
        return f"{measure} {_SIGNS.get(having.test, '=')} {values[0]}"

    def _ref(self, ref: ColumnRef) -> str:
        self._type(ref)
        return f"{_name(self._written[ref.table])}.{_name(ref.column)}"

    def _type(self, ref: ColumnRef) -> ColumnType:
        table = self._aliases.get(ref.table)
        if ref.column == ROW_COLUMN and table is not None:
            return ColumnType.INTEGER
        column = table.column(ref.column) if table is not None else None
        if column is None:
            raise BadRequest(
                f"There is no column '{ref.column}' in '{ref.table}'.", "The table has changed; ask again."
            )
        return column.type


def _name(name: str) -> str:
    """
    >>> _name("pay_rate"), _name("Pay")
    ('pay_rate', '"Pay"')
    """
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


def _liked(value: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", value)


def _literal(value: str, kind: ColumnType) -> str:
    if kind.numeric:
        try:
            number = Decimal(value)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
            raise BadRequest(f"'{value}' is not a number.", "Write it in digits.")
        return f"{number:f}"
    if kind is ColumnType.BOOLEAN:
        return "TRUE" if value == "true" else "FALSE"
    quoted = "'" + value.replace("'", "''") + "'"
    words = {ColumnType.DATE: "DATE ", ColumnType.TIMESTAMP: "TIMESTAMP "}.get(kind, "")
    return f"{words}{quoted}"
