"""What one cell may mean: readers from text to the text PostgreSQL takes, or None when it means something else."""

import re
from collections.abc import Callable
from datetime import date, datetime, time

__all__ = [
    "DATE_ORDERS",
    "EMPTY_WORDS",
    "Reader",
    "as_boolean",
    "as_integer",
    "as_number",
    "date_reader",
    "has_currency",
    "has_short_year",
]

Reader = Callable[[str], str | None]

EMPTY_WORDS = frozenset(
    ("", "n/a", "na", "#n/a", "null", "none", "nil", "nan", "-", "--", "—", "–", "?", "tbd", "unknown")
)
"""Cells that say "no value" where numbers, dates or yes/no stand."""

# ASCII: PostgreSQL reads no other digits.
_INTEGER = re.compile(r"[+-]?(?:\d{1,18}|\d{1,3}(?:,\d{3}){1,5})", re.ASCII)
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII
)
_COMMA_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+)(?:,\d+)?", re.ASCII)
_CURRENCY = re.compile(r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|CAD)\b")
_TRUE = frozenset(("y", "yes", "true", "t"))
_FALSE = frozenset(("n", "no", "false", "f"))
_MONTHS = tuple("january february march april may june july august september october november december".split())
_NAMED = re.compile(
    r"(?:(?P<d1>\d{1,2})(?:st|nd|rd|th)?[ .-]+)?(?P<month>[A-Za-z]{3,9})\.?[ ,-]*"
    r"(?:(?P<d2>\d{1,2})(?:st|nd|rd|th)?,?[ -]+)?(?P<year>\d{4}|\d{2})"
)
_PARTS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)? ?([AaPp][Mm])?(?:Z|[+-]00:?00)?")
_CENTURY_TURN = 69
"""Two-digit years below this are of the 2000s, as POSIX strptime reads them."""

DATE_ORDERS = ("ymd", "mdy", "dmy")
"""Orders of day, month and year, the likelier first where a column could be either."""


def as_integer(text: str) -> str | None:
    """A whole number.

    >>> as_integer("1,234"), as_integer("12.5"), as_integer("(7)")
    ('1234', None, '-7')
    """
    plain = _unsigned(text)
    return plain.replace(",", "") if _INTEGER.fullmatch(plain) else None


def as_number(text: str, *, comma: bool = False) -> str | None:
    """A number with signs of money, percent and thousands left out; comma: 1.234,50 is meant.

    >>> as_number("$1,234.50"), as_number("12 %"), as_number("1.234,5", comma=True), as_number("W-2")
    ('1234.50', '12', '1234.5', None)
    """
    plain = _unsigned(_CURRENCY.sub("", text)).rstrip("%").rstrip()
    if comma:
        fits = _COMMA_NUMBER.fullmatch(plain)
        return plain.replace(" ", "").replace(".", "").replace(",", ".") if fits else None
    return plain.replace(" ", "").replace(",", "") if _NUMBER.fullmatch(plain) else None


def has_currency(text: str) -> bool:
    """Whether a cell shows a sign of money."""
    return _CURRENCY.search(text) is not None


def _unsigned(text: str) -> str:
    """Accountants write -7 as (7), payroll systems as 7-."""
    plain = text.strip().replace("−", "-")
    if plain.startswith("(") and plain.endswith(")"):
        return f"-{plain[1:-1].strip()}"
    if plain.endswith("-") and plain[:1].isdigit():
        return f"-{plain[:-1].strip()}"
    return f"{plain[0]}{plain[1:].strip()}" if plain[:1] in ("+", "-") and plain[1:] else plain


def as_boolean(text: str) -> str | None:
    """Yes or no.

    >>> as_boolean("Y"), as_boolean("no"), as_boolean("maybe")
    ('true', 'false', None)
    """
    word = text.strip().lower()
    return "true" if word in _TRUE else "false" if word in _FALSE else None


def date_reader(order: str, *, timed: bool = False) -> Reader:
    """A reader of dates in one order of day, month and year ("mdy"), with a time of day after them when `timed`.

    >>> date_reader("mdy")("2/20/2025"), date_reader("dmy")("20.02.25"), date_reader("ymd")("3 March 2024")
    ('2025-02-20', '2025-02-20', '2024-03-03')
    >>> date_reader("ymd", timed=True)("2025-02-20 10:05 pm")
    '2025-02-20 22:05:00'
    """

    def read(text: str) -> str | None:
        words = text.strip()
        day_words, clock_words = _split_clock(words)
        day = _day(day_words, order)
        clock = _clock(clock_words) if clock_words else time()
        if day is None or clock is None or (clock != time() and not timed):
            return None
        return datetime.combine(day, clock).isoformat(" ") if timed else day.isoformat()

    return read


def has_short_year(text: str) -> bool:
    """Whether a date names its year by two digits.

    >>> has_short_year("2/20/25"), has_short_year("2025-02-20"), has_short_year("5-Mar-24 10:05")
    (True, False, True)
    """
    words = _split_clock(text.strip())[0]
    if match := _PARTS.fullmatch(words):
        return len(match[1]) < 4 and len(match[4]) == 2
    named = _NAMED.fullmatch(words)
    return named is not None and len(named["year"]) == 2


def _split_clock(words: str) -> tuple[str, str]:
    at = words.find(":")
    if at < 0:
        return words, ""
    start = max(words.rfind(" ", 0, at), words.rfind("T", 0, at))
    return (words[:start].strip(" ,"), words[start + 1 :].strip()) if start > 0 else (words, "")


def _clock(words: str) -> time | None:
    match = _CLOCK.fullmatch(words)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[4]:
        hour = hour % 12 + 12 * (match[4].lower() == "pm")
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _day(words: str, order: str) -> date | None:
    if match := _PARTS.fullmatch(words):
        first, _, second, third = match.groups()
        if len(first) == 4:
            return _date(first, second, third) if len(third) < 4 else None
        if order == "ymd" or len(third) == 1:
            return None  # 6.4.1 is a version or a section
        return _date(third, first, second) if order == "mdy" else _date(third, second, first)
    match = _NAMED.fullmatch(words)
    if match is None or bool(match["d1"]) == bool(match["d2"]):
        return None
    said = match["month"].lower()
    month = next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(said)), None)
    return _date(match["year"], str(month), match["d1"] or match["d2"]) if month else None


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year)
    if len(year) <= 2:
        number += 2000 if number < _CENTURY_TURN else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None
