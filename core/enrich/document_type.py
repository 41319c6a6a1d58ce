"""What kind of paper a document is, with what spoke for it; nothing when nothing speaks clearly."""

from collections.abc import Iterable, Iterator
from functools import cache
from math import exp

from core.documents import Evidence, EvidenceSource
from core.enrich.reading import Reading
from core.enrich.values import DocumentType
from core.tables.document_types import DATA_TABLE, SETUP_TABLE, document_types
from core.tables.signs import SignFinder, SignHit

__all__ = ["find_document_type"]

_LEAST, _LEAST_LEAD = 1.4, 0.25
_OPENING_SHARE = 0.5
_NAME_SHARE, _HEADING_SHARE = 0.8, 0.35
_TRUTH_WEIGHT, _MEDIA_WEIGHT = 0.6, 5.0
_PER_WORDS = 400
_QUOTE = 90
_SHOWN = 4
_HEADINGS = 3


def find_document_type(reading: Reading) -> DocumentType:
    """The type that most speaks for, None below a sum of 1.4 or without a lead of 0.25 over the next.

    A sign of the title counts whole, one of the file name 0.8, one of the first headings 0.35; one of the text counts
    1 - e^(-times / expected), as in classification, and half again in the opening.
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
def _finders() -> tuple[SignFinder, SignFinder]:
    rows = document_types().values()
    return SignFinder(each for row in rows for each in row.titles), SignFinder(s for row in rows for s in row.signs)


def _titled(reading: Reading) -> Iterator[Evidence]:
    """Signs of the title, the name and the first headings; of each sign the weightiest place."""
    headings = [each.text for each in reading.headings[:_HEADINGS] if each.text != reading.title]
    places = [(reading.title, EvidenceSource.METADATA, 1.0), (reading.name_words, EvidenceSource.NAME, _NAME_SHARE)]
    places += [(text, EvidenceSource.HEADING, _HEADING_SHARE) for text in headings]
    seen: set[int] = set()
    for text, source, share in places:
        for hit in _finders()[0].find(text):
            if id(hit.sign) not in seen:
                seen.add(id(hit.sign))
                quote = reading.name if source is EvidenceSource.NAME else text[:_QUOTE]
                yield Evidence(quote, source, hit.sign.value, round(hit.sign.weight * share, 6), hit.sign.rule)


def _in_text(reading: Reading) -> Iterator[Evidence]:
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


def _around(text: str, hit: SignHit) -> str:
    start, end = hit.spans[0]
    left = max(text.rfind("\n", 0, start) + 1, start - _QUOTE // 2)
    right = text.find("\n", end)
    quote = text[left : min(right if right >= 0 else len(text), max(end, left + _QUOTE))].strip()
    return quote or text[start:end]


def _labelled(reading: Reading) -> Iterable[Evidence]:
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
