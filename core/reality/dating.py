"""Conditions on dates, each on the column said beside it, else on the likeliest."""

from dataclasses import dataclass
from datetime import date, timedelta

from core.reality.items import ItemReader, Unclear, is_year
from core.reality.lexicon import Meaning
from core.reality.words import header_words
from core.table_queries import Condition, Related, Test
from core.tabular import ColumnType

__all__ = ["Dated"]


@dataclass(slots=True)
class Dated(ItemReader):
    """Conditions on dates, each on the column said beside it, else on the likeliest."""

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
            if column is not None and (column.type.dated or is_year(column)):
                return int(at)
            if at == place - 4:
                break
        item = self._item(place + 1, "column")
        column = item.meaning.column if item and item.meaning else None
        return place + 1 if column is not None and column.type.dated else None

    def _only_date(self) -> Meaning | None:
        own = any(column.type.dated for column in self.reach.base.columns)
        used = set() if own else {clause.table for _, clause in self.found.where if isinstance(clause, Related)}
        nearest = sorted(
            self.reach.ways.values(), key=lambda way: (way.alias not in used, way.back is not None, way.hops)
        )
        for way in nearest:
            dated = [column for column in way.table.columns if column.type.dated and column.filled]
            dated = sorted(dated, key=lambda column: "birth" in header_words(column.header))
            if not dated:
                dated = [column for column in way.table.columns if is_year(column)]
            if dated:
                return Meaning("column", way, dated[0])
        return None


def _within(meaning: Meaning, start: date | None, end: date | None, negated: bool) -> Condition:
    """A stretch of time as one condition; a timestamp's last day is a whole day."""
    assert meaning.column is not None
    if is_year(meaning.column):
        if start and end and start.year == end.year:
            return Condition(meaning.ref, Test.IS, (str(start.year),), negated)
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
