"""How the tables of a library hang together, seen from one of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core.matching import stem
from core.reality.words import header_words
from core.table_queries import AnyOf, Join, Ref, Related
from core.tables.asking import asking
from core.tabular import Column, ColumnType, Link, LinkState, RealityTable

__all__ = ["Reach", "Way", "amounts_paid", "extended", "is_amount", "label_columns", "naming_column", "reach_from"]

_MOST_HOPS = 3
_HOP, _BACK, _PART = 0.45, 0.3, 1.2
_PARTS = frozenset(
    stem(word)
    for word in "manager supervisor parent boss lead superior approver approved created owner previous backup".split()
)
_NAMING = frozenset(
    stem(word) for word in ("id", "identifier", "number", "no", "num", "code", "year", "key", "zip", "nr")
)


@dataclass(frozen=True, slots=True)
class Way:
    """How a table is reached. joins: link by link, each row has at most one partner. back: when rows of another table
    point here, what asks for their existence; `joins` then go on from that table. hops: links followed. cost: how far
    from the question's table that is; a link that plays a part of its own (manager_id to employees) is further."""

    table: RealityTable
    alias: str
    joins: tuple[Join, ...] = ()
    back: Related | None = None
    hops: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything questions about one table may speak of. ways: alias → way; the table itself first."""

    base: RealityTable
    ways: Mapping[str, Way]

    def forward(self) -> list[Way]:
        """The ways that can be joined without repeating rows."""
        return [way for way in self.ways.values() if way.back is None]

    def target(self, alias: str, column: str) -> Way | None:
        """The table a column points to, when it can be joined."""
        return next(
            (way for way in self.forward() if way.joins and way.joins[-1].left == Ref(alias, column)),
            None,
        )


def reach_from(base: RealityTable, tables: Sequence[RealityTable]) -> Reach:
    """All tables linked with `base`, up to three links away; dismissed links are not followed."""
    by_name = {table.name: table for table in tables}
    ways = {base.name: Way(base, base.name)}
    _follow(ways[base.name], by_name, ways)
    for other in tables:
        for link in _living(other):
            if link.other_table == base.name and other.name != base.name:
                _follow_back(base, other, link, by_name, ways)
    return Reach(base, ways)


def _living(table: RealityTable) -> list[Link]:
    return [link for link in table.links if link.state is not LinkState.DISMISSED]


def _plays_a_part(link: Link, other: RealityTable) -> bool:
    """Whether a link's column names no row of the table as such, but what it is to this one: a manager, a parent."""
    asked = asking()
    own = set(header_words(link.column)) - asked.light
    there = set(header_words(other.name)) | set(header_words(link.other_column))
    meant = own | {synonym for stem in own for synonym in asked.synonyms.get(stem, ())}
    return bool(own) and (not meant & there or bool((own - there) & _PARTS))


def _follow(start: Way, by_name: Mapping[str, RealityTable], ways: dict[str, Way], suffix: str = "") -> None:
    edge = [start]
    while edge:
        here = edge.pop(0)
        if here.hops >= _MOST_HOPS:
            continue
        for link in _living(here.table):
            other = by_name.get(link.other_table)
            if other is None or len({join.table for join in here.joins} & {other.name}):
                continue
            part = _plays_a_part(link, other)
            alias = _alias(other.name, link.column, taken={*ways, other.name} if part else ways)
            join = Join(other.name, alias, Ref(here.alias, link.column), link.other_column)
            cost = here.cost + _HOP + (_PART if part else 0.0)
            way = Way(other, alias, (*here.joins, join), start.back, here.hops + 1, cost)
            if other.name == here.table.name and here.hops:
                continue
            ways[alias] = way
            edge.append(way)


def _alias(table: str, column: str, taken: Collection[str]) -> str:
    alias, number = table, 1
    while alias in taken:
        alias = f"{table}_{column.strip('_')}" if number == 1 else f"{table}_{column.strip('_')}_{number}"
        number += 1
    return alias


def _follow_back(
    base: RealityTable, other: RealityTable, link: Link, by_name: Mapping[str, RealityTable], ways: dict[str, Way]
) -> None:
    """Rows of `other` point at `base`: they, and what they lead to, can be asked for by existence."""
    if other.name in ways:
        return
    back = Related(other.name, link.column, Ref(base.name, link.other_column))
    cost = _HOP + _BACK + (_PART if _plays_a_part(link, base) else 0.0)
    start = Way(other, other.name, (), back, 1, cost)
    ways[other.name] = start
    inner = {other.name: start, base.name: ways[base.name]}
    _follow(start, by_name, inner)
    for alias, way in inner.items():
        ways.setdefault(alias, way)


def is_amount(table: RealityTable, column: Column) -> bool:
    """Whether numbers of a column can be added and compared; those that name something cannot.

    Keys, columns that point to another table, and headers that end in id, number, code or year name something.
    """
    if not column.type.numeric or (column.key and header_words(column.header)[-1] in _NAMING):
        return False
    pointing = any(link.column == column.name and link.state is not LinkState.DISMISSED for link in table.links)
    return not pointing and header_words(column.header)[-1] not in _NAMING


def amounts_paid(table: RealityTable) -> list[Column]:
    """The columns that hold money: by their type, else by their header."""
    asked = asking()
    pay = asked.synonyms["salari"] | asked.synonyms["price"] | {"salari", "price"}
    numbers = [column for column in table.columns if is_amount(table, column)]
    money = [column for column in numbers if column.type is ColumnType.MONEY]
    return money or [column for column in numbers if set(header_words(column.header)) & pay]


def naming_column(table: RealityTable) -> Column | None:
    """The column people call its rows by: a name or description before the key."""
    asked = asking()
    best: tuple[float, Column] | None = None
    for column in table.columns:
        stems = header_words(column.header)
        if column.type is not ColumnType.TEXT or not column.distinct:
            continue
        named = sum(word in ("name", "titl", "descript", "label") for word in stems)
        own = set(stems) & set(header_words(table.name))
        partial = {"first", "last", "middl", "given", "file", "user", "type"} & set(stems)
        varied = column.distinct >= 0.9 * max(column.filled, 1)
        score = 2.0 * bool(named) + bool(own) + varied - 2.0 * bool(partial) - 0.1 * len(set(stems) - asked.light)
        if named and varied and (best is None or score > best[0]):
            best = score, column
    return best[1] if best else table.key


def label_columns(table: RealityTable) -> list[Column]:
    """What a row is shown by: its key and a person's names, else what people call it."""
    persons = [column for column in table.columns if column.personal == "a name"][:2]
    if persons:
        return [*([table.key] if table.key else []), *(column for column in persons if column != table.key)]
    named = naming_column(table)
    return [named] if named else []


def extended(where: AnyOf | Related, way: Way) -> AnyOf | Related:
    """A condition on a table that is reached backwards, as the existence of such rows."""
    if way.back is None or not isinstance(where, AnyOf):
        return where
    return Related(way.back.table, way.back.column, way.back.here, (where,), way.joins)
