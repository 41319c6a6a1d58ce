"""Items of a question → row conditions. Each step consumes the items it understands and leaves the rest.

This module reads conditions on numbers; `date_conditions` those on dates, `value_conditions` those on values.
"""
# Over 300 lines: numbers, columns and averages are compared by the same words ("more than", "between").

import re
from collections.abc import Sequence
from dataclasses import replace

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    Having,
    Related,
)
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import JoinPath, ReachableTables, flag_values, is_amount, money_columns
from core.table_qa.parsing.date_conditions import date_column_of_verb, name_dates, names_date, read_dates
from core.table_qa.parsing.exclusions import check_none_of, read_exclusions
from core.table_qa.parsing.items import (
    AGGREGATIONS,
    COMPARISONS,
    QuestionParse,
    Unclear,
    adjacent,
    take_negation,
)
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.reader import QuestionItem, QuestionWords
from core.table_qa.parsing.tokens import header_words
from core.table_qa.parsing.unit_conversion import (
    age_of_people,
    currency_of,
    in_unit_of,
    measured_in,
    unit_behind,
    year_compared,
)
from core.table_qa.parsing.value_conditions import (
    read_empty_conditions,
    read_flags,
    read_possessions,
    read_value_conditions,
)

__all__ = ["read_conditions"]


Clauses = tuple[tuple[int, AnyOf | Related], ...]


def read_conditions(words: QuestionWords, items: Sequence[QuestionItem], reachable: ReachableTables) -> QuestionParse:
    """The conditions of a question, and the remaining items. Raises Unclear.

    The order of steps matters: a comparison uses the column beside it before that column can be read as a yes/no
    condition.
    """
    parse = name_dates(QuestionParse(words, reachable, tuple(items)))
    for step in (
        check_none_of,
        read_exclusions,
        _use_years_of_headers,
        _read_reporting_lines,
        _read_versus,
        _read_comparisons,
        read_empty_conditions,
        read_value_conditions,
        read_dates,
        read_flags,
        read_possessions,
    ):
        parse = step(parse)
    return replace(parse, where=_about_one_row(parse.where))


def _about_one_row(where: Clauses) -> Clauses:
    """Conditions on the rows of one table that points here are about the same row: "requests for sick leave in 2023".
    Under a negation no row may meet all of them."""
    merged: list[tuple[int, AnyOf | Related]] = []
    for at, clause in where:
        same = next((index for index, (_, other) in enumerate(merged) if _same_pointer(other, clause)), None)
        if same is None or not isinstance(clause, Related):
            merged.append((at, clause))
            continue
        first, other = merged[same]
        assert isinstance(other, Related)
        if other.negated and clause.negated and other.where and clause.where:
            merged.append((at, clause))
            continue
        joins = tuple(dict.fromkeys((*other.joins, *clause.joins)))
        tests = tuple(dict.fromkeys((*other.where, *clause.where)))
        merged[same] = first, replace(other, where=tests, joins=joins, negated=other.negated or clause.negated)
    return tuple(merged)


def _same_pointer(one: AnyOf | Related, other: AnyOf | Related) -> bool:
    if not isinstance(one, Related) or not isinstance(other, Related):
        return False
    return (one.table, one.column, one.here) == (other.table, other.column, other.here)


def _use_years_of_headers(parse: QuestionParse) -> QuestionParse:
    """The year of "overtime in 2020" is part of the column's name when that is "2020 Overtime"."""
    headers = {
        stem
        for item in parse.items
        if item.kind == "column" and item.meaning and item.meaning.column
        for stem in header_words(item.meaning.column.header)
    }
    return parse.use(
        *(
            at
            for at, item in enumerate(parse.items)
            if item.date
            and re.fullmatch(r"\D*(\d{4})", item.date.dates.words)
            and item.date.dates.words[-4:] in headers
        )
    )


def _read_reporting_lines(parse: QuestionParse) -> QuestionParse:
    """ "report to Ann Lee": the values that follow are about the row above, in the same table."""
    for at in range(len(parse.items)):
        if not parse.item(at, "reports_to"):
            continue
        base = parse.reachable.base
        above = next((path for path in parse.reachable.joinable() if path.hops == 1 and path.table == base), None)
        if above is None:
            raise Unclear("No column says who reports to whom.")
        following = at + 1
        while parse.item(following, "value"):
            meaning = parse.meaning(following)
            if meaning.path.hops == 0:
                moved = replace(meaning, path=above)
                condition = Condition(moved.ref, Comparison.IS, moved.values)
                parse = parse.use(following).add_conditions(following, moved, condition)
            following += 1
        parse = parse.use(at)
    return parse


