"""Reads superlatives: highest, most, latest; of groups, of rows, or alone."""
# Over 300 lines: what a superlative measures and what it ranks decide each other.

from dataclasses import replace

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    ColumnRef,
    Grouping,
    Ordering,
    TableQuery,
)
from core.domain.datasets import Column, ColumnType, RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import flag_values, is_amount, is_year, money_columns, name_column
from core.table_qa.parsing.additive import SUMMED, may_be_summed
from core.table_qa.parsing.aggregation import ShapeStep, read_measure
from core.table_qa.parsing.grouping import without_empty_groups
from core.table_qa.parsing.items import (
    SUPERLATIVES,
    QuestionParse,
    Unclear,
    column_at,
    counts_rows,
    differs_in_rows,
    display_columns,
    first_word,
    has_word,
    is_entity,
    is_row_name,
    number_column_at,
    only_links,
    phrase_of,
    take_date_column,
)
from core.table_qa.parsing.lexicon import WordMeaning, entity_stems, table_meaning
from core.table_qa.parsing.listing import HAVING_WORDS, LISTING, WHICH, WHO, naming_columns, people_columns, row_columns
from core.table_qa.parsing.reader import QuestionItem
from core.table_qa.parsing.tokens import header_unit, header_words, plain_header
from core.text.tokenize import stem

__all__ = ["read_superlative"]

_COUNTING = ("most", "fewest", "least", "largest", "biggest", "greatest", "smallest", "top", "bottom", "common")
_QUALITIES = frozenset(
    stem(word)
    for word in ("expensive cheap costly pricey valuable profitable populous heavy old young tall long paid").split()
)
"""Words that describe a row by an amount, which is then not what is asked for: the most expensive one."""
_DEAR = frozenset(("cheapest", "priciest", "most valuable", "least valuable"))
_LARGE = frozenset(("largest", "biggest", "smallest", "greatest"))
_GOOD = ("best", "worst")
_MOST_CHOICES = 4
"""Amounts to choose from when a superlative names none; chosen by hand."""
_HEADS_OF_DATES = frozenset(("date", "day", "time"))
_HOW_OR_WHEN = frozenset(("how", "when"))
_AGES = ("youngest", "oldest")
_BORN = frozenset(("birth", "born"))
_FOUNDED = frozenset(stem(word) for word in ("founded", "built", "established", "opened", "constructed"))
_MOST_RANKED = 1_000
"""A larger number beside "top" is not a number of rows."""


# Long: each case is one way a superlative can be meant.
def read_superlative(parse: QuestionParse) -> ShapeStep:
    """Read a superlative: "top 5 employees by salary", "which department has the most employees", "latest hire". Raises
    Unclear.
    """
    superlatives = parse.positions(*SUPERLATIVES)
    if not superlatives or _without_dates(parse, superlatives[0]):
        return parse, None
    at = superlatives[0]
    item = parse.items[at]
    descending, by_number = SUPERLATIVES[item.kind], item.kind in ("many", "few")
    parse, limit = _take_limit(parse, at)
    parse, measure = _read_ranked_measure(parse, at)
    parse, target = _read_target(parse, at)
    target = target or _person_ranked(parse)
    unclear = Unclear(f"It is not clear what '{phrase_of(parse.words, item)}' is about.")
    word = phrase_of(parse.words, item).lower()
    averages = [
        each for each in parse.positions("average") if phrase_of(parse.words, parse.items[each]).lower() == "on average"
    ]
    if averages and measure is not None and measure.ref is not None and target:
        parse, measure = parse.use(*averages), replace(measure, aggregation=Aggregation.AVERAGE)
    if measure is not None and word in _AGES:
        descending = measure.aggregation is Aggregation.MOST
    if (target and word in _AGES) or (word in _GOOD and not _is_good(parse, measure, word)):
        raise unclear
    if target:
        if measure is None and not has_word(parse, *_COUNTING):
            raise unclear
        if measure is None and word in _LARGE:
            parse = _or_by_amount(parse)
        measure = measure or AggregateMeasure(Aggregation.COUNT)
        if measure.aggregation in (Aggregation.MOST, Aggregation.LEAST) and by_number and not _by_quality(parse, at):
            measure = replace(measure, aggregation=Aggregation.SUM)
        if measure.aggregation in (Aggregation.MOST, Aggregation.LEAST) and (
            _by_quality(parse, at) or (word in _GOOD and _is_average(parse, measure))
        ):
            parse = replace(parse, choices=(*parse.choices, (measure.aggregation, Aggregation.AVERAGE)))
        elif measure.aggregation in (Aggregation.MOST, Aggregation.LEAST) and _may_be_summed(parse, measure):
            parse = replace(parse, choices=(*parse.choices, (measure.aggregation, Aggregation.SUM)))
        groups = parse.groups or tuple(Grouping(ref) for ref in target)
        parse = without_empty_groups(parse, [group.ref for group in groups])
        order = Ordering(measure, descending)
        return parse, TableQuery("", groups=groups, measures=(measure,), order=order, limit=limit or 1)
    if measure is not None and measure.aggregation is Aggregation.SUM and by_number:
        measure = replace(measure, aggregation=Aggregation.MOST if descending else Aggregation.LEAST)
    if measure is None or measure.ref is None:
        raise unclear
    return parse, _ranked_rows(parse, at, measure, descending=descending, limit=limit)


