"""Reads aggregates: counts, sums, averages, shares."""
# Over 300 lines: sums, shares and counts are told apart by the same words.

from collections.abc import Sequence
from dataclasses import replace

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Related,
    TableQuery,
)
from core.domain.datasets import ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import is_amount, money_columns
from core.table_qa.parsing.additive import called_like_amount, implied_aggregation, may_be_averaged, may_be_summed
from core.table_qa.parsing.grouping import group_by_named_column, is_unique
from core.table_qa.parsing.items import (
    AGGREGATIONS,
    QuestionParse,
    Unclear,
    adjacent,
    column_at,
    counts_rows,
    first_word,
    has_word,
    is_entity,
    is_flag,
    number_column_at,
    only_links,
    phrase_of,
)
from core.table_qa.parsing.lexicon import WordMeaning, entity_stems
from core.table_qa.parsing.subjects import check_subject, use_entities
from core.table_qa.parsing.tokens import header_words
from core.text.tokenize import stem

__all__ = [
    "OTHER_TABLE",
    "ShapeStep",
    "read_aggregates",
    "read_count",
    "read_count_of_groups",
    "read_count_per_group",
    "read_measure",
    "read_rate",
    "share_of",
]

# How much to doubt a reading. Chosen by hand against the questions in tests/table_qa/asked; not fitted.
OTHER_TABLE = 1.8
"""What is counted or listed is another table's rows."""
_OTHER_COLUMN = 1.0
"""What is counted is a column's different values."""
_IMPLIED_COLUMN = 0.5
"""The column that is added up is not named."""
_IN_TOTAL = ("in total", "altogether", "overall")
_PERSONS = frozenset(stem(word) for word in ("employee", "people", "person", "staff", "worker"))
_ROW_BY_ROW = frozenset(("list", "which", "whose", "who"))

ShapeStep = tuple[QuestionParse, TableQuery | None]
"""The parse after a step, and the query when the step recognised its shape."""


# Aggregates


def read_measure(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure | None]:
    """The aggregate at a position, with the column after it, or before it when none follows."""
    kind = parse.items[at].kind
    if kind == "rate":
        return take_rate(parse, at)
    if kind == "count":
        return _read_counted(parse.use(at), at + 1)
    following = at + 2 if parse.item(at + 1, "group") else at + 1
    for named in (*range(following, len(parse.items)), *range(at - 1, -1, -1)):
        if meaning := number_column_at(parse, named):
            parse = parse.use(at, named)
            own = _own_money(parse, named) if meaning.path.hops and AGGREGATIONS[kind] is Aggregation.SUM else None
            return parse, AggregateMeasure(AGGREGATIONS[kind], own or meaning.ref)
    return parse, None


def take_rate(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure]:
    """The share that "attrition rate" asks for: of the condition read from the words before "rate". Raises Unclear."""
    end = parse.items[at].first
    ends = {item.first: item.last for index, item in enumerate(parse.items) if index in parse.used}
    before = [(first, clause) for first, clause in parse.where if ends.get(first) == end]
    if not before:
        raise Unclear("It is not clear which rate is meant.")
    parse = replace(parse.use(at), where=tuple(each for each in parse.where if each not in before))
    return share_of(parse, [clause for _, clause in before])


def share_of(parse: QuestionParse, clauses: Sequence[AnyOf | Related]) -> tuple[QuestionParse, AggregateMeasure]:
    """The share of rows that meet these clauses; rows that say neither yes nor no are not counted."""
    for clause in clauses:
        condition = clause.conditions[0] if isinstance(clause, AnyOf) else None
        column = parse.reachable.paths[condition.ref.table].table.column(condition.ref.column) if condition else None
        if condition is None or column is None or not is_flag(column):
            continue
        nothing = tuple(value for value in column.values if value.strip().lower() in asking().nothing - {"no"})
        if nothing or column.filled < parse.reachable.paths[condition.ref.table].table.rows:
            filled = AnyOf((Condition(condition.ref, Comparison.EMPTY, nothing, negated=True),))
            parse = replace(parse, where=(*parse.where, (0, filled)))
    return parse, AggregateMeasure(Aggregation.SHARE, None, tuple(clauses))


