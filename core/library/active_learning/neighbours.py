"""Nearest-neighbour model over confirmed documents: similarity to them, and the label after weighing them in.

A confirmed document influences documents that read alike, as far as the classifier by itself labels both alike: a
confirmed policy about overtime has no influence on a law about overtime.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Labels, TemporalClass, Truth
from core.ingestion.classification.sample import DocumentSample, name_words
from core.ingestion.classification.truth import CAUTIOUS
from core.ingestion.classification.weighting import threshold_of
from core.knowledge.languages import is_native
from core.ports.stores import Vectors

__all__ = [
    "LEARNED_FIELDS",
    "DocumentTraits",
    "Example",
    "TrainedLabel",
    "TrainedNeighbours",
    "influence",
    "similarities",
    "traits_of",
    "weigh_in",
]

LEARNED_FIELDS = ("truth", "domain", "authority", "jurisdiction", "temporal_class")
"""The labels that training may decide; dates and languages are read from the text, not learned."""

# The numbers below were chosen by hand, not fitted.
_FAR, _SAME = 0.4, 0.9  # cosines of mean sentence vectors: unrelated office documents reach 0.4
_FOREIGN = 0.4  # weight of a cosine where the embedding model does not cover the language
_LEAST = 0.4  # similarity below which an example has no influence
_MARKS_GROWTH = 3.0  # further shared phrases that bring form similarity to 1 - 1/e
_SUPPORT_GROWTH = 1.5  # summed nearness that brings the effect to 1 - 1/e of its strength
_UNIT_WORDS, _MARKS, _MARKED_CHARACTERS = 6, 60, 8_000
_REST, _OPEN_VALUES = 0.02, 8  # least probability of unnamed values; assumed number of values of an open field
_SHOWN = 3  # examples listed as evidence
_VALUES = {"truth": len(Truth), "authority": len(Authority), "temporal_class": len(TemporalClass)}
_BINDING = (Truth.REGULATORY, Truth.COMPLIANCE)

_UNIT_END = re.compile(r"[.!?:;|\n\t]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class DocumentTraits:
    """The features by which documents are compared.

    own: the classifier's labels without evidence. marks: short phrases of the form and the words of the file name.
    mean: mean vector of the sampled sentences, float32, shape (dim,), of length 1 within about 0.001; zeros without
    sentences.
    """

    own: Labels
    marks: tuple[str, ...]
    mean: NDArray[np.float32] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Example:
    """A document with confirmed labels. values: field → the confirmed value. group: a number shared by near-identical
    examples, which count once.
    """

    document_id: int
    name: str
    values: Mapping[str, str]
    traits: DocumentTraits
    group: int = 0


@dataclass(frozen=True, slots=True)
class TrainedLabel:
    """One confirmed document that supports a value; nearness in (0, 1]."""

    example: Example
    value: str
    nearness: float


@dataclass(frozen=True, slots=True)
class TrainedNeighbours:
    """The trained model. strengths: field → the log-odds that many near examples add together; 0 or absent: not used.
    unused: field → examples left out because they made others wrong. common: marks too frequent to be informative.
    """

    version: int
    examples: tuple[Example, ...] = ()
    strengths: Mapping[str, float] = field(default_factory=dict)
    unused: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    common: frozenset[str] = frozenset()

    def covers(self, name: str) -> bool:
        """Whether the model was trained for this field."""
        return self.strengths.get(name, 0.0) > 0 and any(name in each.values for each in self.examples)


Quote = Callable[[Example], str]


def _name_only(example: Example) -> str:
    """Where the document's own words are not at hand."""
    return example.name


def traits_of(reading: DocumentSample, vectors: Vectors, own: Labels) -> DocumentTraits:
    """The traits of what was read. vectors: of its segments, shape (n, dim); own: labels the classifier gives."""
    mean = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], dtype=np.float32)
    length = float(np.linalg.norm(mean))
    bare = Labels(**{name: replace(label, evidence=()) for name, label in own.items()})
    stored = (mean / length if length else mean).astype(np.float16)  # as it is stored, so that a copy is the same
    return DocumentTraits(bare, _marks(reading), stored.astype(np.float32))


def _marks(reading: DocumentSample) -> tuple[str, ...]:
    """The words of the name, then headings, labels of forms and other short phrases, as lower-case words."""
    stem = reading.name.rpartition(".")[0] or reading.name
    found = dict.fromkeys(f"name: {word.casefold()}" for word in _WORD.findall(name_words(stem)))
    for unit in _UNIT_END.split(reading.body[:_MARKED_CHARACTERS]):
        words = _WORD.findall(unit)
        if 0 < len(words) <= _UNIT_WORDS and not any(letter.isdigit() for letter in unit):
            found[" ".join(words).casefold()] = None
    return tuple(found)[:_MARKS]


def similarities(
    one: DocumentTraits, means: NDArray[np.float32], marks: Sequence[frozenset[str]]
) -> NDArray[np.float64]:
    """Similarity of one document to n others, in [0, 1], shape (2, n): by meaning (row 0), and by form (row 1: two or
    more shared phrases).

    means: shape (n, dim); marks: n sets, without the uninformative ones.
    """
    known = is_native(one.own.language)
    cosines = (means @ one.mean).astype(np.float64)
    meaning = np.clip((cosines - _FAR) / (_SAME - _FAR), 0.0, 1.0) * (1.0 if known else _FOREIGN)
    own = frozenset(one.marks)
    shared = np.array([len(own & each) for each in marks], dtype=np.float64)
    form = 1.0 - np.exp(-np.maximum(shared - 1.0, 0.0) / _MARKS_GROWTH)
    return np.stack([meaning, form])


