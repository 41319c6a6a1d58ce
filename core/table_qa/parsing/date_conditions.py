"""Items of a question → conditions on dates and years."""

import re
from dataclasses import replace
from datetime import date, timedelta

from core.domain.dataset_queries import (
    Comparison,
    Condition,
    Related,
)
from core.domain.datasets import Column, ColumnType
from core.knowledge.question_lexicon import asking
from core.search.query.asked_dates import AskedDates
from core.table_qa.join_paths import is_year
from core.table_qa.parsing.items import (
    QuestionParse,
    Unclear,
    Undecided,
    choose_date,
    take_negation,
)
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.tokens import Token, header_words

__all__ = ["date_column_of_verb", "name_dates", "names_date", "read_dates"]

_MOST_ITEMS_BACK = 4
_MOST_WORDS_BACK = 4
"""Items, and words, before a date in which its column may be named. Chosen by hand; not fitted."""
_UNTIL = ("to", "until", "till", "through", "-", "–")


def read_dates(parse: QuestionParse) -> QuestionParse:
    """Each period becomes a condition on the date column named beside it, else on the most likely one."""
    for at in range(len(parse.items)):
        item = parse.unused(at)
        if item is None or item.date is None:
            continue
        if item.date.dates.end is None and re.fullmatch(r"(?i)from\s+\S+", item.date.dates.words):
            raise Unclear(f"'{item.date.dates.words}' may be in that time, or since then.")
        named = _date_column_beside(parse, at)
        if named is None and item.date.dates.in_force:
            raise Unclear(f"'{item.date.dates.words}' may mean all up to then, or what held at that time.")
        meaning = parse.items[named].meaning if named is not None else date_column_of_verb(parse, at)
        if meaning is None:
            parse, meaning = _likeliest_date_column(parse, item.date.dates)
        if meaning is None or meaning.column is None:
            raise Unclear(f"No column says when: '{item.date.dates.words}' has no date to hold against.")
        parse, negated = take_negation(parse, at)
        if not negated and named is not None:
            parse, negated = take_negation(parse, named)
        parse = parse.use(at, *([named] if named is not None else []))
        parse = replace(parse, dated=parse.dated | {meaning.ref.column})
        spans = [item.date.dates]
        until = parse.item(at + 1, "date")
        joined = (
            parse.words.question[parse.words.tokens[item.last - 1].end : parse.words.tokens[until.first].start]
            if until
            else ""
        )
        if until is not None and until.date is not None and joined.strip().lower() in _UNTIL:
            parse = parse.use(at + 1)
            spans = [replace(spans[0], end=until.date.dates.end)]
        parse, more = _periods_beside(parse, at, spans[0], meaning)
        spans += more
        conditions = [_within(meaning, span.start, span.end, negated) for span in spans]
        for alternatives in [(each,) for each in conditions] if negated else [tuple(conditions)]:
            parse = parse.add_conditions(at, meaning, *alternatives)
    return parse


def _periods_beside(
    parse: QuestionParse, at: int, period: AskedDates, meaning: WordMeaning
) -> tuple[QuestionParse, list[AskedDates]]:
    """The periods that stand beside one, behind "or"; or behind "and" or a comma, unless they have days in common:
    "in 2015, 2016 and 2018", but not "after 2015 and before 2020". Raises Undecided for "and" where the dates are those
    of rows that point here."""
    spans, last = [period], at if at + 1 not in parse.used else at + 1
    while True:
        following = last + 2 if parse.item(last + 1, "or") else last + 1
        item, tokens = parse.item(following, "date"), parse.words.tokens
        if item is None or item.date is None:
            return parse, spans[1:]
        between = parse.words.question[tokens[parse.items[last].last - 1].end : tokens[item.first].start]
        span = item.date.dates
        listed = re.fullmatch(r"\s*(,|&|,?\s*and)\s*", between, re.IGNORECASE)
        if following == last + 1 and (not listed or any(_overlap(span, other) for other in spans)):
            return parse, spans[1:]
        if following == last + 1 and meaning.path.reverse is not None:
            raise Undecided(f"'{period.words}' and '{span.words}' may be either of the two, or both.")
        parse = parse.use(*range(last + 1, following + 1))
        spans, last = [*spans, span], following


def _overlap(one: AskedDates, other: AskedDates) -> bool:
    start, end = max(one.start or date.min, other.start or date.min), min(one.end or date.max, other.end or date.max)
    return start <= end


def name_dates(parse: QuestionParse) -> QuestionParse:
    """ "issued in 2023" names the date of issue, although "issued" is a value too."""
    items, base = list(parse.items), parse.reachable.base
    for at, item in enumerate(items[:-1]):
        after, last = items[at + 1], parse.words.tokens[item.last - 1]
        if item.kind != "value" or after.date is None or after.first - item.last > 1:
            continue
        for column in base.columns:
            if column.type.dated and last.stem in header_words(column.header):
                meaning = WordMeaning("column", parse.reachable.paths[base.name], column)
                items[at] = replace(item, kind="column", meaning=meaning, rivals=(), tied=0)
    return replace(parse, items=tuple(items))


