"""Parses the parts of a sentence that another can contradict: amounts with bounds, days of the year, obligations."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from core.text.tokenize import STOP_WORDS, stem, word_spans

__all__ = [
    "CURRENCIES",
    "BindingForce",
    "DayOfYear",
    "Quantity",
    "QuantityBound",
    "adds_words",
    "binding_of",
    "content_stems",
    "days_of_year",
    "quantities",
]


class QuantityBound(StrEnum):
    """How an amount is bounded: exactly, at least, at most, above or below."""

    EXACT = "exact"
    LEAST = "at least"
    MOST = "at most"
    ABOVE = "above"
    BELOW = "below"


class BindingForce(StrEnum):
    """Whether a sentence requires, forbids or permits an action."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount. value: in `unit` ("day", "month", "hour", "percent", "$" …); words: as written, with its bound;
    [start, end): character offsets of number and unit."""

    value: float
    unit: str
    bound: QuantityBound
    words: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DayOfYear:
    """A day of the year without a year: month 1–12, day 1–31."""

    month: int
    day: int
    words: str
    start: int
    end: int


_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
_NUMBERS = dict(zip(_SMALL, range(16), strict=True)) | {
    "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
    "one and one-half": 1.5, "one and a half": 1.5, "half": 0.5,
}  # fmt: skip
_UNITS = {
    "day": ("day", 1.0), "calendar day": ("day", 1.0), "week": ("day", 7.0), "month": ("month", 1.0),
    "year": ("month", 12.0), "hour": ("hour", 1.0), "minute": ("hour", 1 / 60), "percent": ("percent", 1.0),
    "%": ("percent", 1.0), "times": ("times", 1.0), "business day": ("business day", 1.0),
    "working day": ("business day", 1.0), "workday": ("business day", 1.0), "pay period": ("pay period", 1.0),
}  # fmt: skip
CURRENCIES = "$€£"
"""Signs that stand for the unit of an amount."""

_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_BOUNDS = {
    QuantityBound.LEAST: "at least|no(?:t)? (?:less|fewer|earlier) than|a minimum of|minimum of|or more",
    QuantityBound.MOST: "at most|within|no(?:t)? (?:more|later|longer) than|up to|a maximum of|maximum of|"
    "by no later than"
    "|not (?:to )?exceed(?:ing)?|cannot exceed",
    QuantityBound.ABOVE: "above|over|more than|exceeding|greater than",
    QuantityBound.BELOW: "below|under|less than|fewer than",
}
_MONTHS = "january february march april may june july august september october november december".split()


@cache
def _quantity() -> re.Pattern[str]:
    number = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
    units = "|".join(sorted((re.escape(unit).replace(r"\ ", r"[\s-]+") for unit in _UNITS), key=len, reverse=True))
    bounds = "|".join(f"(?P<{bound.name}>{words})" for bound, words in _BOUNDS.items())
    amount = rf"(?P<figure>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w-])(?:{number}))"
    return re.compile(
        rf"(?i)(?:\b(?:{bounds})\s+)?(?P<money>[{CURRENCIES}]\s?)?(?<![\w.,/-]){amount}(?:\s*\(\s*(?P<again>[\d.,]+)\s*\))?"
        rf"[\s-]*(?:(?P<scale>thousand|million|billion)\b)?[\s-]*(?P<unit>(?:{units})(?:s\b|(?![\w%])))?"
        r"(?P<after>\s+or (?:more|less|fewer))?"
    )


@cache
def _day() -> re.Pattern[str]:
    names = "|".join(_MONTHS)
    return re.compile(rf"\b(?P<month>{names})\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?!\s*,?\s*\d)", re.IGNORECASE)


def quantities(sentence: str) -> tuple[Quantity, ...]:
    """The amounts of a sentence with a unit or currency, in order.

    >>> [(q.value, q.unit, q.bound.value) for q in quantities("Pay within two weeks, at least $1,500 or 30%.")]
    [(14.0, 'day', 'at most'), (1500.0, '$', 'at least'), (30.0, 'percent', 'exact')]
    """
    found = []
    for match in _quantity().finditer(sentence):
        unit_words = match["unit"]
        if unit_words is None and match["money"] is None:
            continue
        unit, factor = (match["money"].strip(), 1.0) if match["money"] else _unit(unit_words)
        value = _value(match["figure"]) * _SCALES.get((match["scale"] or "").lower(), 1.0) * factor
        start = match.start("money") if match["money"] else match.start("figure")
        found.append(Quantity(value, unit, _bound(match), match.group().strip(), start, match.end()))
    return tuple(found)


def _unit(unit: str) -> tuple[str, float]:
    words = re.sub(r"[\s-]+", " ", unit.lower())
    return _UNITS[words] if words in _UNITS else _UNITS[words.removesuffix("s")]


def _value(figure: str) -> float:
    known = _NUMBERS.get(figure.lower())
    return float(figure.replace(",", "")) if known is None else float(known)


def _bound(match: re.Match[str]) -> QuantityBound:
    after = (match["after"] or "").split()
    if after:
        return QuantityBound.LEAST if after[-1] == "more" else QuantityBound.MOST
    return next((bound for bound in _BOUNDS if match[bound.name]), QuantityBound.EXACT)


def days_of_year(sentence: str) -> tuple[DayOfYear, ...]:
    """Days named without a year, in order.

    >>> [(d.month, d.day) for d in days_of_year("File it by January 31, and again on March 15, 2020.")]
    [(1, 31)]
    """
    found = []
    for match in _day().finditer(sentence):
        month, day = _MONTHS.index(match["month"].lower()) + 1, int(match["day"])
        if 1 <= day <= 31:
            found.append(DayOfYear(month, day, match.group(), match.start(), match.end()))
    return tuple(found)


_FORBIDDEN = re.compile(r"(?i)\b(?:must|shall|may|can|should) not\b|\bcannot\b|\b(?:is|are) (?:prohibited|forbidden)\b")
_OPTIONAL = re.compile(
    r"(?i)\b(?:is|are) (?:optional|not required)\b|\bneed not\b|\b(?:at (?:its|their|his|her) discretion)\b"
    r"|\b(?:must|shall|should|may|will) not be (?:required|obligated|obliged)\b"  # "not obliged to", no prohibition
)
_MAY = re.compile(r"\bmay\b")
_REQUIRED = re.compile(r"(?i)\b(?:must|shall)\b|\b(?:is|are) required\b|\b(?:is|are) mandatory\b")


def binding_of(sentence: str) -> BindingForce | None:
    """The obligation a sentence states; None when it states none, or more than one.

    >>> binding_of("Overtime must be approved."), binding_of("Approval is not required."), binding_of("It may or must.")
    (<BindingForce.REQUIRED: 'required'>, <BindingForce.OPTIONAL: 'optional'>, None)
    """
    rest = _FORBIDDEN.sub(" ", _OPTIONAL.sub(" ", sentence))
    stated = {
        BindingForce.FORBIDDEN: _FORBIDDEN.search(_OPTIONAL.sub(" ", sentence)) is not None,
        BindingForce.OPTIONAL: _OPTIONAL.search(sentence) is not None or _MAY.search(rest) is not None,
        BindingForce.REQUIRED: _REQUIRED.search(rest) is not None,
    }
    forces = [binding for binding, is_stated in stated.items() if is_stated]
    return forces[0] if len(forces) == 1 else None


_FRAME = frozenset(
    "must shall should may required require requires prohibited optional least most within later".split()
)


_SKIPPED = STOP_WORDS | _FRAME | set(_NUMBERS) | set(_MONTHS)


@cache
def _unit_stems() -> frozenset[str]:
    return frozenset(stem(word) for unit in _UNITS for word in unit.split() if word.isalpha())


@lru_cache(maxsize=1024)  # every sentence is compared with every other one: an answer asks for each some ten times
def content_stems(sentence: str) -> frozenset[str]:
    """Stems of the content words of a sentence, without stop words, numbers, units and words of obligation."""
    stems = (stem(word) for _, _, word in word_spans(sentence) if word not in _SKIPPED and not word[0].isdigit())
    return frozenset(stems) - _unit_stems()


def adds_words(name: str, earlier: str) -> bool:
    """Whether a topic's name has content words or figures that its earlier name lacks, and so is about something else.

    >>> adds_words("Vacation accrual", "accrual of vacation"), adds_words("Form 941", "Form 940")
    (False, True)
    """
    return not _subject(name) <= _subject(earlier)


def _subject(name: str) -> frozenset[str]:
    figures = (word for _, _, word in word_spans(name) if any(letter.isdigit() for letter in word))
    return content_stems(name).union(figures)
