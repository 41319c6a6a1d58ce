"""Reads grouping ("by department", "per hire year and state") and aggregates: counts, sums, averages."""
# Over 300 lines: what is grouped and what is aggregated decide each other ("employees by department").

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    DatePart,
    Grouping,
    Related,
    TableQuery,
)
from core.domain.datasets import Column, ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import is_amount, is_year, label_columns, money_columns
from core.table_qa.parsing.items import (
    AGGREGATIONS,
    SUPERLATIVES,
    QuestionParse,
    Unclear,
    Undecided,
    adjacent,
    column_at,
    counts_rows,
    differs_in_rows,
    display_columns,
    first_word,
    has_word,
    is_entity,
    is_flag,
    is_row_name,
    number_column_at,
    only_links,
    phrase_of,
    take_date_column,
)
from core.table_qa.parsing.lexicon import WordMeaning, entity_stems
from core.table_qa.parsing.reader import QuestionItem
from core.table_qa.parsing.tokens import header_unit, header_words
from core.text.tokenize import stem

__all__ = [
    "OTHER_TABLE",
    "SUMMED",
    "ShapeStep",
    "called_like_amount",
    "check_row_names",
    "check_subject",
    "names_rows_alone",
    "may_be_summed",
    "read_aggregates",
    "read_count",
    "read_count_of_groups",
    "read_count_per_group",
    "read_groups",
    "read_measure",
    "read_rate",
    "share_of",
    "take_rate",
    "use_entities",
]

# How much to doubt a reading. Chosen by hand against the questions in tests/table_qa/asked; not fitted.
OTHER_TABLE = 1.8
"""What is counted or listed is another table's rows."""
_OTHER_COLUMN = 1.0
"""What is counted is a column's different values."""
_IMPLIED_COLUMN = 0.5
"""The column that is added up is not named."""
SUMMED = frozenset(
    stem(word)
    for word in (
        "total amount cost sales revenue gross net quantity hours units spend spent freight votes wins losses budget "
        "actual capacity area principal paid awarded riders stock hand positions kwh energy production credits fee "
        "fees donation population employees violations minutes fertiliser consumption usage distance"
    ).split()
)
"""Columns whose values are added up per group; of others the highest counts. Chosen by hand; not fitted."""
_AMOUNTS = frozenset(stem(word) for word in "spending expenditure turnover income earnings costs consumption".split())
_AVERAGED = frozenset(
    stem(word)
    for word in (
        "yield gpa rate ratio rating score satisfaction percent percentage share age level index temperature"
    ).split()
)
"""Columns whose values cannot be added up. Chosen by hand; not fitted."""
_PRICES = frozenset(stem(word) for word in "salary wage price rent fare premium income".split())
"""What one has or pays each time: per group as likely an average as a sum. Chosen by hand; not fitted."""
_TIMES = frozenset(("day", "week", "month", "quarter", "year"))
_MOST_GROUPS = 20
"""Different numbers up to which "per" is about groups ("per grade"). Chosen by hand; not fitted."""
_IN_TOTAL = ("in total", "altogether", "overall")
_DATE_PARTS = {"year": DatePart.YEAR, "quarter": DatePart.QUARTER, "month": DatePart.MONTH}
_PERSONS = frozenset(stem(word) for word in ("employee", "people", "person", "staff", "worker"))
_EXTENSIVE = frozenset(("mass", "area", "energy"))
"""What is measured in such units is added up."""
_POSSESSING = frozenset("with have has had having get gets got getting receive receives received without".split())
"""Words between two names of the same rows that make the second one a condition: "applicants who got an award"."""
_ROW_BY_ROW = frozenset(("list", "which", "whose", "who"))

ShapeStep = tuple[QuestionParse, TableQuery | None]
"""The parse after a step, and the query when the step recognised its shape."""


def use_entities(parse: QuestionParse) -> QuestionParse:
    """Mark the names of the rows themselves as used."""
    own = [at for at in parse.positions("table", "rows") if is_entity(parse, at)]
    return parse.use(*own, *(at for at in parse.positions("column") if names_rows_alone(parse.items[at])))


