"""Conditions on what is there at all: with, without, missing; and yes/no columns."""

from dataclasses import dataclass

from core.reality.items import COMPARE, FOLDS, ItemReader, Unclear, is_flag
from core.reality.lexicon import Meaning
from core.reality.reach import Way
from core.table_queries import AnyOf, Condition, Ref, Related, Test
from core.tables.asking import asking
from core.tabular import ColumnType

__all__ = ["Possessions"]

_HAVING_WORDS = ("with", "have", "has", "having", "had")
_NOTED = frozenset(
    "recorded record given known listed specified entered noted file stated documented available".split()
)


@dataclass(slots=True)
class Possessions(ItemReader):
    """Conditions on what is there at all: with, without, missing; and yes/no columns."""

    def empties(self) -> None:
        """ "missing a manager", "manager is blank", "without a tax category"."""
        for place in range(len(self.items)):
            if self._item(place, "empty"):
                after, before = self._item(place + 1, "column"), self._item(place - 1, "column")
                at = place + 1 if after else place - 1
                if not (after or before):
                    continue
                self.found.used |= {place, at}
                negated = self._negated(min(place, at)) or self._negated(place)
                self._add_empty(at, negated=negated)
            elif self._item(place, "not"):
                self._without(place)

    def _without(self, place: int) -> None:
        item = self._item(place + 1, "column", "table")
        if item is None or item.meaning is None:
            return
        tables = (rival for rival in item.rivals if rival.kind == "table" and rival.way.back is not None)
        meaning = item.meaning if item.kind == "table" else next(tables, item.meaning)
        valued = self._item(place + 2, "value")
        if valued is not None and valued.meaning and meaning.column and valued.meaning.ref == meaning.ref:
            return  # "not department Sales"
        if self._item(place + 2, *COMPARE) or self._item(place + 2, "date"):
            return
        if meaning.kind == "table" or (meaning.column is not None and meaning.column.key and meaning.way.hops):
            if not meaning.way.hops:
                raise Unclear("It is not clear what is missing.")
            self.found.used |= {place, place + 1}
            self._add_related(place, meaning, negated=True)
        elif meaning.column is not None and meaning.column.key and not meaning.way.hops:
            raise Unclear("It is not clear what is missing.")
        elif meaning.column is not None and not is_flag(meaning.column):
            self.found.used |= {place, place + 1}
            self._add_empty(place + 1, negated=False)

    def _add_related(self, place: int, meaning: Meaning, *, negated: bool) -> None:
        """That rows of another table belong to this one, or that none does."""
        way = meaning.way
        first = self.items[place].first
        if way.back is not None:
            there = Related(way.back.table, way.back.column, way.back.here, (), way.joins, negated)
            self.found.where.append((first, there))
        else:
            key = Ref(way.alias, way.joins[-1].right)
            self.found.where.append((first, AnyOf((Condition(key, Test.EMPTY, negated=not negated),))))

    def _add_empty(self, place: int, *, negated: bool) -> None:
        meaning = self.items[place].meaning
        assert meaning is not None and meaning.column is not None
        if meaning.column.type.numeric:
            after = self.words.said[self.items[place].last : self.items[place].last + 3]
            noted = any(token.word in _NOTED for token in after)
            test = Condition(meaning.ref, Test.EMPTY, () if noted else ("0",), negated)
        else:
            nothing = tuple(value for value in meaning.column.values if value.strip().lower() in asking().nothing)
            test = Condition(meaning.ref, Test.EMPTY, nothing, negated)
        if meaning.way.back is not None and not negated:
            back = meaning.way.back
            filled = AnyOf((Condition(test.ref, Test.EMPTY, test.values, True),))
            related = Related(back.table, back.column, back.here, (filled,), meaning.way.joins, True)
            self.found.where.append((self.items[place].first, related))
            return
        self._add(place, meaning, test)

    def flags(self) -> None:
        """Yes/no columns said as adjectives: "exempt employees", "not active"."""
        for place in range(len(self.items)):
            item = self._item(place, "column")
            column = item.meaning.column if item and item.meaning else None
            if column is None or not is_flag(column) or self._item(place - 1, "group", "distinct"):
                continue
            assert item is not None and item.meaning is not None
            if item.meaning.way.hops and not self._spoken_of(item.meaning.way):
                raise Unclear(f"It is not clear what is '{column.header}'.")
            negated = self._negated(place)
            self.found.used.add(place)
            meaning = item.meaning
            yes, no = ("true", "false") if column.type is ColumnType.BOOLEAN else ("1", "0")
            self._add(place, meaning, Condition(meaning.ref, Test.IS, (no if negated else yes,)))

    def _spoken_of(self, way: Way) -> bool:
        """Whether a table is named: "active" of earning codes is no "active" of employees."""
        meanings = [item.meaning for item in self.items if item.meaning is not None and item.kind == "table"]
        return any(meaning.way.table.name == way.table.name for meaning in meanings)

    def possessions(self) -> None:
        """ "with a middle name", "who have dependents": filled, above zero, or rows of another table."""
        for place in range(len(self.items)):
            item = self._item(place, "column", "table")
            if item is None or item.meaning is None or self._word_before(item) not in _HAVING_WORDS:
                continue
            if self._free(place - 1) and self.items[place - 1].kind in FOLDS | {"latest", "earliest"}:
                continue
            before = self.words.said[item.first - 1].word
            first = not any(self.items[at].kind in ("column", "table") for at in range(place))
            if before in ("the", "their") or first:
                continue
            meaning = item.meaning
            if meaning.kind == "table" and meaning.way.hops:
                self.found.used.add(place)
                self._add_related(place, meaning, negated=False)
            elif meaning.column is not None and before in (*_HAVING_WORDS, "a", "an", "any"):
                self.found.used.add(place)
                self._add_empty(place, negated=True)
