"""Items of a question → what is asked of the rows: counted, folded, grouped, ordered or listed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.reality.items import Conditions, Unclear
from core.reality.ranking import Ranking
from core.reality.reach import Reach
from core.reality.reading import Item, Words
from core.reality.shaping import refs_of
from core.table_queries import Fold, Join, Measure, TableQuery

__all__ = ["shaped"]

_FAR_MEASURE = 0.8
_COPULAS = frozenset(("is", "are", "was", "were", "have", "has", "had", "do", "does", "did", "who", "that", "without"))


def shaped(words: Words, items: Sequence[Item], reach: Reach, found: Conditions) -> tuple[TableQuery, float]:
    """The whole query, and how much to doubt it. Raises Unclear."""
    shaper = _Shaper(words, items, reach, found)
    return shaper.query(), shaper.doubt


@dataclass(slots=True)
class _Shaper(Ranking):
    """The whole query."""

    def query(self) -> TableQuery:
        share = self._places("share")
        if share:
            self._take(*share[1:])
            return self._shared(share[0])
        self._grouped()
        plain = (
            self._counted_groups()
            or self._superlative()
            or self._folded()
            or self._counted()
            or self._grouped_count()
            or self._listed()
        )
        self.doubt += sum(
            _FAR_MEASURE for each in plain.measures if each.ref is not None and each.ref.table != self.reach.base.name
        )
        having = tuple(self._having(*each) for each in self.found.having)
        if having and not plain.groups:
            raise Unclear("It is not clear which groups are meant.")
        return self._finished(replace(plain, having=having))

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
        if verb is None and not tables and len(after) > 1:
            before, after = after[1:], after[:1]  # "share of women in Sales"
        if not after:
            before, after = [], before
        if not after:
            raise Unclear("It is not clear which share is meant.")
        self._take(*[each for each in self._places("table", "rows") if self._is_entity(each)])
        measure = Measure(Fold.SHARE, None, tuple(after))
        query = TableQuery("", where=tuple(before), groups=tuple(self.groups), measures=(measure,))
        self.found.where = [(0, clause) for clause in before]
        return self._finished(query)
