"""Items of a question → what rows must fulfil. Each step takes the items it understands and leaves the rest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from core.matching import stem
from core.reality.lexicon import Meaning
from core.reality.reach import Reach, Way, amounts_paid, extended, is_amount, naming_column
from core.reality.reading import Item, Words
from core.reality.words import header_words
from core.table_queries import AnyOf, Condition, Ref, Related, Test
from core.tables.asking import asking
from core.tabular import Column, ColumnType

__all__ = ["Conditions", "Unclear", "conditions_of"]

_COMPARE = {
    "more": Test.MORE,
    "at_least": Test.AT_LEAST,
    "less": Test.LESS,
    "at_most": Test.AT_MOST,
    "exactly": Test.IS,
    "between": Test.BETWEEN,
    "before": Test.LESS,
    "after": Test.MORE,
}
_HAVING_WORDS = ("with", "have", "has", "having", "had")
_NOTHING_SAID = frozenset(("none", "n/a", "na", "no", "not applicable", "no plan", "unknown", "-", "null", "nil"))
_TO = frozenset(stem(word) for word in ("dest", "destination", "to", "target", "arrival", "receiver", "recipient"))
_FROM = frozenset(stem(word) for word in ("origin", "from", "source", "departure", "sender", "depart"))
_DIRECTIONS = {"to": _TO, "into": _TO, "toward": _TO, "towards": _TO, "from": _FROM}
_LINKING = frozenset("as is are was were their its the for in of a an".split())
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


def conditions_of(words: Words, items: list[Item], reach: Reach) -> Conditions:
    """Read the conditions; an item that was meant in another way is replaced in the list. Raises Unclear."""
    reader = _Reader(words, items, reach)
    reader.years_in_headers()
    reader.above()
    reader.comparisons()
    reader.empties()
    reader.values()
    reader.dates()
    reader.flags()
    reader.possessions()
    return reader.found


@dataclass(slots=True)
class _Reader:
    words: Words
    items: list[Item]
    reach: Reach
    found: Conditions = field(default_factory=Conditions)

    # Small looks

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

    # Steps

    def years_in_headers(self) -> None:
        """ "overtime in 2020" is all said by a column called "2020 Overtime"."""
        headers = {
            stem
            for item in self.items
            if item.kind == "column" and item.meaning and item.meaning.column
            for stem in header_words(item.meaning.column.header)
        }
        for place, item in enumerate(self.items):
            if item.date and re.fullmatch(r"\D*(\d{4})", item.date.dates.words):
                year = item.date.dates.words[-4:]
                if year in headers:
                    self.found.used.add(place)

    def above(self) -> None:
        """ "report to Ann Lee": what is said next is about the row above, in the same table."""
        for place in range(len(self.items)):
            if not self._item(place, "reports_to"):
                continue
            up = next((way for way in self.reach.forward() if way.hops == 1 and way.table == self.reach.base), None)
            if up is None:
                raise Unclear("No column says who reports to whom.")
            at = place + 1
            while item := self._item(at, "value"):
                meaning = item.meaning
                assert meaning is not None
                if meaning.way.hops == 0:
                    self.found.used.add(at)
                    moved = replace(meaning, way=up)
                    self._add(at, moved, Condition(moved.ref, Test.IS, moved.values))
                at += 1
            self.found.used.add(place)

    def comparisons(self) -> None:
        for place, item in enumerate(self.items):
            if place in self.found.used:
                continue
            if item.kind in _COMPARE:
                self._comparison(place, item)
            elif item.kind == "number" and self._item(place + 1, "or_more", "or_less"):
                test = Test.AT_LEAST if self.items[place + 1].kind == "or_more" else Test.AT_MOST
                self.found.used |= {place, place + 1}
                self._compare(place, place, place + 1, test, (item.number,))

    def _comparison(self, place: int, item: Item) -> None:
        test = _COMPARE[item.kind]
        number = self._item(place + 1, "number")
        if item.kind == "between":
            second = self._item(place + 2, "number")
            if number is None or second is None:
                return
            self.found.used |= {place, place + 1, place + 2}
            low, high = sorted((number.number, second.number), key=float)
            self._compare(place, place, place + 2, test, (low, high))
        elif number is not None:
            self.found.used |= {place, place + 1}
            end = place + 1
            if self._item(place + 2, "or_more", "or_less"):
                self.found.used.add(place + 2)
                end = place + 2
            self._compare(place, place, end, test, (number.number,))
        elif self._item(place + 1, "average") and item.kind in ("more", "less"):
            self._against_average(place, test)
        elif item.kind in ("more", "less") and self._pointing_up(place + 1):
            self._than_above(place, test)
        elif item.kind in ("more", "less", "before", "after") and self._dated(place + 1) and self._dated(place - 1):
            later, earlier = self.items[place + 1].meaning, self.items[place - 1].meaning
            assert later is not None and earlier is not None
            self.found.used |= {place - 1, place, place + 1}
            self._add(place, earlier, Condition(earlier.ref, test, other=later.ref))
        elif item.kind in ("more", "less", "at_least", "at_most") and self._numeric(place + 1):
            left = self._left_numeric(place)
            right = self.items[place + 1].meaning
            if left is None or right is None:
                return
            meaning = self.items[left].meaning
            assert meaning is not None
            self.found.used |= {place, place + 1, left}
            self._add(place, meaning, Condition(meaning.ref, test, other=right.ref))

    def _pointing_up(self, place: int) -> Way | None:
        """The rows above ("their manager"), when an item names the column that points to them."""
        item = self._item(place, "column")
        if item is None or item.meaning is None or item.meaning.way.hops:
            return None
        target = self.reach.target(item.meaning.way.alias, item.meaning.ref.column)
        return target if target is not None and target.table == self.reach.base else None

    def _than_above(self, place: int, test: Test) -> None:
        up, left = self._pointing_up(place + 1), self._left_numeric(place)
        if up is None or left is None:
            raise Unclear("It is not clear what is compared.")
        meaning = self.items[left].meaning
        assert meaning is not None
        self.found.used |= {place, place + 1, left}
        self._add(place, meaning, Condition(meaning.ref, test, other=Ref(up.alias, meaning.ref.column)))

    def _against_average(self, place: int, test: Test) -> None:
        self.found.used |= {place, place + 1}
        at = place + 2 if self._numeric(place + 2) else self._left_numeric(place)
        if at is None:
            raise Unclear("It is not clear what is compared with the average.")
        self.found.used.add(at)
        if (left := self._left_numeric(place)) is not None and at == place + 2:
            self.found.used.add(left)
        meaning = self.items[at].meaning
        assert meaning is not None
        self._add(place, meaning, Condition(meaning.ref, test, average=True))

    def _left_numeric(self, place: int) -> int | None:
        """The nearest numeric column before, with no other name in between."""
        for at in range(place - 1, -1, -1):
            if at in self.found.used or self.items[at].kind in ("not", "or", "group", "distinct"):
                continue
            return at if self._numeric(at) else None
        return None

    def _compare(self, place: int, first: int, last: int, test: Test, values: tuple[str, ...]) -> None:
        """Give a comparison with numbers its column: the one beside it, else a group's measure."""
        left, right = self._left_numeric(first), last + 1 if self._numeric(last + 1) else None
        beside = right is not None and self.items[right].first - self.items[last].last <= 1
        at = right if beside and not self._beside_left(left, first) else left if left is not None else right
        negated = self._negated(first)
        if at is None:
            self._of_group(place, last, test, values, negated)
            return
        meaning = self.items[at].meaning
        assert meaning is not None
        fold = self._item(at - 1, "average", "sum", "count", "median", "most", "least")
        if fold is not None and self._groups_ahead(at - 1):
            self.found.used |= {at, at - 1}
            self.found.having.append((fold, meaning.ref, test, values))
            return
        self.found.used.add(at)
        self._add(place, meaning, Condition(meaning.ref, test, values, negated))

    def _beside_left(self, left: int | None, first: int) -> bool:
        return left is not None and self.items[first].first - self.items[left].last <= 2

    def _groups_ahead(self, place: int) -> bool:
        """Whether something rows can be grouped by was named before."""
        return any(
            item.kind in ("column", "table") for at, item in enumerate(self.items[:place]) if at not in self.found.used
        )

    def _of_group(self, place: int, last: int, test: Test, values: tuple[str, ...], negated: bool) -> None:
        counted = self._item(last + 1, "table", "rows")
        if counted is not None and self._groups_ahead(place) and not negated:
            self.found.used.add(last + 1)
            self.found.having.append((None, None, test, values))
            return
        money = amounts_paid(self.reach.base)
        said = [
            token.word for item in self.items[place : last + 1] for token in self.words.said[item.first : item.last]
        ]
        if len(money) == 1 and any(word[0] in "$€£" or word[-1] == "k" for word in said):
            self._add(place, self._own(money[0]), Condition(self._own(money[0]).ref, test, values, negated))
            return
        raise Unclear(f"It is not clear which column '{' '.join(values)}' is compared with.")

    def _own(self, column: Column) -> Meaning:
        return Meaning("column", self.reach.ways[self.reach.base.name], column)

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
        meaning = item.meaning
        valued = self._item(place + 2, "value")
        if valued is not None and valued.meaning and meaning.column and valued.meaning.ref == meaning.ref:
            return  # "not department Sales"
        if self._item(place + 2, *_COMPARE) or self._item(place + 2, "date"):
            return
        if meaning.kind == "table":
            if not meaning.way.hops:
                raise Unclear("It is not clear what is missing.")
            self.found.used |= {place, place + 1}
            self._add_related(place, meaning, negated=True)
        elif meaning.column is not None and meaning.column.key and not meaning.way.hops:
            raise Unclear("It is not clear what is missing.")
        elif meaning.column is not None and not _is_flag(meaning.column):
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
            test = Condition(meaning.ref, Test.EMPTY, ("0",), negated)
        else:
            nothing = tuple(value for value in meaning.column.values if value.strip().lower() in _NOTHING_SAID)
            test = Condition(meaning.ref, Test.EMPTY, nothing, negated)
        if meaning.way.back is not None and not negated:
            back = meaning.way.back
            filled = AnyOf((Condition(test.ref, Test.EMPTY, test.values, True),))
            related = Related(back.table, back.column, back.here, (filled,), meaning.way.joins, True)
            self.found.where.append((self.items[place].first, related))
            return
        self._add(place, meaning, test)

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
        if not column.type.numeric and not told:
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
        negated = self._negated(place) or (
            self._column_before(place) is not None and bool(self._item(place - 2, "not")) and self._negated(place - 1)
        )
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
        self._beside(place, at, meanings[0])
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
                for meaning in (item.meaning, *item.rivals):
                    if meaning.kind == "value" and meaning.ref == beside.meaning.ref:
                        return meaning
        return self._by_direction(item) or item.meaning

    def _by_direction(self, item: Item) -> Meaning | None:
        """ "to Oslo" and "from Oslo" tell two links to the same table apart."""
        before = self.words.said[max(0, item.first - 2) : item.first]
        stems = next((_DIRECTIONS[token.word] for token in reversed(before) if token.word in _DIRECTIONS), None)
        if stems is None:
            return None
        for meaning in (item.meaning, *item.rivals):
            if meaning and meaning.kind == "value" and meaning.way.joins:
                if stems & set(header_words(meaning.way.joins[-1].left.column)):
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
            if at == last + 1 and not same and self._item(at + 1, "value", "number", *_COMPARE, "date"):
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

    def dates(self) -> None:
        """Each stretch of time is a condition on the date column named beside it, else on the table's only one."""
        for place, item in enumerate(self.items):
            if item.date is None or place in self.found.used:
                continue
            at = self._dated_beside(place)
            meaning = self.items[at].meaning if at is not None else self._date_said(place) or self._only_date()
            if meaning is None or meaning.column is None:
                raise Unclear(f"No column says when: '{item.date.dates.words}' has no date to hold against.")
            negated = self._negated(place)
            self.found.used.add(place)
            if at is not None:
                self.found.used.add(at)
            self.found.dated.add(meaning.ref.column)
            if self._item(place + 1, "or") and self._item(place + 2, "date"):
                following = self.items[place + 2].date
                assert following is not None
                self.found.used |= {place + 1, place + 2}
                spans = (item.date.dates, following.dates)
                self._add(place, meaning, *(_within(meaning, each.start, each.end, negated) for each in spans))
            else:
                self._add(place, meaning, _within(meaning, item.date.dates.start, item.date.dates.end, negated))

    def _dated_beside(self, place: int) -> int | None:
        for at in (*range(place - 1, -1, -1), place + 1):
            item = self._item(at, "column")
            column = item.meaning.column if item and item.meaning else None
            if column is not None and (column.type.dated or _is_year(column)):
                return int(at)
            if at == place - 4:
                break
        item = self._item(place + 1, "column")
        column = item.meaning.column if item and item.meaning else None
        return place + 1 if column is not None and column.type.dated else None

    def _date_said(self, place: int) -> Meaning | None:
        """The date column a word before the date speaks of, though it was read as something else: "terminated in"."""
        first = self.items[place].first
        synonyms = asking().synonyms
        for token in reversed(self.words.said[max(0, first - 4) : first]):
            meant = {token.stem} | synonyms.get(token.stem, frozenset()) - asking().light
            for way in sorted(self.reach.ways.values(), key=lambda way: (way.back is not None, way.hops)):
                for column in way.table.columns:
                    if column.type.dated and meant & set(header_words(column.header)) - asking().light:
                        return Meaning("column", way, column)
        return None

    def _only_date(self) -> Meaning | None:
        for way in sorted(self.reach.ways.values(), key=lambda way: (way.back is not None, way.hops)):
            dated = [column for column in way.table.columns if column.type.dated and column.filled]
            if not dated:
                dated = [column for column in way.table.columns if _is_year(column)]
            if dated:
                return Meaning("column", way, dated[0])
        return None

    def flags(self) -> None:
        """Yes/no columns said as adjectives: "exempt employees", "not active"."""
        for place in range(len(self.items)):
            item = self._item(place, "column")
            column = item.meaning.column if item and item.meaning else None
            if column is None or not _is_flag(column) or self._item(place - 1, "group", *FOLDS):
                continue
            negated = self._negated(place)
            self.found.used.add(place)
            assert item is not None and item.meaning is not None
            meaning = item.meaning
            yes, no = ("true", "false") if column.type is ColumnType.BOOLEAN else ("1", "0")
            self._add(place, meaning, Condition(meaning.ref, Test.IS, (no if negated else yes,)))

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