def names_date(parse: QuestionParse, at: int, *, or_year: bool = False) -> bool:
    item = parse.item(at, "column")
    column = item.meaning.column if item and item.meaning else None
    return column is not None and (column.type.dated or (or_year and is_year(column)))


def _date_column_beside(parse: QuestionParse, at: int) -> int | None:
    """Where a date's column is named: shortly before it, else right after it. A column of years after the date counts
    only near the beginning of the question."""
    for before in range(at - 1, max(at - _MOST_ITEMS_BACK, 0) - 1, -1):
        if names_date(parse, before, or_year=True):
            return before
    if parse.item(at + 2, "date") or not names_date(parse, at + 1, or_year=at < _MOST_ITEMS_BACK):
        return None  # "before 2023 and reported after 2024"
    return at + 1


def date_column_of_verb(parse: QuestionParse, at: int) -> WordMeaning | None:
    """The date column that a word before an item is about, although it was read as something else: "terminated in"."""
    first, lexicon = parse.items[at].first, asking()
    for token in reversed(parse.words.tokens[max(0, first - _MOST_WORDS_BACK) : first]):
        stems = {token.stem} | lexicon.synonyms.get(token.stem, frozenset()) - lexicon.light
        for path in sorted(parse.reachable.paths.values(), key=lambda path: (path.reverse is not None, path.hops)):
            for column in path.table.columns:
                header = set(header_words(column.header)) - lexicon.light
                if column.type.dated and (stems & header or any(_abbreviates(word, token) for word in header)):
                    return WordMeaning("column", path, column)
    return None


def _abbreviates(word: str, token: Token) -> bool:
    """Whether a header's word and a word of the question begin alike: "term" and "terminated"."""
    return (len(word) > 3 and token.word.startswith(word)) or (len(token.stem) > 4 and word.startswith(token.stem))


def _likeliest_date_column(parse: QuestionParse, period: AskedDates) -> tuple[QuestionParse, WordMeaning | None]:
    """The date column of the nearest table that has one; birthdays last. Where there are dates and years, those count
    that reach into the period. Raises Undecided when both do."""
    own = any(column.type.dated for column in parse.reachable.base.columns)
    used = set() if own else {clause.table for _, clause in parse.where if isinstance(clause, Related)}
    nearest = sorted(
        parse.reachable.paths.values(),
        key=lambda path: (path.alias not in used, path.reverse is not None, path.hops),
    )
    for path in nearest:
        dated = [column for column in path.table.columns if column.type.dated and column.filled]
        dated = [column for column in dated if "birth" not in header_words(column.header)] or dated
        years = [column for column in path.table.columns if is_year(column)]
        if dated and years and path.hops == 0:
            within = [column for column in (*dated, *years) if _reaches(column, period)]
            if len({is_year(column) for column in within}) > 1:
                headers = " or ".join(column.header for column in within)
                raise Undecided(f"'{period.words}' may be of {headers}.")
            dated = within or dated
        dated = dated or years
        if dated:
            parse, ref = choose_date(parse, path, dated)
            return parse, WordMeaning("column", path, path.table.column(ref.column))
    return parse, None


def _reaches(column: Column, period: AskedDates) -> bool:
    """Whether a column of dates or years has values in a period."""
    if is_year(column):
        first, last = (str(each.year) if each else "" for each in (period.start, period.end))
    else:
        first, last = (each.isoformat() if each else "" for each in (period.start, period.end))
    return (not last or column.least[: len(last)] <= last) and (not first or column.most[: len(first)] >= first)


def _within(meaning: WordMeaning, start: date | None, end: date | None, negated: bool) -> Condition:
    """A stretch of time as one condition; a timestamp's last day is a whole day."""
    assert meaning.column is not None
    if is_year(meaning.column):
        if start and end and start.year == end.year:
            return Condition(meaning.ref, Comparison.IS, (str(start.year),), negated)
        bounds = [str(day.year) if day else None for day in (start, end)]
    elif meaning.column.type is ColumnType.TIMESTAMP and end is not None:
        last = f"{(end + timedelta(days=1)).isoformat()} 00:00:00"
        if start is None:
            return Condition(meaning.ref, Comparison.LESS, (last,), negated)
        bounds = [start.isoformat(), f"{end.isoformat()} 23:59:59.999999"]
    else:
        bounds = [day.isoformat() if day else None for day in (start, end)]
    low, high = bounds
    if low and high:
        return Condition(meaning.ref, Comparison.BETWEEN, (low, high), negated)
    if low:
        return Condition(meaning.ref, Comparison.AT_LEAST, (low,), negated)
    return Condition(meaning.ref, Comparison.AT_MOST, (high or "",), negated)
