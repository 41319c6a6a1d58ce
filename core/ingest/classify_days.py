"""Days, months and years as texts write them, in several languages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from core.tables.temporal import month_names

__all__ = ["Dated", "dates_in"]

_YEAR = r"(?:19|20)\d{2}"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_CENTURY_TURN = 70
"""A year of two digits below this is of the 2000s, as POSIX strptime has it."""


@dataclass(frozen=True, slots=True)
class Dated:
    """An ISO date ("2023", "2023-06" or "2023-06-17") at text[start:end]. short: written with a year of two digits."""

    iso: str
    start: int
    end: int
    short: bool = False


def dates_in(text: str) -> Iterator[Dated]:
    """Every date in a text, in reading order; impossible ones are passed over.

    >>> [found.iso for found in dates_in("Effective June 5, 2023 (v. August 2019), 5/23/2025, 31.12.2024")]
    ['2023-06-05', '2019-08', '2025-05-23', '2024-12-31']
    >>> [found.iso for found in dates_in("1er septembre 1993, 5. Februar 2024, 1 de abril de 1970, 10/2008, 06/27/19")]
    ['1993-09-01', '2024-02-05', '1970-04-01', '2008-10', '2019-06-27']
    """
    names, pattern = _pattern()
    for match in pattern.finditer(text):
        iso = _iso(match, names)
        if iso is not None:
            yield Dated(iso, match.start(), match.end(), match.lastgroup == "short")


def _iso(match: re.Match[str], names: Mapping[str, int]) -> str | None:
    kind, words = match.lastgroup, match.group()
    if kind in ("year", "iso"):
        return words if len(words) < 10 or _day(*(int(part) for part in words.split("-"))) else None
    numbers = [int(part) for part in re.findall(r"\d+", words)]
    if kind in ("mdy", "dmy", "my"):
        word = next(word for word in re.findall(r"[^\W\d_]+", words) if word.lower() in names)
        month = names[word.lower()]
        return f"{numbers[-1]}-{month:02}" if kind == "my" else _day(numbers[-1], month, numbers[0])
    if kind == "monthly":
        return f"{numbers[1]}-{numbers[0]:02}" if 1 <= numbers[0] <= 12 else None
    year = numbers[2] + (2000 if numbers[2] < _CENTURY_TURN else 1900) if kind == "short" else numbers[2]
    first, second = (numbers[1], numbers[0]) if kind == "dots" else (numbers[0], numbers[1])
    return _day(year, first, second) or _day(year, second, first)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


@cache
def _pattern() -> tuple[Mapping[str, int], re.Pattern[str]]:
    """Lower-case month names → number, and one pattern whose last group names the way of writing."""
    names = month_names()
    months = "|".join(sorted((re.escape(name) for name in names), key=len, reverse=True))
    pattern = re.compile(
        rf"(?P<iso>\b{_YEAR}-(?:0[1-9]|1[0-2])(?:-\d{{2}})?\b)"
        rf"|(?P<mdy>\b(?:{months})\.?\s+{_DAY}(?:\s?(?:st|nd|rd|th))?,?\s+{_YEAR}\b)"
        rf"|(?P<dmy>(?<![\w.]){_DAY}(?:\s?(?:st|nd|rd|th|er|º|ª))?\.?[-\s]+(?:(?:of|de|day\s+of)\s+)?"
        rf"(?:{months})\b\.?,?[-\s]+(?:de[l]?\s+)?{_YEAR}\b)"
        rf"|(?P<my>\b(?:{months})\.?,?\s+(?:de\s+)?{_YEAR}\b)"
        rf"|(?P<slash>\b\d{{1,2}}/\d{{1,2}}/{_YEAR}\b)"
        rf"|(?P<dots>\b\d{{1,2}}\.\s?\d{{1,2}}\.{_YEAR}\b|(?<![\d-])\d{{2}}-\d{{2}}-{_YEAR}\b)"
        rf"|(?P<short>(?<![\d/]){_DAY}/{_DAY}/\d{{2}}(?![\d/]))"
        rf"|(?P<monthly>(?<![\d/])\d{{1,2}}/{_YEAR}\b)"
        rf"|(?P<year>(?<![\w.,$-])(?:19|20)\d{{2}}(?![\w,%-]|\.\d))",
        re.IGNORECASE,
    )
    return names, pattern
