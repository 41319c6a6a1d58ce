"""Question → the dates that it names."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from core.knowledge.question_lexicon import asking
from core.text.tokenize import stem

__all__ = ["AskedDates", "dates_in_question", "without_other_numbers"]

_MONTHS = tuple("january february march april may june july august september october november december".split())

_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)

_YEAR_NUMBER = r"(?:19|20)\d\d"

_BARE_YEAR = rf"{_YEAR_NUMBER}(?![-–]\w)"

_DAY = rf"(?:{_MONTH})\.? \d{{1,2}},? {_YEAR_NUMBER}|\d{{1,2}} (?:{_MONTH})\.? {_YEAR_NUMBER}"

_DATE = rf"(?:{_YEAR_NUMBER}-\d\d-\d\d|{_YEAR_NUMBER}-\d\d|{_DAY}|(?:{_MONTH})\.? {_YEAR_NUMBER}|{_BARE_YEAR})"

_BETWEEN = re.compile(
    rf"\b(?:between|from) (?P<start>{_DATE}) (?:and|to|until|through) (?P<end>{_DATE})\b", re.IGNORECASE
)

_AS_OF = re.compile(
    rf"\b(?:(?:in force|in effect|valid|applicable) )?"
    rf"(?:as (?:of|at|on)|(?:in force|in effect|valid|applicable) (?:on|at|in|during)) (?P<end>{_DATE})\b",
    re.IGNORECASE,
)

_SINCE = re.compile(rf"\b(?:since|from|starting) (?P<start>{_DATE})\b", re.IGNORECASE)

_AFTER = re.compile(rf"\bafter (?P<after>{_DATE})\b", re.IGNORECASE)

_BEFORE = re.compile(rf"\b(?:before|prior to) (?P<before>{_DATE})\b", re.IGNORECASE)

_UNTIL = re.compile(rf"\b(?:until|till|up to|through) (?P<end>{_DATE})\b", re.IGNORECASE)

_WITHIN = re.compile(rf"\b(?:in|during|for|of|on) (?P<within>{_DATE})\b", re.IGNORECASE)

_LAST = re.compile(
    r"\b(?:in |over |during |within )?the (?:last|past) (?P<count>\d{1,3}) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)

_NAMED_YEAR = re.compile(r"\b(?P<since>since )?(?P<which>last|this) year\b(?!['’])", re.IGNORECASE)

_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class AskedDates:
    """The date range of a question; both bounds inclusive, at least one is set. words: as written. in_force: it asks
    for what held then, "as of 2024", which may be dated long before."""

    start: date | None
    end: date | None
    words: str
    in_force: bool = False


def dates_in_question(question: str, today: date) -> AskedDates | None:
    """The first date expression of a question, or None. What is in force "as of 2024" was dated by the end of 2024.

    >>> dates_in_question("changes since March 2024", date(2026, 1, 1))
    AskedDates(start=datetime.date(2024, 3, 1), end=None, words='since March 2024', in_force=False)
    >>> dates_in_question("overtime in 2023", date(2026, 1, 1)).end
    datetime.date(2023, 12, 31)
    >>> dates_in_question("rules as of 31 March 2024", date(2026, 1, 1))
    AskedDates(start=None, end=datetime.date(2024, 3, 31), words='as of 31 March 2024', in_force=True)
    >>> dates_in_question("29 U.S.C. 1162", date(2026, 1, 1)) is None
    True
    """
    read = without_other_numbers(question)
    for pattern in (_BETWEEN, _AS_OF, _SINCE, _AFTER, _BEFORE, _UNTIL, _WITHIN):
        match = pattern.search(read)
        bounds = _bounds(match.groupdict()) if match else None
        if match and bounds:
            return AskedDates(*bounds, match.group(), pattern is _AS_OF)
    return _relative(question, today)


_TIMES = frozenset({"in", "during", "since", "year"})
_BOUNDS = frozenset({"before", "after", "until", "till", "by", "on", "from", "between"})
_SINGULAR = frozenset({"year", "month", "week", "day", "hour", "minute", "second", "unit", "piece"})

_COUNTED = re.compile(
    r"(?<!\d )(?<!\d, )(?P<before>\b[a-z]+ )?"
    rf"(?P<number>\b(?:{_YEAR_NUMBER}(?: ?[-–] ?| (?:to|and|or) ))?{_YEAR_NUMBER})"
    r"(?P<after>[ -](?P<what>[a-z]+)\b)",
    re.IGNORECASE,
)

_NUMBERED = re.compile(
    r"(?:[$€£§] ?|\b(?:usd|eur|gbp|sections?|article|clause|paragraph|chapter|part|page|room|line|item|sec\.|no\.) )"
    rf"{_YEAR_NUMBER}\b|\b{_YEAR_NUMBER}(?= ?[$€£%]|[.,]\d)",
    re.IGNORECASE,
)


def without_other_numbers(question: str) -> str:
    """The question, of the same length, without numbers that only look like years: amounts, counts and sections.

    >>> without_other_numbers("over 2000 dollars in 2024").split()
    ['over', 'dollars', 'in', '2024']
    >>> without_other_numbers("section 2019 since 2019").split()
    ['since', '2019']
    """
    return _NUMBERED.sub(lambda match: " " * len(match.group()), _COUNTED.sub(_without_count, question))


def _without_count(match: re.Match[str]) -> str:
    """The words without the number where it counts: "2000 hours", "for 2000 people", but not "in 2024 employees"."""
    before, what = (match["before"] or "").strip().lower(), match["what"].lower()
    people = what == "people" or (what.endswith("s") and stem(what) in asking().persons)
    measure = stem(what) in asking().units and not (what in _SINGULAR and match["after"].startswith(" "))
    times = _TIMES | _BOUNDS if people else _TIMES
    if before in times or re.fullmatch(_MONTH, before) or not (people or measure):
        return match.group()
    return (match["before"] or "") + " " * len(match["number"]) + match["after"]


def _bounds(expressions: dict[str, str]) -> tuple[date | None, date | None] | None:
    spans = {key: _span(words) for key, words in expressions.items()}
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
        return AskedDates(date(year, 1, 1), None if match["since"] else date(year, 12, 31), match.group())
    return None


def _span(words: str) -> tuple[date, date] | None:
    """First and last day of a date expression; None when no such day exists (31 June)."""
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
