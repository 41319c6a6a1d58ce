"""Items of a question → what is asked of the rows: counted, folded, grouped, ordered or listed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.reality.conditions import Conditions, Unclear
from core.reality.lexicon import Meaning, entity_stems
from core.reality.reach import Reach, amounts_paid, is_amount, label_columns, naming_column
from core.reality.reading import Item, Words
from core.reality.words import header_words
from core.table_queries import (
    AnyOf,
    DatePart,
    Fold,
    Grouping,
    Having,
    Join,
    Measure,
    Ordering,
    Ref,
    TableQuery,
)
from core.tables.asking import asking
from core.tabular import ColumnType

__all__ = ["refs_of", "shaped"]

_FOLD_OF = {"sum": Fold.SUM, "average": Fold.AVERAGE, "median": Fold.MEDIAN, "most": Fold.MOST, "least": Fold.LEAST}
_SUPER = {"most": True, "many": True, "latest": True, "least": False, "few": False, "earliest": False}
_PARTS = {"year": DatePart.YEAR, "quarter": DatePart.QUARTER, "month": DatePart.MONTH}
_LISTING = frozenset(("list", "show", "display", "give", "name", "identify", "find", "get", "print", "enumerate"))
_WHO = frozenset(("who", "whom"))
_WHICH = frozenset(("which", "what", "whose"))
_COPULAS = frozenset(("is", "are", "was", "were", "have", "has", "had", "do", "does", "did", "who", "that", "without"))
_MOST_COLUMNS = 8
_OTHER_THING = 1.0
_FAR_MEASURE = 0.8
_UNSAID = 0.5
_OTHER_TABLE = 1.8
_NAMES = frozenset(("name", "descript", "titl", "label"))


def shaped(words: Words, items: Sequence[Item], reach: Reach, found: Conditions) -> tuple[TableQuery, float]:
    """The whole query, and how much to doubt it. Raises Unclear."""
    shaper = _Shaper(words, items, reach, found)
    return shaper.query(), shaper.doubt


@dataclass(slots=True)
class _Shaper:
    words: Words
    items: Sequence[Item]
    reach: Reach
    found: Conditions
    groups: list[Grouping] = field(default_factory=list)
    doubt: float = 0.0

    # Small looks

    def _item(self, place: int, *kinds: str) -> Item | None:
        if 0 <= place < len(self.items) and place not in self.found.used and self.items[place].kind in kinds:
            return self.items[place]
        return None

    def _places(self, *kinds: str) -> list[int]:
        return [place for place in range(len(self.items)) if self._item(place, *kinds)]

    def _said(self, *words: str) -> bool:
        return any(token.word in words for token in self.words.said)

    def _first_word(self) -> str:
        return self.words.said[0].word if self.words.said else ""

    def _take(self, *places: int) -> None:
        self.found.used |= set(places)

    def _column(self, place: int) -> Meaning | None:
        """A column by itself, or a table by what its rows are called; None for the table asked about."""
        item = self._item(place, "column", "table")
        if item is None or item.meaning is None:
            return None
        meaning = item.meaning
        if meaning.way.back is not None:
            raise Unclear("That is not said row by row in this table.")
        if meaning.kind == "column":
            return meaning
        named = naming_column(meaning.way.table) if meaning.way.hops else None
        return Meaning("column", meaning.way, named) if named else None

    def _number_column(self, place: int) -> Meaning | None:
        item = self._item(place, "column")
        for meaning in (item.meaning, *item.rivals) if item else ():
            if meaning and meaning.column and is_amount(meaning.way.table, meaning.column):
                if meaning.way.back is not None:
                    raise Unclear("That is not said row by row in this table.")
                return meaning
        return None

    def _is_entity(self, place: int) -> bool:
        """Whether an item names the rows of the table asked about."""
        item = self._item(place, "table", "rows", "column")
        if item is None:
            return False
        if item.kind == "rows":
            return True
        assert item.meaning is not None
        if item.kind == "table":
            return item.meaning.way.hops == 0
        column = item.meaning.column
        stems = set(header_words(column.header)) - asking().light if column else set()
        own = entity_stems(self.reach.base)
        return item.meaning.way.hops == 0 and column is not None and column.key and bool(stems) and stems <= own

    # The query

    def query(self) -> TableQuery:
        share = self._places("share")
        if share:
            return self._shared(share[0])
        self._grouped()
        plain = self._superlative() or self._folded() or self._counted() or self._grouped_count() or self._listed()
        self.doubt += sum(
            _FAR_MEASURE for each in plain.measures if each.ref is not None and each.ref.table != self.reach.base.name
        )
        having = tuple(self._having(*each) for each in self.found.having)
        if having and not plain.groups:
            raise Unclear("It is not clear which groups are meant.")
        return self._finished(replace(plain, having=having))

    def _having(self, fold: Item | None, ref: Ref | None, test: object, values: tuple[str, ...]) -> Having:
        measure = Measure(Fold.COUNT)
        if fold is not None and ref is not None:
            measure = Measure(_FOLD_OF.get(fold.kind, Fold.COUNT), ref)
        return Having(measure, test, values)  # type: ignore[arg-type]

    def _finished(self, query: TableQuery) -> TableQuery:
        """With its conditions, and the joins everything needs."""
        where = tuple(clause for _, clause in self.found.where)
        query = replace(query, table=self.reach.base.name, where=query.where or where)
        return replace(query, joins=self._joins(query))

    def _joins(self, query: TableQuery) -> tuple[Join, ...]:
        wanted = {ref.table for ref in refs_of(query)}
        joins: dict[str, Join] = {}
        for alias in wanted:
            way = self.reach.ways.get(alias)
            if way is not None and way.back is None:
                for join in way.joins:
                    joins[join.alias] = join
        order = [join.alias for way in self.reach.forward() for join in way.joins]
        return tuple(joins[alias] for alias in dict.fromkeys(order) if alias in joins)

    # Grouping

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
                if not self._item(at, "column", "table", "year", "month", "quarter") or not self._close(at):
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
        if self._is_entity(place) and self._item(place, "table", "rows"):
            labels = label_columns(self.reach.base)
            if not labels:
                raise Unclear("The rows of this table have no name to group by.")
            return [Grouping(Ref(self.reach.base.name, column.name)) for column in labels], place + 1
        meaning = self._column(place)
        if meaning is None or meaning.column is None:
            return None
        after = self._item(place + 1, "year", "month", "quarter")
        if after and meaning.column.type.dated:
            self._take(place + 1)
            return [Grouping(meaning.ref, _PARTS[after.kind])], place + 2
        if meaning.column.type is ColumnType.TIMESTAMP:
            return [Grouping(meaning.ref, DatePart.MONTH)], place + 1
        return [Grouping(ref) for ref in self._shown(meaning, place)], place + 1

    def _a_date(self) -> Ref:
        dated = [column for column in self.reach.base.columns if column.type.dated and column.filled]
        for place in self._places("column"):
            meaning = self.items[place].meaning
            if meaning and meaning.column and meaning.column.type.dated:
                self._take(place)
                return meaning.ref
        chosen = [column for column in dated if column.name in self.found.dated] or dated
        if not chosen:
            raise Unclear("No column of this table holds dates to group by.")
        return Ref(self.reach.base.name, chosen[0].name)

    def _shown(self, meaning: Meaning, place: int) -> list[Ref]:
        """A code column is shown by the name it stands for, unless the code itself was asked for."""
        said = {token.stem for token in self.words.said[self.items[place].first : self.items[place].last]}
        if said & {"id", "code", "number", "no"} or meaning.column is None:
            return [meaning.ref]
        target = self.reach.target(meaning.way.alias, meaning.ref.column)
        if target is not None and (labels := label_columns(target.table)):
            key = target.joins[-1].right
            coded = meaning.column.type is ColumnType.TEXT and all(column.name != key for column in labels)
            return [*([meaning.ref] if coded else []), *(Ref(target.alias, column.name) for column in labels)]
        if meaning.column.key and meaning.way.hops == 0:
            labels = label_columns(self.reach.base)
            return [Ref(meaning.way.alias, column.name) for column in (labels or [meaning.column])]
        own = header_words(meaning.column.header)
        for column in meaning.way.table.columns:
            extra = set(header_words(column.header)) - set(own)
            if column.type is ColumnType.TEXT and set(own) < set(header_words(column.header)) and extra <= _NAMES:
                return [Ref(meaning.way.alias, column.name)]
        return [meaning.ref]

    # Superlatives

    def _superlative(self) -> TableQuery | None:
        places = self._places(*_SUPER)
        if not places:
            return None
        place = places[0]
        item = self.items[place]
        if self._fold_only(place):
            return None
        down = _SUPER[item.kind]
        limit = self._how_many(place)
        measure = self._measured(place)
        target = self._target(place)
        if target is not None:
            if measure is None:
                measure = Measure(Fold.COUNT)
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

    def _phrase(self, item: Item) -> str:
        return self.words.question[self.words.said[item.first].start : self.words.said[item.last - 1].end]

    def _how_many(self, place: int) -> int | None:
        """The n of "top 5" or "5 highest"."""
        for at in (place + 1, place - 1):
            number = self._item(at, "number")
            if number is not None and number.number.isdigit() and 0 < int(number.number) <= 1000:
                self._take(at)
                return int(number.number)
        return None

    def _measured(self, place: int) -> Measure | None:
        """What is highest: the number said next, a fold of one, or how many rows; else the number said before."""
        item = self.items[place]
        self._take(place)
        down = _SUPER[item.kind]
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
                    return Measure(Fold.MOST, meaning.ref)
        return None

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
            if self._is_entity(at):
                continue
            item = self.items[at]
            meaning = self._column(at)
            if meaning is None or meaning.column is None or meaning.column.type.dated:
                continue
            if is_amount(meaning.way.table, meaning.column):
                continue
            if meaning.column.key and meaning.way.hops == 0:
                continue
            if naming_column(self.reach.base) == meaning.column and meaning.way.hops == 0:
                continue
            asked = self._first_word() in _WHICH | _LISTING | {"top", "in"} or item.first > self.items[place].first
            if asked or self._said(*_WHICH):
                self._take(at)
                return self._shown(meaning, at)
        return None

    def _rows_wanted(self) -> bool:
        if self._first_word() in _WHO or self._said("who"):
            return True
        if self._first_word() in _LISTING | _WHICH and any(self._is_entity(at) for at in range(len(self.items))):
            return self._first_word() != "what" or not self._said("is", "was")
        return any(self._is_entity(at) for at in self._places("table")) and self._first_word() not in ("what", "how")

    # Folds

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
        fold = _FOLD_OF[item.kind]
        at = place + 1
        if self._item(at, "group") and not self._number_column(at):
            at += 1
        for where in (at, *range(at + 1, len(self.items)), *range(place - 1, -1, -1)):
            if meaning := self._number_column(where):
                self._take(place, where)
                return Measure(fold, meaning.ref)
        return None

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
        self.doubt += _UNSAID
        return Measure(Fold.SUM, Ref(self.reach.base.name, money[0].name))

    def _ranked_target(self) -> list[Ref] | None:
        """ "departments with an average salary above 90,000": the groups are named, without "by"."""
        if not self.found.having:
            return None
        for at in self._places("column", "table"):
            meaning = self._column(at)
            amount = meaning is not None and meaning.column is not None and is_amount(meaning.way.table, meaning.column)
            if meaning is not None and meaning.column is not None and not amount:
                self._take(at)
                return self._shown(meaning, at)
        return None

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

    def _shared(self, place: int) -> TableQuery:
        """The share of rows for which what is said behind the verb holds; what stands before narrows the rows."""
        self._take(place)
        self._grouped()
        said = self.words.said
        verbs = [at for at, token in enumerate(said) if token.word in _COPULAS and at > self.items[place].last]
        tables = [
            item.last for item in self.items if item.kind in ("table", "rows") and item.first >= self.items[place].last
        ]
        verb = next((at for at in verbs if not tables or at >= min(tables)), None)
        split = verb if verb is not None else (min(tables) if tables else -1)
        before = [clause for at, clause in self.found.where if at < split]
        after = [clause for at, clause in self.found.where if at >= split]
        if not after:
            before, after = [], before
        if not after:
            raise Unclear("It is not clear which share is meant.")
        self._take(*self._places("table", "rows"))
        measure = Measure(Fold.SHARE, None, tuple(after))
        query = TableQuery("", where=tuple(before), groups=tuple(self.groups), measures=(measure,))
        self.found.where = [(0, clause) for clause in before]
        return self._finished(query)

    # Counts

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
                measure = Measure(Fold.SUM if amount and not distinct else Fold.DISTINCT, meaning.ref)
                if not amount:
                    target = self.reach.target(meaning.way.alias, meaning.ref.column)
                    self.doubt += _OTHER_TABLE if target is not None else _OTHER_THING
        self._take(*[each for each in self._places("table", "rows") if self._is_entity(each)])
        return TableQuery("", groups=tuple(self.groups), measures=(measure,))

    def _grouped_count(self) -> TableQuery | None:
        """ "employees by department": groups without a fold are counted."""
        if self._places("sum"):
            self._take(*self._places("sum"))
            if not self.groups and not self._places("column"):
                return TableQuery("", measures=(Measure(Fold.COUNT),))
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

    # Lists

    def _listed(self) -> TableQuery:
        entity = [place for place in self._places("table", "rows", "column") if self._is_entity(place)]
        self._take(*entity)
        distinct = bool(self._places("distinct"))
        self._take(*self._places("distinct"))
        asked: list[Ref] = []
        for place in self._places("column", "table"):
            meaning = self._column(place)
            if meaning is None:
                raise Unclear(f"It is not clear what '{self._phrase(self.items[place])}' is about.")
            target = self.reach.target(meaning.way.alias, meaning.ref.column)
            if not asked and not entity and target is not None and meaning.kind == "column":
                self.doubt += _OTHER_TABLE
            asked += self._shown(meaning, place)
            self._take(place)
        if asked and not self._numbers(asked) and (distinct or not entity):
            if not self._names_a_row():
                return TableQuery("", columns=tuple(dict.fromkeys(asked)), distinct=True)
        return TableQuery("", columns=self._row_columns(asked))

    def _numbers(self, refs: Sequence[Ref]) -> bool:
        tables = {ref: self.reach.ways[ref.table].table for ref in refs}
        return any((column := table.column(ref.column)) and is_amount(table, column) for ref, table in tables.items())

    def _names_a_row(self) -> bool:
        """Whether a condition picks single rows ("the department of Talia Gaspari"), whose names belong beside it."""
        base = self.reach.base
        named = {column.name for column in base.columns if column.key or column.personal == "a name"}
        refs = [
            condition.ref
            for _, clause in self.found.where
            if isinstance(clause, AnyOf)
            for condition in clause.conditions
        ]
        return any(ref.table == base.name and ref.column in named for ref in refs)

    def _row_columns(self, asked: Sequence[Ref]) -> tuple[Ref, ...]:
        """What identifies a row, what was asked of it, and what the conditions are about."""
        base = self.reach.base
        own = [column for column in base.columns if column.key][:1]
        named = [column for column in base.columns if column.personal == "a name"][:3]
        if not named and (name := naming_column(base)) is not None:
            named = [name]
        columns = [Ref(base.name, name) for name in dict.fromkeys(column.name for column in (*own, *named))]
        tested = [
            condition.ref
            for _, clause in self.found.where
            if isinstance(clause, AnyOf)
            for condition in clause.conditions
        ]
        columns += [*asked, *tested]
        for column in base.columns:
            if len(dict.fromkeys(columns)) >= _MOST_COLUMNS:
                break
            columns.append(Ref(base.name, column.name))
        return tuple(dict.fromkeys(columns))


def refs_of(query: TableQuery) -> list[Ref]:
    """Every column a query names outside its existence tests."""
    refs = [*query.columns, *(group.ref for group in query.groups)]
    measures = [*query.measures, *(each.measure for each in query.having)]
    clauses = list(query.where)
    for measure in measures:
        refs += [measure.ref] if measure.ref else []
        clauses += measure.of
    if query.order is not None:
        by = query.order.by
        refs += [by] if isinstance(by, Ref) else [by.ref] if by.ref else []
    for clause in clauses:
        if isinstance(clause, AnyOf):
            for condition in clause.conditions:
                refs += [condition.ref, *([condition.other] if condition.other else [])]
        else:
            refs.append(clause.here)
    return refs
