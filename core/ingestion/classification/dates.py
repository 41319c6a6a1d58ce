"""Finds and parses dates in a text; decides the effective date and temporal class of a document."""
# Longer than 300 lines: finding dates, choosing one and deciding on it share their patterns.

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import exp, log, log1p

from core.domain.documents import Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.linear_model import ClassifierModel
from core.ingestion.classification.sample import DocumentSample, name_words, quote_around
from core.ingestion.classification.subject import truth_shares
from core.ingestion.table_typing.columns import CENTURY_TURN
from core.knowledge.classifier_weights import date_weights
from core.knowledge.label_signals import LabelSignalFinder
from core.knowledge.temporal import DateLead, date_leads, month_names, temporal_by_truth, temporal_signs

__all__ = [
    "DateCandidate",
    "ParsedDate",
    "date_candidate",
    "dates_in",
    "dates_in_name",
    "effective_date_label",
    "temporal_label",
    "writes_day_first",
]

_YEAR = r"(?:19|20)\d{2}"

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"

_IN_NAME = re.compile(rf"(?<!\d)({_YEAR})[-_. ]?(0[1-9]|1[0-2])(?:[-_. ]?(0[1-9]|[12]\d|3[01]))?(?!\d)")

_ORDER = re.compile(
    r"\b(?:(?P<day>(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2]))|(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01]))/\d"
)

_DAY_FIRST_MONEY = re.compile(r"£\s?\d|€\s?\d|\d\s?€")


@dataclass(frozen=True, slots=True)
class ParsedDate:
    """An ISO date ("2023", "2023-06" or "2023-06-17") at text[start:end]. short: its year has two digits."""

    iso: str
    start: int
    end: int
    short: bool = False


def dates_in(text: str, day_first: bool = False) -> Iterator[ParsedDate]:
    """All dates in a text, in reading order; skips impossible ones. day_first: reads 5/6/2020 as 5 June.

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
            yield ParsedDate(iso, match.start(), match.end(), match.lastgroup == "short")


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


def dates_in_name(name: str) -> Iterator[ParsedDate]:
    """Numeric dates and months in a file name, with any separator.

    >>> [found.iso for found in dates_in_name("Plan_20230617-v2_2021_05.pdf")]
    ['2023-06-17', '2021-05']
    """
    whole = [
        ParsedDate("-".join(part for part in match.groups() if part), match.start(), match.end())
        for match in _IN_NAME.finditer(name)
    ]
    yield from (found for found in whole if len(found.iso) == 7 or _day(*map(int, found.iso.split("-"))))


def writes_day_first(text: str) -> bool:
    """Whether a text writes 31/12/2024 rather than 12/31/2024; if no date decides, by pound and euro amounts.

    >>> writes_day_first("from 31/01/2024"), writes_day_first("$5 from 01/31/2024"), writes_day_first("a fee of £5")
    (True, False, True)
    """
    tells = _ORDER.search(text)
    return bool(tells["day"]) if tells else bool(_DAY_FIRST_MONEY.search(text))


def _full_year(digits: int) -> int:
    return digits if digits > 99 else digits + (2000 if digits < CENTURY_TURN else 1900)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


@cache
def _pattern() -> tuple[Mapping[str, int], re.Pattern[str]]:
    """Lower-case month name → number, and one pattern whose last group identifies the date format."""
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


_LEAD_CHARACTERS = 130  # Chosen by hand, not fitted, like the limits below.

_FRONT_CHARACTERS = 4_000

_TOP_CHARACTERS = 1_500

_FIRST_CHARACTERS = 300

_FURTHER_RULE_PROBABILITY = 0.6

_YEARS_IN_NAME = ("1990", "2050")

_HEADING_WORDS = 15

_LONE_WORDS = 5

_SURE_TRUTH = 0.8  # probability from which a truth may rule out what words before a date mean; chosen by hand

_COPYRIGHT_MARK = re.compile(r"(?i)(?:©|copyright)[^\n]{0,20}$")

_PUBLISHED_KEYS = ("effective", "date", "published", "created", "modified")


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """The date that most likely is the document's own, before it is decided whether the document has one.

    evidence: the date, its quote, and the weight of the rule that found it. other: the best date of another year.
    features: name → value; their weighted sum is the log-odds that it is the effective date.
    """

    evidence: Evidence
    other: Evidence | None
    features: Mapping[str, float]


def effective_date_label(sample: DocumentSample, truth: Label, model: ClassifierModel) -> Label:
    """The date from which the text applies, if the text states it with enough certainty; else no value.

    Rules choose the date: stated as effective, in a title, revised, issued, or alone in the first lines; else from
    metadata or the file name. A fitted logistic regression decides whether it counts: precision goes before recall,
    so its threshold is the one that gives almost no undated document a date, on sources left out of the fitting.
    """
    best = date_candidate(sample, truth)
    if best is None:
        return Label(reason="The document gives no date of its own.")
    weights = model.numbers["date_features"]
    odds = sum(weights.get(name, 0.0) * value for name, value in best.features.items())
    probability = 1.0 / (1.0 + exp(-odds))
    if probability < model.numbers["date"]["threshold"]:
        quote, rule = best.evidence.quote, best.evidence.rule
        return Label(reason=f"No date is certain enough to be its own; nearest: “{quote}” ({rule}).")
    runner_up = (best.other.value, min(best.other.weight, 1.0 - probability)) if best.other else (None, 0.0)
    return Label(best.evidence.value, probability, runner_up[0], runner_up[1], (best.evidence,))


def date_candidate(sample: DocumentSample, truth: Label) -> DateCandidate | None:
    """The date that the strongest rule finds, with what speaks for it; None when no rule finds any."""
    sure = truth.value if truth.probability >= _SURE_TRUTH else None
    found = [*_own_dates(sample, sure), *_outside(sample)]
    if not found:
        return None
    best, start = max(found, key=lambda item: (item[0].weight, item[0].value if item[0].rule in _of_changes() else ""))
    ranked = sorted((item for item, _ in found), key=lambda item: -item.weight)
    other = next((item for item in ranked if item.value[:4] != best.value[:4]), None)
    in_text = best.source is EvidenceSource.TEXT
    line = _line_around(sample.body, start) if in_text else ""
    features = {
        "bias": 1.0,
        "weight": log(best.weight / (1.0 - best.weight)),
        "margin": best.weight - (other.weight if other else 0.0),
        "other dates": log1p(len({item.value for item, _ in found}) - 1),
        "said again": log1p(sum(item.value == best.value for item, _ in found) - 1),
        "newest": float(best.value == max(item.value for item, _ in found)),
        "position": log1p(start / _FIRST_CHARACTERS) if in_text else 0.0,
        "in the first lines": float(in_text and start < _FIRST_CHARACTERS),
        "words of its line": log1p(len(line.split())),
        "in a table": float(line.count("|") > 2 or line.count("\t") > 1 or line.count(",") > _LONE_WORDS),
        f"precision {len(best.value)}": 1.0,
        f"rule {best.rule}": 1.0,
        **{f"truth {each}": share for each, share in truth_shares(truth).items()},
    }
    return DateCandidate(best, other, features)


def _line_around(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]


def temporal_label(sample: DocumentSample, truth: Label) -> Label:
    """Evergreen, current, dated or historical: by signals in the opening and the text, else by the truth."""
    if not sample.words:
        return Label(reason="The document holds no text that could be read.")
    hits = _temporal_signs().find(sample.opening)
    if hits:
        start, end = hits[0].spans[0]
        quote = quote_around(sample.opening, start, end)
        sign = hits[0].sign
        evidence = Evidence(quote, EvidenceSource.TEXT, sign.value, sign.weight, sign.rule)
        return Label(sign.value, 0.8, evidence=(evidence,))
    if truth.value is None:
        return Label(reason="No sign of time, and the truth is unknown.")
    value = temporal_by_truth()[Truth(truth.value)]
    return Label(
        value, _FURTHER_RULE_PROBABILITY, reason=f"{truth.value} documents are {value} unless they say otherwise"
    )


def _own_dates(sample: DocumentSample, truth: str | None) -> Iterator[tuple[Evidence, int]]:
    """Dates that the front of the text or the title states as the document's own."""
    front = sample.body[:_FRONT_CHARACTERS]
    for found in dates_in(front, writes_day_first(sample.body)):
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
    own_title = name_words(sample.title) not in sample.name_words
    for found in dates_in(sample.title) if own_title else ():
        yield (
            Evidence(sample.title, EvidenceSource.METADATA, found.iso, date_weights().title, "in the title"),
            found.start,
        )