def read_rate(parse: QuestionParse) -> ShapeStep:
    """Read a rate: "attrition rate by job role", "the survival rate of women". Raises Unclear."""
    rates = parse.positions("rate")
    if not rates:
        return parse, None
    parse = use_entities(parse.use(*parse.positions("average")))
    measures = []
    for at in rates:
        parse, measure = take_rate(parse, at)
        measures.append(measure)
    return parse, TableQuery("", groups=parse.groups, measures=tuple(measures))


def _read_counted(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure]:
    """ "number of employees", "number of different states"."""
    if parse.item(at, "distinct"):
        parse = parse.use(at)
        at += 1
    if counts_rows(parse, at):
        return parse.use(at), AggregateMeasure(Aggregation.COUNT)
    meaning = column_at(parse, at)
    if meaning is not None and meaning.column is not None:
        return parse.use(at), AggregateMeasure(Aggregation.DISTINCT, meaning.ref)
    return parse, AggregateMeasure(Aggregation.COUNT)


def _own_money(parse: QuestionParse, at: int) -> ColumnRef | None:
    """The table's own amount when the words name its rows: the pay of pay lines is not a salary."""
    item, base = parse.items[at], parse.reachable.base
    stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
    money = money_columns(base)
    return ColumnRef(base.name, money[0].name) if stems <= set(header_words(base.name)) and len(money) == 1 else None


def read_aggregates(parse: QuestionParse) -> ShapeStep:
    """Read sums, averages and medians, of all rows or of groups."""
    measures: list[AggregateMeasure] = []
    if parse.positions("average"):  # "how much do they earn on average"
        parse = parse.use(
            *(at for at in parse.positions("sum") if phrase_of(parse.words, parse.items[at]).lower() == "how much")
        )
    for at in parse.positions("sum", "average", "median"):
        parse, measure = read_measure(parse, at)
        if measure is None and parse.items[at].kind in ("sum", "average"):
            parse, measure = _read_money(parse, at)
        if measure is not None:
            parse, refs = _read_more_numbers(parse)
            measures += [measure, *(replace(measure, ref=ref) for ref in refs)]
    if measures:
        parse = parse.use(*parse.positions("sum"))
    else:
        parse, measures = _read_named_aggregate(parse)
    if not measures:
        return parse, None
    parse = use_entities(parse)
    if not parse.groups:
        parse, groups = group_by_named_column(parse)
        parse = parse.add_groups(*groups)
    return parse, TableQuery("", groups=parse.groups, measures=tuple(dict.fromkeys(measures)))


def _read_money(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure | None]:
    """ "total bonus in 2024", when only one column holds money; "total employees" is a count, "average donation" the
    average of an amount."""
    base, kind = parse.reachable.base, AGGREGATIONS[parse.items[at].kind]
    refs = [ColumnRef(base.name, column.name) for column in money_columns(base)]
    own = is_entity(parse, at + 1)
    if kind is Aggregation.SUM and (len(refs) != 1 or own or parse.item(at + 1, "column")):
        return parse, None
    if kind is Aggregation.AVERAGE and (not refs or not own or entity_stems(base) & asking().persons):
        return parse, None
    rivals = tuple((refs[0], other) for other in refs[1:])
    parse = replace(parse.use(at).add_doubt(_IMPLIED_COLUMN), choices=(*parse.choices, *rivals))
    return parse, AggregateMeasure(kind, refs[0])


