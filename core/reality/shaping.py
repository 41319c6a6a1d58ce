"""Small looks at the items that are left once the conditions are read, and how names are shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.reality.items import Conditions, Unclear
from core.reality.lexicon import Meaning, entity_stems
from core.reality.reach import Reach, is_amount, label_columns, naming_column
from core.reality.reading import Item, Words
from core.reality.words import header_words
from core.table_queries import AnyOf, Fold, Grouping, Ref, TableQuery
from core.tables.asking import asking
from core.tabular import ColumnType

__all__ = ["FOLD_OF", "LISTING", "OTHER_TABLE", "SUPER", "UNSAID", "WHICH", "WHO", "ItemShaper", "refs_of"]

FOLD_OF = {"sum": Fold.SUM, "average": Fold.AVERAGE, "median": Fold.MEDIAN, "most": Fold.MOST, "least": Fold.LEAST}
SUPER = {"most": True, "many": True, "latest": True, "least": False, "few": False, "earliest": False}
LISTING = frozenset(("list", "show", "display", "give", "name", "identify", "find", "get", "print", "enumerate"))
WHO = frozenset(("who", "whom"))
WHICH = frozenset(("which", "what", "whose"))
OTHER_TABLE = 1.8
UNSAID = 0.5
_NAMES = frozenset(("name", "descript", "titl", "label"))


@dataclass(slots=True)
class ItemShaper:
    """What the parts of a query are taken with. groups: found so far. doubt: what to take off the reading's score."""

    words: Words
    items: Sequence[Item]
    reach: Reach
    found: Conditions
    groups: list[Grouping] = field(default_factory=list)
    doubt: float = 0.0

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
        item = self._item(place, "column", "table")
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

    def _phrase(self, item: Item) -> str:
        return self.words.question[self.words.said[item.first].start : self.words.said[item.last - 1].end]


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
