"""Extracts metadata from a document: its type, dates, legal citations and summary."""

# Over 300 lines: four small extractors over one reading of a document.

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource
from core.domain.entities import EntityType
from core.knowledge.enrichment import DATA_TABLE, SETUP_TABLE, cue_weight, document_types
from core.knowledge.label_signals import LabelSignalFinder, SignalMatch
from core.knowledge.temporal import dated_leads
from core.library.enrichment.document_reader import DocumentText, TextSentence
from core.library.enrichment.values import (
    Citations,
    Dates,
    DocumentDate,
    DocumentType,
    LegalCitation,
    QuotedSpan,
    Summary,
)
from core.ner.legal_citations import CitationKind, LegalCitationMatch, cited
from core.ner.patterns import numbered_names

__all__ = ["find_citations", "find_dates", "find_document_type", "find_summary"]

# The numbers below were chosen by hand, not fitted; `find_document_type` shows how they are used.
_LEAST, _LEAST_LEAD = 1.4, 0.25

_OPENING_SHARE = 0.5

_NAME_SHARE, _HEADING_SHARE = 0.8, 0.35

_TRUTH_WEIGHT, _MEDIA_WEIGHT = 0.6, 5.0

_PER_WORDS = 400

_QUOTE = 90

_SHOWN = 4

_HEADINGS = 3


def find_document_type(reading: DocumentText) -> DocumentType:
    """The type with the highest sum of evidence; None below a sum of 1.4 or without a lead of 0.25 over the next.

    A signal in the title counts fully, in the file name 0.8, in the first headings 0.35; a signal in the text counts 1
    - e^(-times / expected), as in classification, and half as much again in the opening.
    """
    if reading.is_table:
        kind = SETUP_TABLE if reading.setup else DATA_TABLE
        quote = "; ".join(reading.columns[:6]) or reading.name
        return DocumentType(kind, (Evidence(quote, EvidenceSource.TEXT, kind, 1.0, "mostly rows of a table"),))
    evidence = [*_titled(reading), *_in_text(reading), *_labelled(reading)]
    sums = dict.fromkeys(document_types(), 0.0)
    for each in evidence:
        sums[each.value] += each.weight
    ranked = sorted(sums, key=lambda value: -sums[value])
    first, second = ranked[0], ranked[1]
    clear = sums[first] >= _LEAST and sums[first] - sums[second] >= _LEAST_LEAD
    own = sorted((each for each in evidence if each.value == first), key=lambda each: -each.weight)
    runner_up = second if sums[second] > 0 else None
    return DocumentType(first if clear else None, tuple(own[:_SHOWN]) if clear else (), runner_up if clear else first)


@cache
def _finders() -> tuple[LabelSignalFinder, LabelSignalFinder]:
    rows = document_types().values()
    return LabelSignalFinder(each for row in rows for each in row.titles), LabelSignalFinder(
        s for row in rows for s in row.signs
    )


def _titled(reading: DocumentText) -> Iterator[Evidence]:
    """Signs of the title, the name and the first headings; of each sign the weightiest place."""
    headings = [each.text for each in reading.headings[:_HEADINGS] if each.text != reading.title]
    sources = [(reading.title, EvidenceSource.METADATA, 1.0), (reading.name_words, EvidenceSource.NAME, _NAME_SHARE)]
    sources += [(text, EvidenceSource.HEADING, _HEADING_SHARE) for text in headings]
    seen: set[int] = set()
    for text, source, share in sources:
        for hit in _finders()[0].find(text):
            if id(hit.sign) not in seen:
                seen.add(id(hit.sign))
                quote = reading.name if source is EvidenceSource.NAME else text[:_QUOTE]
                yield Evidence(quote, source, hit.sign.value, round(hit.sign.weight * share, 6), hit.sign.rule)


