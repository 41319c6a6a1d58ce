"""Items of a question → one query and its doubt; every part of the question must be used."""
# Over 300 lines: what a query uses of the question and what it must not drop are decided together.

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar, cast

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Join,
    Related,
    TableQuery,
)
from core.domain.datasets import RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import ReachableTables, flag_values, is_amount, is_year
from core.table_qa.parsing.additive import called_like_amount, may_be_summed
from core.table_qa.parsing.aggregation import (
    read_aggregates,
    read_count,
    read_count_of_groups,
    read_count_per_group,
    read_rate,
    share_of,
)
from core.table_qa.parsing.conditions import read_conditions
from core.table_qa.parsing.grouping import read_groups
from core.table_qa.parsing.items import QuestionParse, Unclear, Undecided, differs_in_rows, phrase_of
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.listing import check_who, read_list
from core.table_qa.parsing.ranking import read_superlative
from core.table_qa.parsing.reader import PARTICIPLES, QuestionItem, QuestionReading, QuestionWords
from core.table_qa.parsing.subjects import check_row_names, use_entities
from core.table_qa.parsing.tokens import Token, header_words
from core.table_qa.query_description import tables_of
from core.text.tokenize import stem

__all__ = ["BuiltQuery", "aggregates_of", "build_query", "column_refs", "read_shape", "variants"]

Part = TypeVar("Part")
# Chosen by hand against the questions in tests/table_qa/asked; not fitted.
_MOST_VARIANTS = 8
"""Readings tried per table: the most likely one, and variants with one rival meaning each."""
_VARIANT_COST = 0.5
"""Taken off the score of a reading with a rival meaning."""
_TIE_COST = 0.05
"""The same with a meaning that is as likely: only so much that the order stays the same."""
_SINGLE_ROW_DOUBT = 1.5
_EMPLOYED = frozenset(stem(word) for word in ("work", "employed", "have"))
"""Verbs that say no more of people than that there are some."""
_AUXILIARIES = frozenset("is are was were be been being has have had".split())
_IDLE_KINDS = frozenset(("rows", "exactly"))
"""Kinds of items that a query need not use: "records of", "exactly 5"."""
_MEASURING = ("count", "sum", "average", "median")
"""Operators behind which a word that is not understood is what was asked for: "how many servings"."""
_IDLE_PHRASES = {"between": ("from",), "group": ("by", "at each", "on each", "according to")}
"""Operators that also join words ("written by", "from Oslo"): phrases that need not be used as operators."""


@dataclass(frozen=True, slots=True)
class BuiltQuery:
    """A reading's query, its doubt (≥ 0), and the words of the question that add nothing to it. one_row: as in
    QuestionParse. alternatives: queries that are as likely."""

    query: TableQuery
    doubt: float
    unused: tuple[str, ...] = ()
    one_row: bool = False
    alternatives: tuple[TableQuery, ...] = ()