def _or_by_amount(parse: QuestionParse) -> QuestionParse:
    """The parse with the sums by which groups of things may be the largest, besides their number; people are
    counted."""
    base = parse.reachable.base
    if entity_stems(base) & asking().persons:
        return parse
    amounts = [column for column in base.columns if is_amount(base, column) and may_be_summed(column)]
    counted = AggregateMeasure(Aggregation.COUNT)
    sums = (AggregateMeasure(Aggregation.SUM, ColumnRef(base.name, column.name)) for column in amounts)
    return replace(parse, choices=(*parse.choices, *((counted, each) for each in sums)))


def _is_average(parse: QuestionParse, measure: AggregateMeasure) -> bool:
    """Whether the best rating of a group may be that of one row, or of the group on average."""
    assert measure.ref is not None
    column = parse.reachable.paths[measure.ref.table].table.column(measure.ref.column)
    return column is not None and not may_be_summed(column)


def _may_be_summed(parse: QuestionParse, measure: AggregateMeasure) -> bool:
    """Whether "largest budget" of a department with several rows may be that of one row or of all."""
    if measure.ref is None:
        return False
    column = parse.reachable.paths[measure.ref.table].table.column(measure.ref.column)
    return column is not None and bool(set(header_words(column.header)) & SUMMED)


def _person_ranked(parse: QuestionParse) -> list[ColumnRef]:
    """The only column of people, when "who" is asked of rows that are not people: "who gave the most" of gifts."""
    base = parse.reachable.base
    if first_word(parse) not in WHO or set(entity_stems(base)) & asking().persons:
        return []
    people = people_columns(base)
    if len(people) != 1 or people[0].key or differs_in_rows(people[0]):
        return []
    return [ColumnRef(base.name, people[0].name)]


def _ranked_rows(
    parse: QuestionParse, at: int, measure: AggregateMeasure, *, descending: bool, limit: int | None
) -> TableQuery:
    """The rows with the highest or lowest value, or that value alone."""
    ref = measure.ref
    assert ref is not None
    if parse.groups:
        return TableQuery("", groups=parse.groups, measures=(measure,))
    of_rows = measure.aggregation in (Aggregation.MOST, Aggregation.LEAST)
    if not of_rows or (limit is None and not _asks_for_rows(parse, at, ref)):
        return TableQuery("", measures=(measure,))
    columns, requested = row_columns(parse, [ref]), (*naming_columns(parse), ref)
    return TableQuery("", columns=columns, order=Ordering(ref, descending), limit=limit or 1, requested=requested)


