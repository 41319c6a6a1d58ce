"""What is highest, most, latest – of groups, of rows, or by itself."""

from dataclasses import dataclass, replace

from core.matching import stem
from core.reality.folding import Folding
from core.reality.items import Unclear
from core.reality.lexicon import Meaning, table_meaning
from core.reality.listing import Listing
from core.reality.reach import is_amount, naming_column
from core.reality.reading import Item
from core.reality.shaping import LISTING, SUPER, WHICH, WHO
from core.reality.words import header_words
from core.table_queries import Fold, Grouping, Measure, Ordering, Ref, TableQuery
from core.tabular import ColumnType

__all__ = ["Ranking"]


_ADDED_UP = frozenset(
    stem(word)
    for word in "total amount cost sales revenue gross quantity hours units spend freight votes wins losses".split()
)

_BY_NUMBER = ("most", "fewest", "least", "largest", "biggest", "greatest", "smallest", "top", "bottom", "common")


@dataclass(slots=True)
class Ranking(Folding, Listing):
    """Reads the superlatives."""

    def _superlative(self) -> TableQuery | None:
        places = self._places(*SUPER)
        if not places:
            return None
        place = places[0]
        item = self.items[place]
        if self._fold_only(place):
            return None
        down = SUPER[item.kind]
        limit = self._how_many(place)
        measure = self._measured(place)
        target = self._target(place)
        if target is not None:
            if measure is None and not self._said(*_BY_NUMBER):
                raise Unclear(f"It is not clear what '{self._phrase(item)}' is about.")
            measure = measure or Measure(Fold.COUNT)
            if measure.fold in (Fold.MOST, Fold.LEAST) and item.kind in ("many", "few"):
                measure = replace(measure, fold=Fold.SUM)
            groups = tuple(self.groups) or tuple(Grouping(ref) for ref in target)
            return TableQuery("", groups=groups, measures=(measure,), order=Ordering(measure, down), limit=limit or 1)
        if measure is not None and measure.fold is Fold.SUM and item.kind in ("many", "few"):
            measure = replace(measure, fold=Fold.MOST if down else Fold.LEAST)
        if measure is None or measure.ref is None:
            raise Unclear(f"It is not clear what '{self._phrase(item)}' is about.")
        if self.groups:
            return TableQuery("", groups=tuple(self.groups), measures=(measure,))
        if measure.fold not in (Fold.MOST, Fold.LEAST):
            return TableQuery("", measures=(measure,))
        if limit is None and not self._rows_wanted():
            return TableQuery("", measures=(measure,))
        columns = self._row_columns([measure.ref])
        return TableQuery("", columns=columns, order=Ordering(measure.ref, down), limit=limit or 1)

    def _fold_only(self, place: int) -> bool:
        """ "the last two" without anything to measure or date is no superlative of ours."""
        return self.items[place].kind in ("latest", "earliest") and not (
            any(column.type.dated for column in self.reach.base.columns) or self._places("column")
        )

    def _how_many(self, place: int) -> int | None:
        """The n of "top 5" or "5 highest"."""
        named = self._item(place - 1, "table", "column") is not None
        for at in (place + 1, place - 1, *([place - 2] if named else [])):
            number = self._item(at, "number")
            if number is not None and number.number.isdigit() and 0 < int(number.number) <= 1000:
                self._take(at)
                return int(number.number)
        return None

    def _measured(self, place: int) -> Measure | None:
        """What is highest: the number said next, a fold of one, or how many rows; else the number said before."""
        item = self.items[place]
        self._take(place)
        down = SUPER[item.kind]
        extreme = Fold.MOST if down else Fold.LEAST
        if item.kind in ("latest", "earliest"):
            return self._latest(place, extreme)
        ordering = self._ordered_by(place)
        if ordering is not None:
            return ordering
        at = place + 1
        passed = ("group", "distinct", "or", "most", "least")
        while at < len(self.items) and (at in self.found.used or self.items[at].kind in passed):
            self._take(at)
            at += 1
        fold = self._item(at, "average", "sum", "median", "count")
        if fold is not None:
            return self._fold_measure(at) or Measure(Fold.COUNT)
        if meaning := self._number_column(at):
            self._take(at)
            summed = item.kind in ("many", "few")
            return Measure(Fold.SUM if summed else extreme, meaning.ref)
        if item.kind in ("many", "few") and self._is_entity(at):
            self._take(at)
            return Measure(Fold.COUNT)
        for back in (*range(at, len(self.items)), *range(place - 1, -1, -1)):
            if meaning := self._number_column(back):
                self._take(back)
                return Measure(extreme, meaning.ref)
        return Measure(Fold.COUNT) if item.kind in ("many", "few") else None

    def _ordered_by(self, place: int) -> Measure | None:
        """ "top 5 departments by average salary"."""
        for at in self._places("group"):
            if at > place:
                if self._item(at + 1, "average", "sum", "median", "count"):
                    self._take(at)
                    return self._fold_measure(at + 1)
                if meaning := self._number_column(at + 1):
                    self._take(at, at + 1)
                    added = meaning.column is not None and bool(set(header_words(meaning.column.header)) & _ADDED_UP)
                    return Measure(Fold.SUM if added and self._target_ahead(place) else Fold.MOST, meaning.ref)
        return None

    def _target_ahead(self, place: int) -> bool:
        """Whether something other than the rows themselves is ranked."""
        return any(not self._is_entity(at) for at in self._places("column", "table") if at > place) and not any(
            self._is_entity(at) for at in self._places("table", "rows")
        )

    def _latest(self, place: int, extreme: Fold) -> Measure | None:
        for at in (*range(place + 1, len(self.items)), *range(place - 1, -1, -1)):
            item = self._item(at, "column")
            meaning = item.meaning if item else None
            if meaning and meaning.column and (meaning.column.type.dated or meaning.column.type.numeric):
                if meaning.way.back is not None:
                    raise Unclear("That is not said row by row in this table.")
                self._take(at)
                return Measure(extreme, meaning.ref)
        return Measure(extreme, self._a_date())

    def _target(self, place: int) -> list[Ref] | None:
        """What is ranked, when it is not the rows themselves: "which department", "top 5 cities"."""
        if self.groups:
            grouping = self.groups[0]
            ranked = self.items[place].kind in ("many", "few") or self._how_many(place) is not None
            return [grouping.ref] if ranked and grouping.part is None else None
        for at in self._places("column", "table"):
            item = self.items[at]
            if self._is_entity(at):
                meaning = self._linked_rival(item)
                if meaning is None:
                    continue
            else:
                meaning = self._column(at)
            if meaning is None or meaning.column is None or meaning.column.type.dated:
                continue
            if is_amount(meaning.way.table, meaning.column):
                continue
            if meaning.column.key and meaning.way.hops == 0:
                continue
            if naming_column(self.reach.base) == meaning.column and meaning.way.hops == 0:
                continue
            asked = self._first_word() in WHICH | LISTING | {"top", "in"} or item.first > self.items[place].first
            if asked or self._said(*WHICH):
                self._take(at)
                return self._shown(meaning, at)
        return None

    def _linked_rival(self, item: Item) -> Meaning | None:
        """Of a table that only links two others, what one of its ends is called: the schools of player_schools."""
        base = self.reach.base
        linking = {link.column for link in base.links}
        if any(column.name not in linking and column.type is ColumnType.TEXT for column in base.columns):
            return None
        for way in self.reach.forward():
            if way.hops == 1 and table_meaning(self.words.said, item.first, item.last, way) is not None:
                named = naming_column(way.table)
                return Meaning("column", way, named) if named else None
        return None

    def _rows_wanted(self) -> bool:
        if self._first_word() in WHO or self._said("who"):
            return True
        if self._first_word() in LISTING | WHICH and any(self._is_entity(at) for at in range(len(self.items))):
            return self._first_word() != "what" or not self._said("is", "was")
        named = [at for at in self._places("table") if self._is_entity(at) and not self._only_a_verb(at)]
        return bool(named) and self._first_word() not in ("what", "how")