def build_query(words: QuestionWords, items: Sequence[QuestionItem], reachable: ReachableTables) -> BuiltQuery:
    """The query of a reading. Raises Unclear for words that change the question and that no step used."""
    parse, query = read_shape(read_conditions(words, items, reachable))
    check_who(parse, query)
    check_row_names(parse)
    doubt = parse.doubt + (_SINGLE_ROW_DOUBT if _counts_single_row(query, reachable) else 0.0)
    mentioned = {ref.table for ref in column_refs(query)} | set(tables_of(query))
    refs = column_refs(query)
    used = [
        item
        for at, item in enumerate(parse.items)
        if at in parse.used or _is_on_path(item, reachable, mentioned) or _names_again(item, refs)
    ]
    idle = [item for item in parse.items if item not in used]
    lost = [
        phrase_of(words, item)
        for at, item in enumerate(parse.items)
        if item not in used and not _may_be_idle(words, item) and not _adds_nothing(parse, at)
    ]
    read = {index for item in used for index in range(item.first, item.last)}
    rest = [token for index, token in enumerate(words.tokens) if index not in read]
    lost += [token.word for token in rest if token.word in asking().telling and not _joins_words(parse, idle, token)]
    if lost:
        phrases = ", ".join(dict.fromkeys(f"'{phrase}'" for phrase in lost))
        raise Unclear(f"A part of the question could not be put together: {phrases}.")
    linking = [token for token in rest if token.stem in asking().linking]
    unused = [token.word for token in linking]
    for token in linking:
        if _names_other_column(token, reachable.base, refs) or _restricts(words, read, words.tokens.index(token)):
            raise Unclear(f"It is not clear what '{token.word}' asks of the rows.")
    measured = {item.last for item in parse.items if item.kind in _MEASURING}
    for index, token in enumerate(words.tokens):
        if index in measured and index not in read and token.stem in asking().linking:
            raise Unclear(f"It is not clear what '{token.word}' is.")
    if [word for word in unused if stem(word) not in _EMPLOYED] and _is_everything(query):
        raise Unclear(f"It is not clear what '{unused[0]}' asks of the rows.")
    alternatives = tuple(_swapped(query, *choice) for choice in parse.choices)
    return BuiltQuery(query, doubt, tuple(dict.fromkeys((*unused, *parse.unconfirmed))), parse.one_row, alternatives)


def aggregates_of(query: TableQuery, table: RealityTable) -> list[TableQuery]:
    """The sum and the average of the amounts that a list was asked for."""
    found = []
    for ref in query.requested:
        column = table.column(ref.column) if ref.table == table.name else None
        if column is None or not is_amount(table, column):
            continue
        kinds = (Aggregation.SUM, Aggregation.AVERAGE) if may_be_summed(column) else (Aggregation.AVERAGE,)
        plain = replace(query, columns=(), requested=())
        found += [replace(plain, measures=(AggregateMeasure(kind, ref),)) for kind in kinds]
    return found


def _restricts(words: QuestionWords, read: Collection[int], at: int) -> bool:
    """Whether a verb that nothing read follows says which rows are meant: "customers who stayed", "plants that are
    running", "how many are running"."""
    before = [token.word for token in words.tokens[:at]]
    auxiliary = bool(before) and before[-1] in _AUXILIARIES
    while before and before[-1] in _AUXILIARIES:
        before.pop()
    relative = len(before) > 1 and before[-1] in ("who", "that", "which")
    ends = all(index < at for index in read)
    return ends and (relative or (auxiliary and words.tokens[at].word.endswith("ing")))


def _names_other_column(token: Token, table: RealityTable, refs: Collection[ColumnRef]) -> bool:
    """Whether a participle is a word of a column's header that the query does not use: "studios that were sold" beside
    a sold price."""
    if not token.word.endswith("ed") and token.word not in PARTICIPLES:
        return False
    used = {ref.column for ref in refs if ref.table == table.name}
    named = [column for column in table.columns if token.stem in set(header_words(column.header)) - asking().light]
    return bool(named) and not any(column.name in used for column in named)


def _is_everything(query: TableQuery) -> bool:
    """Whether a query only lists or counts all rows."""
    counted = not query.measures or query.measures == (AggregateMeasure(Aggregation.COUNT),)
    return counted and not (query.where or query.groups or query.order or query.distinct)


def _swapped(query: Part, chosen: object, other: object) -> Part:
    """A query, or a part of one, with another column or aggregation in every place of one."""
    if query == chosen:
        return cast("Part", other)
    if isinstance(query, tuple):
        return cast("Part", tuple(_swapped(each, chosen, other) for each in query))
    if is_dataclass(query) and not isinstance(query, type):
        return replace(
            query, **{each.name: _swapped(getattr(query, each.name), chosen, other) for each in fields(query)}
        )
    return query


def _names_again(item: QuestionItem, refs: Collection[ColumnRef]) -> bool:
    """Whether an item names a column the query uses already: "the most expensive unit price"."""
    return item.kind == "column" and item.meaning is not None and item.meaning.ref in refs


