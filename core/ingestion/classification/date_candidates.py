"""The dates a document names, and what speaks for each being its own: words beside it, place, line, repetition."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log1p

from core.domain.documents import Evidence, EvidenceSource, Label
from core.ingestion.classification.date_reading import ParsedDate, dates_in, dates_in_name, writes_day_first
from core.ingestion.classification.sample import DocumentSample, name_words, quote_around
from core.ingestion.classification.subject import truth_shares
from core.knowledge.temporal import date_cues

__all__ = ["DATE_WORD", "ORDER_CHARACTERS", "DateCandidate", "date_candidates"]

DATE_WORD = "word "
"""How the names of the features begin that are single words before a date."""
ORDER_CHARACTERS = 20_000
"""Characters that tell whether the day comes first; chosen by hand."""

_FRONT_CHARACTERS, _TAIL_CHARACTERS = 5_000, 3_000  # where a text names its own date; chosen by hand, as all below
_FRONT_DATES, _TAIL_DATES = 40, 15  # mentions weighed, so that a table of dates costs little
_FIRST_CHARACTERS, _TOP_CHARACTERS, _LAST_CHARACTERS = 300, 1_500, 500
_WORDS_BEFORE, _WORDS_AFTER, _WORDS_ABOVE = 8, 4, 4
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 120, 60
_NEARNESS = 0.8  # a word counts this much less for every word between it and the date
_LONE_WORDS, _SHORT_WORDS = 1, 6  # other words on a line that is a date, or nearly so
_RANGE_CHARACTERS = 14
_METADATA_KEYS = ("effective", "date", "published", "created", "modified")
_YEARS_IN_NAME = ("1990", "2050")

_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+|©")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_KEY = re.compile(r"(?:^|[|;,{])\s*[\W_]*[^\W\d][\w .'-]{0,40}[\W_]*[:=|][\W_]*$")
_HEADING = re.compile(r"^\s*(?:#|\*\*|=|\\(?:title|date|section))")
_TIME = re.compile(r"T?\s?\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """One mention of a date in a document. features: name → value; their weighted sum is its log-odds."""

    value: str
    source: EvidenceSource
    text: str
    start: int
    end: int
    features: Mapping[str, float]

    def evidence(self, weight: float) -> Evidence:
        return Evidence(quote_around(self.text, self.start, self.end), self.source, self.value, weight, "its own date")


# Over 40 lines: the table of all features of a mention.
def date_candidates(
    sample: DocumentSample, truth: Label, language: str
) -> tuple[tuple[DateCandidate, ...], Mapping[str, float]]:
    """Every mention of a date that may be the document's own, and the features of having none."""
    matter = _FRONT_MATTER.match(sample.body)
    matter_end = matter.end() if matter else 0
    mentions = _mentions(sample.body, language, matter_end)
    others = [*_outside(sample)]
    counts = Counter(found.iso for found in mentions)
    full = sorted({found.iso for found in mentions if len(found.iso) == 10})
    outside = {found.iso for _, _, found in others}
    candidates = [
        DateCandidate(
            found.iso,
            EvidenceSource.TEXT,
            sample.body,
            found.start,
            found.end,
            {
                **_where(sample.body, found, number, matter_end),
                **_words_around(sample.body, found),
                **_beside(mentions, number),
                f"precision {len(found.iso)}": 1.0,
                "said again": log1p(counts[found.iso] - 1),
                "newest": float(full[-1:] == [found.iso]),
                "oldest": float(full[:1] == [found.iso]),
                "only full date": float(full == [found.iso]),
                "in title or metadata": float(found.iso in outside),
            },
        )
        for number, found in enumerate(mentions)
    ]
    candidates += [
        DateCandidate(
            found.iso, source, text, found.start, found.end, {f"from {kind}": 1.0, f"precision {len(found.iso)}": 1.0}
        )
        for (source, kind), text, found in others
    ]
    none = {
        "none": 1.0,
        "none, dates": log1p(len(mentions)),
        "none, full dates": log1p(len(full)),
        "none, words": log1p(sample.words),
        **{f"none, {each}": share for each, share in truth_shares(truth).items()},
    }
    return tuple(candidates), none


def _mentions(body: str, language: str, matter_end: int) -> list[ParsedDate]:
    """The first dates of the front and the last ones of the tail, in reading order."""
    day_first = writes_day_first(body[:ORDER_CHARACTERS], language)
    front = min(len(body), _FRONT_CHARACTERS)
    tail = max(front, len(body) - _TAIL_CHARACTERS)
    matter = dates_in(body[:matter_end], False, language)  # written by machines, the month first
    rest = dates_in(body[matter_end:front], day_first, language)
    last = [_moved(found, tail) for found in dates_in(body[tail:], day_first, language)]
    first = [*matter, *(_moved(found, matter_end) for found in rest)]
    return [*islice(first, _FRONT_DATES), *last[-_TAIL_DATES:]]


def _moved(found: ParsedDate, by: int) -> ParsedDate:
    return ParsedDate(found.iso, found.start + by, found.end + by)


