"""A question read against the tables one of them reaches: the cover of its words that leaves least unexplained."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from core.reality.lexicon import (
    Meaning,
    Spoken,
    Values,
    column_meaning,
    entity_stems,
    table_meaning,
    value_meanings,
)
from core.reality.reach import Reach
from core.reality.words import DateSpan, Operator, Token, date_spans, operators, tokens
from core.tables.asking import asking

__all__ = ["Item", "Read", "Words", "read", "taken_apart"]

_LONGEST_NAME = 6
_LONGEST_VALUE = 9
_UNEXPLAINED = -4.0
_RIVAL = 0.75
_MOST_RIVALS = 9
_ROW_WORD = 0.9
_PLAIN_VERB = -0.6
_DONE = frozenset(
    "held made taken sold given written run paid bought done sent drawn driven flown kept led won".split()
)
_SORTED = frozenset(("group", "split", "sort", "order", "separ", "divid", "sum", "rank", "list", "count", "aggreg"))


@dataclass(frozen=True, slots=True)
class Words:
    """A question taken apart, the same for every table it is read against. years: those it names."""

    question: str
    said: tuple[Token, ...]
    operators: tuple[Operator, ...]
    dates: tuple[DateSpan, ...]
    years: str


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of the question with its meaning. kind: "table", "column", "value", "date", "number", "rows", or an
    operator's name. rivals: other meanings of the same words that are nearly as likely."""

    kind: str
    first: int
    last: int
    meaning: Meaning | None = None
    date: DateSpan | None = None
    number: str = ""
    rivals: tuple[Meaning, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """The items in order, what is left unexplained, and how sure the reading is: higher is surer."""

    items: tuple[Item, ...]
    unexplained: tuple[Token, ...]
    score: float


def taken_apart(question: str, today: date) -> Words:
    """Words, operators and dates of a question."""
    said = tokens(question)
    dates = tuple(date_spans(question, said, today))
    years = " ".join(token.number for token in said if len(token.number) == 4)
    return Words(question, said, tuple(operators(said)), dates, years)


def read(words: Words, reach: Reach, values: Mapping[str, Values]) -> Read:
    """The best cover of the words. values: alias → the listed values of the table behind it."""
    spans = _by_span(_spoken(words, reach, values))
    said = words.said
    best: list[tuple[float, tuple[Item, ...], tuple[Token, ...]]] = [(0.0, (), ())]
    for end in range(1, len(said) + 1):
        score, items, missed = best[end - 1]
        token = said[end - 1]
        unit = end > 1 and said[end - 2].number != "" and token.stem in asking().units
        cost = 0.0 if unit or _ignorable(token) else _UNEXPLAINED
        if cost and token.word.endswith(("ed", "en", "wn")) and end < len(said) and said[end].word == "by":
            cost = _PLAIN_VERB
        options = [(score + cost, items, missed if cost > _UNEXPLAINED else (*missed, token))]
        for start in range(max(0, end - 10), end):
            for value, item in spans.get((start, end), ()):
                before = best[start]
                options.append((before[0] + value, (*before[1], item), before[2]))
        best.append(max(options, key=lambda option: option[0]))
    score, items, missed = best[-1]
    return Read(by_someone(words, items), missed, score)


def by_someone(words: Words, items: Sequence[Item]) -> tuple[Item, ...]:
    """The items without the "by" of "held by people": who did it, not what to group by."""
    said, kept = words.said, []
    for item in items:
        before = said[item.first - 1] if item.first else None
        lone = not any(other.last == item.first for other in items)
        by = item.kind == "group" and said[item.first].word == "by" and lone
        if not (by and before is not None and _is_done(before)):
            kept.append(item)
    return tuple(kept)


def _is_done(token: Token) -> bool:
    """Whether a word is a participle, and not one that puts in order."""
    return token.word in _DONE or (token.word.endswith("ed") and token.stem not in _SORTED)


def _ignorable(token: Token) -> bool:
    asked = asking()
    return token.little or (token.stem in asked.ignorable and not token.quoted)


def _by_span(found: Iterator[tuple[float, Item]]) -> dict[tuple[int, int], list[tuple[float, Item]]]:
    """Per stretch of words the best item of each kind, rivals of a name beside it."""
    spans: dict[tuple[int, int], list[tuple[float, Item]]] = {}
    for score, item in found:
        spans.setdefault((item.first, item.last), []).append((score, item))
    for key, options in spans.items():
        options.sort(key=lambda option: -option[0])
        named = [option for option in options if option[1].meaning is not None]
        if named:
            top, first = named[0]
            rivals = tuple(
                item.meaning for score, item in named[1:_MOST_RIVALS] if score >= top - _RIVAL and item.meaning
            )
            kept = Item(first.kind, first.first, first.last, first.meaning, rivals=rivals)
            others = [option for option in options if option[1].meaning is None]
            spans[key] = [(top, kept), *others]
    return spans


def _spoken(words: Words, reach: Reach, values: Mapping[str, Values]) -> Iterator[tuple[float, Item]]:
    for operator in words.operators:
        length = operator.last - operator.first
        yield 1.05 if length == 1 else 1.3 * length, Item(operator.name, operator.first, operator.last)
    for span in words.dates:
        yield 1.5 * (span.last - span.first), Item("date", span.first, span.last, date=span)
    for place, token in enumerate(words.said):
        if token.number:
            yield 0.8, Item("number", place, place + 1, number=token.number)
        if token.stem in asking().row_words:
            yield _ROW_WORD, Item("rows", place, place + 1)
    for found in _named(words, reach, values):
        yield found.score, Item(found.meaning.kind, found.first, found.last, found.meaning)


def _named(words: Words, reach: Reach, values: Mapping[str, Values]) -> Iterator[Spoken]:
    said = words.said
    named = {stem for way in reach.ways.values() for stem in entity_stems(way.table)}
    things = named | {other for stem in named for other in asking().synonyms.get(stem, ())}
    for first in range(len(said)):
        for last in range(first + 1, min(first + _LONGEST_VALUE, len(said)) + 1):
            yield from _meanings(words, first, last, reach, values, things)


def _meanings(
    words: Words, first: int, last: int, reach: Reach, values: Mapping[str, Values], things: Collection[str]
) -> Iterator[Spoken]:
    said = words.said
    edges = (said[first], said[last - 1])
    little = any(token.little for token in edges)
    for way in reach.ways.values():
        if last - first <= _LONGEST_NAME and not little:
            if found := table_meaning(said, first, last, way):
                yield found
            for column in way.table.columns:
                if spoken := column_meaning(said, first, last, way, column, words.years, things):
                    yield spoken
        if not (little and last - first == 1):
            yield from value_meanings(said, first, last, way, values[way.alias], things)
