"""Links between tables: which columns refer to which keys, and how to join tables over them."""
# Over 300 lines: links are suggested and followed by the same words and costs.

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.dataset_queries import AnyOf, ColumnRef, Join, Related
from core.domain.datasets import Column, ColumnType, LinkState, RealityTable, TableLink
from core.knowledge.question_lexicon import asking
from core.table_qa.parsing.tokens import header_words
from core.text.tokenize import stem

__all__ = [
    "JoinPath",
    "ReachableTables",
    "flag_values",
    "is_amount",
    "is_key",
    "is_year",
    "label_columns",
    "money_columns",
    "name_column",
    "reachable_tables",
    "reverse_condition",
    "suggest_links",
]

_MOST_HOPS = 3
"""Links followed from a table; questions seldom mean more distant tables. Chosen by hand; not fitted."""
# What a path takes off the score of a word's meaning: per link, against a link's direction, and over a role such as
# "manager". Chosen by hand against the questions in tests/table_qa/asked; not fitted.
_LINK_COST, _REVERSE_COST, _ROLE_COST = 0.45, 0.3, 1.2
_LEAST_SHARE = 0.5
"""Share of a column's distinct values that must be keys for a link: codes may be missing, not most of them."""
_LEAST_SHARED = 2
"""Distinct values that must be keys: a single one may coincide."""


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_ROLES = _stems("manager supervisor parent boss lead superior approver approved created owner previous backup")
_NAMING = _stems("id identifier number no num code year key zip nr")
_SUPERIORS = _stems("manager mgr supervisor parent boss lead reports superior")
_EMPLOYEES = _stems("employee staff worker person personnel")
_FIRST_YEAR, _LAST_YEAR = "1500", "2100"
"""Whole numbers that all lie between these are years. Chosen by hand; not fitted."""
Overlaps = Callable[[ColumnRef, Sequence[ColumnRef]], Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class JoinPath:
    """How to reach a table from the table a question is about.

    joins: link by link; each row matches at most one row. reverse: when rows of another table refer to this one, the
    test that such rows exist; `joins` then continue from that table. hops: links followed. cost: subtracted from the
    score of a meaning, ≥ 0.
    """

    table: RealityTable
    alias: str
    joins: tuple[Join, ...] = ()
    reverse: Related | None = None
    hops: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class ReachableTables:
    """All tables that questions about one table can mention. paths: by alias; the table itself comes first."""

    base: RealityTable
    paths: Mapping[str, JoinPath]

    def joinable(self) -> list[JoinPath]:
        """The paths that can be joined without repeating rows."""
        return [path for path in self.paths.values() if path.reverse is None]

    def target(self, alias: str, column: str) -> JoinPath | None:
        """The joinable path to the table a column refers to; None without one."""
        left = ColumnRef(alias, column)
        return next((path for path in self.joinable() if path.joins and path.joins[-1].left == left), None)


def reachable_tables(base: RealityTable, tables: Sequence[RealityTable]) -> ReachableTables:
    """All tables linked with `base`, up to three links away; dismissed links are not followed."""
    by_name = {table.name: table for table in tables}
    paths = {base.name: JoinPath(base, base.name)}
    _follow(paths[base.name], by_name, paths)
    for other in tables:
        for link in _active_links(other):
            if link.other_table == base.name and other.name != base.name:
                _follow_reverse(base, other, link, by_name, paths)
    return ReachableTables(base, paths)


def _active_links(table: RealityTable) -> list[TableLink]:
    return [link for link in table.links if link.state is not LinkState.DISMISSED]


def is_key(table: RealityTable, name: str) -> bool:
    """Whether a column still tells the rows apart: a join to another one would repeat rows, and count them twice."""
    column = table.column(name)
    return column is not None and column.key


def _has_role(link: TableLink, other: RealityTable) -> bool:
    """Whether a link's column names what the other row is to this one (a manager, a parent), not just the row."""
    lexicon = asking()
    own = set(header_words(link.column)) - lexicon.light
    there = set(header_words(other.name)) | set(header_words(link.other_column))
    role_words = own | {synonym for stem in own for synonym in lexicon.synonyms.get(stem, ())}
    return bool(own) and (not role_words & there or bool((own - there) & _ROLES))


def _follow(start: JoinPath, by_name: Mapping[str, RealityTable], paths: dict[str, JoinPath]) -> None:
    """Add every path that goes on from a start, nearest first."""
    queue = [start]
    while queue:
        here = queue.pop(0)
        if here.hops >= _MOST_HOPS:
            continue
        for link in _active_links(here.table):
            other = by_name.get(link.other_table)
            if (
                other is None
                or not is_key(other, link.other_column)
                or any(join.table == other.name for join in here.joins)
            ):
                continue
            if other.name == here.table.name and here.hops:
                continue
            role = _has_role(link, other)
            alias = _alias(other.name, link.column, taken={*paths, other.name} if role else paths)
            join = Join(other.name, alias, ColumnRef(here.alias, link.column), link.other_column)
            cost = here.cost + _LINK_COST + (_ROLE_COST if role else 0.0)
            paths[alias] = JoinPath(other, alias, (*here.joins, join), start.reverse, here.hops + 1, cost)
            queue.append(paths[alias])


def _alias(table: str, column: str, taken: Collection[str]) -> str:
    alias, number = table, 1
    while alias in taken:
        alias = f"{table}_{column.strip('_')}" if number == 1 else f"{table}_{column.strip('_')}_{number}"
        number += 1
    return alias


def _follow_reverse(
    base: RealityTable,
    other: RealityTable,
    link: TableLink,
    by_name: Mapping[str, RealityTable],
    paths: dict[str, JoinPath],
) -> None:
    """Rows of `other` point at `base`: questions can ask whether they exist, and what they lead to."""
    if other.name in paths:
        return
    reverse = Related(other.name, link.column, ColumnRef(base.name, link.other_column))
    cost = _LINK_COST + _REVERSE_COST + (_ROLE_COST if _has_role(link, base) else 0.0)
    start = JoinPath(other, other.name, (), reverse, 1, cost)
    paths[other.name] = start
    inner = {other.name: start, base.name: paths[base.name]}
    _follow(start, by_name, inner)
    for alias, path in inner.items():
        paths.setdefault(alias, path)


def reverse_condition(where: AnyOf | Related, path: JoinPath) -> AnyOf | Related:
    """A condition on a table whose rows refer to this one, as an existence test."""
    if path.reverse is None or not isinstance(where, AnyOf):
        return where
    return Related(path.reverse.table, path.reverse.column, path.reverse.here, (where,), path.joins)


# What columns are for


def is_amount(table: RealityTable, column: Column) -> bool:
    """Whether a column holds amounts to add and compare, not identifiers.

    Identifiers are keys, columns that refer to another table, and columns whose header ends in id, number, code or
    year.
    """
    words = header_words(column.header)
    named = header_words(re.sub(r"\(.*\)", "", column.header)) or words
    if not column.type.numeric or named[-1] in _NAMING or is_year(column):
        return False
    sums = set(words) & (asking().beside["number"] | asking().beside["money"])
    if column.type is ColumnType.INTEGER and set(words) <= set(header_words(table.name)) and not sums:
        return False  # the route of routes
    return not any(link.column == column.name for link in _active_links(table))


def flag_values(column: Column) -> tuple[str, str] | None:
    """The values for yes and no of a column that says only these (and perhaps "unknown"); None for any other."""
    if column.type is ColumnType.BOOLEAN:
        return "true", "false"
    if column.type is ColumnType.INTEGER and (column.least, column.most, column.distinct) == ("0", "1", 2):
        return "1", "0"
    lower = {value.strip().lower(): value for value in column.values}
    if column.type is not ColumnType.TEXT or not {"yes", "no"} <= set(lower):
        return None
    return (lower["yes"], lower["no"]) if set(lower) - {"yes", "no"} <= asking().nothing else None


def is_year(column: Column) -> bool:
    """Whether a column of whole numbers holds years: all of them are, or have been, one."""
    if column.type is not ColumnType.INTEGER or not (len(column.least) == len(column.most) == 4):
        return False
    named = "year" in header_words(column.header)
    return _FIRST_YEAR <= column.least <= column.most <= _LAST_YEAR and (named or column.distinct > 1)


def money_columns(table: RealityTable) -> list[Column]:
    """The columns that hold money: by their type, else by their header."""
    lexicon = asking()
    pay = lexicon.synonyms["salari"] | lexicon.synonyms["price"] | {"salari", "price"}
    numbers = [column for column in table.columns if is_amount(table, column)]
    money = [column for column in numbers if column.type is ColumnType.MONEY]
    return money or [column for column in numbers if set(header_words(column.header)) & pay]


def name_column(table: RealityTable) -> Column | None:
    """The column that names the rows: a name or description, else the key.

    Nine in ten of a column's values must differ. It gains score for naming words in its header, for words of the
    table's name and for being unique, and loses score for words of a partial name ("first name"). The weights are
    chosen by hand; not fitted.
    """
    lexicon = asking()
    best: tuple[float, Column] | None = None
    for column in table.columns:
        stems = header_words(column.header)
        if column.type is not ColumnType.TEXT or not column.distinct:
            continue
        named = any(word in ("name", "titl", "descript", "label") for word in stems)
        own = set(stems) & set(header_words(table.name))
        partial = {"first", "last", "middl", "given", "file", "user", "type"} & set(stems)
        varied = column.distinct >= 0.9 * max(column.filled, 1)
        score = 2.0 * named + bool(own) + varied - 2.0 * bool(partial) - 0.1 * len(set(stems) - lexicon.light)
        if named and varied and (best is None or score > best[0]):
            best = score, column
    return best[1] if best else table.key


def label_columns(table: RealityTable) -> list[Column]:
    """The columns that label a row: its key and a person's names, else the name column."""
    persons = [column for column in table.columns if column.personal == "a name"][:2]
    if persons:
        return [*([table.key] if table.key else []), *(column for column in persons if column != table.key)]
    named = name_column(table)
    return [named] if named else []


# Suggesting links


def suggest_links(
    table: RealityTable, others: Sequence[RealityTable], overlaps: Overlaps, changed: Collection[str] | None = None
) -> tuple[TableLink, ...]:
    """Suggest links from a table's columns to keys of other tables (and to its own: a manager is an employee).

    At least half of the column's distinct values, and two, must be among the key's. Numbers coincide easily, so they
    also need a word in common between the column and the key or its table. Links that an analyst confirmed or dismissed
    keep their state. overlaps: as `TableStore.overlaps`. changed: names of tables that were added, removed or replaced
    since the links were suggested; None: all tables.
    """
    states = {(link.column, link.other_table, link.other_column): link.state for link in table.links}
    tables = {each.name: each for each in (table, *others)}
    places = {name: place for place, name in enumerate(tables)}
    suggested = []
    for column in table.columns:
        known = [link for link in table.links if link.column == column.name and _comes_from_values(table, link, tables)]
        named = {table.name, *(link.other_table for link in known)}
        if changed is None or named & set(changed) or not named <= places.keys():
            links = list(_links(table, column, [table, *others], overlaps))
        else:  # among the others nothing is nearer than what is known
            links = [*known, *_links(table, column, [each for each in others if each.name in changed], overlaps)]
        if links:
            links.sort(key=lambda link: places[link.other_table])
            best = max(links, key=lambda link: _rank(link, column))
            state = states.get((best.column, best.other_table, best.other_column), best.state)
            suggested.append(replace(best, state=state))
    confirmed = [link for link in table.links if link.state is LinkState.CONFIRMED and link not in suggested]
    linked = {link.column for link in suggested}
    return (*suggested, *(link for link in confirmed if link.other_table in places and link.column not in linked))


def _comparable(table: RealityTable, column: Column, other: RealityTable, key: Column) -> bool:
    """Whether a column may point to another one: a key of the same type; in its own table only to a superior."""
    alike = column.type is key.type and column.type in (ColumnType.TEXT, ColumnType.INTEGER) and column.distinct > 0
    elsewhere = other.id != table.id or (key != column and bool(set(header_words(column.header)) & _SUPERIORS))
    return key.key and alike and elsewhere


def _links(
    table: RealityTable, column: Column, others: Sequence[RealityTable], overlaps: Overlaps
) -> Iterator[TableLink]:
    """The links from a column to the keys of these tables, in their order. The database compares only what the profiles
    of both columns leave open."""
    keys = [
        (other, key)
        for other in others
        for key in other.columns
        if _comparable(table, column, other, key) and _may_link(column, other, key)
    ]
    counted = [(other, key) for other, key in keys if not (column.values and key.values)]
    refs = [ColumnRef(other.name, key.name) for other, key in counted]
    counts = dict(zip(refs, overlaps(ColumnRef(table.name, column.name), refs), strict=True)) if refs else {}
    for other, key in keys:
        ref = ColumnRef(other.name, key.name)
        in_memory = len(column.values), sum(value in key.values for value in column.values)
        distinct, shared = counts.get(ref, in_memory)
        if shared and shared >= max(_LEAST_SHARE * distinct, min(_LEAST_SHARED, distinct)):
            yield TableLink(column.name, other.name, key.name, shared / distinct)


def _comes_from_values(table: RealityTable, link: TableLink, tables: Mapping[str, RealityTable]) -> bool:
    """Whether comparing values gives this link, as far as the profiles tell; a link made by hand may not pass. True
    also where its table was removed."""
    other = tables.get(link.other_table)
    if link.share < _LEAST_SHARE or other is None:
        return link.share >= _LEAST_SHARE
    columns = [each for each in table.columns if each.name == link.column]
    keys = [each for each in other.columns if each.name == link.other_column]
    return any(
        _comparable(table, column, other, key) and _may_link(column, other, key) for column in columns for key in keys
    )


def _may_link(column: Column, other: RealityTable, key: Column) -> bool:
    """Whether they share a word where they must, and the key has enough distinct values."""
    if (column.key or column.type is ColumnType.INTEGER) and not _share_a_word(column, other, key):
        return False
    return key.distinct >= max(_LEAST_SHARE * column.distinct, min(_LEAST_SHARED, column.distinct))


def _share_a_word(column: Column, other: RealityTable, key: Column) -> bool:
    """Whether a column and a key or its table have a word in common, synonyms included."""
    lexicon = asking()
    own = set(header_words(column.header)) - lexicon.light
    there = set(header_words(key.header)) | set(header_words(other.name))
    if own & _SUPERIORS and _EMPLOYEES & there:
        return True
    role_words = own | {synonym for stem in own for synonym in lexicon.synonyms.get(stem, ())}
    return bool(role_words & (there - lexicon.light))


def _rank(link: TableLink, column: Column) -> tuple[float, int]:
    words = set(header_words(column.header)) & (
        set(header_words(link.other_table)) | set(header_words(link.other_column))
    )
    return link.share, len(words)
