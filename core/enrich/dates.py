"""The days a document tells, and what each is the date of where words beside it say so."""

import re
from collections.abc import Iterator

from core.enrich.reading import Reading, Sentence
from core.enrich.values import DatedThing, Dates
from core.tables.dated import dated_leads

__all__ = ["find_dates"]

_MOST = 40
_BEFORE = 60
_MONTHS = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?"
)
_YEAR, _DAY = r"(?:19|20)\d{2}", r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_SHAPE = re.compile(
    rf"\b(?:{_MONTHS})\b\.?\s+{_DAY},?\s+{_YEAR}\b|\b{_DAY}\s+(?:of\s+)?(?:{_MONTHS})\b\.?,?\s+{_YEAR}\b"
    rf"|(?<![\w/-]){_YEAR}([-/])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])(?![\w/-])"
    rf"|(?<![\w/])\d{{1,2}}/\d{{1,2}}/{_YEAR}(?![\w/])|\b(?:{_MONTHS})\b\.?\s+{_YEAR}\b"
)
_MONTH_ONLY = re.compile(rf"(?:{_MONTHS})\b\.?\s+{_YEAR}$")
_FIRST_TWO = re.compile(r"(\d{1,2})/(\d{1,2})/")


def find_dates(reading: Reading) -> Dates:
    """At most 40 dates, in the order of the calendar, each once per what it dates; those words tell of come first when
    there are more. Dates of two readings ("03/04/2024") are left out.

    >>> find_dates(Reading("a", "a"))
    Dates(dates=())
    """
    found: dict[tuple[str, str], DatedThing] = {}
    for sentence in reading.sentences:
        for each in _in_sentence(sentence):
            found.setdefault((each.date, each.what), each)
    told = {each.date for each in found.values() if each.what}
    kept = [each for each in found.values() if each.what or each.date not in told]
    kept = sorted(kept, key=lambda each: not each.what)[:_MOST]
    return Dates(tuple(sorted(kept, key=lambda each: (each.date, each.what))))


def _in_sentence(sentence: Sentence) -> Iterator[DatedThing]:
    text = sentence.said.text
    end = 0
    for match in _SHAPE.finditer(text):
        date = _iso(match.group())
        if date:
            before = " ".join(text[max(end, match.start() - _BEFORE) : match.start()].split()) + " "
            what = next((lead.what for lead in dated_leads() if lead.pattern.search(before)), "")
            yield DatedThing(date, what, sentence.said)
        end = match.end()


def _iso(written: str) -> str:
    """A date as ISO, "2024-03" for a month; "" for one that is no day or may be two.

    >>> _iso("January 31st, 2024"), _iso("Mar. 2024"), _iso("27/06/2019"), _iso("03/04/2019"), _iso("June 31, 2020")
    ('2024-01-31', '2024-03', '2019-06-27', '', '')
    """
    from dateutil import parser

    figures = _FIRST_TWO.match(written)
    day_first = figures is not None and int(figures[1]) > 12
    if figures is not None and not day_first and figures[1] != figures[2] and int(figures[2]) <= 12:
        return ""
    try:
        parsed = parser.parse(written.replace(" of ", " "), dayfirst=day_first)
    except (parser.ParserError, OverflowError):
        return ""
    return f"{parsed:%Y-%m}" if _MONTH_ONLY.match(written) else f"{parsed:%Y-%m-%d}"