def _in_text(reading: DocumentText) -> Iterator[Evidence]:
    expected = 0.5 + len(reading.body.split()) / _PER_WORDS
    for hit in _finders()[1].find(reading.body):
        share = 1.0 - exp(-len(hit.spans) / expected)
        share += _OPENING_SHARE if hit.spans[0][0] < reading.opening else 0.0
        yield Evidence(
            _around(reading.body, hit),
            EvidenceSource.TEXT,
            hit.sign.value,
            round(hit.sign.weight * min(share, 1.0), 6),
            hit.sign.rule,
        )


def _around(text: str, hit: SignalMatch) -> str:
    start, end = hit.spans[0]
    left = max(text.rfind("\n", 0, start) + 1, start - _QUOTE // 2)
    right = text.find("\n", end)
    quote = text[left : min(right if right >= 0 else len(text), max(end, left + _QUOTE))].strip()
    return quote or text[start:end]


def _labelled(reading: DocumentText) -> Iterable[Evidence]:
    for value, row in document_types().items():
        if reading.truth in row.truths:
            yield Evidence(
                reading.truth or "",
                EvidenceSource.METADATA,
                value,
                _TRUTH_WEIGHT,
                "the truth this document is labelled with",
            )
        if any(reading.media_type.startswith(each) for each in row.media):
            yield Evidence(reading.media_type, EvidenceSource.METADATA, value, _MEDIA_WEIGHT, "the kind of file it is")


# Chosen by hand, not fitted.
_MOST_DATES = 40

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


def find_dates(reading: DocumentText) -> Dates:
    """At most 40 dates, in calendar order, each once per thing it dates; dates with a known meaning come first when
    there are more. Ambiguous dates ("03/04/2024") are left out.

    >>> find_dates(DocumentText("a", "a"))
    Dates(dates=())
    """
    found: dict[tuple[str, str], DocumentDate] = {}
    for sentence in reading.sentences:
        for each in _in_sentence(sentence):
            found.setdefault((each.date, each.what), each)
    with_meaning = {each.date for each in found.values() if each.what}
    dates = [each for each in found.values() if each.what or each.date not in with_meaning]
    dates = sorted(dates, key=lambda each: not each.what)[:_MOST_DATES]
    return Dates(tuple(sorted(dates, key=lambda each: (each.date, each.what))))


def _in_sentence(sentence: TextSentence) -> Iterator[DocumentDate]:
    text = sentence.quote.text
    end = 0
    for match in _SHAPE.finditer(text):
        date = _iso(match.group())
        if date:
            before = " ".join(text[max(end, match.start() - _BEFORE) : match.start()].split()) + " "
            what = next((lead.what for lead in dated_leads() if lead.pattern.search(before)), "")
            yield DocumentDate(date, what, sentence.quote)
        end = match.end()


def _iso(written: str) -> str:
    """A date as ISO, "2024-03" for a month; "" for an invalid or ambiguous one.

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


_MOST_CITATIONS = 100  # chosen by hand

_REGULATIONS = (" CFR ", "FAR ", "DFARS ", "GSAR ")


def find_citations(reading: DocumentText) -> Citations:
    """At most 100 laws and cases, most cited first, then by first mention.

    Statutes and regulations use the patterns of entity recognition, so that both share one name; eyecite adds court
    decisions, the Federal Register, session laws and the codes without a pattern.
    """
    times: dict[str, int] = {}
    first: dict[str, LegalCitation] = {}
    for sentence in reading.sentences:
        for each in _named(sentence.quote.text):
            times[each.name] = times.get(each.name, 0) + 1
            quote = _quote_citation(sentence, each.start, each.end)
            first.setdefault(each.name, LegalCitation(each.name, each.kind, 1, quote, each.case))
    citations = [replace(each, times=times[name]) for name, each in first.items()]
    return Citations(tuple(sorted(citations, key=lambda each: -each.times)[:_MOST_CITATIONS]))


def _named(text: str) -> Iterator[LegalCitationMatch]:
    known = [each for each in numbered_names(text) if each.entity.type is EntityType.LAW]
    for each in known:
        regulation = any(sign in each.entity.name for sign in _REGULATIONS)
        kind = CitationKind.REGULATION if regulation else CitationKind.STATUTE
        yield LegalCitationMatch(each.entity.name, kind, each.start, each.end)
    for found in cited(text):
        if not any(found.start < each.end and each.start < found.end for each in known):
            yield found


def _quote_citation(sentence: TextSentence, start: int, end: int) -> QuotedSpan:
    """The citation itself as it stands on the page."""
    quote = sentence.quote
    return QuotedSpan(
        quote.text[start:end], quote.page, quote.start + start, quote.start + end, quote.passage_id, quote.sentence
    )


# The numbers below were chosen by hand, not fitted.
_MOST, _FEW = 3, 2
_SHORT_TEXT_SENTENCES = 8
_DIVERSITY = 0.3  # weight of the similarity to chosen sentences
_SAME = 0.9  # cosine above which two sentences are the same
_POSITION_SHARE, _OPENING_PLACE = 0.35, 0.12
_LEAST_SUMMARY_SCORE = 0.15
_WORDS = (10, 38)  # a shorter or longer sentence loses score


def find_summary(reading: DocumentText) -> Summary:
    """Two or three complete sentences in reading order; fewer where the document has no more, none where it has none.

    A sentence's score is its cosine with the mean of all sentences (centroid summarisation: Radev et al. 2004), plus a
    bonus for its position, plus the cues of core/knowledge/summaries.toml; sentences are chosen by maximal marginal
    relevance (Carbonell & Goldstein 1998). The summary of a table is the first sentence that describes it.
    """
    if reading.is_table and reading.computed:
        return Summary((reading.computed[0].quote,))
    prose = reading.prose
    if not prose:
        return Summary()
    scores, vectors = _scores(reading, prose)
    chosen = _chosen(scores, vectors, _MOST if len(prose) >= _SHORT_TEXT_SENTENCES else _FEW)
    return Summary(tuple(prose[index].quote for index in sorted(chosen)))


def _scores(reading: DocumentText, prose: Sequence[TextSentence]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Score and vector per sentence; without vectors only position, length and cue words count."""
    measured = len(reading.vectors) > 0 and all(each.vector >= 0 for each in prose)
    vectors = reading.vectors[[each.vector for each in prose]] if measured else np.zeros((len(prose), 1), np.float32)
    middle = vectors.mean(axis=0)
    middle = middle / max(float(np.linalg.norm(middle)), 1e-9)
    last = max(len(reading.sentences), 1)
    added = [_by_place(each.position / last) + _by_length(each) + cue_weight(each.shown) for each in prose]
    return np.clip(vectors @ middle, 0.0, 1.0).astype(np.float64) + np.array(added), vectors


def _by_place(share: float) -> float:
    """share: of the document that stands before the sentence, in [0, 1]."""
    return _POSITION_SHARE * max(0.0, 1.0 - share / _OPENING_PLACE) + 0.05 * (1.0 - share)


def _by_length(sentence: TextSentence) -> float:
    words = len(sentence.shown.split())
    least, most = _WORDS
    listed = 0.15 if sentence.item else 0.0
    return -0.02 * max(0, least - words) - 0.01 * max(0, words - most) - listed


def _chosen(scores: NDArray[np.float64], vectors: NDArray[np.float32], most: int) -> list[int]:
    likeness = vectors @ vectors.T
    chosen: list[int] = []
    left = list(range(len(scores)))
    while left and len(chosen) < most:
        gain = [scores[i] - _DIVERSITY * max((likeness[i, j] for j in chosen), default=0.0) for i in left]
        best = left[int(np.argmax(gain))]
        left.remove(best)
        if len(chosen) >= _FEW and scores[best] < _LEAST_SUMMARY_SCORE:
            break
        if not any(likeness[best, j] > _SAME for j in chosen):
            chosen.append(best)
    return chosen
