"""The items of a question under work: what was taken, what was understood of it, and what is still free."""

from dataclasses import dataclass, field, replace

from core.reality.lexicon import Meaning
from core.reality.reach import Reach, extended, is_amount
from core.reality.reading import Item, Words
from core.reality.words import Token, header_words
from core.table_queries import AnyOf, Condition, Ref, Related, Test
from core.tables.asking import asking
from core.tabular import Column, ColumnType

__all__ = ["COMPARE", "FOLDS", "Conditions", "ItemReader", "Unclear", "is_flag", "is_year"]

COMPARE = {
    "more": Test.MORE,
    "at_least": Test.AT_LEAST,
    "less": Test.LESS,
    "at_most": Test.AT_MOST,
    "exactly": Test.IS,
    "between": Test.BETWEEN,
    "before": Test.LESS,
    "after": Test.MORE,
}
FOLDS = frozenset(("count", "sum", "average", "median", "distinct", "most", "least", "many", "few"))


class Unclear(Exception):
    """The words cannot be put together against this table. The message says what is missing."""


@dataclass(slots=True)
class Conditions:
    """What was understood. used: numbers of the items taken. later: the conditions said after the table itself, by the
    place of their words, for shares. having: (measure's fold item, column, test, values) for groups."""

    where: list[tuple[int, AnyOf | Related]] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    having: list[tuple[Item | None, Ref | None, Test, tuple[str, ...]]] = field(default_factory=list)
    dated: set[str] = field(default_factory=set)


@dataclass(slots=True)
class ItemReader:
    """Small looks at the items; what reads one kind of condition stands on it."""

    words: Words
    items: list[Item]
    reach: Reach
    found: Conditions = field(default_factory=Conditions)

    def _item(self, place: int, *kinds: str) -> Item | None:
        """The unused item at a place, when it is of one of these kinds."""
        if 0 <= place < len(self.items) and place not in self.found.used and self.items[place].kind in kinds:
            return self.items[place]
        return None

    def _free(self, place: int) -> Item | None:
        return self.items[place] if 0 <= place < len(self.items) and place not in self.found.used else None

    def _numeric(self, place: int) -> Item | None:
        item = self._item(place, "column")
        if item is None:
            return None
        for meaning in (item.meaning, *item.rivals):
            if meaning and meaning.column and is_amount(meaning.way.table, meaning.column):
                self.items[place] = replace(item, meaning=meaning)
                return self.items[place]
        return None

    def _dated(self, place: int) -> bool:
        item = self._item(place, "column")
        return bool(item and item.meaning and item.meaning.column and item.meaning.column.type.dated)

    def _date_said(self, place: int) -> Meaning | None:
        """The date column a word before an item speaks of, though it was read as something else: "terminated in"."""
        first = self.items[place].first
        synonyms = asking().synonyms
        for token in reversed(self.words.said[max(0, first - 4) : first]):
            meant = {token.stem} | synonyms.get(token.stem, frozenset()) - asking().light
            for way in sorted(self.reach.ways.values(), key=lambda way: (way.back is not None, way.hops)):
                for column in way.table.columns:
                    words = set(header_words(column.header)) - asking().light
                    if column.type.dated and (meant & words or any(_shortens(word, token) for word in words)):
                        return Meaning("column", way, column)
        return None

    def _negated(self, place: int) -> bool:
        """Whether a "not" stands before an item; taken when it does."""
        if self._item(place - 1, "not"):
            self.found.used.add(place - 1)
            return True
        return False

    def _word_before(self, item: Item) -> str:
        place = item.first - 1
        while place >= 0 and self.words.said[place].word in ("a", "an", "any", "some"):
            place -= 1
        return self.words.said[place].word if place >= 0 else ""

    def _add(self, place: int, meaning: Meaning, *conditions: Condition) -> None:
        self.found.where.append((self.items[place].first, extended(AnyOf(conditions), meaning.way)))

    def _own(self, column: Column) -> Meaning:
        return Meaning("column", self.reach.ways[self.reach.base.name], column)


def is_flag(column: Column) -> bool:
    zero_one = column.type is ColumnType.INTEGER and (column.least, column.most, column.distinct) == ("0", "1", 2)
    return column.type is ColumnType.BOOLEAN or zero_one


def is_year(column: Column) -> bool:
    whole = column.type is ColumnType.INTEGER and "year" in header_words(column.header)
    return whole and column.least[:2] in ("19", "20") and len(column.least) == 4


def _shortens(word: str, said: Token) -> bool:
    """Whether a header's word and a word of the question begin alike: "term" and "terminated"."""
    return (len(word) > 3 and said.word.startswith(word)) or (len(said.stem) > 4 and word.startswith(said.stem))