def check_row_names(parse: QuestionParse) -> None:
    """Raises Unclear, or Undecided, where rows are said to have what they are called by: "applicants who got an award"
    in a table of awards."""
    tokens = parse.words.tokens
    named = [item for at, item in enumerate(parse.items) if is_row_name(parse, at) or names_rows_alone(item)]
    for one, other in pairwise(named):
        between = {token.word for token in tokens[one.last : other.first]}
        different = other.kind == "table" and tokens[one.last - 1].stem != tokens[other.last - 1].stem
        if different and between & _POSSESSING:
            raise Undecided(f"It is not clear what '{phrase_of(parse.words, other)}' asks of the rows.")
    if len(named) == 1 and named[0].kind == "table" and parse.items.index(named[0]) and _is_had(parse, named[0]):
        raise Unclear(f"It is not clear what '{phrase_of(parse.words, named[0])}' asks of the rows.")


def _is_had(parse: QuestionParse, item: QuestionItem) -> bool:
    """Whether a name stands behind "with", "got" or the like."""
    before = (token.word for token in reversed(parse.words.tokens[: item.first]))
    return next((word for word in before if word not in ("a", "an", "any", "no", "the")), "") in _POSSESSING


def names_rows_alone(item: QuestionItem) -> bool:
    """Whether an item names a column of the table itself that names its rows."""
    meaning = item.meaning if item.kind == "column" else None
    return meaning is not None and meaning.column is not None and not meaning.path.hops and differs_in_rows(meaning.column)


# Groups


def read_groups(parse: QuestionParse) -> QuestionParse:
    """Read groups: "by department", "per hire year and state". An aggregate after "by" is an order, not a group."""
    for by in parse.positions("group"):
        if _is_per_row(parse, by):
            parse = parse.use(by, by + 1)
            continue
        _check_average_per_time(parse, by)
        at, taken = by + 1, list[int]()
        while True:
            parse, groups, following = _read_group(parse, at)
            if not groups:
                break
            parse = parse.add_groups(*groups)
            taken += [at, following - 1]
            at = following
            again = parse.item(at, "column", "table", "year", "month", "quarter")
            if again is None or not adjacent(parse, at) or is_entity(parse, at):
                break
        if taken:
            parse = parse.use(by, *taken)
    return parse


def _is_per_row(parse: QuestionParse, by: int) -> bool:
    """Whether "per" tells of what an average is one: "average passengers per run" of runs is the average of all.

    Raises Undecided for an amount per row without "average", which may be a list or an average."""
    if parse.words.tokens[parse.items[by].first].word != "per" or not is_entity(parse, by + 1):
        return False
    averaged = any(item.kind == "average" for item in parse.items[:by])
    if not averaged and any(number_column_at(parse, at) for at in parse.positions("column") if at < by):
        raise Undecided(f"'per {phrase_of(parse.words, parse.items[by + 1])}' may be of each one, or on average.")
    return averaged


def _check_average_per_time(parse: QuestionParse, by: int) -> None:
    """Raises Undecided for "average cost per month" of what is added up: of each row, or of the totals of each month."""
    if parse.words.tokens[parse.items[by].first].word != "per" or parse.item(by + 1, "table", "rows"):
        return
    averaged = any(item.kind == "average" for item in parse.items[:by])
    meanings = [number_column_at(parse, at) for at in parse.positions("column") if at < by]
    summed = any(each is not None and not _may_be_averaged(each) and not _is_rate(each) for each in meanings)
    timed = phrase_of(parse.words, parse.items[by + 1]).lower() in _TIMES if by + 1 < len(parse.items) else False
    if averaged and summed and timed:
        raise Undecided(
            f"'average per {phrase_of(parse.words, parse.items[by + 1])}' may be of rows, or of totals of that time."
        )


def _is_rate(meaning: WordMeaning) -> bool:
    """Whether a number is a rate, a rating or a price, which is not added up."""
    assert meaning.column is not None
    return bool(set(header_words(meaning.column.header)) & (_AVERAGED | _PRICES))


