"""Whether a sentence says no more than the sentences it cites: by its words, amounts, days, names and denials.

Words cannot prove that two sentences mean the same. They can show that one says something the other does not, and that
is what makes a sentence unsupported here; what passes is *held by the words cited*, no more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isclose

from core.answers.agreeing import negated
from core.coverage.statements import Bound, Quantity, binding_of, content_stems, days_of_year, quantities
from core.matching import word_spans
from core.search.answer import named_in

__all__ = ["ENOUGH_WORDS", "Support", "support_of"]

ENOUGH_WORDS = 0.5
"""Share of a sentence's words that must stand in what it cites: half may be said otherwise."""
_DIGITS = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_MONTH = re.compile(
    r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\bMay(?=\s+\d)"
)
_UNCOUNTED = frozenset({"one", "half"})  # mostly a pronoun and a word of measure


@dataclass(frozen=True, slots=True)
class Support:
    """score: share of what the sentence says (words and amounts) that stands in what it cites, in [0, 1].

    problems: what it says and its citations do not, in words; empty when nothing was found.
    """

    score: float
    problems: tuple[str, ...] = ()


def support_of(sentence: str, cited: Sequence[str], known: str = "") -> Support:
    """How well some cited sentences support another. known: text whose names may be used freely (the question, the
    names of the documents cited).

    >>> support_of("Overtime is paid within 5 days.", ["Overtime must be paid within 7 days."]).problems
    ('“within 5 days” is not in what it cites.',)
    """
    together = "\n".join(cited)
    stems, held = content_stems(sentence), content_stems(together)
    amounts = [(words, is_there) for words, is_there in _amounts(sentence, cited)]
    said = len(stems) + len(amounts)
    score = (len(stems & held) + sum(is_there for _, is_there in amounts)) / said if said and cited else 0.0
    problems = [f"“{words}” is not in what it cites." for words, is_there in amounts if not is_there]
    problems += [
        f"“{name}” is not in what it cites."
        for name in named_in(sentence)
        if not _DIGITS.search(name) and not _holds(f"{together}\n{known}", name)
    ]
    problems += _turned(sentence, cited)
    if not problems and score < ENOUGH_WORDS:
        problems.append("Too few of its words are in what it cites.")
    return Support(score, tuple(dict.fromkeys(problems)))


def _amounts(sentence: str, cited: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Amounts, days, months and plain numbers of a sentence, and whether they stand in what it cites."""
    stated, days = quantities(sentence), days_of_year(sentence)
    known = [amount for text in cited for amount in quantities(text)]
    for amount in stated:
        yield amount.words, any(_same(amount, other) for other in known)
    dated = {(day.month, day.day) for text in cited for day in days_of_year(text)}
    for day in days:
        yield day.words, (day.month, day.day) in dated
    taken = [(amount.start, amount.end) for amount in stated] + [(day.start, day.end) for day in days]
    rest = "".join(" " if any(a <= at < b for a, b in taken) else letter for at, letter in enumerate(sentence))
    months = {month for text in cited for month in _MONTH.findall(text)}
    for month in _MONTH.findall(rest):
        yield month, month in months
    numbers = {value for text in cited for _, value in _numbers(text)}
    for words, value in _numbers(rest):
        yield words, value in numbers


def _same(amount: Quantity, other: Quantity) -> bool:
    """Whether the cited amount `other` is this one; a bound may be left out, never turned round."""
    bounds = {amount.bound, other.bound}
    return (
        (len(bounds) == 1 or Bound.EXACT in bounds) and amount.unit == other.unit and isclose(amount.value, other.value)
    )


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    for match in _DIGITS.finditer(text):
        yield match.group(), float(match.group().replace(",", ""))
    for _, _, word in word_spans(text):
        value = None if word[0].isdigit() or word in _UNCOUNTED else _spelled(word)
        if value is not None:
            yield word, value


@cache
def _spelled(word: str) -> float | None:
    """The value of a number word, as amounts are read."""
    found = quantities(f"{word} times")
    return found[0].value if found and found[0].start == 0 else None


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?i)(?<![^\W_]){re.escape(name)}(?:s|['’]s)?(?![^\W_])", text.replace("_", " ")) is not None


def _turned(sentence: str, cited: Sequence[str]) -> Iterator[str]:
    """Where it binds or denies otherwise than what it cites."""
    binding, bindings = binding_of(sentence), [binding_of(text) for text in cited]
    known = {each for each in bindings if each is not None}
    if binding is not None and binding in known:
        return
    if binding is not None and known:
        yield f"It says {binding.value}, what it cites says {' and '.join(sorted(known))}."
    elif cited and negated(sentence) and not any(negated(text) for text in cited):
        yield "It denies something that what it cites does not deny."
    elif cited and not negated(sentence) and all(negated(text) for text in cited):
        yield "What it cites denies something, and it does not."