def _where(body: str, found: ParsedDate, number: int, matter_end: int) -> dict[str, float]:
    """Features of the place and the line of a date."""
    start, end = found.start, found.end
    line_start, line_end = _line(body, start, end)
    line, before, after = body[line_start:line_end], body[line_start:start], body[end:line_end]
    others = _count(before) + _count(after)
    in_front = start < _FRONT_CHARACTERS
    return {
        "position": log1p(start / _FIRST_CHARACTERS) if in_front else 0.0,
        "in the first lines": float(start < _FIRST_CHARACTERS),
        "near the top": float(start < _TOP_CHARACTERS),
        "far down": float(not in_front),
        "at the end": float(len(body) - end < _LAST_CHARACTERS),
        "first": float(number == 0),
        "order": log1p(number),
        "in front matter": float(start < matter_end),
        "after a key": float(bool(_KEY.search(before[-60:]))),
        "in a heading": float(bool(_HEADING.match(line))),
        "in a table": float(line.count("|") > 2 or line.count("\t") > 1 or line.count(";") > 2),
        "alone": float(others <= _LONE_WORDS),
        "in a short line": float(others <= _SHORT_WORDS),
        "words of its line": log1p(others),
        "ends its line": float(not _count(after)),
        "begins its line": float(not _count(before)),
        "in brackets": float(before.rfind("(") > before.rfind(")")),
        "in an address": float(body[max(0, start - 1) : start] in ("/", "_", "=", "@") or body[end : end + 1] == "/"),
        "quoted": float(body[max(0, start - 1) : start] in tuple("`'\"<") and start >= matter_end),
        "with a time": float(bool(_TIME.match(body, end))),
    }


def _line(body: str, start: int, end: int) -> tuple[int, int]:
    stop = body.find("\n", end)
    first = body.rfind("\n", max(0, start - 1_000), start) + 1
    return max(first, start - 1_000), min(stop if stop >= 0 else len(body), end + 1_000)


def _count(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _beside(mentions: Sequence[ParsedDate], number: int) -> dict[str, float]:
    """Whether another date stands close by, as in a range or a row."""
    found = mentions[number]
    before = mentions[number - 1] if number else None
    after = mentions[number + 1] if number + 1 < len(mentions) else None
    return {
        "after a date": float(before is not None and 0 <= found.start - before.end < _RANGE_CHARACTERS),
        "before a date": float(after is not None and 0 <= after.start - found.end < _RANGE_CHARACTERS),
    }


def _words_around(body: str, found: ParsedDate) -> dict[str, float]:
    """Words and kinds of words beside a date, the nearer the more."""
    start, end = found.start, found.end
    line_start, line_end = _line(body, start, end)
    before = _words(body[max(line_start, start - _BEFORE_CHARACTERS) : start])[-_WORDS_BEFORE:]
    after = _words(body[end : min(line_end, end + _AFTER_CHARACTERS)])[:_WORDS_AFTER]
    features = {**_near("before", reversed(before)), **_near("after", after)}
    if len(before) < 2:
        above = _words(body[max(0, line_start - _BEFORE_CHARACTERS) : line_start])[-_WORDS_ABOVE:]
        features |= _near("above", reversed(above))
    return features


def _words(text: str) -> list[str]:
    """Lower-case words; texts without spaces give pairs of signs instead.

    >>> _words("date_in_force: 本协议自2021")
    ['date', 'in', 'force', '本协', '协议', '议自']
    """
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if _IDEOGRAPHS.fullmatch(word) and len(word) > 2:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def _near(side: str, words: Iterator[str] | Sequence[str]) -> dict[str, float]:
    """`words` from the nearest on; the nearest of each kind counts. Words after a date only count by their kind."""
    features: dict[str, float] = {}
    for distance, word in enumerate(words):
        weight = _NEARNESS**distance
        if side == "before":
            features.setdefault(f"{DATE_WORD}{word}", weight)
        for cue in _cues_of(word):
            features.setdefault(f"{side} {cue}", weight)
    return features


@lru_cache(maxsize=16_384)
def _cues_of(word: str) -> tuple[str, ...]:
    return tuple(cue for cue, beginnings in date_cues().items() if word.startswith(beginnings))


def _outside(sample: DocumentSample) -> Iterator[tuple[tuple[EvidenceSource, str], str, ParsedDate]]:
    """Dates of the title, the file's metadata and its name."""
    if name_words(sample.title) not in sample.name_words and sample.title not in sample.body:
        for found in dates_in(sample.title):
            yield (EvidenceSource.METADATA, "title"), sample.title, found
    for key in _METADATA_KEYS:
        for found in dates_in(sample.metadata.get(key, "")):
            yield (EvidenceSource.METADATA, "metadata"), sample.metadata[key], found
    in_words = (found for found in dates_in(sample.name_words) if len(found.iso) == 4)
    for found in (*dates_in_name(sample.name), *in_words):
        at = sample.name.find(found.iso) if len(found.iso) == 4 else found.start
        if at >= 0 and _YEARS_IN_NAME[0] <= found.iso < _YEARS_IN_NAME[1]:
            yield (
                (EvidenceSource.NAME, "name"),
                sample.name,
                ParsedDate(found.iso, at, at + found.end - found.start),
            )
