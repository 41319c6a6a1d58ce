"""What in a document tells which truth it states: signs, name words, manners of speaking and meaning, as clues."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.documents import EvidenceSource
from core.ingest.classify_reading import Reading, quote_around
from core.ingest.classify_weighing import Prototypes, expected_signs
from core.tables.decisions import weighings
from core.tables.manners import manners
from core.tables.signs import SignFinder
from core.tables.starts import PatternFinder
from core.tables.truths import truths

__all__ = ["Clue", "clues", "sign_key"]

_FURTHER_NAME_SHARE = 0.3
_LEAST_WORDS_FOR_MEANING = 8
_LEAST_MARKS = 0.5


@dataclass(frozen=True, slots=True)
class Clue:
    """One thing that tells something of the truths; what, core.tables.fitted holds.

    key: of its weights. strength: in [0, 1.5]. quote stands letter for letter where `source` says. value: the truth
    whose table it is of; "" for a manner of speaking.
    """

    key: str
    value: str
    strength: float
    quote: str
    source: EvidenceSource
    rule: str


def sign_key(kind: str, value: str, rule: str) -> str:
    """The key of a sign's weights.

    >>> sign_key("sign", "reference", "recommends")
    'sign reference: recommends'
    """
    return f"{kind} {value}: {rule}"


def clues(
    reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True
) -> tuple[Clue, ...]:
    """Every clue of a document, name words first. vectors: of its segments; native: in a language of theirs."""
    found = [*_named(reading), *_signs(reading)]
    if reading.words:
        found += _manners(reading)
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        found += _meaning(reading, prototypes, vectors, native)
    return tuple(found)


def _named(reading: Reading) -> Iterator[Clue]:
    """The file name's words: per truth the strongest sign counts whole, further ones a share."""
    hits = sorted(_name_signs().find(reading.name_words), key=lambda hit: -hit.sign.weight)
    seen: set[str] = set()
    for hit in hits:
        start, end = hit.spans[0]
        words = reading.name_words[start:end]
        quote = words if words in reading.name else reading.name
        strength = _FURTHER_NAME_SHARE if hit.sign.value in seen else 1.0
        seen.add(hit.sign.value)
        key = sign_key("name", hit.sign.value, hit.sign.rule)
        yield Clue(key, hit.sign.value, strength, quote, EvidenceSource.NAME, hit.sign.rule)


def _signs(reading: Reading) -> Iterator[Clue]:
    """1 - e^(-count / expected) per sign, and more when it stands in the opening."""
    weighing = weighings()["truth"]
    expected = expected_signs(reading, weighing)
    for hit in _body_signs().find(reading.body):
        start, end = hit.spans[0]
        strength = 1.0 - exp(-len(hit.spans) / expected)
        if start < len(reading.opening):
            strength += weighing.opening_share
        quote = quote_around(reading.body, start, end)
        key = sign_key("sign", hit.sign.value, hit.sign.rule)
        yield Clue(key, hit.sign.value, strength, quote, EvidenceSource.TEXT, hit.sign.rule)


def _manners(reading: Reading) -> Iterator[Clue]:
    """1 - e^(-count / expected) per manner of speaking; what is expected grows with the words."""
    for manner, marks in zip(manners(), _marks().find(reading.body), strict=True):
        if marks:
            strength = 1.0 - exp(-len(marks) / (_LEAST_MARKS + reading.words / manner.words_per))
            quote = quote_around(reading.body, *marks[0].span()) or marks[0].group().strip()
            if quote:
                yield Clue(f"manner: {manner.rule}", "", strength, quote, EvidenceSource.TEXT, manner.rule)


def _meaning(reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool) -> Iterator[Clue]:
    """Per truth the share of the sampled sentences that sound like it, and the one that does most."""
    nearness = prototypes.nearness(vectors)
    for i, value in enumerate(prototypes.values):
        share = float(nearness[:, i].mean())
        if share > 0:
            quote = reading.segments[int(nearness[:, i].argmax())]
            key = f"{'meaning' if native else 'foreign meaning'}: {value}"
            yield Clue(key, value, share, quote, EvidenceSource.MEANING, f"reads most like {value}")


@cache
def _marks() -> PatternFinder:
    return PatternFinder(manner.pattern for manner in manners())


@cache
def _body_signs() -> SignFinder:
    return SignFinder(sign for row in truths().values() for sign in row.signs)


@cache
def _name_signs() -> SignFinder:
    return SignFinder(sign for row in truths().values() for sign in row.names)
