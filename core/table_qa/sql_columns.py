"""Which columns the tables and queries of an SQL statement have, and whether each `table.column` is one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Tables", "check_qualified_columns", "columns_of"]

Tables = Mapping[str, Collection[str]]
"""Each table's name → the names of its columns, both as in the database."""

_MOST_NAMED = 12  # columns in a message
_SIMPLER = "Write it in a simpler way, or in several statements."


def check_qualified_columns(tree: exp.Expr, tables: Tables) -> None:
    """Refuse `t.name` unless t has that column: PostgreSQL reads `t.row_to_json` as `row_to_json(t)` if it has not.

    The tree's names are spelt as PostgreSQL keeps them. A name whose table is nowhere is an error there, too. Raises
    BadRequest.
    """
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    try:
        for scope in traverse_scope(tree):
            for column in scope.columns:
                source = scope.sources.get(column.table)
                if source is not None and column.this.key == "identifier":
                    known = columns_of(source, tables)
                    if column.name not in known:
                        near = get_close_matches(column.name, known, n=3, cutoff=0.6)
                        columns = ", ".join(list(known)[:_MOST_NAMED])
                        hint = f"Did you mean {' or '.join(near)}?" if near else f"Its columns are: {columns}."
                        raise BadRequest(f"'{column.table}' has no column '{column.name}'.", hint)
    except RecursionError:
        raise BadRequest("The statement is nested too deeply.", _SIMPLER) from None
    except SqlglotError as error:
        raise BadRequest(f"The statement cannot be read: {error}.", _SIMPLER) from error


def columns_of(source: Any, tables: Tables) -> Sequence[str]:
    """The names of the columns of a table, or of a query in FROM or WITH. source: a table, or a scope of sqlglot."""
    from sqlglot import exp

    if isinstance(source, exp.Table):
        return _renamed(source, tables.get(source.name, ()))
    query = source.expression
    holder = query if isinstance(query, exp.Values) else query.parent  # VALUES carries its own alias
    return _renamed(holder, _outputs(source, tables))


def _renamed(holder: exp.Expr, names: Collection[str]) -> Sequence[str]:
    """The names after `AS t (a, b)`, which replaces the first ones."""
    given = list(holder.alias_column_names)
    return [*given, *list(names)[len(given) :]]


def _outputs(scope: Any, tables: Tables) -> Sequence[str]:
    """The names PostgreSQL gives the columns of a query."""
    from sqlglot import exp

    query = scope.expression
    if isinstance(query, exp.SetOperation):
        return _outputs(scope.set_operation_scopes[0], tables)
    if isinstance(query, exp.Values):
        return [f"column{number}" for number in range(1, len(query.expressions[0].expressions) + 1)]
    names: list[str] = []
    for each in query.selects:
        if each.is_star:
            chosen = [each.table] if each.key == "column" else list(scope.selected_sources)
            for name in chosen:
                if name in scope.sources:
                    names += columns_of(scope.sources[name], tables)
        else:
            names.append(each.output_name or (each.name if each.key == "anonymous" else each.key))
    return names
