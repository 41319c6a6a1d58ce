"""Reads dates in texts and file names, in the notations of many languages, as ISO dates."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from core.ingestion.table_typing.columns import CENTURY_TURN
from core.knowledge.temporal import month_names

__all__ = ["ParsedDate", "dates_in", "dates_in_name", "writes_day_first"]

_YEAR = r"(?:1[89]|20)\d{2}"

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""Japanese eras: the year before their first."""

_BUDDHIST_YEARS = 543  # the Thai calendar is ahead by so many

_IN_NAME = re.compile(rf"(?<!\d)({_YEAR})[-_. ]?(0[1-9]|1[0-2])(?:[-_. ]?(0[1-9]|[12]\d|3[01]))?(?!\d)")

_ORDER = re.compile(
    r"\b(?:(?P<day>(?:1[3-9]|2\d|3[01])[/-](?:0?[1-9]|1[0-2]))|(?:0?[1-9]|1[0-2])[/-](?:1[3-9]|2\d|3[01]))[/-]\d{2}"
)

_HINT = re.compile(r"(?:1[89]|2[05])\d\d|\d[/-]\d|[\d元]\s?年")

_REACH = 40  # characters from a year to the end of the longest notation, "the 30th day of September, 2021"

_DAY_FIRST_MONEY = re.compile(r"£\s?\d|€\s?\d|\d\s?€")


@dataclass(frozen=True, slots=True)
class ParsedDate:
    """An ISO date ("2023", "2023-06" or "2023-06-17") at text[start:end]."""

    iso: str
    start: int
    end: int