def _is_good(parse: QuestionParse, measure: AggregateMeasure | None, word: str) -> bool:
    """Whether more of what is measured is better: a score, not a delay."""
    if measure is None or measure.ref is None:
        return False
    column = parse.reachable.paths[measure.ref.table].table.column(measure.ref.column)
    return column is not None and bool(set(header_words(column.header)) & asking().dimensions[word])


def _without_dates(parse: QuestionParse, at: int) -> bool:
    """ "the last two" is not a superlative when there is nothing to measure or date."""
    return parse.items[at].kind in ("latest", "earliest") and not (
        any(column.type.dated or is_year(column) for column in parse.reachable.base.columns)
        or parse.positions("column")
    )


def _take_limit(parse: QuestionParse, at: int) -> tuple[QuestionParse, int | None]:
    """The n of "top 5" or "5 highest"."""
    named = parse.item(at - 1, "table", "column") is not None
    for beside in (at + 1, at - 1, *([at - 2] if named else [])):
        number = parse.item(beside, "number")
        if number is not None and number.number.isdigit() and 0 < int(number.number) <= _MOST_RANKED:
            return parse.use(beside), int(number.number)
    return parse, None


# Long: the places where the measure may be named, nearest first.
def _read_ranked_measure(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure | None]:
    """What is highest: the amount named next, an aggregate of one, or the number of rows; else the amount before."""
    item, parse = parse.items[at], parse.use(at)
    extreme = Aggregation.MOST if SUPERLATIVES[item.kind] else Aggregation.LEAST
    by_number = item.kind in ("many", "few")
    if item.kind in ("latest", "earliest"):
        return _read_latest(parse, at, extreme)
    parse, ordering = _read_order(parse, at)
    if ordering is not None:
        return parse, ordering
    following, skipped = at + 1, ("group", "distinct", "or", "most", "least")
    while following < len(parse.items) and (following in parse.used or parse.items[following].kind in skipped):
        parse = parse.use(following)
        following += 1
    if parse.item(following, "average") and parse.item(following + 1, "rate"):
        parse, following = parse.use(following), following + 1
    if parse.item(following, "average", "sum", "median", "count", "rate"):
        parse, measure = read_measure(parse, following)
        return parse, measure or AggregateMeasure(Aggregation.COUNT)
    word = phrase_of(parse.words, item).lower()
    if meaning := _measured_at(parse, following, word):
        summed = by_number and not _by_quality(parse, at)
        return parse.use(following), AggregateMeasure(Aggregation.SUM if summed else extreme, meaning.ref)
    if by_number and parse.item(following, "column", "table", "rows") and counts_rows(parse, following):
        word = parse.words.tokens[parse.items[following].last - 1].word
        if not word.endswith("s") and word not in ("people", "staff"):
            raise Unclear(f"It is not clear whether 'most {word}' counts rows.")  # no "most stock"
        return parse.use(following), AggregateMeasure(Aggregation.COUNT)
    for named in (*range(following, len(parse.items)), *range(at - 1, -1, -1)):
        if meaning := _measured_at(parse, named, word):
            return parse.use(named), AggregateMeasure(extreme, meaning.ref)
    if by_number:
        return parse, AggregateMeasure(Aggregation.COUNT)
    ranked = parse.unused(at + 1)
    own = ranked is None or is_entity(parse, at + 1) or ranked.kind in ("value", "date")  # no "longest department"
    if not own or _ranks_flag(parse, at):
        return parse, None
    base = parse.reachable.base
    refs = [ColumnRef(base.name, column.name) for column in _of_dimension(base, word)]
    if not refs:
        return parse, None
    parse = replace(parse, choices=(*parse.choices, *((refs[0], other) for other in refs[1:])))
    return parse, AggregateMeasure(extreme, refs[0])


def _ranks_flag(parse: QuestionParse, at: int) -> bool:
    """Whether what is ranked is what the rows have: the "largest garden" of listings with and without one."""
    behind = parse.items[at + 1 : at + 3]
    if not behind or behind[0].kind != "column" or behind[0].meaning is None or behind[0].meaning.column is None:
        return False
    named = len(behind) > 1 and (behind[1].kind == "value" or is_row_name(parse, at + 2))
    return flag_values(behind[0].meaning.column) is not None and not named