def _read_comparisons(parse: QuestionParse) -> QuestionParse:
    """More than, between, above the average, more than another column."""
    for at in range(len(parse.items)):
        item = parse.unused(at)
        if item is None:
            continue
        if item.kind in COMPARISONS:
            parse = _read_comparison(parse, at, item)
        elif item.kind == "number" and parse.item(at + 1, "or_more", "or_less"):
            test = Comparison.AT_LEAST if parse.items[at + 1].kind == "or_more" else Comparison.AT_MOST
            parse = _compare_with_numbers(parse.use(at, at + 1), at, at + 1, test, (item.number,))
    return parse


def _read_comparison(parse: QuestionParse, at: int, item: QuestionItem) -> QuestionParse:
    parse = _with_number(parse, at)
    test, number = COMPARISONS[item.kind], parse.item(at + 1, "number")
    if item.kind == "between":
        second = parse.item(at + 2, "number")
        if number is None or second is None:
            return parse
        bounds = tuple(sorted((number.number, second.number), key=float))
        return _compare_with_numbers(parse.use(at, at + 1, at + 2), at, at + 2, test, bounds)
    if number is not None:
        last = at + 2 if parse.item(at + 2, "or_more", "or_less") else at + 1
        return _compare_with_numbers(parse.use(*range(at, last + 1)), at, last, test, (number.number,))
    if (year := year_compared(parse, at)) is not None:
        meaning, older = year
        bound = parse.items[at + 1].date
        assert bound is not None and bound.dates.start is not None
        condition = Condition(
            meaning.ref, Comparison.LESS if older else Comparison.MORE, (str(bound.dates.start.year),)
        )
        return parse.use(at, at + 1).add_conditions(at, meaning, condition)
    if parse.item(at + 1, "average") and item.kind in ("more", "less"):
        return _compare_with_average(parse, at, test)
    if item.kind in ("more", "less") and _path_above(parse, at + 1):
        return _compare_with_row_above(parse, at, test)
    if item.kind in ("more", "less", "before", "after") and names_date(parse, at + 1):
        return _compare_dates(parse, at, test)
    if item.kind in ("more", "less", "at_least", "at_most"):
        return _compare_columns(parse, at, test)
    return parse


def _with_number(parse: QuestionParse, at: int) -> QuestionParse:
    """The parse with what looks like a year read as a number where an amount or a unit follows: "over 2000 voters"."""
    item = parse.item(at + 1, "date")
    if item is None or not re.fullmatch(r"\d{4}", item.date.dates.words if item.date else ""):
        return parse
    after = parse.words.tokens[item.last : item.last + 1]
    amount = parse.item(at + 2, "column")
    followed = amount is not None and amount.first == item.last and _number_at(parse, at + 2)[1] is not None
    if not followed and not any(token.stem in asking().units for token in after):
        return parse
    number = QuestionItem("number", item.first, item.last, number=parse.words.tokens[item.first].number)
    return replace(parse, items=(*parse.items[: at + 1], number, *parse.items[at + 2 :]))


def _compare_columns(parse: QuestionParse, at: int, test: Comparison) -> QuestionParse:
    """ "bonus is more than the salary"."""
    parse, right = _number_at(parse, at + 1)
    if right is None:
        return parse
    parse, left = _number_before(parse, at)
    if left is None:
        return _compare_with_verb(parse, at, right, test)
    meaning = parse.meaning(left)
    return parse.use(at, right, left).add_conditions(
        at, meaning, Condition(meaning.ref, test, other=parse.meaning(right).ref)
    )


def _compare_with_verb(parse: QuestionParse, at: int, right: int, test: Comparison) -> QuestionParse:
    """ "sold below the asking price": the other price, which is called by the verb."""
    other = parse.meaning(right)
    before = {token.stem for token in parse.words.tokens[max(0, parse.items[at].first - 2) : parse.items[at].first]}
    if other.column is None or other.path.hops:
        return parse
    heads = set(header_words(other.column.header))
    for column in other.path.table.columns:
        stems = set(header_words(column.header))
        if (
            column != other.column
            and is_amount(other.path.table, column)
            and stems & before
            and stems & heads - asking().light
        ):
            meaning = WordMeaning("column", other.path, column)
            parse = parse.use(at, right)
            return parse.add_conditions(at, meaning, Condition(meaning.ref, test, other=other.ref))
    return parse