def _read_group(parse: QuestionParse, at: int) -> tuple[QuestionParse, list[Grouping], int]:
    """The grouping keys named from a position on ([] for none), and the position after them."""
    part = parse.item(at, "year", "month", "quarter")
    if part is not None:
        dated = parse.item(at + 1, "column")
        if dated and dated.meaning and dated.meaning.column and dated.meaning.column.type.dated:
            return parse.use(at, at + 1), [Grouping(dated.meaning.ref, _DATE_PARTS[part.kind])], at + 2
        if part.kind == "year" and (named := _named_year(parse)) is not None:
            return parse.use(at, named), [Grouping(parse.meaning(named).ref)], at + 1
        parse, ref = take_date_column(parse)
        _check_part(parse, part.kind)
        return parse.use(at), [Grouping(ref, _DATE_PARTS[part.kind])], at + 1
    if _is_possessor(parse, at):
        parse = parse.use(at)
        at += 1
    if is_entity(parse, at) and parse.item(at, "table", "rows"):
        base = parse.reachable.base
        labels = label_columns(base)
        if not labels:
            raise Unclear("The rows of this table have no name to group by.")
        return parse, [Grouping(ColumnRef(base.name, column.name)) for column in labels], at + 1
    meaning = column_at(parse, at)
    if meaning is None or meaning.column is None:
        return parse, [], at
    if is_amount(meaning.path.table, meaning.column) and parse.positions(*SUPERLATIVES):
        return parse, [], at  # "top 5 by salary" is an order
    _check_ratio(parse, at, meaning)
    _check_year(parse, at, meaning)
    after = parse.item(at + 1, "year", "month", "quarter")
    if after and meaning.column.type.dated:
        return parse.use(at + 1), [Grouping(meaning.ref, _DATE_PARTS[after.kind])], at + 2
    if meaning.column.type is ColumnType.TIMESTAMP:
        return parse, [Grouping(meaning.ref, DatePart.MONTH)], at + 1
    return parse, [Grouping(ref) for ref in display_columns(parse, meaning, at)], at + 1


def _named_year(parse: QuestionParse) -> int | None:
    """Where a column of years is named: "stands planted per year"."""
    for at in parse.positions("column"):
        column = parse.meaning(at).column
        if column is not None and is_year(column) and not parse.meaning(at).path.hops:
            return at
    return None


def _check_part(parse: QuestionParse, part: str) -> None:
    """Raises Undecided when a column that holds no dates is called "year" too; an amount counts only when it is asked
    for: the monthly rent of "average rent per month"."""
    base = parse.reachable.base
    named = {item.meaning.ref for item in parse.items if item.kind == "column" and item.meaning is not None}
    for column in base.columns:
        if is_amount(base, column) and ColumnRef(base.name, column.name) not in named:
            continue
        if part in header_words(column.header) and not column.type.dated and not is_year(column):
            raise Undecided(f"'{part}' may be that of a date, or '{column.header}'. Name the column.")


def _check_year(parse: QuestionParse, at: int, meaning: WordMeaning) -> None:
    """Raises Unclear for "per year" where a column that holds no dates is called so in part, and others hold dates."""
    item, column = parse.items[at], meaning.column
    word = phrase_of(parse.words, item).lower()
    if column is None or word not in _DATE_PARTS or column.type.dated or len(header_words(column.header)) == 1:
        return
    if any(each.type.dated for each in parse.reachable.base.columns):
        raise Undecided(f"'{word}' may be that of a date, or '{column.header}'. Name the column.")


def _check_ratio(parse: QuestionParse, at: int, meaning: WordMeaning) -> None:
    """Raises Unclear for "cost per kg": a ratio of two amounts, not groups of one."""
    before, column = parse.item(at - 1, "group"), meaning.column
    if before is None or column is None or not is_amount(meaning.path.table, column):
        return
    if parse.words.tokens[before.first].word == "per" and column.distinct > _MOST_GROUPS:
        raise Unclear(f"'per {column.header}' is a ratio of two columns, which is not computed.")


def _is_possessor(parse: QuestionParse, at: int) -> bool:
    """Whether a name only tells whose the next one is: the supplier of "by supplier country"."""
    item, after = parse.item(at, "column", "table"), parse.item(at + 1, "column")
    if item is None or after is None or after.first != item.last or item.meaning is None or after.meaning is None:
        return False
    path = item.meaning.path
    if item.kind == "column":
        target = parse.reachable.target(path.alias, item.meaning.ref.column)
        return target is not None and target.alias == after.meaning.path.alias
    return path.alias == after.meaning.path.alias


def _group_by_named_column(parse: QuestionParse) -> tuple[QuestionParse, list[Grouping]]:
    """ "departments with an average salary above 90,000": the groups are named without "by"; [] when none is."""
    if not parse.having:
        return parse, []
    for at in parse.positions("column", "table"):
        meaning = column_at(parse, at)
        if meaning is None or meaning.column is None or is_amount(meaning.path.table, meaning.column):
            continue
        refs = display_columns(parse.use(at), meaning, at)
        return _without_empty_groups(parse.use(at), refs[0]), [Grouping(ref) for ref in refs]
    return parse, []