def _measured_at(parse: QuestionParse, at: int, word: str) -> WordMeaning | None:
    """The amount an item names, if a superlative may compare it: "longest" compares lengths and times."""
    item, only = parse.item(at, "column", "table"), asking().dimensions.get(word) and word not in (*_LARGE, *_GOOD)
    for meaning in (item.meaning, *item.rivals) if item and only else ():
        column = meaning.column if meaning else None
        if meaning and column and is_amount(meaning.path.table, column) and _fits(column, word):
            return None if meaning.path.reverse is not None else meaning
    return None if only else number_column_at(parse, at)


def _of_dimension(table: RealityTable, word: str) -> list[Column]:
    """The amounts of what a word compares: lengths and durations of "longest"; for "largest" without any, each of a
    few, to choose from."""
    amounts = [column for column in table.columns if is_amount(table, column) and flag_values(column) is None]
    fitting = [column for column in amounts if _fits(column, word)]
    if word in _DEAR:
        return money_columns(table)
    if word in _LARGE and not fitting and 1 < len(amounts) <= _MOST_CHOICES:
        return amounts
    return fitting


def _fits(column: Column, word: str) -> bool:
    """Whether a superlative compares what a column holds, by a word of its header or its unit: lengths and times of
    "longest"."""
    kind = asking().measures.get(header_unit(column.header), ("", 0.0))[0]
    dimensions = asking().dimensions.get(word, frozenset())
    return bool(dimensions & {*header_words(column.header), f"kind {kind}"})


def _by_quality(parse: QuestionParse, at: int) -> bool:
    """Whether a superlative is followed by a quality, which is compared and not added up: "most expensive", "best
    yielding"."""
    last, tokens = parse.items[at].last, parse.words.tokens
    if last >= len(tokens):
        return False
    named = parse.items[at + 1].meaning if at + 1 < len(parse.items) else None
    if phrase_of(parse.words, parse.items[at]).lower() in _DEAR:
        return True
    header = plain_header(named.column.header) if named is not None and named.column is not None else ()
    word = tokens[last].word
    return tokens[last].stem in _QUALITIES or (bool(header) and word.endswith(("ing", "ed")) and word not in header)


def _read_order(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure | None]:
    """ "top 5 departments by average salary"."""
    for by in parse.positions("group"):
        if by < at:
            continue
        if parse.item(by + 1, "average", "sum", "median", "count", "rate"):
            return read_measure(parse.use(by), by + 1)
        if meaning := number_column_at(parse, by + 1):
            parse = parse.use(by, by + 1)
            summed = meaning.column is not None and bool(set(header_words(meaning.column.header)) & SUMMED)
            of_groups = summed and _ranks_something_else(parse, at)
            return parse, AggregateMeasure(Aggregation.SUM if of_groups else Aggregation.MOST, meaning.ref)
    return parse, None


def _ranks_something_else(parse: QuestionParse, at: int) -> bool:
    """Whether something other than the rows themselves is ranked."""
    names = [named for named in parse.positions("column", "table") if named > at]
    return any(not is_entity(parse, named) for named in names) and not any(
        is_entity(parse, named) for named in parse.positions("table", "rows")
    )


