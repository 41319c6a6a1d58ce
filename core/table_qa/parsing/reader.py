"""Reads a question against one table and those it reaches: the cover of its tokens that leaves fewest unexplained."""
# Over 300 lines: what the tokens may be and how they are covered share their scores.

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import NamedTuple

from core.domain.datasets import Column
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import JoinPath, ReachableTables, flag_values, is_amount
from core.table_qa.parsing.column_values import ColumnValues
from core.table_qa.parsing.lexicon import (
    LexiconPhrase,
    WordMeaning,
    column_meaning,
    entity_stems,
    name_ends,
    table_meaning,
    value_meanings,
)
from core.table_qa.parsing.tokens import (
    DateSpan,
    Operator,
    Token,
    date_spans,
    header_words,
    operators,
    plain_header,
    tokenize_question,
)

__all__ = [
    "PARTICIPLES",
    "QuestionItem",
    "QuestionReading",
    "QuestionWords",
    "ambiguous_date",
    "read_question",
    "split_question",
]

_LONGEST_NAME = 6
"""Greatest number of tokens of a table or column name. Chosen by hand."""
_LONGEST_VALUE = 9
"""Greatest number of tokens of a value. Chosen by hand."""
_LONGEST_ITEM = 10
"""Greatest number of tokens of any item: operators are shorter phrases."""
_MOST_RIVALS = 9
# Scores of items, in the unit of a name's score (about 2 per matching word). Chosen by hand against the questions in
# tests/table_qa/asked; not fitted.
_UNEXPLAINED = -4.0
"""An unexplained word costs more than any name gains, so that covers explain as many words as they can."""
_PARTICIPLE = -0.6
"""A participle before "by" ("held by") costs little: the name that follows says what is meant."""
_RIVAL_MARGIN = 0.75
_TIE_MARGIN = 0.02
"""Scores this near to each other do not tell two meanings apart."""
_OPERATOR_WORD, _OPERATOR_PHRASE = 1.05, 1.3
_DATE_WORD = 1.5
_NUMBER = 0.8
_ROW_WORD = 0.9
_BEFORE_MONTHS = frozenset("in during from before after since until till by and or to of for on".split())
_BEHIND_MAY = frozenset("i we you it be have there".split())
PARTICIPLES = frozenset(
    "held made taken sold given written run paid bought done sent drawn driven flown kept led won".split()
)
_ORDERING_STEMS = frozenset(
    ("group", "split", "sort", "order", "separ", "divid", "sum", "rank", "list", "count", "aggreg")
)


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """A question split into tokens, the same for every table. years: its four-digit numbers. ends: what `ends_of` has
    computed."""

    question: str
    tokens: tuple[Token, ...]
    operators: tuple[Operator, ...]
    dates: tuple[DateSpan, ...]
    years: str
    ends: dict[tuple[str, bool], tuple[bool, ...]] = field(default_factory=dict, compare=False, repr=False)

    def ends_of(self, column: Column) -> tuple[bool, ...]:
        """`name_ends` of a column: many tables reach it."""
        key = column.header, column.type.dated
        if key not in self.ends:
            self.ends[key] = name_ends(self.tokens, column)
        return self.ends[key]


