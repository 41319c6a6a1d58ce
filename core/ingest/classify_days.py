"""Days, months and years as texts write them, in several languages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from core.tables.temporal import month_names

__all__ = ["Dated", "dates_in", "dates_in_name", "writes_day_first"]

_YEAR = r"(?:19|20)\d{2}"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_IN_NAME = re.compile(rf"(?<!\d)({_YEAR})[-_. ]?(0[1-9]|1[0-2])(?:[-_. ]?(0[1-9]|[12]\d|3[01]))?(?!\d)")
_ORDER = re.compile(
    r"\b(?:(?P<day>(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2]))|(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01]))/\d"
)
_DAY_FIRST_MONEY = re.compile(r"£\s?\d|€\s?\d|\d\s?€")
_CENTURY_TURN = 70
"""A year of two digits below this is of the 2000s, as POSIX strptime has it."""


@dataclass(frozen=True, slots=True)
class Dated:
    """An ISO date ("2023", "2023-06" or "2023-06-17") at text[start:end]. short: written with a year of two digits."""

    iso: str
    start: int
    end: int
    short: bool = False


def dates_in(text: str, day_first: bool = False) -> Iterator[Dated]:
    """Every date in a text, in reading order; impossible ones are passed over. day_first: 5/6/2020 is in June.

    >>> [found.iso for found in dates_in("Effective June 5, 2023 (v. August 2019), 5/23/2025, 31.12.2024")]
    ['2023-06-05', '2019-08', '2025-05-23', '2024-12-31']
    >>> [found.iso for found in dates_in("1er septembre 1993, 5. Februar 2024, 1 de abril de 1970, 10/2008, 06/27/19")]
    ['1993-09-01', '2024-02-05', '1970-04-01', '2008-10', '2019-06-27']
    >>> [found.iso for found in dates_in("passed 2-4-2021; Ord. of 12-15-16 (Rev. 8/05)")]
    ['2021-02-04', '2016-12-15', '2005-08']
    >>> [found.iso for found in dates_in("2019/05/14, 2019.5.4, May 2-4, 2020, 2021年3月5日")]
    ['2019-05-14', '2019-05-04', '2020-05-02', '2021-03-05']
    """
    names, pattern = _pattern()
    for match in pattern.finditer(text):
        iso = _iso(match, names, day_first)
        if iso is not None:
            yield Dated(iso, match.start(), match.end(), match.lastgroup == "short")


def _iso(match: re.Match[str], names: Mapping[str, int], day_first: bool) -> str | None:
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
    if kind == "ymd":
        return _day(*numbers)
    if kind == "brief":
        return f"{_full_year(numbers[1])}-{numbers[0]:02}"
    year = _full_year(numbers[2]) if kind == "short" else numbers[2]
    first, second = (numbers[1], numbers[0]) if kind == "dots" or day_first else (numbers[0], numbers[1])
    return _day(year, first, second) or _day(year, second, first)


def dates_in_name(name: str) -> Iterator[Dated]:
    """Days and months written in digits in a file name, whatever joins them.

    >>> [found.iso for found in dates_in_name("Plan_20230617-v2_2021_05.pdf")]
    ['2023-06-17', '2021-05']
    """
    whole = [
        Dated("-".join(part for part in match.groups() if part), match.start(), match.end())
        for match in _IN_NAME.finditer(name)
    ]
    yield from (found for found in whole if len(found.iso) == 7 or _day(*map(int, found.iso.split("-"))))


def writes_day_first(text: str) -> bool:
    """Whether a text writes 31/12/2024 rather than 12/31/2024; where no date of it tells, its pounds and euros do.

    >>> writes_day_first("from 31/01/2024"), writes_day_first("$5 from 01/31/2024"), writes_day_first("a fee of £5")
    (True, False, True)
    """
    tells = _ORDER.search(text)
    return bool(tells["day"]) if tells else bool(_DAY_FIRST_MONEY.search(text))


def _full_year(digits: int) -> int:
    return digits if digits > 99 else digits + (2000 if digits < _CENTURY_TURN else 1900)


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
        rf"|(?P<ymd>\b{_YEAR}(?P<sign>[/.])(?:0?[1-9]|1[0-2])(?P=sign){_DAY}\b|{_YEAR}年\s?\d{{1,2}}月\s?\d{{1,2}}日)"
        rf"|(?P<mdy>\b(?:{months})\.?\s+{_DAY}(?:\s?(?:st|nd|rd|th))?(?:\s?[-–]\s?{_DAY})?,?\s+{_YEAR}\b)"
        rf"|(?P<dmy>(?<![\w.]){_DAY}(?:\s?(?:st|nd|rd|th|er|º|ª))?\.?[-\s]+(?:(?:of|de|day\s+of)\s+)?"
        rf"(?:{months})\b\.?,?[-\s]+(?:de[l]?\s+)?{_YEAR}\b)"
        rf"|(?P<my>\b(?:{months})\.?,?\s+(?:de\s+)?{_YEAR}\b)"
        rf"|(?P<slash>\b\d{{1,2}}/\d{{1,2}}/{_YEAR}\b|(?<![\w-])(?:\d-\d{{1,2}}|\d{{2}}-\d)-{_YEAR}\b)"
        rf"|(?P<dots>\b\d{{1,2}}\.\s?\d{{1,2}}\.{_YEAR}\b|(?<![\d-])\d{{2}}-\d{{2}}-{_YEAR}\b)"
        rf"|(?P<short>(?<![\d/]){_DAY}/{_DAY}/\d{{2}}(?![\d/])|(?<![\w/-]){_DAY}-{_DAY}-\d{{2}}(?![\w/-]))"
        rf"|(?P<brief>(?:(?<=\brev )|(?<=\brev\. )|(?<=\brevised ))(?:0?[1-9]|1[0-2])[-/]\d{{2}}(?:\d{{2}})?(?![\d/-]))"
        rf"|(?P<monthly>(?<![\d/])\d{{1,2}}/{_YEAR}\b)"
        rf"|(?P<year>(?<![\w.,$-])(?:19|20)\d{{2}}(?![\w,%-]|\.\d))",
        re.IGNORECASE,
    )
    return names, pattern