def _read_latest(parse: QuestionParse, at: int, extreme: Aggregation) -> tuple[QuestionParse, AggregateMeasure | None]:
    """The date or number behind "latest", or before it; else the table's date. Raises Unclear."""
    word = phrase_of(parse.words, parse.items[at]).lower()
    if word in _AGES:
        return _read_age(parse, youngest=word == "youngest")
    if word == "newest":
        return _read_newest(parse, at)
    if word.startswith("longest") or word == "most senior":
        return parse, AggregateMeasure(Aggregation.LEAST, _hired(parse))
    if word in ("first", "last") and not _orders_rows(parse, at):
        raise Unclear(f"It is not clear what '{word}' is about.")
    for named in (*range(at + 1, len(parse.items)), *range(at - 1, -1, -1)):
        item = parse.item(named, "column")
        meaning = item.meaning if item else None
        if meaning and meaning.column and (meaning.column.type.dated or meaning.column.type.numeric):
            if meaning.path.reverse is not None:
                raise Unclear("That is not said row by row in this table.")
            return parse.use(named), AggregateMeasure(extreme, meaning.ref)
    years = [column for column in parse.reachable.base.columns if is_year(column)]
    if len(years) == 1 and not any(column.type.dated for column in parse.reachable.base.columns):
        return parse, AggregateMeasure(extreme, ColumnRef(parse.reachable.base.name, years[0].name))
    parse, ref = take_date_column(parse)
    return parse, AggregateMeasure(extreme, ref)


def _read_age(parse: QuestionParse, *, youngest: bool) -> tuple[QuestionParse, AggregateMeasure]:
    """ "youngest" and "oldest": by the column of ages, or of births; of things by what says since when they are, by
    their only year, or by their dates. Raises Unclear."""
    base = parse.reachable.base
    people = bool(entity_stems(base) & asking().persons)
    extreme = Aggregation.MOST if youngest else Aggregation.LEAST
    begun = _BORN if people else _BORN | _FOUNDED
    for column in base.columns:
        stems, ref = set(header_words(column.header)), ColumnRef(base.name, column.name)
        if column.type.numeric and "age" in stems:
            return parse, AggregateMeasure(Aggregation.LEAST if youngest else Aggregation.MOST, ref)
        if (column.type.dated or is_year(column)) and stems & begun:
            return parse, AggregateMeasure(extreme, ref)
    years = [column for column in base.columns if is_year(column)]
    if people or len(years) > 1:
        raise Unclear("No column says how old they are.")
    if years:
        return parse, AggregateMeasure(extreme, ColumnRef(base.name, years[0].name))
    parse, ref = take_date_column(parse)
    return parse, AggregateMeasure(extreme, ref)


def _read_newest(parse: QuestionParse, at: int) -> tuple[QuestionParse, AggregateMeasure]:
    """ "newest": of people by when they came, of things by their only year, else by their dates. Raises Unclear."""
    base = parse.reachable.base
    if entity_stems(base) & asking().persons:
        hired = {"hire", *asking().synonyms["hire"]}
        if any(column.type.dated and hired & set(header_words(column.header)) for column in base.columns):
            return parse, AggregateMeasure(Aggregation.MOST, _hired(parse))
    years = [column for column in base.columns if is_year(column)]
    if len(years) == 1 and not any(parse.meaning(each).column in base.columns for each in _dates_named(parse)):
        return parse, AggregateMeasure(Aggregation.MOST, ColumnRef(base.name, years[0].name))
    parse, ref = take_date_column(parse)
    return parse, AggregateMeasure(Aggregation.MOST, ref)


def _dates_named(parse: QuestionParse) -> list[int]:
    """Where unused items name dates."""
    columns = ((at, parse.meaning(at).column) for at in parse.positions("column"))
    return [at for at, column in columns if column is not None and column.type.dated]


def _hired(parse: QuestionParse) -> ColumnRef:
    """The date people were hired on, by which "longest serving" goes. Raises Unclear."""
    base = parse.reachable.base
    hired = {"hire", *asking().synonyms["hire"]}
    for column in base.columns:
        if column.type.dated and hired & set(header_words(column.header)):
            return ColumnRef(base.name, column.name)
    raise Unclear("No column says since when they serve.")


def _orders_rows(parse: QuestionParse, at: int) -> bool:
    """Whether "first" and "last" order the rows: before their name, a date or "to", or behind a verb of a date ("hired
    first")."""
    item, tokens = parse.items[at], parse.words.tokens
    if parse.item(at + 1, "table", "rows", "column") or (item.last < len(tokens) and tokens[item.last].word == "to"):
        return True
    before = parse.items[at - 1].meaning if at and item.last == len(tokens) else None
    dated = before is not None and before.column is not None and before.column.type.dated
    return dated or parse.item(at + 1, "number") is not None


