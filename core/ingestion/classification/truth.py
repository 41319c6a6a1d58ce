"""Decides which truth a document states: collects clues and sums their weights."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.ingestion.classification.weighting import Prototypes, decide, expected_signals, total_weights
from core.knowledge.classifier_weights import clue_weights, decision_weights, truth_intercepts
from core.knowledge.label_signals import LabelSignalFinder, register_features
from core.knowledge.multi_pattern import PatternFinder
from core.knowledge.truths import truths

__all__ = ["Clue", "clues", "signal_key", "truth_label"]

_FURTHER_NAME_SHARE = 0.3  # Weight of each further name signal, relative to the strongest. Chosen by hand, not fitted.

_LEAST_WORDS_FOR_MEANING = 8  # Chosen by hand, not fitted.

_LEAST_MARKS = 0.5  # Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class Clue:
    """One clue to a document's truth; weights per truth: core.knowledge.classifier_weights.

    key: of its weights. strength: in [0, 1.5]. quote: verbatim from `source`. value: the truth whose table it comes
    from; "" for a register feature.
    """

    key: str
    value: str
    strength: float
    quote: str
    source: EvidenceSource
    rule: str


def signal_key(kind: str, value: str, rule: str) -> str:
    """The key of a signal's weights.

    >>> signal_key("sign", "reference", "recommends")
    'sign reference: recommends'
    """
    return f"{kind} {value}: {rule}"


def clues(
    reading: DocumentSample, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True
) -> tuple[Clue, ...]:
    """All clues of a document, name words first. vectors: of its segments. native: in the embedding's language."""
    found = [*_name_clues(reading), *_signal_clues(reading)]
    if reading.words:
        found += _register_clues(reading)
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        found += _meaning_clues(reading, prototypes, vectors, native)
    return tuple(found)


def _name_clues(reading: DocumentSample) -> Iterator[Clue]:
    """Clues in the file name: per truth, the strongest signal counts fully, further ones partly."""
    hits = sorted(_name_signal_finder().find(reading.name_words), key=lambda hit: -hit.sign.weight)
    seen: set[str] = set()
    for hit in hits:
        start, end = hit.spans[0]
        words = reading.name_words[start:end]
        quote = words if words in reading.name else reading.name
        strength = _FURTHER_NAME_SHARE if hit.sign.value in seen else 1.0
        seen.add(hit.sign.value)
        key = signal_key("name", hit.sign.value, hit.sign.rule)
        yield Clue(key, hit.sign.value, strength, quote, EvidenceSource.NAME, hit.sign.rule)


def _signal_clues(reading: DocumentSample) -> Iterator[Clue]:
    """1 - e^(-count / expected) per signal, more if it occurs in the opening."""
    weighing = decision_weights()["truth"]
    expected = expected_signals(reading, weighing)
    for hit in _body_signal_finder().find(reading.body):
        start, end = hit.spans[0]
        strength = 1.0 - exp(-len(hit.spans) / expected)
        if start < len(reading.opening):
            strength += weighing.opening_share
        quote = quote_around(reading.body, start, end)
        key = signal_key("sign", hit.sign.value, hit.sign.rule)
        yield Clue(key, hit.sign.value, strength, quote, EvidenceSource.TEXT, hit.sign.rule)


def _register_clues(reading: DocumentSample) -> Iterator[Clue]:
    """1 - e^(-count / expected) per register feature; expected grows with the number of words."""
    for manner, marks in zip(register_features(), _register_finder().find(reading.body), strict=True):
        if marks:
            strength = 1.0 - exp(-len(marks) / (_LEAST_MARKS + reading.words / manner.words_per))
            quote = quote_around(reading.body, *marks[0].span()) or marks[0].group().strip()
            if quote:
                yield Clue(f"manner: {manner.rule}", "", strength, quote, EvidenceSource.TEXT, manner.rule)


def _meaning_clues(
    reading: DocumentSample, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool
) -> Iterator[Clue]:
    """Per truth, the share of sampled sentences nearest to it, with the closest sentence as evidence."""
    nearness = prototypes.nearness(vectors)
    for i, value in enumerate(prototypes.values):
        share = float(nearness[:, i].mean())
        if share > 0:
            quote = reading.segments[int(nearness[:, i].argmax())]
            key = f"{'meaning' if native else 'foreign meaning'}: {value}"
            yield Clue(key, value, share, quote, EvidenceSource.MEANING, f"reads most like {value}")


@cache
def _register_finder() -> PatternFinder:
    return PatternFinder(manner.pattern for manner in register_features())


@cache
def _body_signal_finder() -> LabelSignalFinder:
    return LabelSignalFinder(sign for row in truths().values() for sign in row.signs)


@cache
def _name_signal_finder() -> LabelSignalFinder:
    return LabelSignalFinder(sign for row in truths().values() for sign in row.names)


def truth_label(
    reading: DocumentSample, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True
) -> Label:
    """The truth of a document, with the name words, signals and sentences that decided it.

    Sums each truth's intercept and the weights of its clues (core.knowledge.classifier_weights).
    Abstains without clues, or when two truths are too close. native: in a language the embedding model knows.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    found = clues(reading, prototypes, vectors, native)
    signs = [clue for clue in found if clue.value and clue.source is not EvidenceSource.MEANING]
    meant = any(clue.source is EvidenceSource.MEANING for clue in found)
    if not signs and (len(reading.segments) < 3 or not meant):
        return Label(reason="Too little text to tell which truth it states.")
    weighing = decision_weights()["truth"]
    evidence = [item for clue in found for item in _clue_evidence(clue)]
    leaning = [
        Evidence("", EvidenceSource.TEXT, value, weight, "how common it is")
        for value, weight in truth_intercepts().items()
    ]
    label = decide(total_weights(Truth, [*leaning, *evidence]), evidence, weighing)
    return _capped(label, found, weighing.doubt_cap)


def _clue_evidence(clue: Clue) -> list[Evidence]:
    """The contribution of one clue to each truth, as evidence."""
    return [
        Evidence(clue.quote, clue.source, value, round(weight * clue.strength, 6), clue.rule)
        for value, weight in clue_weights()[clue.key].items()
        if weight > 0
    ]


def _capped(label: Label, found: Iterable[Clue], cap: float) -> Label:
    """Caps the probability of a law or policy label that rests on one kind of evidence in its text, or lacks the
    rule-giver's own voice: articles about rules use the same words, and this error costs most.
    """
    if label.value not in (Truth.REGULATORY, Truth.COMPLIANCE):
        return label
    own = {clue.key for clue in found if clue.value == label.value and clue.source is EvidenceSource.TEXT}
    if len(own) >= 2 and own & _own_voice_keys():
        return label
    return replace(label, probability=min(label.probability, cap))


@cache
def _own_voice_keys() -> frozenset[str]:
    """Keys of the signals that show the rule-giver's own voice."""
    rows = ((truth, sign) for truth, row in truths().items() for sign in row.signs)
    return frozenset(signal_key("sign", truth, sign.rule) for truth, sign in rows if sign.own_voice)
