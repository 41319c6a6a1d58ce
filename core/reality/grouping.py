"""What rows are put together by: "by department", "per hire year and state"."""

from dataclasses import dataclass

from core.reality.items import Unclear
from core.reality.reach import is_amount, label_columns
from core.reality.shaping import SUPER, ItemShaper
from core.table_queries import AnyOf, Condition, DatePart, Grouping, Ref, Test
from core.tabular import ColumnType

__all__ = ["Grouped"]

_PARTS = {"year": DatePart.YEAR, "quarter": DatePart.QUARTER, "month": DatePart.MONTH}


@dataclass(slots=True)
class Grouped(ItemShaper):
    """Reads the groups."""

    def _grouped(self) -> None:
        """ "by department", "per hire year and state"; a fold behind "by" is an order, not a group."""
        for place in self._places("group"):
            at = place + 1
            taken = []
            while grouping := self._grouping(at):
                taken.append(at)
                self.groups += grouping[0]
                at = grouping[1]
                taken += range(at - 1, at)
                again = self._item(at, "column", "table", "year", "month", "quarter")
                if again is None or not self._close(at) or self._is_entity(at):
                    break
            if taken:
                self._take(place, *taken)

    def _close(self, place: int) -> bool:
        """Whether an item follows the one before with nothing but "and" between."""
        between = self.words.said[self.items[place - 1].last : self.items[place].first]
        return all(token.word in ("and", "the", "by", "then") for token in between)

    def _grouping(self, place: int) -> tuple[list[Grouping], int] | None:
        part = self._item(place, "year", "month", "quarter")
        if part is not None:
            dated = self._item(place + 1, "column")
            if dated and dated.meaning and dated.meaning.column and dated.meaning.column.type.dated:
                self._take(place, place + 1)
                return [Grouping(dated.meaning.ref, _PARTS[part.kind])], place + 2
            ref = self._a_date()
            self._take(place)
            return [Grouping(ref, _PARTS[part.kind])], place + 1
        if self._only_says_whose(place):
            self._take(place)
            place += 1
        if self._is_entity(place) and self._item(place, "table", "rows"):
            labels = label_columns(self.reach.base)
            if not labels:
                raise Unclear("The rows of this table have no name to group by.")
            return [Grouping(Ref(self.reach.base.name, column.name)) for column in labels], place + 1
        meaning = self._column(place)
        if meaning is None or meaning.column is None:
            return None
        if is_amount(meaning.way.table, meaning.column) and self._places(*SUPER):
            return None  # "top 5 by salary" is an order
        after = self._item(place + 1, "year", "month", "quarter")
        if after and meaning.column.type.dated:
            self._take(place + 1)
            return [Grouping(meaning.ref, _PARTS[after.kind])], place + 2
        if meaning.column.type is ColumnType.TIMESTAMP:
            return [Grouping(meaning.ref, DatePart.MONTH)], place + 1
        return [Grouping(ref) for ref in self._shown(meaning, place)], place + 1

    def _only_says_whose(self, place: int) -> bool:
        """Whether a name only says of what the next one is: the supplier of "by supplier country"."""
        item, after = self._item(place, "column", "table"), self._item(place + 1, "column")
        if item is None or after is None or after.first != item.last or item.meaning is None or after.meaning is None:
            return False
        whose = item.meaning.way
        if item.kind == "column":
            target = self.reach.target(whose.alias, item.meaning.ref.column)
            return target is not None and target.alias == after.meaning.way.alias
        return whose.alias == after.meaning.way.alias

    def _ranked_target(self) -> list[Ref] | None:
        """ "departments with an average salary above 90,000": the groups are named, without "by"."""
        if not self.found.having:
            return None
        for at in self._places("column", "table"):
            meaning = self._column(at)
            amount = meaning is not None and meaning.column is not None and is_amount(meaning.way.table, meaning.column)
            if meaning is not None and meaning.column is not None and not amount:
                self._take(at)
                refs = self._shown(meaning, at)
                self._named_only(refs[0])
                return refs
        return None

    def _named_only(self, ref: Ref) -> None:
        """Rows without a department are no department."""
        base, column = self.reach.base, self.reach.ways[ref.table].table.column(ref.column)
        if column is not None and (ref.table != base.name or column.filled < base.rows):
            self.found.where.append((0, AnyOf((Condition(ref, Test.EMPTY, negated=True),))))