def _read_target(parse: QuestionParse, at: int) -> tuple[QuestionParse, list[ColumnRef]]:
    """What is ranked when it is not the rows themselves ("which department", "top 5 cities"); [] when it is."""
    if parse.groups:
        group = parse.groups[0]
        ranked = parse.items[at].kind in ("many", "few")
        if not ranked:
            parse, limit = _take_limit(parse, at)
            ranked = limit is not None
        return parse, [group.ref] if ranked and group.part is None else []
    for named in parse.positions("column", "table"):
        meaning = _rankable(parse, named)
        if meaning is None:
            continue
        is_list_request = first_word(parse) in WHICH | LISTING | {"top", "in"}
        behind = parse.words.tokens[parse.items[named].last : parse.items[named].last + 1]
        is_list_request = is_list_request or any(token.word in HAVING_WORDS for token in behind)
        if is_list_request or parse.items[named].first > parse.items[at].first or has_word(parse, *WHICH):
            return parse.use(named), display_columns(parse, meaning, named)
    return parse, []


def _rankable(parse: QuestionParse, at: int) -> WordMeaning | None:
    """What a name groups rows by, unless that is the rows themselves, a date or an amount."""
    base = parse.reachable.base
    entity = is_entity(parse, at)
    meaning = _end_of_link_table(parse, parse.items[at]) if entity else column_at(parse, at)
    if meaning is None or meaning.column is None or meaning.column.type.dated:
        return None
    own = meaning.path.hops == 0 and (
        meaning.column.key or name_column(base) == meaning.column or differs_in_rows(meaning.column)
    )
    return None if own or is_amount(meaning.path.table, meaning.column) else meaning


def _end_of_link_table(parse: QuestionParse, item: QuestionItem) -> WordMeaning | None:
    """The name column at one end of a table that only links two others: the schools of player_schools."""
    base = parse.reachable.base
    linking = {link.column for link in base.links}
    if any(column.name not in linking and column.type is ColumnType.TEXT for column in base.columns):
        return None
    for path in parse.reachable.joinable():
        if path.hops == 1 and table_meaning(parse.words.tokens, item.first, item.last, path) is not None:
            named = name_column(path.table)
            return WordMeaning("column", path, named) if named else None
    return None


def _asks_for_rows(parse: QuestionParse, at: int, ref: ColumnRef) -> bool:
    """Whether a superlative asks for the row, not for the number alone: "who earns most", "the oldest employee".

    A number named right behind the superlative is asked for itself ("the highest salary"), unless the rows are named
    before it ("employees with the highest salary"). What only describes the rows ("most expensive") is not.
    """
    first = first_word(parse)
    if first in _HOW_OR_WHEN:
        return False
    if first in WHO or has_word(parse, "who"):
        return True
    if not _names_measure(parse, at, ref):
        return True
    entities = [
        named for named, item in enumerate(parse.items) if item.meaning is not None and is_row_name(parse, named)
    ]
    if any(named < at and not only_links(parse, named) for named in entities):
        return True
    return bool(entities) and first in LISTING | WHICH - {"what"}


def _names_measure(parse: QuestionParse, at: int, ref: ColumnRef) -> bool:
    """Whether the column that is ranked is named right behind a superlative; of a date with "date"."""
    item = parse.items[at + 1] if at + 1 < len(parse.items) else None
    if item is None or item.kind not in ("column", "table") or _by_quality(parse, at):
        return False
    if phrase_of(parse.words, parse.items[at]).lower() in _AGES:
        return parse.words.tokens[item.last - 1].stem == "age"  # "oldest patient" is not about the age alone
    meanings = [
        meaning for meaning in (item.meaning, *item.rivals) if meaning is not None and meaning.column is not None
    ]
    named = [meaning.column for meaning in meanings if meaning.ref == ref]
    if not named or named[0] is None or not named[0].type.dated:
        return bool(named)
    return parse.words.tokens[item.last - 1].word in _HEADS_OF_DATES