def influence(name: str, one: Label, other: Label, meaning: float, form: float) -> float:
    """Influence of a confirmed document on another in one field, in [0, 1].

    The similarity of both is weighted by the overlap of the classifier's own probabilities for both (Bhattacharyya
    coefficient); values below a threshold count as 0. Without overlap, similar meaning counts for nothing; similar
    form, which a shared subject alone does not produce, counts half.

    >>> advice, law = Label("reference", 0.9, "intent", 0.05), Label("regulatory", 0.95)
    >>> influence("truth", advice, advice, 0.7, 0.0), influence("truth", advice, law, 0.7, 0.0)
    (0.5, 0.0)
    >>> influence("truth", advice, advice, 0.0, 0.9) > influence("truth", advice, law, 0.0, 0.9) > 0
    True
    """
    first, second = _probabilities(name, one), _probabilities(name, other)
    values = sorted({value for value in (*first, *second) if value is not None})
    rest = _VALUES.get(name, _OPEN_VALUES) - len(values)
    overlap = sum(sqrt(first.get(value, first[None]) * second.get(value, second[None])) for value in values)
    overlap = min(1.0, overlap + max(0, rest) * sqrt(first[None] * second[None]))
    likeness = 1.0 - (1.0 - meaning * overlap) * (1.0 - form * (1.0 + overlap) / 2.0)
    return max(0.0, round((likeness - _LEAST) / (1.0 - _LEAST), 9))


def _probabilities(name: str, label: Label) -> dict[str | None, float]:
    """The classifier's own probabilities; under None, the share of each value it does not name."""
    named = ((label.value, label.probability), (label.runner_up, label.runner_up_probability))
    known: dict[str | None, float] = {value: share for value, share in named if value is not None and share > 0}
    rest = max(_REST, 1.0 - sum(known.values()))
    total = rest + sum(known.values())
    shares = {value: share / total for value, share in known.items()}
    return shares | {None: rest / total / max(1, _VALUES.get(name, _OPEN_VALUES) - len(known))}


def weigh_in(
    name: str, own: Label, found: Sequence[TrainedLabel], strength: float, version: int = 0, quote: Quote = _name_only
) -> Label:
    """The label after weighing in the confirmed documents: log-odds of the classifier's own label plus, per value,
    strength · (1 - e^(-Σ nearness / 1.5)); near-identical examples count once.

    A value supported by k examples only has a probability of at most (k + 1) / (k + 2) (Laplace's rule of succession),
    and a law or policy at most 0.79. Without examples the label is the classifier's own. quote: returns the
    words of this document most similar to a confirmed one's.
    """
    weights = {
        value: strength * (1.0 - exp(-mass / _SUPPORT_GROWTH)) for value, mass in _support_by_value(found).items()
    }
    if not weights or strength <= 0:
        return own
    chances = _probabilities(name, own)
    values = [value for value in chances if value is not None]
    values += [value for value in weights if value not in values]
    unnamed = max(0, _VALUES.get(name, _OPEN_VALUES) - len(values)) * chances[None]
    grown = {value: exp(log(chances.get(value, chances[None])) + weights.get(value, 0.0)) for value in values}
    total = unnamed + sum(grown.values())
    order = sorted(grown, key=lambda value: (-grown[value], value))
    first, second = order[0], (order[1] if len(order) > 1 else None)
    number = len({each.example.group for each in found if each.value == first})
    probability = min(grown[first] / total, _highest_probability(name, own, first, number))
    if set(weights) == {own.value}:
        probability = max(probability, own.probability)
    runner_up = min(grown[second] / total, 1.0 - probability) if second else 0.0
    supporting = sorted(
        (each for each in found if each.value == first), key=lambda e: (-e.nearness, e.example.document_id)
    )
    evidence = tuple(_evidence(supporting, weights.get(first, 0.0), version, quote))
    evidence += own.evidence if first in (own.value, own.value or own.runner_up) else ()
    if probability < threshold_of(name):
        reason = f"Only {probability:.0%} for {first} and {runner_up:.0%} for {second}: too close to decide."
        return Label(None, 0.0, first, probability, evidence, reason)
    return Label(first, probability, second, runner_up, evidence, own.reason if own.value == first else "")


def _support_by_value(found: Sequence[TrainedLabel]) -> dict[str, float]:
    """Value → its support: the sum over groups of near-identical examples, each with its nearest."""
    nearest: dict[tuple[str, int], float] = {}
    for each in found:
        key = (each.value, each.example.group)
        nearest[key] = max(nearest.get(key, 0.0), each.nearness)
    masses: dict[str, float] = {}
    for (value, _), nearness in sorted(nearest.items()):
        masses[value] = masses.get(value, 0.0) + nearness
    return masses


def _highest_probability(name: str, own: Label, value: str, number: int) -> float:
    """The highest probability a label may have."""
    if own.value == value and number == 0:
        return 1.0
    most = max(0.98, own.probability) if own.value == value else (number + 1) / (number + 2)
    if name == "truth" and value in _BINDING:
        most = min(most, max(CAUTIOUS, own.probability if own.value == value else 0.0))
    return most


def _evidence(supporting: Sequence[TrainedLabel], weight: float, version: int, quote: Quote) -> Iterator[Evidence]:
    total = sum(each.nearness for each in supporting)
    for each in supporting[:_SHOWN]:
        rule = f"reads like '{each.example.name}', confirmed as {each.value} (lessons {version})"
        share = round(weight * each.nearness / total, 6)
        yield Evidence(quote(each.example), EvidenceSource.CORRECTION, each.value, share, rule)
