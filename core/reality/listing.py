"""Rows listed: what identifies them, what was asked of them, and what the conditions are about."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.reality.items import Unclear
from core.reality.reach import is_amount, naming_column
from core.reality.shaping import OTHER_TABLE, ItemShaper
from core.reality.words import header_words
from core.table_queries import AnyOf, Ref, TableQuery
from core.tables.asking import asking

__all__ = ["Listing"]

_MOST_COLUMNS = 8
_HAVING = frozenset(("with", "have", "has", "having", "had"))


@dataclass(slots=True)
class Listing(ItemShaper):
    """Reads what is listed."""

    def _listed(self) -> TableQuery:
        entity = [place for place in self._places("table", "rows", "column") if self._is_entity(place)]
        if entity and self._had_by_others(entity[0]):
            self.doubt += OTHER_TABLE
        self._take(*entity)
        distinct = bool(self._places("distinct"))
        self._take(*self._places("distinct"))
        asked: list[Ref] = []
        for place in self._places("column", "table"):
            if self._only_a_verb(place):
                self._take(place)
                continue
            meaning = self._column(place)
            if meaning is None:
                raise Unclear(f"It is not clear what '{self._phrase(self.items[place])}' is about.")
            target = self.reach.target(meaning.way.alias, meaning.ref.column)
            if not asked and not entity and target is not None and meaning.kind == "column":
                self.doubt += OTHER_TABLE
            asked += self._shown(meaning, place)
            self._take(place)
        values = asked and not self._numbers(asked) and (distinct or not entity)
        if values and not self._names_a_row():
            return TableQuery("", columns=tuple(dict.fromkeys(asked)), distinct=True)
        return TableQuery("", columns=self._row_columns(asked))

    def _had_by_others(self, entity: int) -> bool:
        """Whether the rows are only what something named before has: "departments that have employees"."""
        before = self.words.said[self.items[entity].first - 1].word if self.items[entity].first else ""
        return before in _HAVING and any(self.items[at].kind in ("column", "table") for at in range(entity))

    def _only_a_verb(self, place: int) -> bool:
        """Whether words that may mean nothing were read as a name they are not: "who makes less"."""
        item = self.items[place]
        meaning = item.meaning
        header = header_words(meaning.column.header) if meaning and meaning.column else ()
        said = self.words.said[item.first : item.last]
        return all(token.stem in asking().ignorable and token.stem not in header for token in said)

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