def dates_in(text: str, day_first: bool = False, language: str = "en") -> Iterator[ParsedDate]:
    """All dates in a text, in reading order; skips impossible ones. day_first: reads 5/6/2020 as 5 June.

    language: its names of months are read, too.

    >>> [found.iso for found in dates_in("Effective June 5, 2023 (v. August 2019), 5/23/2025, 31.12.2024")]
    ['2023-06-05', '2019-08', '2025-05-23', '2024-12-31']
    >>> [found.iso for found in dates_in("1er septembre 1993, 5. Februar 2024, 1 de abril de 1970, 10/2008, 06/27/19")]
    ['1993-09-01', '2024-02-05', '1970-04-01', '2008-10', '2019-06-27']
    >>> [found.iso for found in dates_in("passed 2-4-2021; Ord. of 12-15-16 (Rev. 8/05); 2021-10-22T00:00Z")]
    ['2021-02-04', '2016-12-15', '2005-08', '2021-10-22']
    >>> [found.iso for found in dates_in("2019/05/14, 2019.5.4, May 2-4, 2020, 2021年3月5日, 令和元年5月1日")]
    ['2019-05-14', '2019-05-04', '2020-05-02', '2021-03-05', '2019-05-01']
    >>> [found.iso for found in dates_in("2021. március 5., 2020. május", language="hu")]
    ['2021-03-05', '2020-05']
    >>> [found.iso for found in dates_in("1 มกราคม พ.ศ. 2564", language="th")]
    ['2021-01-01']
    """
    names, pattern = _pattern(language)
    for start, end in _windows(text):
        for match in pattern.finditer(text, start, end):
            iso = _iso(match, names, day_first)
            if iso is not None:
                yield ParsedDate(iso, match.start(), match.end())


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Where dates may stand: around years and short dates. Only there the slow pattern of all notations is tried."""
    start = end = 0
    for hint in _HINT.finditer(text):
        if hint.start() - _REACH > end:
            if end:
                yield start, end
            start = max(0, hint.start() - _REACH)
        end = min(len(text), hint.end() + _REACH)
    if end:
        yield start, end


def _iso(match: re.Match[str], names: Mapping[str, int], day_first: bool) -> str | None:
    kind, words = match.lastgroup, match.group()
    if kind in ("year", "iso"):
        return words if len(words) < 10 or _day(*(int(part) for part in words.split("-"))) else None
    if kind == "era":
        words = words.replace("元", "1")
    numbers = [int(part) for part in re.findall(r"\d+", words)]
    if kind in ("mdy", "dmy", "my", "ymonthd", "yearmonth"):
        month = next((number for name, number in names.items() if name in words.lower()), 0)
        year = numbers[0] if kind in ("ymonthd", "yearmonth") else numbers[-1]
        year -= _BUDDHIST_YEARS if year >= 2400 else 0
        if kind in ("my", "yearmonth"):
            return f"{year}-{month:02}"
        return _day(year, month, numbers[1] if kind == "ymonthd" else numbers[0])
    if kind == "monthly":
        return f"{numbers[1]}-{numbers[0]:02}" if 1 <= numbers[0] <= 12 else None
    if kind == "era":
        numbers[0] += _ERAS[words[:2]]
    if kind in ("ymd", "signs", "era"):
        return _day(*numbers) if len(numbers) == 3 else _month(*numbers)
    if kind == "vietnamese":
        return _day(*reversed(numbers))
    if kind == "brief":
        return f"{_full_year(numbers[1])}-{numbers[0]:02}"
    year = _full_year(numbers[2]) if kind == "short" else numbers[2]
    first, second = (numbers[1], numbers[0]) if kind == "dots" or day_first else (numbers[0], numbers[1])
    return _day(year, first, second) or _day(year, second, first)


def dates_in_name(name: str) -> Iterator[ParsedDate]:
    """Numeric dates and months in a file name, with any separator.

    >>> [found.iso for found in dates_in_name("Plan_20230617-v2_2021_05.pdf")]
    ['2023-06-17', '2021-05']
    """
    dates = [
        ParsedDate("-".join(part for part in match.groups() if part), match.start(), match.end())
        for match in _IN_NAME.finditer(name)
    ]
    yield from (found for found in dates if len(found.iso) == 7 or _day(*map(int, found.iso.split("-"))))


def writes_day_first(text: str, language: str = "en") -> bool:
    """Whether a text writes 31/12/2024 rather than 12/31/2024; if no date decides, by its language and its money.

    >>> writes_day_first("from 31/01/2024"), writes_day_first("$5 from 01/31/2024"), writes_day_first("a fee of £5")
    (True, False, True)
    """
    tells = _ORDER.search(text)
    return bool(tells["day"]) if tells else language != "en" or bool(_DAY_FIRST_MONEY.search(text))


def _full_year(digits: int) -> int:
    return digits if digits > 99 else digits + (2000 if digits < CENTURY_TURN else 1900)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _month(year: int, month: int = 0) -> str | None:
    return f"{year}-{month:02}" if 1 <= month <= 12 else None


@cache
def _pattern(language: str) -> tuple[Mapping[str, int], re.Pattern[str]]:
    """Lower-case month name → number, longest first, and one pattern whose last group identifies the date format."""
    names = dict(sorted(month_names(language).items(), key=lambda item: -len(item[0])))
    months = "|".join(re.escape(name) for name in names)
    of = r"(?:(?:of|de|day\s+of|päivänä|d[’'])\s*)?"
    year = rf"(?:{_YEAR}|25\d{{2}})" if language == "th" else _YEAR
    pattern = re.compile(
        rf"(?P<iso>(?<![\d-]){_YEAR}-(?:0[1-9]|1[0-2])(?:-\d{{2}}(?=T\d|(?![\w-]))|(?![\w-])))"
        rf"|(?P<ymd>\b{_YEAR}(?P<sign>[/.-])(?:0?[1-9]|1[0-2])(?P=sign){_DAY}(?![\d-])"
        rf"|(?<!\d){_YEAR}\.\s\d{{1,2}}\.(?:\s\d{{1,2}}(?!\d))?)"
        rf"|(?P<signs>(?<!\d){_YEAR}\s?[年년]\s?\d{{1,2}}\s?[月월](?:\s?\d{{1,2}}\s?[日일])?)"
        rf"|(?P<era>(?:{'|'.join(_ERAS)})\s?(?:\d{{1,2}}|元)\s?年\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?日)?)"
        rf"|(?P<vietnamese>\b{_DAY}\s+tháng\s+\d{{1,2}}\s+năm\s+{_YEAR}\b)"
        rf"|(?P<mdy>\b(?:{months})\.?\s+{_DAY}(?:\s?(?:st|nd|rd|th))?(?:\s?[-–]\s?{_DAY})?,?\s+{_YEAR}\b)"
        rf"|(?P<dmy>(?<![\w.]){_DAY}(?:\s?(?:st|nd|rd|th|er|º|ª|°))?(?:\.?[-/\s]+|\.){of}"
        rf"(?:{months})\b\.?,?[-/\s]+(?:de[l]?\s+|พ\.ศ\.\s*)?{year}\b)"
        rf"|(?P<ymonthd>\b{_YEAR}[.,]?\s+(?:{months})\b\.?\s+{_DAY}\b)"
        rf"|(?P<my>\b(?:{months})\.?,?\s+(?:de\s+|พ\.ศ\.\s*)?{year}\b)"
        rf"|(?P<yearmonth>\b{_YEAR}\.?\s+(?:{months})\b(?!\s*\d))"
        rf"|(?P<slash>\b\d{{1,2}}/\d{{1,2}}/{_YEAR}\b|(?<![\w-])(?:\d-\d{{1,2}}|\d{{2}}-\d)-{_YEAR}\b)"
        rf"|(?P<dots>\b\d{{1,2}}\.\s?\d{{1,2}}\.\s?{_YEAR}\b|(?<![\d-])\d{{2}}-\d{{2}}-{_YEAR}\b)"
        rf"|(?P<short>(?<![\d/]){_DAY}/{_DAY}/\d{{2}}(?![\d/])|(?<![\w/-]){_DAY}-{_DAY}-\d{{2}}(?![\w/-]))"
        rf"|(?P<brief>(?:(?<=\brev )|(?<=\brev\. )|(?<=\brevised ))(?:0?[1-9]|1[0-2])[-/]\d{{2}}(?:\d{{2}})?(?![\d/-]))"
        rf"|(?P<monthly>(?<![\d/])\d{{1,2}}/{_YEAR}\b)"
        rf"|(?P<year>(?<![\w.,$-])(?:19|20)\d{{2}}(?![^\W年년]|[%-]|[.:]\d))",
        re.IGNORECASE,
    )
    return names, pattern
