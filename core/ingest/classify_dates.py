"""From when a document's words hold, and how time touches them."""

import re
from collections.abc import Iterator
from functools import cache

from core.documents import Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_days import Dated, dates_in, dates_in_name, writes_day_first
from core.ingest.classify_reading import Reading, name_words, quote_around
from core.tables.decisions import date_weights
from core.tables.signs import SignFinder
from core.tables.temporal import DateLead, date_leads, temporal_by_truth, temporal_signs

__all__ = ["effective_date_label", "temporal_label"]

_LEAD_CHARACTERS = 130
_FRONT_CHARACTERS = 4_000
_TOP_CHARACTERS = 1_500
_FIRST_CHARACTERS = 300
_FURTHER_RULE_PROBABILITY = 0.6
_YEARS_IN_NAME = ("1990", "2050")
_HEADING_WORDS = 15
_COPYRIGHT_MARK = re.compile(r"(?i)(?:©|copyright)[^\n]{0,20}$")
_PUBLISHED_KEYS = ("effective", "date", "published", "created", "modified")


def effective_date_label(reading: Reading, truth: Label) -> Label:
    """The date from which the text holds: said to be effective, made for a year, revised, issued, or standing alone
    on the first lines; else what metadata or the file name say. Undated documents give a label without value.
    """
    found = [*_said(reading, truth.value), *_outside(reading)]
    if not found:
        return Label(reason="The document gives no date of its own.")
    best = max(found, key=lambda item: (item[0].weight, item[0].value if item[0].rule in _of_changes() else ""))[0]
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


def _said(reading: Reading, truth: str | None) -> Iterator[tuple[Evidence, int]]:
    """Dates that the front of the text or the title speaks of as its own."""
    front = reading.body[:_FRONT_CHARACTERS]
    for found in dates_in(front, writes_day_first(reading.body)):
        before = front[max(0, found.start - _LEAD_CHARACTERS) : found.start]
        heading = found.start < _TOP_CHARACTERS and _ends_heading(front, found)
        leads = (lead for lead in date_leads() if not _misleads(lead, truth, heading))
        lead = next(((lead.probability, lead.rule) for lead in leads if lead.pattern.search(before)), None)
        if lead is None and found.start < _TOP_CHARACTERS:
            lead = _standing_alone(front, found)
        if lead is None and _COPYRIGHT_MARK.search(before):
            lead = (date_weights().copyright, "copyright year")
        if lead is None and found.start < _FIRST_CHARACTERS and len(found.iso) == 10 and truth != Truth.REALITY:
            lead = (date_weights().first_lines, "in the first lines")
        if lead is not None:
            quote = quote_around(front, found.start, found.end)
            yield Evidence(quote, EvidenceSource.TEXT, found.iso, lead[0], lead[1]), found.start
    own_title = name_words(reading.title) not in reading.name_words
    for found in dates_in(reading.title) if own_title else ():
        yield (
            Evidence(reading.title, EvidenceSource.METADATA, found.iso, date_weights().title, "in the title"),
            found.start,
        )


def _misleads(lead: DateLead, truth: str | None, heading: bool) -> bool:
    """Whether the words before a date mean something else in a text of this truth; a heading speaks of its own."""
    return (lead.of_rules and truth == Truth.REFERENCE and not heading) or (lead.of_prose and truth == Truth.REALITY)


def _ends_heading(front: str, found: Dated) -> bool:
    """Whether a date ends a short line."""
    start = front.rfind("\n", 0, found.start) + 1
    rest = front[found.end : found.end + 3].lstrip(" *_)]")
    return rest[:1] in ("", "\n") and len(front[start : found.start].split()) <= _HEADING_WORDS


def _standing_alone(front: str, found: Dated) -> tuple[float, str] | None:
    """A date that has its line to itself, or nearly, belongs to the document."""
    start = front.rfind("\n", 0, found.start) + 1
    end = front.find("\n", found.end)
    line = front[start : end if end >= 0 else len(front)]
    around = len(re.findall(r"[^\W_]+", line)) - len(re.findall(r"[^\W_]+", front[found.start : found.end]))
    if around > (0 if len(found.iso) == 4 else 5):
        return None
    weight = date_weights().lone_line - 0.02 * around - (0.1 if len(found.iso) == 4 else 0.0)
    if not around and len(found.iso) > 4 and found.start < _FIRST_CHARACTERS:
        return date_weights().heading, "heads the document"
    return weight, "stands by itself on the first lines"


def _outside(reading: Reading) -> Iterator[tuple[Evidence, int]]:
    for key in _PUBLISHED_KEYS:
        for found in dates_in(reading.metadata.get(key, "")):
            quote = reading.metadata[key][found.start : found.end]
            yield (
                Evidence(quote, EvidenceSource.METADATA, found.iso, date_weights().metadata, f"file metadata: {key}"),
                found.start,
            )
    in_words = ((found, reading.name_words[found.start : found.end]) for found in dates_in(reading.name_words))
    in_name = ((found, reading.name[found.start : found.end]) for found in dates_in_name(reading.name))
    for found, quote in (*in_name, *in_words):
        if quote in reading.name and _YEARS_IN_NAME[0] <= found.iso < _YEARS_IN_NAME[1]:
            yield Evidence(quote, EvidenceSource.NAME, found.iso, date_weights().name, "in the file name"), found.start


@cache
def _of_changes() -> frozenset[str]:
    return frozenset(lead.rule for lead in date_leads() if lead.latest)


@cache
def _temporal_signs() -> SignFinder:
    return SignFinder(temporal_signs())