def _misleads(lead: DateLead, truth: str | None, heading: bool) -> bool:
    """Whether the words before a date mean something else for this truth; in a heading they mean the document."""
    return (lead.of_rules and truth == Truth.REFERENCE and not heading) or (lead.of_prose and truth == Truth.REALITY)


def _ends_heading(front: str, found: ParsedDate) -> bool:
    """Whether the date ends a short line."""
    start = front.rfind("\n", 0, found.start) + 1
    rest = front[found.end : found.end + 3].lstrip(" *_)]")
    return rest[:1] in ("", "\n") and len(front[start : found.start].split()) <= _HEADING_WORDS


def _standing_alone(front: str, found: ParsedDate) -> tuple[float, str] | None:
    """A date alone, or almost alone, on its line is the document's."""
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


def _outside(sample: DocumentSample) -> Iterator[tuple[Evidence, int]]:
    for key in _PUBLISHED_KEYS:
        for found in dates_in(sample.metadata.get(key, "")):
            quote = sample.metadata[key][found.start : found.end]
            yield (
                Evidence(quote, EvidenceSource.METADATA, found.iso, date_weights().metadata, f"file metadata: {key}"),
                found.start,
            )
    in_words = ((found, sample.name_words[found.start : found.end]) for found in dates_in(sample.name_words))
    in_name = ((found, sample.name[found.start : found.end]) for found in dates_in_name(sample.name))
    for found, quote in (*in_name, *in_words):
        if quote in sample.name and _YEARS_IN_NAME[0] <= found.iso < _YEARS_IN_NAME[1]:
            yield Evidence(quote, EvidenceSource.NAME, found.iso, date_weights().name, "in the file name"), found.start


@cache
def _of_changes() -> frozenset[str]:
    return frozenset(lead.rule for lead in date_leads() if lead.latest)


@cache
def _temporal_signs() -> LabelSignalFinder:
    return LabelSignalFinder(temporal_signs())
