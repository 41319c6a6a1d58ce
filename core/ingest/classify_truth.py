"""Which kind of truth a document states."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.documents import Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_clues import Clue, clues, sign_key
from core.ingest.classify_reading import Reading
from core.ingest.classify_weighing import Prototypes, decided, totals
from core.tables.decisions import weighings
from core.tables.fitted import clue_weights, lean
from core.tables.truths import truths

__all__ = ["truth_label"]


def truth_label(reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True) -> Label:
    """The truth of a document, with the name words, signs and sentences that decided it.

    A sum decides: what every truth has before a word is read, and what each clue adds to it (core.tables.fitted).
    Abstains when nothing speaks, or when two truths are too close. native: in a language the embedding knows.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    found = clues(reading, prototypes, vectors, native)
    signs = [clue for clue in found if clue.value and clue.source is not EvidenceSource.MEANING]
    meant = any(clue.source is EvidenceSource.MEANING for clue in found)
    if not signs and (len(reading.segments) < 3 or not meant):
        return Label(reason="Too little text to tell which truth it states.")
    weighing = weighings()["truth"]
    evidence = [item for clue in found for item in _told(clue)]
    leaning = [Evidence("", EvidenceSource.TEXT, value, weight, "how common it is") for value, weight in lean().items()]
    label = decided(totals(Truth, [*leaning, *evidence]), evidence, weighing)
    return _humbled(label, found, weighing.doubt_cap)


def _told(clue: Clue) -> list[Evidence]:
    """What one clue adds to each truth, as evidence."""
    return [
        Evidence(clue.quote, clue.source, value, round(weight * clue.strength, 6), clue.rule)
        for value, weight in clue_weights()[clue.key].items()
        if weight > 0
    ]


def _humbled(label: Label, found: Iterable[Clue], cap: float) -> Label:
    """A law or policy label never claims more than the cap on one kind of words in its text, nor without the
    rule-giver's own voice: articles about rules use their words too, and a wrong one costs most.
    """
    if label.value not in (Truth.REGULATORY, Truth.COMPLIANCE):
        return label
    own = {clue.key for clue in found if clue.value == label.value and clue.source is EvidenceSource.TEXT}
    if len(own) >= 2 and own & _own_voices():
        return label
    return replace(label, probability=min(label.probability, cap))


@cache
def _own_voices() -> frozenset[str]:
    """The keys of the signs that tell that the rule-giver itself speaks."""
    rows = ((truth, sign) for truth, row in truths().items() for sign in row.signs)
    return frozenset(sign_key("sign", truth, sign.rule) for truth, sign in rows if sign.own_voice)