def _is_flag(column: Column) -> bool:
    zero_one = column.type is ColumnType.INTEGER and (column.least, column.most, column.distinct) == ("0", "1", 2)
    return column.type is ColumnType.BOOLEAN or zero_one


def _is_year(column: Column) -> bool:
    whole = column.type is ColumnType.INTEGER and "year" in header_words(column.header)
    return whole and column.least[:2] in ("19", "20") and len(column.least) == 4


def _within(meaning: Meaning, start: date | None, end: date | None, negated: bool) -> Condition:
    """A stretch of time as one condition; a timestamp's last day is a whole day."""
    assert meaning.column is not None
    if _is_year(meaning.column):
        bounds = [str(day.year) if day else None for day in (start, end)]
    elif meaning.column.type is ColumnType.TIMESTAMP and end is not None:
        last = f"{(end + timedelta(days=1)).isoformat()} 00:00:00"
        if start is None:
            return Condition(meaning.ref, Test.LESS, (last,), negated)
        bounds = [start.isoformat(), f"{end.isoformat()} 23:59:59.999999"]
    else:
        bounds = [day.isoformat() if day else None for day in (start, end)]
    low, high = bounds
    if low and high:
        return Condition(meaning.ref, Test.BETWEEN, (low, high), negated)
    if low:
        return Condition(meaning.ref, Test.AT_LEAST, (low,), negated)
    return Condition(meaning.ref, Test.AT_MOST, (high or "",), negated)
