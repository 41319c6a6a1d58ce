"""How much a statement makes of the values it reads: a chain of WITH queries can double a text in every step.

PostgreSQL puts the queries of WITH into each other: after thirty steps like `b AS (SELECT x || x AS x FROM a)` there is
one expression with a billion leaves, or one text of a billion copies. Both are counted here from the statement alone,
and refused beyond a limit. (The limit of memory in the database needs a server on this machine.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, Any

from core.domain.errors import BadRequest
from core.table_qa.sql_columns import Tables, columns_of

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["check_growth"]

_MOST_LEAVES = 50_000  # of the statement, once its queries are put into each other. Chosen by hand.
_MOST_COPIES = 1_000  # of one value in another. Chosen by hand: a report joins some dozens of columns.
_UNKNOWN = 32  # copies that `replace` makes of a replacement that is no literal. Chosen by hand.
_JOINING = frozenset(("dpipe", "overlay", "array", "concat", "concat_ws"))
_REPLACING = frozenset(("replace", "regexp_replace"))
_QUERIES = frozenset(("select", "union", "intersect", "except", "values", "subquery"))
_WORDS = frozenset(("identifier", "datatype", "var", "star"))
_CLAUSES = ("where", "group", "having", "order", "distinct", "windows", "limit", "offset")
_SIMPLER = "Use each part once, or write several statements."


@dataclass(frozen=True, slots=True)
class _Size:
    """Of an expression. leaves: columns and literals in it; copies: of one value, in the longest value it can give."""

    leaves: int = 1
    copies: int = 1


_ONE, _NOTHING = _Size(), _Size(0)


def _sum(sizes: Iterable[_Size]) -> _Size:
    sizes = list(sizes)
    return _Size(sum(each.leaves for each in sizes), sum(each.copies for each in sizes))


def _largest(sizes: Iterable[_Size]) -> _Size:
    sizes = [_NOTHING, *sizes]
    return _Size(max(each.leaves for each in sizes), max(each.copies for each in sizes))


def check_growth(tree: exp.Expr, tables: Tables) -> None:
    """Refuse a statement whose queries multiply a value or each other. The tree's names are spelt as PostgreSQL keeps
    them. Raises BadRequest."""
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    sizes = _Sizes(tables)
    try:
        for scope in traverse_scope(tree):  # inner queries first
            sizes.add(scope)
    except RecursionError:
        raise BadRequest("The statement is nested too deeply.", _SIMPLER) from None
    except SqlglotError as error:
        raise BadRequest(f"The statement cannot be read: {error}.", _SIMPLER) from error


class _Sizes:
    """The sizes of all queries so far: of their columns in order, and of each as a whole."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._columns: dict[int, Sequence[_Size]] = {}
        self._whole: dict[int, _Size] = {}

    def add(self, scope: Any) -> None:
        """Measure a query whose inner queries are measured already. Raises BadRequest when it is too large."""
        query = scope.expression
        columns = list(self._outputs(scope))
        read = [source for _, source in scope.selected_sources.values()] + list(scope.set_operation_scopes)
        parts = [*columns, *(self._whole[id(each.expression)] for each in read if not _is_table(each))]
        parts += [self._of(each, scope) for each in _clauses(query)]
        whole = _Size(_sum(parts).leaves, _largest(parts).copies)
        if whole.copies > _MOST_COPIES:
            raise BadRequest("The parts of this statement make one value many times as long.", _SIMPLER)
        if whole.leaves > _MOST_LEAVES:
            raise BadRequest("The parts of this statement multiply each other.", _SIMPLER)
        self._columns[id(query)], self._whole[id(query)] = columns, whole

    def _outputs(self, scope: Any) -> Iterator[_Size]:
        """The sizes of a query's columns, in order."""
        from sqlglot import exp

        query = scope.expression
        if isinstance(query, exp.SetOperation):
            both = [self._columns[id(each.expression)] for each in scope.set_operation_scopes]
            yield from (_largest(pair) for pair in zip_longest(*both, fillvalue=_ONE))
        elif isinstance(query, exp.Values):
            rows = [[self._of(cell, scope) for cell in row.expressions] for row in query.expressions]
            yield from (_largest(cells) for cells in zip_longest(*rows, fillvalue=_ONE))
        else:
            for each in query.selects:
                if each.is_star:
                    chosen = [each.table] if each.key == "column" else list(scope.selected_sources)
                    for name in chosen:
                        if name in scope.sources:
                            yield from self._named(scope.sources[name]).values()
                else:
                    yield self._of(each, scope)

    def _named(self, source: Any) -> dict[str, _Size]:
        """The columns of a table, or of a query in FROM or WITH, with their sizes."""
        names = columns_of(source, self._tables)
        sizes: Sequence[_Size] = () if _is_table(source) else self._columns[id(source.expression)]
        return {name: sizes[number] if number < len(sizes) else _ONE for number, name in enumerate(names)}

    def _of(self, node: exp.Expr, scope: Any) -> _Size:
        """The size of an expression of a query."""
        if node.key in _QUERIES:
            if id(node.unnest()) not in self._whole:  # the parser's scopes have nothing of it
                raise BadRequest("A query inside VALUES is not possible here.", "Write it in WITH or in FROM.")
            return self._whole[id(node.unnest())]
        if node.key == "column" and node.this.key == "identifier":
            return self._column(node, scope)
        if node.key in _WORDS:
            return _NOTHING
        parts = [self._of(each, scope) for each in node.iter_expressions()]
        if not parts:
            return _ONE
        function = node.name.lower() if node.key == "anonymous" else node.key
        copies = _sum(parts).copies if function in _JOINING else _largest(parts).copies
        if function in _REPLACING and len(parts) > 2:
            copies = parts[0].copies * _replaced(node.expressions, parts[2].copies)
        return _Size(_sum(parts).leaves, copies)

    def _column(self, column: Any, scope: Any) -> _Size:
        """The size of a column, by its name in the innermost query that has it; that of whole rows when none has, since
        the name may be one that `FROM a AS b (name)` gives."""
        inner, rows = scope, list[_Size]()
        while inner is not None:
            read = [each for alias, (_, each) in inner.selected_sources.items() if column.table in ("", alias)]
            named = [self._named(each) for each in read if self._seen(each)]
            found = [each[column.name] for each in named if column.name in each]
            if found:
                return _largest(found)
            rows += [size for each in named for size in each.values() if size != _ONE]
            inner = inner.parent
        return _sum((_ONE, *rows))

    def _seen(self, source: Any) -> bool:
        """Whether a source was measured; a query of WITH does not see those of the statement around it."""
        return _is_table(source) or id(source.expression) in self._columns


def _is_table(source: Any) -> bool:
    return getattr(source, "key", "") == "table"


def _clauses(query: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a query that are no columns and read no further query."""
    for name in _CLAUSES:
        value = query.args.get(name)
        values = value if isinstance(value, list) else [value]
        yield from (each for each in values if each not in (None, True, False))
    for join in query.args.get("joins") or ():
        if join.args.get("on") is not None:
            yield join.args["on"]


def _replaced(arguments: Sequence[exp.Expr], copies: int) -> int:
    """How many times as long `replace(text, part, by)` can become; copies: in `by`."""
    part, by = arguments[1], arguments[2]
    if by.key != "literal":
        return _UNKNOWN * copies
    if part.key == "literal" and part.name and len(arguments) == 3:
        return max(1, ceil(len(by.name) / len(part.name)))
    return 1 + len(by.name)
