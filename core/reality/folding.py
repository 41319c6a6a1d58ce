"""What many rows become: counts, sums, averages, shares."""

from dataclasses import dataclass, replace

from core.reality.grouping import Grouped
from core.reality.items import Unclear, is_flag
from core.reality.reach import amounts_paid, is_amount
from core.reality.reading import Item
from core.reality.shaping import FOLD_OF, OTHER_TABLE, UNSAID
from core.reality.words import header_words
from core.table_queries import Fold, Grouping, Having, Measure, Ref, TableQuery

__all__ = ["Folding"]

_COPULAS = frozenset(("is", "are", "was", "were", "have", "has", "had", "do", "does", "did", "who", "that", "without"))
_OTHER_THING = 1.0
_OF_EACH_ROW = frozenset(("list", "which", "whose", "who"))


@dataclass(slots=True)
class Folding(Grouped):
    """Reads the folds."""

    def _fold_measure(self, place: int) -> Measure | None:
        """A fold and the column behind it (before it, when none follows)."""
        item = self.items[place]
        if item.kind == "count":
            self._take(place)
            at = place + 1
            if self._item(at, "distinct"):
                self._take(at)
                at += 1
            if self._is_entity(at):
                self._take(at)
                return Measure(Fold.COUNT)
            meaning = self._column(at)
            if meaning is not None and meaning.column is not None:
                self._take(at)
                return Measure(Fold.DISTINCT, meaning.ref)
            return Measure(Fold.COUNT)
        fold = FOLD_OF[item.kind]
        at = place + 1
        if self._item(at, "group") and not self._number_column(at):
            at += 1
        for where in (at, *range(at + 1, len(self.items)), *range(place - 1, -1, -1)):
            if meaning := self._number_column(where):
                self._take(place, where)
                own = self._own_money(where) if meaning.way.hops and fold is Fold.SUM else None
                return Measure(fold, own or meaning.ref)
        return None

    def _own_money(self, place: int) -> Ref | None:
        """What is added up of rows that are called so themselves: the pay of pay lines is no salary."""
        item, money = self.items[place], amounts_paid(self.reach.base)
        called = set(header_words(self.reach.base.name))
        said = {token.stem for token in self.words.said[item.first : item.last]}
        return Ref(self.reach.base.name, money[0].name) if said <= called and len(money) == 1 else None

    def _folded(self) -> TableQuery | None:
        measures: list[Measure] = []
        for place in self._places("sum", "average", "median"):
            measure = self._fold_measure(place)
            if measure is None and self.items[place].kind == "sum":
                measure = self._sum_of_money(place)
            if measure is not None:
                measures.append(measure)
                measures += [replace(measure, ref=ref) for ref in self._more_numbers()]
        for place in self._places("sum"):
            if measures:
                self._take(place)
        measures = measures or self._totals()
        if not measures:
            return None
        self._take(*[place for place in self._places("table", "rows") if self._is_entity(place)])
        if not self.groups and (target := self._ranked_target()):
            self.groups += [Grouping(ref) for ref in target]
        return TableQuery("", groups=tuple(self.groups), measures=tuple(dict.fromkeys(measures)))

    def _sum_of_money(self, place: int) -> Measure | None:
        """ "total bonus in 2024", when only one column holds money; "total employees" is a count."""
        money = amounts_paid(self.reach.base)
        if len(money) != 1 or self._is_entity(place + 1) or self._item(place + 1, "column"):
            return None
        self._take(place)
        self.doubt += UNSAID
        return Measure(Fold.SUM, Ref(self.reach.base.name, money[0].name))

    def _totals(self) -> list[Measure]:
        """ "what is the total amount", where the column itself is called so."""
        named = self._places("column", "table", "rows")
        meaning = self._number_column(named[0]) if named and not self.groups else None
        begins = {each.first for each in self.words.operators if each.name == "sum"}
        if meaning is None or self.items[named[0]].first not in begins or self._first_word() in _OF_EACH_ROW:
            return []
        self._take(named[0])
        return [Measure(Fold.SUM, meaning.ref)]

    def _more_numbers(self) -> list[Ref]:
        """ "average salary and bonus"."""
        refs = []
        for place in self._places("column"):
            if (
                place
                and place - 1 in self.found.used
                and self._close(place)
                and (meaning := self._number_column(place))
            ):
                self._take(place)
                refs.append(meaning.ref)
        return refs

    def _having(self, fold: Item | None, ref: Ref | None, test: object, values: tuple[str, ...]) -> Having:
        measure = Measure(Fold.COUNT)
        if fold is not None and ref is not None:
            measure = Measure(FOLD_OF.get(fold.kind, Fold.COUNT), ref)
        return Having(measure, test, values)  # type: ignore[arg-type]

    def _counted_groups(self) -> TableQuery | None:
        """ "how many departments have more than 10 employees"."""
        if not self.found.having or self.groups or not self._places("count"):
            return None
        self._take(*self._places("count"), *self._places("distinct"))
        target = self._ranked_target()
        if target is None:
            return None
        groups = tuple(Grouping(ref) for ref in target)
        measures = tuple(dict.fromkeys(self._having(*each).measure for each in self.found.having))
        return TableQuery("", groups=groups, measures=measures, counted=True)

    def _counted(self) -> TableQuery | None:
        places = self._places("count") or [place for place in self._places("table") if self._is_headcount(place)]
        if not places:
            return None
        place = places[0]
        self._take(*places)
        distinct = bool(self._places("distinct"))
        self._take(*self._places("distinct"))
        measure = Measure(Fold.COUNT)
        at = next((each for each in self._places("column", "table", "rows") if each > place), None)
        first = self.items[at] if at is not None else None
        if at is not None and first is not None and not (self._is_entity(at) and not distinct):
            meaning = self._column(at)
            if meaning is not None and meaning.column is not None:
                self._take(at)
                amount = is_amount(meaning.way.table, meaning.column)
                if (meaning.column.type.dated or is_flag(meaning.column)) and not distinct:
                    raise Unclear(f"It is not clear what '{self._phrase(first)}' counts.")
                measure = Measure(Fold.SUM if amount and not distinct else Fold.DISTINCT, meaning.ref)
                if amount and not distinct:
                    self.doubt += UNSAID / 2
                else:
                    target = self.reach.target(meaning.way.alias, meaning.ref.column)
                    self.doubt += OTHER_TABLE if target is not None else _OTHER_THING
        self._take(*[each for each in self._places("table", "rows") if self._is_entity(each)])
        return TableQuery("", groups=tuple(self.groups), measures=(measure,))

    def _grouped_count(self) -> TableQuery | None:
        """ "employees by department": groups without a fold are counted."""
        if self._places("sum"):
            self._take(*self._places("sum"))
            if not self.groups and not self._places("column"):
                return TableQuery("", measures=(Measure(Fold.COUNT),))
            if not self.groups:
                raise Unclear("It is not clear what is to be added up.")
        if self.found.having and not self.groups:
            target = self._ranked_target()
            if target is not None:
                self.groups += [Grouping(ref) for ref in target]
        if not self.groups:
            return None
        numbers = [meaning for place in self._places("column") if (meaning := self._number_column(place))]
        self._take(*self._places("column", "table", "rows", "distinct"))
        if numbers:
            return TableQuery("", groups=tuple(self.groups), measures=tuple(Measure(Fold.SUM, m.ref) for m in numbers))
        return TableQuery("", groups=tuple(self.groups), measures=(Measure(Fold.COUNT),))

    def _is_headcount(self, place: int) -> bool:
        return self.words.said[self.items[place].first].word == "headcount"