def _adds_nothing(parse: QuestionParse, at: int) -> bool:
    """Whether an operator only repeats how what follows is read: "average number of incidents" where incidents are
    numbers, "under Carter" where no number follows."""
    item, following = parse.items[at], parse.items[at + 1] if at + 1 < len(parse.items) else None
    if following is None or at + 1 not in parse.used or following.meaning is None:
        return False
    if item.kind == "count":
        column = following.meaning.column
        return following.kind == "column" and column is not None and is_amount(following.meaning.path.table, column)
    under = item.kind == "less" and phrase_of(parse.words, item).lower() == "under"
    return (
        under
        and following.kind in ("value", "column")
        and not parse.items[at + 1 + (following.kind == "column")].number
    )


def _joins_words(parse: QuestionParse, idle: Sequence[QuestionItem], token: Token) -> bool:
    """Whether a word is part of a phrase that may be idle, such as "on each"."""
    return any(
        token in parse.words.tokens[item.first : item.last]
        and (_may_be_idle(parse.words, item) or _adds_nothing(parse, parse.items.index(item)))
        for item in idle
    )


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
    if item.kind in _IDLE_PHRASES:
        phrase = " ".join(token.word for token in words.tokens[item.first : item.last])
        return phrase in _IDLE_PHRASES[item.kind]
    return item.kind in _IDLE_KINDS or (
        item.kind in ("column", "table")
        and all(asking().may_be_idle(token.stem) for token in words.tokens[item.first : item.last])
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
        for number, rival in enumerate(item.rivals):
            if not _same_column(rival, item.meaning):
                cost = _TIE_COST if number < item.tied else _VARIANT_COST
                items = list(reading.items)
                items[at] = replace(item, kind=rival.kind, meaning=rival, rivals=())
                readings.append(QuestionReading(tuple(items), reading.unexplained, reading.score - cost))
    return readings[:_MOST_VARIANTS]


def _same_column(one: WordMeaning, other: WordMeaning | None) -> bool:
    return other is not None and (one.kind, one.path.alias, one.column) == (other.kind, other.path.alias, other.column)


_FAR_MEASURE = 0.8
"""Doubt about an aggregate of another table's column. Chosen by hand against tests/table_qa/asked; not fitted."""
_COPULAS = frozenset(
    (
        "is",
        "are",
        "was",
        "were",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "who",
        "that",
        "without",
        "contain",
        "contains",
        "include",
        "includes",
        "mention",
        "mentions",
        "hold",
        "holds",
        "use",
        "uses",
        "come",
        "comes",
        "came",
        "work",
        "live",
        "got",
    )
)
_SHAPES = (read_count_of_groups, read_superlative, read_rate, read_aggregates, read_count, read_count_per_group)
"""The shapes in the order they are tried; what none of them recognises is a list."""


def read_shape(parse: QuestionParse) -> tuple[QuestionParse, TableQuery]:
    """The query, and the parse with all used items; `parse.doubt` is the uncertainty of the query. Raises Unclear.

    parse: as `read_conditions` leaves it.
    """
    shares = parse.positions("share")
    if shares and _is_postfix(parse, shares[0]):
        rated = replace(parse, items=_as_rate(parse, shares[0]))
        parse, query = _read_plain(read_groups(rated))
        return parse, _completed(parse, query)
    if shares:
        return _read_share(parse.use(*shares), shares[0])
    parse, query = _read_plain(read_groups(parse))
    base = parse.reachable.base.name
    far = [measure for measure in query.measures if measure.ref is not None and measure.ref.table != base]
    parse = parse.add_doubt(sum(_FAR_MEASURE for _ in far))
    if parse.having and not query.groups:
        raise Unclear("It is not clear which groups are meant.")
    return parse, _completed(parse, replace(query, having=parse.having))


def _is_postfix(parse: QuestionParse, at: int) -> bool:
    """Whether "percentage" stands behind what it is of, as "rate" does: "tip percentage", not "percentage of tips"."""
    item, tokens = parse.items[at], parse.words.tokens
    if tokens[item.last - 1].word == "of" or (item.last < len(tokens) and tokens[item.last].word == "of"):
        return False
    return any(other.last == item.first and other.meaning is not None for other in parse.items)


def _as_rate(parse: QuestionParse, at: int) -> tuple[QuestionItem, ...]:
    return (*parse.items[:at], replace(parse.items[at], kind="rate"), *parse.items[at + 1 :])


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
    verbs = [index for index, token in enumerate(parse.words.tokens) if token.word in _COPULAS and index > end]
    tables = [item.last for item in parse.items if item.kind in ("table", "rows") and item.first >= end]
    verb = next((index for index in verbs if not tables or index >= min(tables)), None)
    split = verb if verb is not None else (min(tables) if tables else -1)
    before = [clause for index, clause in parse.where if index < split]
    after = [clause for index, clause in parse.where if index >= split]
    flags = [clause for clause in after if _asks_yes_or_no(clause, parse.reachable)]
    if verb is None and not tables and len(after) > 1 and flags == after[-1:]:
        before, after = after[:-1], after[-1:]  # "percentage of women survived"
    elif verb is None and not tables and len(after) > 1:
        before, after = after[1:], after[:1]  # "share of women in Sales"
    if not after:
        before, after = [], before
    periods = [clause for clause in after if _is_period(clause, parse.reachable)]
    if len(after) > len(periods):  # "percentage of orders approved in 2023": of those of 2023
        before, after = [*before, *periods], [clause for clause in after if clause not in periods]
    if not after or (verb is None and len(after) > 1):
        raise Unclear("It is not clear which share is meant.")
    if any(_selects_one_row(clause, parse.reachable) for clause in after):
        raise Unclear("It is not clear which share is meant: every row has a name of its own.")
    if phrase := called_like_amount(parse):
        raise Undecided(f"'{phrase}' may be rows or an amount; it is not clear which share is meant.")
    parse = replace(use_entities(parse), where=tuple((0, clause) for clause in before))
    parse, measure = share_of(parse, after)
    return parse, _completed(parse, TableQuery("", groups=parse.groups, measures=(measure,)))


def _is_period(clause: AnyOf | Related, reachable: ReachableTables) -> bool:
    """Whether a clause is about a date or a year."""
    if not isinstance(clause, AnyOf) or clause.conditions[0].test is Comparison.EMPTY:
        return False
    ref = clause.conditions[0].ref
    column = reachable.paths[ref.table].table.column(ref.column)
    return column is not None and (column.type.dated or is_year(column))


def _selects_one_row(clause: AnyOf | Related, reachable: ReachableTables) -> bool:
    """Whether a clause is about a column that differs in nearly every row."""
    if not isinstance(clause, AnyOf):
        return False
    ref = clause.conditions[0].ref
    column = reachable.paths[ref.table].table.column(ref.column)
    test = clause.conditions[0].test
    return column is not None and test is Comparison.IS and differs_in_rows(column)


def _asks_yes_or_no(clause: AnyOf | Related, reachable: ReachableTables) -> bool:
    """Whether a clause is about a column of yes and no."""
    if not isinstance(clause, AnyOf):
        return False
    ref = clause.conditions[0].ref
    column = reachable.paths[ref.table].table.column(ref.column)
    return column is not None and flag_values(column) is not None


def _completed(parse: QuestionParse, query: TableQuery) -> TableQuery:
    """The query with its table, its conditions, and the joins everything needs."""
    where = tuple(clause for _, clause in parse.where)
    query = replace(query, table=parse.reachable.base.name, where=where)
    return replace(query, joins=_joins(parse, query))


def _joins(parse: QuestionParse, query: TableQuery) -> tuple[Join, ...]:
    paths = parse.reachable.joinable()
    tables = {ref.table for ref in column_refs(query)}
    needed = {join.alias for path in paths if path.alias in tables for join in path.joins}
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
