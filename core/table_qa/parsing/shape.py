"""Items of a question → the whole query: count, aggregate, group, order or list rows."""

from dataclasses import replace

from core.domain.dataset_queries import AggregateMeasure, Aggregation, AnyOf, ColumnRef, Join, TableQuery
from core.table_qa.parsing.aggregation import (
    read_aggregates,
    read_count,
    read_count_of_groups,
    read_count_per_group,
    read_groups,
    use_entities,
)
from core.table_qa.parsing.items import QuestionParse, Unclear
from core.table_qa.parsing.ranking import read_list, read_superlative

__all__ = ["column_refs", "read_shape"]

_FAR_MEASURE = 0.8
"""Doubt about an aggregate of another table's column. Chosen by hand against tests/table_qa/asked; not fitted."""
_COPULAS = frozenset(("is", "are", "was", "were", "have", "has", "had", "do", "does", "did", "who", "that", "without"))
_SHAPES = (read_count_of_groups, read_superlative, read_aggregates, read_count, read_count_per_group)
"""The shapes in the order they are tried; what none of them recognises is a list."""


def read_shape(parse: QuestionParse) -> tuple[QuestionParse, TableQuery]:
    """The query, and the parse with all used items; `parse.doubt` is the uncertainty of the query. Raises Unclear.

    parse: as `read_conditions` leaves it.
    """
    shares = parse.positions("share")
    if shares:
        return _read_share(parse.use(*shares), shares[0])
    parse, query = _read_plain(read_groups(parse))
    base = parse.reachable.base.name
    far = [measure for measure in query.measures if measure.ref is not None and measure.ref.table != base]
    parse = parse.add_doubt(sum(_FAR_MEASURE for _ in far))
    if parse.having and not query.groups:
        raise Unclear("It is not clear which groups are meant.")
    return parse, _completed(parse, replace(query, having=parse.having))


def _read_plain(parse: QuestionParse) -> tuple[QuestionParse, TableQuery]:
    for shape in _SHAPES:
        parse, query = shape(parse)
        if query is not None:
            return parse, query
    return read_list(parse)


def _read_share(parse: QuestionParse, at: int) -> tuple[QuestionParse, TableQuery]:
    """The share of rows that meet the conditions behind the verb; conditions before it narrow the rows."""
    parse = read_groups(parse)
    end = parse.items[at].last
    verbs = [place for place, token in enumerate(parse.words.tokens) if token.word in _COPULAS and place > end]
    tables = [item.last for item in parse.items if item.kind in ("table", "rows") and item.first >= end]
    verb = next((place for place in verbs if not tables or place >= min(tables)), None)
    split = verb if verb is not None else (min(tables) if tables else -1)
    before = [clause for place, clause in parse.where if place < split]
    after = [clause for place, clause in parse.where if place >= split]
    if verb is None and not tables and len(after) > 1:
        before, after = after[1:], after[:1]  # "share of women in Sales"
    if not after:
        before, after = [], before
    if not after:
        raise Unclear("It is not clear which share is meant.")
    parse = replace(use_entities(parse), where=tuple((0, clause) for clause in before))
    measure = AggregateMeasure(Aggregation.SHARE, None, tuple(after))
    return parse, _completed(parse, TableQuery("", groups=parse.groups, measures=(measure,)))


def _completed(parse: QuestionParse, query: TableQuery) -> TableQuery:
    """The query with its table, its conditions, and the joins everything needs."""
    where = tuple(clause for _, clause in parse.where)
    query = replace(query, table=parse.reachable.base.name, where=where)
    return replace(query, joins=_joins(parse, query))


def _joins(parse: QuestionParse, query: TableQuery) -> tuple[Join, ...]:
    paths = parse.reachable.joinable()
    wanted = {ref.table for ref in column_refs(query)}
    needed = {join.alias for path in paths if path.alias in wanted for join in path.joins}
    joins = {join.alias: join for path in paths for join in path.joins}
    return tuple(join for alias, join in joins.items() if alias in needed)


def column_refs(query: TableQuery) -> list[ColumnRef]:
    """Every column a query uses outside its existence tests."""
    refs = [*query.columns, *(group.ref for group in query.groups)]
    measures = [*query.measures, *(each.measure for each in query.having)]
    clauses = list(query.where)
    for measure in measures:
        refs += [measure.ref] if measure.ref else []
        clauses += measure.of
    if query.order is not None:
        by = query.order.by
        refs += [by] if isinstance(by, ColumnRef) else [by.ref] if by.ref else []
    for clause in clauses:
        if isinstance(clause, AnyOf):
            for condition in clause.conditions:
                refs += [condition.ref, *([condition.other] if condition.other else [])]
        else:
            refs.append(clause.here)
    return refs