def _compare_dates(parse: QuestionParse, at: int, test: Comparison) -> QuestionParse:
    """ "delivery date after the due date", "delivered after the due date"."""
    later = parse.items[at + 1].meaning
    between = parse.words.tokens[parse.items[at - 1].last : parse.items[at].first] if at else ()
    beside = names_date(parse, at - 1) and all(token.stop_word for token in between)
    earlier = parse.items[at - 1].meaning if beside else date_column_of_verb(parse, at)
    if earlier is None or later is None or earlier.ref == later.ref:
        raise Unclear("It is not clear which two dates are compared.")
    parse = parse.use(at, at + 1, *([at - 1] if beside else []))
    return parse.add_conditions(at, earlier, Condition(earlier.ref, test, other=later.ref))


def _path_above(parse: QuestionParse, at: int) -> JoinPath | None:
    """The path to the rows above ("their manager"), when an item names the column that points to them."""
    item = parse.item(at, "column")
    if item is None or item.meaning is None or item.meaning.path.hops:
        return None
    target = parse.reachable.target(item.meaning.path.alias, item.meaning.ref.column)
    return target if target is not None and target.table == parse.reachable.base else None


def _compare_with_row_above(parse: QuestionParse, at: int, test: Comparison) -> QuestionParse:
    """ "earn more than their manager"."""
    above = _path_above(parse, at + 1)
    parse, left = _number_before(parse, at)
    if above is None or left is None:
        raise Unclear("It is not clear what is compared.")
    meaning = parse.meaning(left)
    condition = Condition(meaning.ref, test, other=ColumnRef(above.alias, meaning.ref.column))
    return parse.use(at, at + 1, left).add_conditions(at, meaning, condition)


def _compare_with_average(parse: QuestionParse, at: int, test: Comparison) -> QuestionParse:
    """ "salary above the average", "above the average salary"."""
    parse, number = _number_at(parse.use(at, at + 1), at + 2)
    if number is None:
        parse, number = _number_before(parse, at)
    if number is None:
        raise Unclear("It is not clear what is compared with the average.")
    parse, left = _number_before(parse.use(number), at)
    if left is not None and number == at + 2:
        parse = parse.use(left)
    meaning = parse.meaning(number)
    return parse.add_conditions(at, meaning, Condition(meaning.ref, test, average=True))


def _number_at(parse: QuestionParse, at: int) -> tuple[QuestionParse, int | None]:
    """The position itself when its item names an amount; a rival meaning that is one takes the item's place."""
    item = parse.item(at, "column")
    for meaning in (item.meaning, *item.rivals) if item else ():
        if item and meaning and meaning.column and is_amount(meaning.path.table, meaning.column):
            items = (*parse.items[:at], replace(item, meaning=meaning), *parse.items[at + 1 :])
            return replace(parse, items=items), at
    return parse, None


def _number_before(parse: QuestionParse, at: int) -> tuple[QuestionParse, int | None]:
    """Where the nearest amount before is, with no other name in between."""
    for before in range(at - 1, -1, -1):
        if before in parse.used or parse.items[before].kind in ("not", "or", "group", "distinct"):
            continue
        return _number_at(parse, before)
    return parse, None


def _compare_with_numbers(
    parse: QuestionParse, first: int, last: int, test: Comparison, values: tuple[str, ...]
) -> QuestionParse:
    """The comparison of items [first, last] with its column: the one beside it, else an aggregate of groups."""
    numbers = [at for at in range(first, last + 1) if parse.items[at].number]
    unit = unit_behind(parse, numbers[-1]) if numbers else ""
    if (aged := _age_compared(parse, first)) is not None:
        parse, negated = take_negation(parse, first)
        return parse.add_conditions(first, aged, Condition(aged.ref, test, values, negated))
    parse, left = _number_before(parse, first)
    parse, right = _number_at(parse, last + 1)
    if right is not None and _is_only_unit(parse, right):
        right = None
    beside_left = left is not None and parse.items[first].first - parse.items[left].last <= 2
    beside_right = right is not None and parse.items[right].first - parse.items[last].last <= 1
    at = right if beside_right and not beside_left else left if left is not None else right
    parse, negated = take_negation(parse, first)
    if at is None:
        return _compare_without_column(parse, first, last, test, values, unit, negated)
    meaning = parse.meaning(at)
    parse, values = in_unit_of(parse, meaning, values, unit)
    aggregation = parse.item(at - 1, "average", "sum", "count", "median", "most", "least")
    if aggregation is not None and _names_group(parse, at - 1):
        measure = AggregateMeasure(AGGREGATIONS.get(aggregation.kind, Aggregation.COUNT), meaning.ref)
        return parse.use(at, at - 1).add_having(Having(measure, test, values))
    parse = parse.use(at).add_conditions(first, meaning, Condition(meaning.ref, test, values, negated))
    return _compare_more(parse, at + 1, Condition(meaning.ref, test, values)) if at == right and not negated else parse


