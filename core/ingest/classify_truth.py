"""Which kind of truth a document states."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.documents import Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_reading import Reading
from core.ingest.classify_weighing import Prototypes, decided, sign_evidence, totals
from core.tables.decisions import weighings
from core.tables.signs import SignFinder
from core.tables.truths import truths

__all__ = ["truth_label"]

_FURTHER_NAME_SHARE = 0.3
_LEAST_WORDS_FOR_MEANING = 8


def truth_label(reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True) -> Label:
    """The truth of a document, with the name words, signs and sentences that decided it.

    Abstains when no sign speaks at all, or when two truths are too close. native: in a language the embedding knows.
    """
    weighing = weighings()["truth"]
    named = _name_evidence(reading)
    signs = sign_evidence(reading, _body_signs().find(reading.body), weighing)
    meaning: list[Evidence] = []
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        meaning = prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning_of(native))
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    if not named and not signs and (len(reading.segments) < 3 or not meaning):
        return Label(reason="Too little text to tell which truth it states.")
    evidence = [*named, *signs, *meaning]
    label = decided(totals(Truth, evidence), evidence, weighing)
    return _humbled(label, weighing.doubt_cap)


def _humbled(label: Label, cap: float) -> Label:
    """A law or policy label never claims more than the cap on one kind of words in its text, nor without the
    rule-giver's own voice: articles about rules use their words too, and a wrong one costs most.
    """
    kinds = {item.rule for item in label.evidence if item.source is EvidenceSource.TEXT}
    firm = len(kinds) >= 2 and bool(kinds & _own_voices())
    if label.value in (Truth.REGULATORY, Truth.COMPLIANCE) and not firm:
        return replace(label, probability=min(label.probability, cap))
    return label


def _name_evidence(reading: Reading) -> list[Evidence]:
    """The file name's words: per truth the strongest sign counts whole, further ones a share."""
    found: dict[str, list[Evidence]] = {}
    for hit in _name_signs().find(reading.name_words):
        start, end = hit.spans[0]
        quote = _as_written(reading, start, end)
        item = Evidence(quote, EvidenceSource.NAME, hit.sign.value, hit.sign.weight, hit.sign.rule)
        found.setdefault(hit.sign.value, []).append(item)
    evidence: list[Evidence] = []
    for items in found.values():
        items.sort(key=lambda item: -item.weight)
        evidence += [items[0], *(replace(item, weight=item.weight * _FURTHER_NAME_SHARE) for item in items[1:])]
    return evidence


def _as_written(reading: Reading, start: int, end: int) -> str:
    """The words in the name itself where they stand there letter for letter, else the whole name."""
    words = reading.name_words[start:end]
    return words if words in reading.name else reading.name


@cache
def _body_signs() -> SignFinder:
    return SignFinder(sign for row in truths().values() for sign in row.signs)


@cache
def _name_signs() -> SignFinder:
    return SignFinder(sign for row in truths().values() for sign in row.names)


@cache
def _own_voices() -> frozenset[str]:
    """The rules of the signs that tell that the rule-giver itself speaks."""
    return frozenset(sign.rule for row in truths().values() for sign in row.signs if sign.own_voice)
