"""Conditions on numbers: more than, between, above the average, more than another column."""

import re
from dataclasses import dataclass, replace

from core.reality.items import COMPARE, ItemReader, Unclear
from core.reality.reach import Way, amounts_paid
from core.reality.reading import Item
from core.reality.words import header_words
from core.table_queries import Condition, Ref, Test

__all__ = ["Comparisons"]


@dataclass(slots=True)
class Comparisons(ItemReader):
    """Conditions on numbers: more than, between, above the average, more than another column."""

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
            if item.kind in COMPARE:
                self._comparison(place, item)
            elif item.kind == "number" and self._item(place + 1, "or_more", "or_less"):
                test = Test.AT_LEAST if self.items[place + 1].kind == "or_more" else Test.AT_MOST
                self.found.used |= {place, place + 1}
                self._compare(place, place, place + 1, test, (item.number,))

    def _comparison(self, place: int, item: Item) -> None:
        test = COMPARE[item.kind]
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
        elif item.kind in ("more", "less", "before", "after") and self._dated(place + 1):
            self._between_dates(place, test)
        elif item.kind in ("more", "less", "at_least", "at_most") and self._numeric(place + 1):
            left = self._left_numeric(place)
            right = self.items[place + 1].meaning
            if left is None or right is None:
                return
            meaning = self.items[left].meaning
            assert meaning is not None
            self.found.used |= {place, place + 1, left}
            self._add(place, meaning, Condition(meaning.ref, test, other=right.ref))

    def _between_dates(self, place: int, test: Test) -> None:
        """ "delivery date after the due date", "delivered after the due date"."""
        later = self.items[place + 1].meaning
        between = self.words.said[self.items[place - 1].last : self.items[place].first] if place else ()
        beside = self._dated(place - 1) and all(token.little for token in between)
        earlier = self.items[place - 1].meaning if beside else self._date_said(place)
        if earlier is None or later is None or earlier.ref == later.ref:
            raise Unclear("It is not clear which two dates are compared.")
        self.found.used |= {place - 1, place, place + 1} if beside else {place, place + 1}
        self._add(place, earlier, Condition(earlier.ref, test, other=later.ref))

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
