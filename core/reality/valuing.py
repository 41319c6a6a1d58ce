"""Conditions on values: in Texas, Texas or Ohio, not in Sales, grade 18."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.matching import stem
from core.reality.items import COMPARE, ItemReader, Unclear
from core.reality.lexicon import Meaning
from core.reality.reach import naming_column
from core.reality.reading import Item
from core.reality.words import header_words
from core.table_queries import AnyOf, Condition, Ref, Related, Test
from core.tabular import ColumnType

__all__ = ["Valued"]

_TO = frozenset(stem(word) for word in ("dest", "destination", "to", "target", "arrival", "receiver", "recipient"))
_FROM = frozenset(stem(word) for word in ("origin", "from", "source", "departure", "sender", "depart"))
_DIRECTIONS = {"to": _TO, "into": _TO, "toward": _TO, "towards": _TO, "from": _FROM}
_LINKING = frozenset("as is are was were their its the for in of a an".split())


@dataclass(slots=True)
class Valued(ItemReader):
    """Conditions on values: in Texas, Texas or Ohio, not in Sales, grade 18."""

    def values(self) -> None:
        """Values: "in Texas", "Texas or Ohio", "not in Sales"; and a column with a number: "grade 18"."""
        place = 0
        while place < len(self.items):
            if self._item(place, "value"):
                place = self._value_run(place)
            elif self._item(place, "column") and self._item(place + 1, "number"):
                self._numbered(place)
            place += 1

    def _numbered(self, place: int) -> None:
        item, number = self.items[place], self.items[place + 1]
        column = item.meaning.column if item.meaning else None
        if column is None or item.meaning is None or number.first - item.last > 1:
            return
        told = [value for value in column.values if value.lower() == self.words.said[number.first].word]
        between = {token.word for token in self.words.said[item.last : number.first]}
        if (not column.type.numeric and not told) or "of" in between:
            return
        negated = self._negated(place)
        self.found.used |= {place, place + 1}
        values = (number.number,) if column.type.numeric else tuple(told)
        at = place + 2
        while self._item(at, "or") and self._item(at + 1, "number") and column.type.numeric:
            self.found.used |= {at, at + 1}
            values = (*values, self.items[at + 1].number)
            at += 2
        self._add(place, item.meaning, Condition(item.meaning.ref, Test.IS, values, negated))

    def _value_run(self, place: int) -> int:
        """Values that stand together: of one column any of them, of several columns with "or" in between either."""
        before = self._column_before(place)
        own = before is not None and before.meaning is not None and self._same_thing(before.meaning, self._meant(place))
        negated = self._negated(place) or (own and bool(self._item(place - 2, "not")) and self._negated(place - 1))
        meanings = [self._meant(place)]
        self.found.used.add(place)
        at = place
        while True:
            step = self._next_value(at)
            if step is None:
                break
            following = self._meant(step)
            either = bool(self._item(at + 1, "or"))
            if not either and following.ref != meanings[-1].ref:
                break
            self.found.used |= set(range(at + 1, step + 1))
            meanings.append(following)
            at = step
        taken = len(self.found.used)
        self._beside(place, at, meanings[0])
        if negated and len(self.found.used) == taken and not all(meaning.whole for meaning in meanings):
            raise Unclear(f"'{self._said(place)}' names only a part of a value; it is not clear what is left out.")
        tests = self._merged(meanings, negated)
        if negated:
            for test, meaning in tests:
                self._add_negated(place, meaning, test)
        else:
            ways = {meaning.way.alias for _, meaning in tests}
            if len(ways) == 1:
                self._add(place, meanings[0], *(test for test, _ in tests))
            else:
                joined = [meaning for _, meaning in tests if meaning.way.back is None]
                if len(joined) < len(tests):
                    raise Unclear("Either-or over tables that are not linked row by row cannot be asked.")
                self.found.where.append((self.items[place].first, AnyOf(tuple(test for test, _ in tests))))
        return at

    def _add_negated(self, place: int, meaning: Meaning, test: Condition) -> None:
        if meaning.way.back is not None:
            back = meaning.way.back
            plain = AnyOf((Condition(test.ref, test.test, test.values),))
            related = Related(back.table, back.column, back.here, (plain,), meaning.way.joins, True)
            self.found.where.append((self.items[place].first, related))
        else:
            self._add(place, meaning, test)

    def _next_value(self, at: int) -> int | None:
        if self._item(at + 1, "value"):
            between = self.words.question[self._end(at) : self._begin(at + 1)].lower()
            return at + 1 if re.search(r",|/|&|\band\b", between) else None
        if self._item(at + 1, "or") and self._item(at + 2, "value"):
            return at + 2
        if self._item(at + 1, "or") and self._item(at + 2, "column") and self._item(at + 3, "value"):
            return at + 3
        return None

    def _said(self, place: int) -> str:
        return self.words.question[self._begin(place) : self._end(place)]

    def _end(self, place: int) -> int:
        return self.words.said[self.items[place].last - 1].end

    def _begin(self, place: int) -> int:
        return self.words.said[self.items[place].first].start

    def _meant(self, place: int) -> Meaning:
        """The value's meaning; a column named beside it decides between rivals."""
        item = self.items[place]
        assert item.meaning is not None
        for beside in (self._item(place - 1, "column"), self._item(place + 1, "column")):
            if beside is not None and beside.meaning is not None:
                apart = max(item.first - beside.last, beside.first - item.last)
                for meaning in (item.meaning, *item.rivals):
                    near = meaning.whole or apart <= 1
                    if meaning.kind == "value" and meaning.ref == beside.meaning.ref and near:
                        return meaning
        return self._by_direction(item) or item.meaning

    def _by_direction(self, item: Item) -> Meaning | None:
        """ "to Oslo" and "from Oslo" tell two links to the same table apart."""
        before = self.words.said[max(0, item.first - 2) : item.first]
        stems = next((_DIRECTIONS[token.word] for token in reversed(before) if token.word in _DIRECTIONS), None)
        if stems is None:
            return None
        for meaning in (item.meaning, *item.rivals):
            joins = meaning.way.joins if meaning and meaning.kind == "value" else ()
            if joins and stems & set(header_words(joins[-1].left.column)):
                return meaning
        return None

    def _column_before(self, place: int) -> Item | None:
        return self._item(place - 1, "column")

    def _beside(self, first: int, last: int, meaning: Meaning) -> None:
        """ "state Texas", "Sales department": the column's own name says nothing more."""
        for at in (first - 1, last + 1):
            item = self._item(at, "column", "table")
            if item is None or item.meaning is None:
                continue
            same = item.meaning.kind == "column" and item.meaning.ref == meaning.ref
            if at == last + 1 and not same and self._item(at + 1, "value", "number", *COMPARE, "date"):
                continue
            if any(self._item(before, "distinct") for before in range(at)) and item.kind == "column":
                continue
            between = self.words.said[self.items[last].last : item.first]
            near = all(token.word in _LINKING for token in between) or abs(self.items[first].first - item.last) <= 2
            if near and self._same_thing(item.meaning, meaning) and not self._item(at - 1, "group"):
                self.found.used.add(at)

    def _same_thing(self, name: Meaning, value: Meaning) -> bool:
        if name.kind == "table":
            return name.way.alias == value.way.alias and name.way.hops > 0
        if name.ref == value.ref:
            return True
        target = self.reach.target(name.way.alias, name.ref.column)
        if target is not None and target.alias == value.way.alias:
            named = naming_column(target.table)
            return value.column is not None and (value.column.key or value.column == named)
        if name.column is None or name.column.type is not ColumnType.TEXT:
            return False
        stems = [set(header_words(each.column.header)) for each in (name, value) if each.column]
        return name.way.alias == value.way.alias and bool(stems[0] & stems[1] - {"name", "code", "id", "date"})

    def _merged(self, meanings: Sequence[Meaning], negated: bool) -> list[tuple[Condition, Meaning]]:
        held: dict[Ref, tuple[list[str], Meaning]] = {}
        for meaning in meanings:
            held.setdefault(meaning.ref, ([], meaning))[0].extend(meaning.values)
        return [
            (Condition(ref, Test.IS, tuple(dict.fromkeys(values)), negated), meaning)
            for ref, (values, meaning) in held.items()
        ]