def _without_empty_groups(parse: QuestionParse, ref: ColumnRef) -> QuestionParse:
    """Exclude rows with an empty grouping key: they do not make a group."""
    base, column = parse.reachable.base, parse.reachable.paths[ref.table].table.column(ref.column)
    if column is None or (ref.table == base.name and column.filled >= base.rows):
        return parse
    filled = AnyOf((Condition(ref, Comparison.EMPTY, negated=True),))
    return replace(parse, where=(*parse.where, (0, filled)))


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
        parse = parse.use(*(at for at in parse.positions("sum") if phrase_of(parse.words, parse.items[at]).lower() == "how much"))
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
        parse, groups = _group_by_named_column(parse)
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
    parse, groups = _group_by_named_column(parse.use(*parse.positions("count", "distinct")))
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


def _implied_aggregation(meaning: WordMeaning, *, explicit: bool) -> Aggregation:
    """How a number per group is aggregated when the question does not say: quantities are added up, ratings and rates
    averaged.
    """
    assert meaning.column is not None
    stems = set(header_words(meaning.column.header))
    if not explicit and stems & _AVERAGED:
        return Aggregation.AVERAGE
    return Aggregation.SUM


def _is_unique(parse: QuestionParse, group: Grouping) -> bool:
    """Whether a grouping key differs in every row of the table asked about."""
    base = parse.reachable.base
    column = base.column(group.ref.column) if group.ref.table == base.name and group.part is None else None
    return column is not None and base.rows > 1 and column.distinct == base.rows


def called_like_amount(parse: QuestionParse) -> str:
    """The name of the rows in a question, if it may as well mean an amount: sales, spending; "" otherwise."""
    key = parse.reachable.base.key
    countable = set(header_words(key.header)) if key is not None else set()
    for at, item in enumerate(parse.items):
        stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
        if item.kind == "table" and (SUMMED | _AMOUNTS) & stems - countable - _PERSONS and is_row_name(parse, at):
            return phrase_of(parse.words, item)
    return ""


def may_be_summed(column: Column) -> bool:
    """Whether a number can be added up: not a yes/no column, and no rating or rate by its header."""
    return not is_flag(column) and not set(header_words(column.header)) & _AVERAGED


def check_subject(parse: QuestionParse) -> None:
    """Raises Unclear where what is listed or counted is named before the rows of the table asked about, and is another
    table's: "claims by people" does not list people."""
    named = [at for at, item in enumerate(parse.items) if item.kind in ("table", "column") and item.meaning is not None]
    own = next((at for at in named if is_row_name(parse, at)), None)
    if own is None or own == named[0] or not _is_of_other_table(parse, named[0]):
        return
    first, tokens = parse.items[named[0]], parse.words.tokens
    between = [token.word for token in tokens[first.last : parse.items[own].first]]
    if between and not {"have", "has", "had"} & set(between):
        phrases = [phrase_of(parse.words, item) for item in (first, parse.items[own])]
        raise Unclear(f"It is not clear whether '{phrases[0]}' or '{phrases[1]}' are meant.")


def _is_of_other_table(parse: QuestionParse, at: int) -> bool:
    """Whether an item names another table, its key, or a column that refers to it."""
    meaning = parse.meaning(at)
    if meaning.path.hops:
        return meaning.column is None or meaning.column.key or meaning.path.reverse is not None
    if meaning.column is None:
        return False
    target = parse.reachable.target(meaning.path.alias, meaning.ref.column)
    return target is not None and target.table != parse.reachable.base


def _may_be_averaged(meaning: WordMeaning) -> bool:
    """Whether it is open how a number is aggregated: its header is no quantity, and no rate."""
    column = meaning.column
    assert column is not None
    stems = set(header_words(column.header))
    if stems & _PRICES:
        return True
    kind = asking().measures.get(header_unit(column.header), ("", 0.0))[0]
    return not stems & (_AVERAGED | SUMMED) and column.type is not ColumnType.MONEY and kind not in _EXTENSIVE


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
        parse, groups = _group_by_named_column(parse)
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
    if not numbers and any(_is_unique(parse, group) for group in parse.groups):
        raise Unclear("Each row would be a group of its own.")
    measures = [
        AggregateMeasure(_implied_aggregation(meaning, explicit=bool(sums)), meaning.ref) for meaning in numbers
    ]
    if not sums and any(_may_be_averaged(meaning) for meaning in numbers):
        parse = replace(parse, choices=(*parse.choices, (Aggregation.SUM, Aggregation.AVERAGE)))
    return parse, TableQuery(
        "", groups=parse.groups, measures=tuple(measures) or (AggregateMeasure(Aggregation.COUNT),)
    )
