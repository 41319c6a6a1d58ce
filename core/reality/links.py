"""Which columns name rows of which other tables, told from the values they share."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.matching import stem
from core.reality.words import header_words
from core.table_queries import Ref
from core.tables.asking import asking
from core.tabular import Column, ColumnType, Link, LinkState, RealityTable

__all__ = ["linked"]

_LEAST_SHARE = 0.5
_LEAST_SHARED = 2
_ABOVE = frozenset(
    stem(word) for word in ("manager", "mgr", "supervisor", "parent", "boss", "lead", "reports", "superior")
)
_EMPLOYEES = frozenset(stem(word) for word in ("employee", "staff", "worker", "person", "personnel"))
Overlap = Callable[[Ref, Ref], tuple[int, int]]


def linked(table: RealityTable, others: Sequence[RealityTable], overlap: Overlap) -> tuple[Link, ...]:
    """Links from a table's columns to keys of other tables (and to its own, as a manager is an employee).

    A link needs half of the column's different values, and two, among the key's. Numbers coincide easily, so they also
    need a word in common between the column and the key or its table. What an analyst said of a link stays said.
    """
    said = {(link.column, link.other_table, link.other_column): link for link in table.links}
    found = []
    for column in table.columns:
        best: Link | None = None
        for other in [table, *others]:
            for key in other.columns:
                if not key.key or not _alike(column, key):
                    continue
                if other.id == table.id and (key == column or not set(header_words(column.header)) & _ABOVE):
                    continue
                link = _link(table, column, other, key, overlap)
                if link is not None and (best is None or _rank(link, column) > _rank(best, column)):
                    best = link
        if best is not None:
            known = said.get((best.column, best.other_table, best.other_column))
            found.append(replace(best, state=known.state) if known else best)
    kept = [link for link in table.links if link.state is LinkState.CONFIRMED and link not in found]
    names = {other.name for other in [table, *others]}
    return (
        *found,
        *(link for link in kept if link.other_table in names and link.column not in {f.column for f in found}),
    )


def _alike(column: Column, key: Column) -> bool:
    kinds = (ColumnType.TEXT, ColumnType.INTEGER)
    return column.type is key.type and column.type in kinds and column.distinct > 0


def _link(table: RealityTable, column: Column, other: RealityTable, key: Column, overlap: Overlap) -> Link | None:
    named = _named_alike(column, other, key)
    if column.key and not named:
        return None
    if column.type is ColumnType.INTEGER and not named:
        return None
    if column.values and key.values:
        shared, all_values = sum(value in key.values for value in column.values), len(column.values)
    else:
        all_values, shared = overlap(Ref(table.name, column.name), Ref(other.name, key.name))
    if shared < min(_LEAST_SHARED, all_values) or shared < _LEAST_SHARE * all_values or not shared:
        return None
    return Link(column.name, other.name, key.name, shared / all_values)


def _named_alike(column: Column, other: RealityTable, key: Column) -> bool:
    asked = asking()
    own = set(header_words(column.header)) - asked.light
    if own & _ABOVE and _EMPLOYEES & (set(header_words(key.header)) | set(header_words(other.name))):
        return True
    there = (set(header_words(key.header)) | set(header_words(other.name))) - asked.light
    meant = own | {synonym for stem in own for synonym in asked.synonyms.get(stem, ())}
    return bool(meant & there)


def _rank(link: Link, column: Column) -> tuple[float, int]:
    words = set(header_words(column.header)) & (
        set(header_words(link.other_table)) | set(header_words(link.other_column))
    )
    return link.share, len(words)
