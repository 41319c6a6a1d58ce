"""Items → one query, and how much to doubt it; nothing that was said may be lost on the way."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.reality.conditions import conditions_of
from core.reality.items import Unclear
from core.reality.lexicon import Meaning
from core.reality.reach import Reach
from core.reality.reading import Item, Read, Words
from core.reality.shape import shaped
from core.reality.shaping import refs_of
from core.reality.spoken import tables_of
from core.table_queries import AnyOf, Fold, Measure, Ref, TableQuery, Test
from core.tables.asking import asking

__all__ = ["composed", "variants"]

_MOST_VARIANTS = 8
_MEANT = frozenset(
    (
        "number",
        "date",
        "value",
        "not",
        "empty",
        "column",
        "table",
        "sum",
        "average",
        "median",
        "share",
        "before",
        "after",
        "more",
        "less",
        "at_least",
        "at_most",
        "between",
        "or_more",
        "or_less",
        "or",
    )
)


def composed(words: Words, items: Sequence[Item], reach: Reach) -> tuple[TableQuery, float]:
    """The query of a reading, and what to take off its score. Raises Unclear for items that came to nothing."""
    told = list(items)
    found = conditions_of(words, told, reach)
    items = told
    query, doubt = shaped(words, items, reach, found)
    doubt += _picked(query, reach)
    spoken_of = {ref.table for ref in refs_of(query)} | set(tables_of(query))
    loose = [
        item
        for place, item in enumerate(items)
        if place not in found.used and not _little(words, item) and not _on_the_way(item, reach, spoken_of)
    ]
    if meant := [item for item in loose if item.kind in _MEANT]:
        phrases = ", ".join(dict.fromkeys(_phrase(words, item) for item in meant))
        raise Unclear(f"A part of the question could not be put together: {phrases}.")
    return query, doubt


def _on_the_way(item: Item, reach: Reach, spoken_of: Collection[str]) -> bool:
    """Whether a name only says which way a condition goes: "requests of people in Sales"."""
    if item.meaning is None or item.kind not in ("table", "column"):
        return False
    if item.kind == "table":
        return item.meaning.way.alias in spoken_of
    way, column = item.meaning.way, item.meaning.ref.column
    if way.back is not None and way.table.name in spoken_of:
        return any(link.column == column for link in way.table.links)
    target = reach.target(item.meaning.way.alias, item.meaning.ref.column)
    return target is not None and target.alias in spoken_of


def _little(words: Words, item: Item) -> bool:
    """Whether a name was read into words that may as well mean nothing: "paid", "made"."""
    if item.kind == "between":
        return words.said[item.first].word == "from"
    return item.kind in ("column", "table") and all(
        token.stem in asking().ignorable for token in words.said[item.first : item.last]
    )


def _picked(query: TableQuery, reach: Reach) -> float:
    """Counting the one row a name picks out of a code table is hardly asked, when other tables use its codes."""
    pointed = any(way.back is not None for way in reach.ways.values())
    counts = query.measures == (Measure(Fold.COUNT),) and not query.groups
    names = {column.name for column in reach.base.columns if column.distinct == reach.base.rows}
    picked = any(
        isinstance(clause, AnyOf)
        and any(
            each.test is Test.IS and each.ref == Ref(reach.base.name, each.ref.column) and each.ref.column in names
            for each in clause.conditions
        )
        for clause in query.where
    )
    return 1.5 if pointed and counts and picked else 0.0


def _phrase(words: Words, item: Item) -> str:
    return f"'{words.question[words.said[item.first].start : words.said[item.last - 1].end]}'"


def variants(got: Read) -> list[Read]:
    """The reading itself, and one for each rival of each name in it."""
    found = [got]
    for place, item in enumerate(got.items):
        for rival in item.rivals:
            if not _same(rival, item.meaning):
                items = list(got.items)
                items[place] = replace(item, kind=rival.kind, meaning=rival, rivals=())
                found.append(Read(tuple(items), got.unexplained, got.score - 0.5))
    return found[:_MOST_VARIANTS]


def _same(one: Meaning, other: Meaning | None) -> bool:
    return (
        other is not None and one.kind == other.kind and one.way.alias == other.way.alias and one.column == other.column
    )
