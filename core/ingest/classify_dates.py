"""From when a document's words hold, and how time touches them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from core.documents import Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_reading import Reading, quote_around
from core.tables.signs import SignFinder
from core.tables.temporal import date_leads, temporal_by_truth, temporal_signs

__all__ = ["dates_in", "effective_date_label", "temporal_label"]

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_SHORT = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
_YEAR = r"(?:19|20)\d{2}"
_DATE = re.compile(
    rf"(?P<iso>\b{_YEAR}-\d{{2}}(?:-\d{{2}})?\b)"
    rf"|(?P<mdy>\b(?:{_MONTHS}|{_SHORT})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}\b)"
    rf"|(?P<dmy>(?<![\w.])(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?[-\s]+(?:of\s+)?(?:{_MONTHS}|{_SHORT})\.?,?[-\s]+{_YEAR}\b)"
    rf"|(?P<my>\b(?:{_MONTHS}|{_SHORT})\.?,?\s+{_YEAR}\b)"
    rf"|(?P<slash>\b\d{{1,2}}/\d{{1,2}}/{_YEAR}\b)"
    rf"|(?P<dots>\b\d{{1,2}}\.\d{{1,2}}\.{_YEAR}\b)"
    rf"|(?P<year>(?<![\w.,$-])(?:19|20)\d{{2}}(?![\w,%-]|\.\d))",
    re.IGNORECASE,
)
_LEAD_CHARACTERS = 60
_FRONT_CHARACTERS = 4_000
_TOP_CHARACTERS = 1_500
_FURTHER_RULE_PROBABILITY = 0.6
_LONE_LINE, _YEAR_TITLE, _METADATA, _NAME, _COPYRIGHT = 0.75, 0.82, 0.6, 0.65, 0.5
_EARLIEST_IN_NAME = "1990"
_COPYRIGHT_MARK = re.compile(r"(?i)(?:©|copyright)[^\n]{0,20}$")
_PUBLISHED_KEYS = ("effective", "date", "published", "created", "modified")


@dataclass(frozen=True, slots=True)
class Dated:
    """An ISO date ("2023", "2023-06" or "2023-06-17") at text[start:end]."""

    iso: str
    start: int
    end: int


def dates_in(text: str) -> Iterator[Dated]:
    """Every date in a text, in reading order; impossible ones are passed over.

    >>> [found.iso for found in dates_in("Effective June 5, 2023 (v. August 2019), 5/23/2025, 31.12.2024")]
    ['2023-06-05', '2019-08', '2025-05-23', '2024-12-31']
    """
    for match in _DATE.finditer(text):
        iso = _iso(match)
        if iso is not None:
            yield Dated(iso, match.start(), match.end())


def effective_date_label(reading: Reading) -> Label:
    """The date from which the text holds: said to be effective, made for a year, revised, issued, or standing alone
    on the first lines; else what metadata or the file name say. Undated documents give a label without value.
    """
    found = [*_said(reading), *_outside(reading)]
    if not found:
        return Label(reason="The document gives no date of its own.")
    best = max(found, key=lambda item: item[0].weight)[0]
    ranked = sorted(found, key=lambda item: -item[0].weight)
    other = next((item for item, _ in ranked if item.value[:4] != best.value[:4]), None)
    runner = (other.value, min(other.weight, 1 - best.weight)) if other else (None, 0.0)
    return Label(best.value, best.weight, runner[0], runner[1], (best,))


def temporal_label(reading: Reading, truth: Label) -> Label:
    """Evergreen, current, dated or historical: by the signs of the opening and the text, else by the truth."""
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    hits = _temporal_signs().find(reading.opening)
    if hits:
        start, end = hits[0].spans[0]
        quote = quote_around(reading.opening, start, end)
        sign = hits[0].sign
        evidence = Evidence(quote, EvidenceSource.TEXT, sign.value, sign.weight, sign.rule)
        return Label(sign.value, 0.8, evidence=(evidence,))
    if truth.value is None:
        return Label(reason="No sign of time, and the truth is unknown.")
    value = temporal_by_truth()[Truth(truth.value)]
    return Label(
        value, _FURTHER_RULE_PROBABILITY, reason=f"{truth.value} documents are {value} unless they say otherwise"
    )


def _said(reading: Reading) -> Iterator[tuple[Evidence, int]]:
    """Dates that the front of the text or the title speaks of as its own."""
    front = reading.body[:_FRONT_CHARACTERS]
    for found in dates_in(front):
        before = front[max(0, found.start - _LEAD_CHARACTERS) : found.start]
        lead = next(((lead.probability, lead.rule) for lead in date_leads() if lead.pattern.search(before)), None)
        if lead is None and found.start < _TOP_CHARACTERS:
            lead = _standing_alone(front, found)
        if lead is None and _COPYRIGHT_MARK.search(before):
            lead = (_COPYRIGHT, "copyright year")
        if lead is not None:
            quote = quote_around(front, found.start, found.end)
            yield Evidence(quote, EvidenceSource.TEXT, found.iso, lead[0], lead[1]), found.start
    for found in dates_in(reading.title):
        yield Evidence(reading.title, EvidenceSource.METADATA, found.iso, _YEAR_TITLE, "in the title"), found.start


def _standing_alone(front: str, found: Dated) -> tuple[float, str] | None:
    """A date that has its line to itself, or nearly, belongs to the document."""
    start = front.rfind("\n", 0, found.start) + 1
    end = front.find("\n", found.end)
    line = front[start : end if end >= 0 else len(front)]
    around = len(re.findall(r"[^\W_]+", line)) - len(re.findall(r"[^\W_]+", front[found.start : found.end]))
    if around > (0 if len(found.iso) == 4 else 4):
        return None
    return _LONE_LINE - 0.02 * around - (0.1 if len(found.iso) == 4 else 0.0), "stands by itself on the first lines"


def _outside(reading: Reading) -> Iterator[tuple[Evidence, int]]:
    for key in _PUBLISHED_KEYS:
        for found in dates_in(reading.metadata.get(key, "")):
            quote = reading.metadata[key][found.start : found.end]
            yield Evidence(quote, EvidenceSource.METADATA, found.iso, _METADATA, f"file metadata: {key}"), found.start
    for found in dates_in(reading.name_words):
        quote = reading.name_words[found.start : found.end]
        if quote in reading.name and found.iso >= _EARLIEST_IN_NAME:
            yield Evidence(quote, EvidenceSource.NAME, found.iso, _NAME, "in the file name"), found.start


def _iso(match: re.Match[str]) -> str | None:
    from dateutil import parser

    words, kind = match.group(), match.lastgroup
    if kind == "year":
        return words
    try:
        moment = parser.parse(words.replace(" of ", " "), dayfirst=kind == "dots", default=datetime(2000, 1, 1))
    except (parser.ParserError, OverflowError):
        return None
    monthly = kind == "my" or (kind == "iso" and len(words) == 7)
    return f"{moment:%Y-%m}" if monthly else f"{moment:%Y-%m-%d}"


@cache
def _temporal_signs() -> SignFinder:
    return SignFinder(temporal_signs())
