"""Items of a question → one query and its doubt; every part of the question must be used."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.domain.dataset_queries import AggregateMeasure, Aggregation, AnyOf, ColumnRef, Comparison, Join, TableQuery
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import ReachableTables
from core.table_qa.parsing.aggregation import (
    read_aggregates,
    read_count,
    read_count_of_groups,
    read_count_per_group,
    read_groups,
    use_entities,
)
from core.table_qa.parsing.conditions import read_conditions
from core.table_qa.parsing.items import QuestionParse, Unclear, phrase_of
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.ranking import read_list, read_superlative
from core.table_qa.parsing.reader import QuestionItem, QuestionReading, QuestionWords
from core.table_qa.query_description import tables_of

__all__ = ["build_query", "column_refs", "read_shape", "variants"]

# Chosen by hand against the questions in tests/table_qa/asked; not fitted.
_MOST_VARIANTS = 8
"""Readings tried per table: the most likely one, and variants with one rival meaning each."""
_VARIANT_COST = 0.5
"""Taken off the score of a reading with a rival meaning."""
_SINGLE_ROW_DOUBT = 1.5
_REQUIRED_KINDS = frozenset(
    "number date value not empty column table sum average median share before after more less at_least at_most between"
    " or_more or_less or".split()
)
"""Kinds of items that a query must use; others ("most", "group") may be idle words."""


def build_query(
    words: QuestionWords, items: Sequence[QuestionItem], reachable: ReachableTables
) -> tuple[TableQuery, float]:
    """The query of a reading, and its doubt. Raises Unclear for items that no step used."""
    parse, query = read_shape(read_conditions(words, items, reachable))
    doubt = parse.doubt + (_SINGLE_ROW_DOUBT if _counts_single_row(query, reachable) else 0.0)
    mentioned = {ref.table for ref in column_refs(query)} | set(tables_of(query))
    lost = [
        item
        for at, item in enumerate(parse.items)
        if at not in parse.used
        and item.kind in _REQUIRED_KINDS
        and not _may_be_idle(words, item)
        and not _is_on_path(item, reachable, mentioned)
    ]
    if lost:
        phrases = ", ".join(dict.fromkeys(f"'{phrase_of(words, item)}'" for item in lost))
        raise Unclear(f"A part of the question could not be put together: {phrases}.")
    return query, doubt


def _is_on_path(item: QuestionItem, reachable: ReachableTables, mentioned: Collection[str]) -> bool:
    """Whether a name only says on which path a condition is: "requests of people in Sales"."""
    if item.meaning is None or item.kind not in ("table", "column"):
        return False
    if item.kind == "table":
        return item.meaning.path.alias in mentioned
    path, column = item.meaning.path, item.meaning.ref.column
    if path.reverse is not None and path.table.name in mentioned:
        return any(link.column == column for link in path.table.links)
    target = reachable.target(path.alias, column)
    return target is not None and target.alias in mentioned


def _may_be_idle(words: QuestionWords, item: QuestionItem) -> bool:
    """Whether an item was read into words that may as well carry no meaning: "paid", "made", "from"."""
    if item.kind == "between":
        return words.tokens[item.first].word == "from"
    return item.kind in ("column", "table") and all(
        token.stem in asking().ignorable for token in words.tokens[item.first : item.last]
    )


def _counts_single_row(query: TableQuery, reachable: ReachableTables) -> bool:
    """Whether a query counts the one row a name selects of a code table, although other tables use its codes."""
    base = reachable.base
    if query.groups or query.measures != (AggregateMeasure(Aggregation.COUNT),):
        return False
    unique = {ColumnRef(base.name, column.name) for column in base.columns if column.distinct == base.rows}
    conditions = (each for clause in query.where if isinstance(clause, AnyOf) for each in clause.conditions)
    selected = any(each.test is Comparison.IS and each.ref in unique for each in conditions)
    return selected and any(path.reverse is not None for path in reachable.paths.values())


def variants(reading: QuestionReading) -> list[QuestionReading]:
    """The reading itself, and one variant for each rival meaning of each name."""
    readings = [reading]
    for at, item in enumerate(reading.items):
        for rival in item.rivals:
            if not _same_column(rival, item.meaning):
                items = list(reading.items)
                items[at] = replace(item, kind=rival.kind, meaning=rival, rivals=())
                readings.append(QuestionReading(tuple(items), reading.unexplained, reading.score - _VARIANT_COST))
    return readings[:_MOST_VARIANTS]


def _same_column(one: WordMeaning, other: WordMeaning | None) -> bool:
    return other is not None and (one.kind, one.path.alias, one.column) == (other.kind, other.path.alias, other.column)


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