def _read_named_aggregate(parse: QuestionParse) -> tuple[QuestionParse, list[AggregateMeasure]]:
    """ "what is the total amount", "average rating of online sessions", where the column's own name begins with the
    aggregate."""
    named = parse.positions("column", "table", "rows")
    meaning = number_column_at(parse, named[0]) if named and not parse.groups else None
    if meaning is None or first_word(parse) in _ROW_BY_ROW:
        return parse, []
    begun = {operator.first: operator.name for operator in parse.words.operators if operator.name in AGGREGATIONS}
    kind = begun.get(parse.items[named[0]].first)
    if kind is None:
        return parse, []
    return parse.use(named[0]), [AggregateMeasure(AGGREGATIONS[kind], meaning.ref)]


def _read_more_numbers(parse: QuestionParse) -> tuple[QuestionParse, list[ColumnRef]]:
    """ "average salary and bonus"."""
    refs = []
    for at in parse.positions("column"):
        if (
            at - 1 in parse.used
            and adjacent(parse, at)
            and not only_links(parse, at)
            and (meaning := number_column_at(parse, at))
        ):
            parse = parse.use(at)
            refs.append(meaning.ref)
    return parse, refs


# Counts


def read_count_of_groups(parse: QuestionParse) -> ShapeStep:
    """Read a count of groups: "how many departments have more than 10 employees"."""
    if not parse.having or parse.groups or not parse.positions("count"):
        return parse, None
    parse, groups = group_by_named_column(parse.use(*parse.positions("count", "distinct")))
    if not groups:
        return parse, None
    measures = tuple(dict.fromkeys(test.measure for test in parse.having))
    return parse, TableQuery("", groups=tuple(groups), measures=measures, counted=True)


def read_count(parse: QuestionParse) -> ShapeStep:
    """Read a count: "how many employees", "how many different states", "headcount"."""
    counts = parse.positions("count") or [at for at in parse.positions("table") if _is_headcount(parse, at)]
    if not counts:
        return parse, None
    check_subject(parse)
    distinct = bool(parse.positions("distinct"))
    totals = [at for at in parse.positions("sum") if phrase_of(parse.words, parse.items[at]).lower() in _IN_TOTAL]
    parse = parse.use(*counts, *totals, *parse.positions("distinct"))
    measure = AggregateMeasure(Aggregation.COUNT)
    at = next((each for each in parse.positions("column", "table", "rows") if each > counts[0]), None)
    if at is not None and distinct:
        parse = _with_column(parse, at)
    if at is not None and not distinct and counts_rows(parse, at):
        parse = parse.use(at)
    elif at is not None:
        meaning = column_at(parse, at)
        if meaning is not None and meaning.column is not None:
            if (meaning.column.type.dated or is_flag(meaning.column)) and not distinct:
                phrase = phrase_of(parse.words, parse.items[at])
                raise Unclear(f"It is not clear what '{phrase}' counts.")
            parse = parse.use(at)
            if is_amount(meaning.path.table, meaning.column) and not distinct:
                if parse.items[at].first - parse.items[counts[0]].last > 1:
                    raise Unclear(f"It is not clear what '{phrase_of(parse.words, parse.items[at])}' counts.")
                measure = AggregateMeasure(Aggregation.SUM, meaning.ref)
                parse = parse.add_doubt(_IMPLIED_COLUMN / 2)
            else:
                if meaning.kind == "column" and not meaning.head and not distinct and meaning.path.hops == 0:
                    phrase = phrase_of(parse.words, parse.items[at])
                    raise Unclear(f"It is not clear what '{phrase}' counts.")  # guests are no guest countries
                measure = AggregateMeasure(Aggregation.DISTINCT, meaning.ref)
                target = parse.reachable.target(meaning.path.alias, meaning.ref.column)
                parse = parse.add_doubt(OTHER_TABLE if target is not None else _OTHER_COLUMN)
    parse = use_entities(parse)
    return parse, TableQuery("", groups=parse.groups, measures=(measure,))


