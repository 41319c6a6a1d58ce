"""Amounts of a table in several currencies, as another column says row by row."""

from collections.abc import Mapping

from core.domain.dataset_queries import Aggregation, AnyOf, ColumnRef, Comparison, Condition, TableQuery
from core.domain.datasets import Column, ColumnType, RealityTable
from core.ingestion.table_typing.columns import is_currency
from core.table_qa.join_paths import money_columns
from core.text.lists import listed

__all__ = ["currency_notes"]

_PUT_TOGETHER = frozenset(Aggregation) - {Aggregation.COUNT, Aggregation.DISTINCT, Aggregation.SHARE}


def currency_notes(query: TableQuery, tables: Mapping[str, RealityTable]) -> tuple[str, ...]:
    """A note per currency column whose amounts a query puts together, unless it groups by it or asks for one currency.

    tables: by name."""
    names = {query.table: query.table} | {join.alias: join.table for join in query.joins}
    notes: dict[str, None] = {}
    for measure in query.measures:
        ref = measure.ref
        table = tables.get(names.get(ref.table, "")) if ref else None
        if ref is None or table is None or measure.aggregation not in _PUT_TOGETHER:
            continue
        amount = table.column(ref.column)
        if amount not in money_columns(table):
            continue
        for column in filter(_names_currencies, table.columns):
            if not _is_settled(query, ColumnRef(ref.table, column.name)):
                several = listed(sorted(column.values))
                notes[
                    f"'{amount.header}' is in several currencies ({several}), which were put together. Ask by"
                    f" '{column.header}', or for one of them."
                ] = None
    return tuple(notes)


def _names_currencies(column: Column) -> bool:
    """Whether all values of a column, at least two, are signs or ISO 4217 codes of currencies."""
    return column.type is ColumnType.TEXT and len(column.values) > 1 and all(map(_is_currency, column.values))


def _is_currency(value: str) -> bool:
    import pycountry

    return is_currency(value) or pycountry.currencies.get(alpha_3=value.upper()) is not None


def _is_settled(query: TableQuery, ref: ColumnRef) -> bool:
    """Whether a query groups by a column or admits one of its values only."""
    return any(group.ref == ref for group in query.groups) or any(
        isinstance(where, AnyOf) and len(where.conditions) == 1 and _is_one_value(where.conditions[0], ref)
        for where in query.where
    )


def _is_one_value(condition: Condition, ref: ColumnRef) -> bool:
    is_one = condition.test is Comparison.IS and len(condition.values) == 1 and not condition.negated
    return is_one and condition.ref == ref