def _compare_more(parse: QuestionParse, at: int, condition: Condition) -> QuestionParse:
    """ "over 80 in math and reading": the same test of the amounts that follow."""
    while parse.item(at, "column") and adjacent(parse, at) and not parse.item(at + 1, "number", *COMPARISONS):
        parse, named = _number_at(parse, at)
        if named is None:
            break
        meaning = parse.meaning(at)
        parse = parse.use(at).add_conditions(at, meaning, replace(condition, ref=meaning.ref))
        at += 1
    return parse


def _is_only_unit(parse: QuestionParse, at: int) -> bool:
    """Whether an amount is named by a unit that its header only begins with: "50 units" is no unit cost."""
    item, meaning = parse.items[at], parse.meaning(at)
    tokens = parse.words.tokens[item.first : item.last]
    counted = all(token.stem in asking().units and token.word not in asking().measures for token in tokens)
    return not meaning.head and counted


def _age_compared(parse: QuestionParse, at: int) -> WordMeaning | None:
    """The table's only column of ages, when the comparison is "older than" or "younger than" and no age is named."""
    base, item = parse.reachable.base, parse.items[at]
    aged = [column for column in base.columns if column.type.numeric and "age" in header_words(column.header)]
    if len(aged) != 1 or parse.words.tokens[item.first].word not in ("older", "younger"):
        return None
    return WordMeaning("column", parse.reachable.paths[base.name], aged[0])


def _names_group(parse: QuestionParse, end: int) -> bool:
    """Whether something rows can be grouped by is named before a position."""
    return any(item.kind in ("column", "table") for at, item in enumerate(parse.items[:end]) if at not in parse.used)


def _compare_without_column(
    parse: QuestionParse, first: int, last: int, test: Comparison, values: tuple[str, ...], unit: str, negated: bool
) -> QuestionParse:
    """ "departments with more than 10 employees"; "above $50k" when one column holds money; "over 3 hours" when one is
    measured in time; "women over 65" when one holds ages. Raises Unclear."""
    if (meaning := measured_in(parse, unit) or age_of_people(parse, first, unit)) is not None:
        parse, converted = in_unit_of(parse, meaning, values, unit)
        return parse.add_conditions(first, meaning, Condition(meaning.ref, test, converted, negated))
    if parse.item(last + 1, "table", "rows") and _names_group(parse, first) and not negated:
        return parse.use(last + 1).add_having(Having(AggregateMeasure(Aggregation.COUNT), test, values))
    base = parse.reachable.base
    money = money_columns(base)
    words = [
        token.word for item in parse.items[first : last + 1] for token in parse.words.tokens[item.first : item.last]
    ]
    if currency := currency_of(unit):
        amounts = [column for column in base.columns if is_amount(base, column)]
        named = [column for column in amounts if currency_of(column.header) == currency]
        money = named or [column for column in money if not currency_of(column.header)] or money
    if money and (currency or any(word[-1] == "k" for word in words)):
        meaning = WordMeaning("column", parse.reachable.paths[base.name], money[0])
        parse, values = in_unit_of(parse, meaning, values, unit)
        rivals = tuple((meaning.ref, ColumnRef(base.name, column.name)) for column in money[1:])
        parse = replace(parse, choices=(*parse.choices, *rivals))
        return parse.add_conditions(first, meaning, Condition(meaning.ref, test, values, negated))
    raise Unclear(f"It is not clear which column '{' '.join(values)}' is compared with.")


def _read_versus(parse: QuestionParse) -> QuestionParse:
    """ "leisure vs business guests", "irrigated vs non-irrigated": one group each."""
    for at in parse.positions("versus"):
        other = at + 2 if parse.item(at + 1, "not") else at + 1
        left, right = parse.item(at - 1, "value", "column"), parse.item(other, "value", "column")
        if left is None or right is None or left.meaning is None or right.meaning is None:
            continue
        one, two = left.meaning, right.meaning
        if one.kind != two.kind or one.column is None or two.column is None or one.ref != two.ref or one.path.hops:
            continue
        if one.kind == "value" and other == at + 1:
            values = (*one.values, *two.values)
            parse = parse.add_conditions(at, one, Condition(one.ref, Comparison.IS, values))
        elif one.kind == "column" and other == at + 2 and flag_values(one.column):
            parse = parse.add_conditions(at, one, Condition(one.ref, Comparison.EMPTY, negated=True))
        else:
            continue
        parse = parse.use(*range(at - 1, other + 1)).add_groups(Grouping(one.ref))
    return parse
