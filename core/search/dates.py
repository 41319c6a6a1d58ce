"""Date expressions of a question: "since March 2024", "in 2023", "between 2020 and 2022", "on 20 February 2025"."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["AskedDates", "asked_dates"]

_MONTHS = tuple("january february march april may june july august september october november december".split())
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_YEAR = r"(?:19|20)\d\d"
_DAY = rf"(?:{_MONTH})\.? \d{{1,2}},? {_YEAR}|\d{{1,2}} (?:{_MONTH})\.? {_YEAR}"
_DATE = rf"(?:{_YEAR}-\d\d-\d\d|{_YEAR}-\d\d|{_DAY}|(?:{_MONTH})\.? {_YEAR}|{_YEAR})"
_BETWEEN = re.compile(
    rf"\b(?:between|from) (?P<start>{_DATE}) (?:and|to|until|through) (?P<end>{_DATE})\b", re.IGNORECASE
)
_SINCE = re.compile(rf"\b(?:since|from|starting|as of) (?P<start>{_DATE})\b", re.IGNORECASE)
_AFTER = re.compile(rf"\bafter (?P<after>{_DATE})\b", re.IGNORECASE)
_BEFORE = re.compile(rf"\b(?:before|prior to) (?P<before>{_DATE})\b", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:until|till|up to|through) (?P<end>{_DATE})\b", re.IGNORECASE)
_WITHIN = re.compile(rf"\b(?:in|during|for|of|on) (?P<within>{_DATE})\b", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:in |over |during |within )?the (?:last|past) (?P<count>\d{1,3}) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_NAMED_YEAR = re.compile(r"\b(?P<which>last|this) year\b(?!['’])", re.IGNORECASE)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class AskedDates:
    """What a question says about dates; both bounds inclusive, at least one is set. `words`: as asked."""

    start: date | None
    end: date | None
    words: str


def asked_dates(question: str, today: date) -> AskedDates | None:
    """The first date expression of a question, or None.

    >>> asked_dates("changes since March 2024", date(2026, 1, 1))
    AskedDates(start=datetime.date(2024, 3, 1), end=None, words='since March 2024')
    >>> asked_dates("overtime in 2023", date(2026, 1, 1)).end
    datetime.date(2023, 12, 31)
    >>> asked_dates("29 U.S.C. 1162", date(2026, 1, 1)) is None
    True
    """
    for pattern in (_BETWEEN, _SINCE, _AFTER, _BEFORE, _UNTIL, _WITHIN):
        match = pattern.search(question)
        bounds = _bounds(match.groupdict()) if match else None
        if match and bounds:
            return AskedDates(*bounds, match.group())
    return _relative(question, today)


def _bounds(said: dict[str, str]) -> tuple[date | None, date | None] | None:
    spans = {key: _span(words) for key, words in said.items()}
    if not all(spans.values()):
        return None
    start = end = None
    for key, (first, last) in ((k, s) for k, s in spans.items() if s):
        match key:
            case "start":
                start = first
            case "end":
                end = last
            case "after":
                start = last + timedelta(days=1)
            case "before":
                end = first - timedelta(days=1)
            case _:
                start, end = first, last
    return (start, end) if start is None or end is None or start <= end else None


def _relative(question: str, today: date) -> AskedDates | None:
    if match := _LAST.search(question):
        days = int(match["count"]) * _UNIT_DAYS[match["unit"].lower()]
        return AskedDates(today - timedelta(days=days), None, match.group())
    if match := _NAMED_YEAR.search(question):
        year = today.year - (match["which"].lower() == "last")
        return AskedDates(date(year, 1, 1), date(year, 12, 31), match.group())
    return None


def _span(words: str) -> tuple[date, date] | None:
    """First and last day of what the words name; None when no such day exists (31 June)."""
    numbers = [int(n) for n in re.findall(r"\d+", words)]
    named = re.search(_MONTH, words, re.IGNORECASE)
    try:
        if named:
            month = next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(named.group()[:3].lower()))
            year = numbers[-1]
            day = numbers[0] if len(numbers) == 2 else None
        else:
            year, month, day = [*numbers, 0, 0][:3]
        if not month:
            return date(year, 1, 1), date(year, 12, 31)
        if not day:
            return date(year, month, 1), date(year, month, monthrange(year, month)[1])
        return date(year, month, day), date(year, month, day)
    except ValueError:
        return None