@dataclass(frozen=True, slots=True)
class QuestionItem:
    """Tokens [first, last) with their meaning. kind: "table", "column", "value", "date", "number", "rows", or an
    operator's name. rivals: other meanings of the same tokens that are nearly as likely, the likeliest first; the
    first `tied` of them are as likely.
    """

    kind: str
    first: int
    last: int
    meaning: WordMeaning | None = None
    date: DateSpan | None = None
    number: str = ""
    rivals: tuple[WordMeaning, ...] = ()
    tied: int = 0


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The items in order, the unexplained tokens, and the score of the reading: higher is more certain."""

    items: tuple[QuestionItem, ...]
    unexplained: tuple[Token, ...]
    score: float


NUMERIC_DATE = re.compile(r"\b(\d{1,2})([/.-])(\d{1,2})\2((?:19|20)\d\d)\b")
_NEITHER = re.compile(r"(?i)\bneither\b(.+?)\bnor\b")
_MORE = {
    "better": "more",
    "higher": "more",
    "more": "more",
    "worse": "less",
    "lower": "less",
    "less": "less",
    "fewer": "less",
}
_THAN = re.compile(r"(?i)\b(better|higher|more|worse|lower|less|fewer)( \w+)? in (\w+) than in (\w+)")
_ONE = re.compile(
    r"(?i)\b(over|under|than|least|most|within|exactly|about) an? "
    r"(hour|minute|day|week|month|year|ton|tonne|kilo|million|thousand|mile|kilometre|kilometer|metre|meter)\b"
)
"""Half a pair of negations, and "over an hour"."""
Scored = tuple[float, QuestionItem]


@cache
def _expandable() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(asking().expanded)})\b", re.IGNORECASE)


def _iso(match: re.Match[str]) -> str:
    """A date in numbers as year, month and day; "" when day and month can be told apart in no way."""
    first, second, year = int(match[1]), int(match[3]), match[4]
    if first > 12 or match[2] == ".":
        first, second = second, first
    elif second <= 12 and first != second:
        return ""
    return f"{year}-{first:02}-{second:02}" if 1 <= first <= 12 and 1 <= second <= 31 else ""


def ambiguous_date(question: str) -> tuple[str, str, str] | None:
    """A date in numbers that may be read in two ways, and both, month first and day first."""
    for match in NUMERIC_DATE.finditer(question):
        if not _iso(match) and int(match[1]) <= 12 and int(match[3]) <= 12:
            year, one, two = match[4], int(match[1]), int(match[3])
            return match.group(), f"{year}-{one:02}-{two:02}", f"{year}-{two:02}-{one:02}"
    return None


def split_question(question: str, today: date) -> QuestionWords:
    """Tokens, operators and dates of a question."""
    question = _expandable().sub(lambda match: asking().expanded[match.group().lower()], question)
    question = NUMERIC_DATE.sub(lambda match: _iso(match) or match.group(), question)
    question = _NEITHER.sub(r"not \1 and not ", question)
    question = _THAN.sub(
        lambda match: f"with{match[2] or ''} {match[3]} {_MORE[match[1].lower()]} than{match[2] or ''} {match[4]}",
        question,
    )
    question = _ONE.sub(r"\1 1 \2", question)
    tokens = tokenize_question(question)
    dates = tuple(date_spans(question, tokens, today))
    years = " ".join(token.number for token in tokens if len(token.number) == 4)
    return QuestionWords(question, tokens, tuple(operators(tokens)), dates, years)


def read_question(
    words: QuestionWords, reachable: ReachableTables, values: Mapping[str, ColumnValues]
) -> QuestionReading:
    """The highest-scoring cover of the question's tokens by items, found by dynamic programming from left to right.

    values: alias → the listed values of the table behind it.
    """
    spans = _best_by_span(_candidates(words, reachable, values))
    tokens = words.tokens
    best: list[tuple[float, tuple[QuestionItem, ...], tuple[Token, ...]]] = [(0.0, (), ())]
    for end in range(1, len(tokens) + 1):
        score, items, unexplained = best[end - 1]
        cost = _UNEXPLAINED if _is_may(words, end - 1) else _skip_cost(tokens, end - 1)
        options = [(score + cost, items, unexplained if cost > _UNEXPLAINED else (*unexplained, tokens[end - 1]))]
        for start in range(max(0, end - _LONGEST_ITEM), end):
            for value, item in spans.get((start, end), ()):
                before = best[start]
                options.append((before[0] + value, (*before[1], item), before[2]))
        best.append(max(options, key=lambda option: option[0]))
    score, items, unexplained = best[-1]
    items = tuple(item for at, item in enumerate(items) if not _is_unit(items, at))
    return QuestionReading(_without_agents(words, items), unexplained, score)


def _is_unit(items: Sequence[QuestionItem], at: int) -> bool:
    """Whether "years" is the unit of the number before."""
    before = items[at - 1] if at else None
    return (
        items[at].kind in ("year", "month")
        and before is not None
        and before.number != ""
        and before.last == items[at].first
    )


def _is_may(words: QuestionWords, at: int) -> bool:
    """Whether a token is the month: "in May", not "may I see"."""
    tokens, token = words.tokens, words.tokens[at]
    if token.word != "may":
        return False
    written = at > 0 and words.question[token.start] == "M"
    after = at > 0 and tokens[at - 1].word in _BEFORE_MONTHS
    return written or after or at + 1 == len(tokens) or tokens[at + 1].word not in _BEHIND_MAY


def _skip_cost(tokens: Sequence[Token], at: int) -> float:
    """The score of leaving a token unexplained, ≤ 0."""
    token, lexicon = tokens[at], asking()
    unit = at > 0 and tokens[at - 1].number != "" and token.stem in lexicon.units
    if unit or token.stop_word or (lexicon.may_be_idle(token.stem) and not token.quoted):
        return 0.0
    before_by = at + 1 < len(tokens) and tokens[at + 1].word == "by"
    return _PARTICIPLE if before_by and token.word.endswith(("ed", "en", "wn")) else _UNEXPLAINED


def _without_agents(words: QuestionWords, items: Sequence[QuestionItem]) -> tuple[QuestionItem, ...]:
    """The items without the "by" of "held by people": it names who did something, not what to group by."""
    ends = {item.last for item in items}
    beginning = {item.first: item for item in items}

    def names_agent(item: QuestionItem) -> bool:
        if item.kind != "group" or not item.first or item.first in ends or words.tokens[item.first].word != "by":
            return False
        before = words.tokens[item.first - 1]
        after = words.tokens[item.last].word if item.last < len(words.tokens) else ""
        behind = beginning.get(item.last)
        column = behind.meaning.column if behind is not None and behind.meaning is not None else None
        if behind is not None and behind.kind == "column" and column is not None and not flag_values(column):
            last = words.tokens[behind.last - 1].word
            if not last.endswith("s") and last not in ("people", "staff"):
                return False  # "paid by flag"
        if after in ("people", "persons", "someone") or (
            before.stem in asking().linking and before.stem not in _ORDERING_STEMS
        ):
            return True
        return before.word in PARTICIPLES or (before.word.endswith("ed") and before.stem not in _ORDERING_STEMS)

    return tuple(item for item in items if not names_agent(item))


def _best_by_span(candidates: Iterable[Scored]) -> dict[tuple[int, int], list[Scored]]:
    """Per span of tokens the best name with its rivals, and every item that is no name."""
    spans: dict[tuple[int, int], list[Scored]] = {}
    for score, item in candidates:
        spans.setdefault((item.first, item.last), []).append((score, item))
    for span, options in spans.items():
        options.sort(key=lambda option: -option[0])
        names = [(score, item) for score, item in options if item.meaning is not None]
        if names:
            top, first = names[0]
            names[1:1] = [(top, other) for _, other in _amounts_called_alike(first, names[1:])]
            near = [(score, item.meaning) for score, item in names[1:_MOST_RIVALS] if score >= top - _RIVAL_MARGIN]
            tied = sum(score >= top - _TIE_MARGIN for score, _ in near)
            name = replace(first, rivals=tuple(meaning for _, meaning in near if meaning is not None), tied=tied)
            spans[span] = [(top, name), *(option for option in options if option[1].meaning is None)]
    return spans


def _amounts_called_alike(first: QuestionItem, others: Sequence[Scored]) -> list[Scored]:
    """The amounts that the words name as well as `first`: the budget of a table of budgets, or total and monthly
    charges where only charges are named."""
    meaning = first.meaning
    assert meaning is not None
    return [
        (score, item)
        for score, item in others
        if item.meaning is not None and item.meaning.path.alias == meaning.path.alias and _alike(meaning, item)
    ]


def _alike(first: WordMeaning, other: QuestionItem) -> bool:
    meaning = other.meaning
    if meaning is None or meaning.column is None:
        return False
    if first.kind == "table" and first.path.hops == 0 and flag_values(meaning.column):
        return meaning.head and len(header_words(meaning.column.header)) == 1  # awards, and whether awarded
    if not is_amount(meaning.path.table, meaning.column):
        return False
    header = header_words(meaning.column.header)
    if meaning.words < 1:
        return False
    if first.kind == "table":
        return first.path.hops == 0 and meaning.head
    if first.column is None or not is_amount(first.path.table, first.column):
        return False
    complete = first.words == len(header_words(first.column.header))
    return not complete and first.words == meaning.words and bool(header)


def _candidates(
    words: QuestionWords, reachable: ReachableTables, values: Mapping[str, ColumnValues]
) -> Iterator[Scored]:
    """Every item the tokens may be, with its score."""
    for operator in words.operators:
        length = operator.last - operator.first
        score = _OPERATOR_WORD if length == 1 else _OPERATOR_PHRASE * length
        yield score, QuestionItem(operator.name, operator.first, operator.last)
    for span in words.dates:
        yield _DATE_WORD * (span.last - span.first), QuestionItem("date", span.first, span.last, date=span)
    for index, token in enumerate(words.tokens):
        if token.number:
            yield _NUMBER, QuestionItem("number", index, index + 1, number=token.number)
        if token.stem in asking().row_words:
            yield _ROW_WORD, QuestionItem("rows", index, index + 1)
    for phrase in _names(words, reachable, values):
        yield phrase.score, QuestionItem(phrase.meaning.kind, phrase.first, phrase.last, phrase.meaning)


def _names(
    words: QuestionWords, reachable: ReachableTables, values: Mapping[str, ColumnValues]
) -> Iterator[LexiconPhrase]:
    """Every table, column and value that a run of tokens may name."""
    entities = {stem for path in reachable.paths.values() for stem in entity_stems(path.table)}
    entities_with_synonyms = entities | {other for stem in entities for other in asking().synonyms.get(stem, ())}
    paths = [
        _PathNames(
            path,
            [_ColumnNames(column, words.ends_of(column)) for column in path.table.columns],
            values[path.alias],
            values[path.alias].runs(words.tokens),
        )
        for path in reachable.paths.values()
    ]
    for first in range(len(words.tokens)):
        for last in range(first + 1, min(first + _LONGEST_VALUE, len(words.tokens)) + 1):
            yield from _meanings(words, first, last, paths, entities_with_synonyms)


class _ColumnNames:
    """What tells quickly that a run of tokens does not name a column. joined: its header without blanks."""

    __slots__ = ("column", "ends", "flag", "joined")

    def __init__(self, column: Column, ends: Sequence[bool]) -> None:
        self.column, self.ends = column, ends
        self.flag, self.joined = flag_values(column) is not None, "".join(plain_header(column.header))


class _PathNames(NamedTuple):
    """A path with its columns, its table's values, and per token how far a value may reach."""

    path: JoinPath
    columns: Sequence[_ColumnNames]
    values: ColumnValues
    runs: Sequence[int]


def _meanings(
    words: QuestionWords, first: int, last: int, paths: Sequence[_PathNames], entities: Collection[str]
) -> Iterator[LexiconPhrase]:
    tokens, single = words.tokens, last - first == 1
    edged = tokens[first].stop_word or tokens[last - 1].stop_word
    joined = "".join(token.word for token in tokens[first:last])
    season = single and first and tokens[first].word in asking().seasons
    # "taken in spring" is no station called Spring
    season = season and tokens[first - 1].word in ("in", "during", "since", "before", "after")
    for path, columns, values, runs in paths:
        if last - first <= _LONGEST_NAME:
            if not edged and (table := table_meaning(tokens, first, last, path)):
                yield table
            for each in columns:
                ends = not edged and ((each.ends[first] and each.ends[last - 1]) or (single and each.flag))
                if (ends or each.joined == joined) and (
                    meaning := column_meaning(tokens, first, last, path, each.column, words.years, entities)
                ):
                    yield meaning
        if last <= runs[first] and not season and not (edged and single):
            yield from value_meanings(tokens, first, last, path, values, entities)
