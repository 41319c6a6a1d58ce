"""Items of a question → one query and its doubt; every part of the question must be used."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.domain.dataset_queries import AggregateMeasure, Aggregation, AnyOf, ColumnRef, Comparison, TableQuery
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import ReachableTables
from core.table_qa.parsing.conditions import read_conditions
from core.table_qa.parsing.items import Unclear, phrase_of
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.reader import QuestionItem, QuestionReading, QuestionWords
from core.table_qa.parsing.shape import column_refs, read_shape
from core.table_qa.query_description import tables_of

__all__ = ["build_query", "variants"]

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