def _with_column(parse: QuestionParse, at: int) -> QuestionParse:
    """The parse with a name of the rows read as their column of that name, if values repeat in it: "different vessels"
    of vessel calls."""
    item, base = parse.items[at], parse.reachable.base
    stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
    columns = [each for each in base.columns if set(header_words(each.header)) <= stems]
    columns = [each for each in columns if each.type is ColumnType.TEXT and 0 < each.distinct < each.filled]
    if item.kind != "table" or not columns:
        return parse
    meaning = WordMeaning("column", parse.reachable.paths[base.name], columns[0], head=True)
    named = replace(item, kind="column", meaning=meaning, rivals=(), tied=0)
    return replace(parse, items=(*parse.items[:at], named, *parse.items[at + 1 :]))


def _totals_rows(parse: QuestionParse) -> bool:
    """Whether "total" is about the rows, which are named in so many words: "total employees"; no "how much" is."""
    stems = entity_stems(parse.reachable.base)
    named = [item for item in parse.items if item.kind in ("table", "rows")]
    last = [parse.words.tokens[item.last - 1] for item in named]
    heads = [token.stem for token in last if token.word.endswith("s") or token.stem in _PERSONS]  # no "total stock"
    own = {header_words(parse.reachable.base.name)[-1]} | (stems & _PERSONS)
    exact = any(stem in own | asking().row_words | _PERSONS for stem in heads)
    return exact and not has_word(parse, "much")


def _is_headcount(parse: QuestionParse, at: int) -> bool:
    return parse.words.tokens[parse.items[at].first].word == "headcount"


def read_count_per_group(parse: QuestionParse) -> ShapeStep:
    """Groups without an aggregate ("employees by department") are counted, or their amounts are added up."""
    if sums := parse.positions("sum"):
        totals = any("total" in phrase_of(parse.words, parse.items[at]).lower() for at in sums)  # no "sum of all loans"
        parse = parse.use(*sums)
        if not parse.groups and not parse.positions("column") and totals and _totals_rows(parse):
            return parse, TableQuery("", measures=(AggregateMeasure(Aggregation.COUNT),))
        if not parse.groups:
            raise Unclear("It is not clear what is to be added up.")
    if not parse.groups:
        parse, groups = group_by_named_column(parse)
        parse = parse.add_groups(*groups)
    if not parse.groups:
        return parse, None
    numbers = [meaning for at in parse.positions("column") if (meaning := number_column_at(parse, at))]
    if not numbers and any(not counts_rows(parse, at) for at in parse.positions("column")):
        raise Unclear("It is not clear what is counted.")
    amount = "" if numbers else called_like_amount(parse)
    parse = parse.use(*parse.positions("column", "table", "rows", "distinct"))
    if amount or (sums and not numbers and not _PERSONS & {token.stem for token in parse.words.tokens}):
        counted = AggregateMeasure(Aggregation.COUNT)
        base = parse.reachable.base
        columns = [column for column in base.columns if is_amount(base, column) and may_be_summed(column)]
        refs = [ColumnRef(base.name, column.name) for column in (columns if amount else money_columns(base))]
        if amount and not refs:
            raise Unclear(f"It is not clear how '{amount}' is measured.")
        rivals = tuple((counted, AggregateMeasure(Aggregation.SUM, ref)) for ref in refs)
        parse = replace(parse, choices=(*parse.choices, *rivals))  # "total orders": how many, or how much
    if not numbers and any(is_unique(parse, group) for group in parse.groups):
        raise Unclear("Each row would be a group of its own.")
    measures = [AggregateMeasure(implied_aggregation(meaning, explicit=bool(sums)), meaning.ref) for meaning in numbers]
    if not sums and any(may_be_averaged(meaning) for meaning in numbers):
        parse = replace(parse, choices=(*parse.choices, (Aggregation.SUM, Aggregation.AVERAGE)))
    return parse, TableQuery(
        "", groups=parse.groups, measures=tuple(measures) or (AggregateMeasure(Aggregation.COUNT),)
    )
