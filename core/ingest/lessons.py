"""What confirmed documents teach: how near a document reads to them, and its label once that is weighed in.

A lesson speaks for a document that reads like a confirmed one, and of which the classifier by itself thinks alike: a
policy about overtime that was confirmed says nothing of a law about overtime.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from core.documents import Authority, Evidence, EvidenceSource, Label, Labels, TemporalClass, Truth
from core.ingest.classify_language import is_native
from core.ingest.classify_reading import Reading, name_words
from core.ports import Vectors
from core.tables.decisions import weighings

__all__ = ["LEARNED_FIELDS", "Example", "Lesson", "Lessons", "Traits", "alike", "near", "taught", "traits_of"]

LEARNED_FIELDS = ("truth", "domain", "authority", "jurisdiction", "temporal_class")
"""The labels that lessons may decide; a date and a language are read, not learned."""

_FAR, _SAME = 0.4, 0.9  # cosines of mean sentences: unrelated office papers reach 0.4
_FOREIGN = 0.4  # what a cosine counts where the embedding does not know the language
_LEAST = 0.4  # the least nearness of a lesson
_MARKS_GROWTH = 3.0
_LESSONS_GROWTH = 1.5
_UNIT_WORDS, _MARKS, _MARKED_CHARACTERS = 6, 60, 8_000
_REST, _OPEN_VALUES = 0.02, 8
_SHOWN = 3
_VALUES = {"truth": len(Truth), "authority": len(Authority), "temporal_class": len(TemporalClass)}
_BINDING = (Truth.REGULATORY, Truth.COMPLIANCE)

_UNIT_END = re.compile(r"[.!?:;|\n\t]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Traits:
    """What is compared of a document: `own`, the labels the classifier gives it by itself, without evidence; `marks`,
    the short phrases of its form and the words of its name; `mean`, its sampled sentences' mean vector, float32, shape
    (dim,), of length 1 to some 0.001, or 0 without sentences.
    """

    own: Labels
    marks: tuple[str, ...]
    mean: NDArray[np.float32] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Example:
    """A document with confirmed labels. values: field → what a person said. kin: a number that near-identical examples
    share: they count once."""

    document_id: int
    name: str
    values: Mapping[str, str]
    traits: Traits
    kin: int = 0


@dataclass(frozen=True, slots=True)
class Lesson:
    """One confirmed document that speaks for a value; nearness in (0, 1]."""

    example: Example
    value: str
    nearness: float


@dataclass(frozen=True, slots=True)
class Lessons:
    """What was learned. strengths: field → log-odds that many near lessons give together, 0 or absent: not used.
    unused: field → documents whose lesson made others wrong. common: marks so frequent that they tell nothing.
    """

    version: int
    examples: tuple[Example, ...] = ()
    strengths: Mapping[str, float] = field(default_factory=dict)
    unused: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    common: frozenset[str] = frozenset()

    def teach(self, name: str) -> bool:
        """Whether this field was learned."""
        return self.strengths.get(name, 0.0) > 0 and any(name in each.values for each in self.examples)


Quote = Callable[[Example], str]


def _name_only(example: Example) -> str:
    """Where the document's own words are not at hand."""
    return example.name


def traits_of(reading: Reading, vectors: Vectors, own: Labels) -> Traits:
    """The traits of what was read. vectors: of its segments, shape (n, dim); own: labels the classifier gives."""
    mean = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], dtype=np.float32)
    length = float(np.linalg.norm(mean))
    bare = Labels(**{name: replace(label, evidence=()) for name, label in own.items()})
    kept = (mean / length if length else mean).astype(np.float16)  # as it is stored, so that a copy is the same
    return Traits(bare, _marks(reading), kept.astype(np.float32))


def _marks(reading: Reading) -> tuple[str, ...]:
    """The words of the name, then headings, labels of forms and other short phrases, as lower-case words."""
    stem = reading.name.rpartition(".")[0] or reading.name
    found = dict.fromkeys(f"name: {word.casefold()}" for word in _WORD.findall(name_words(stem)))
    for unit in _UNIT_END.split(reading.body[:_MARKED_CHARACTERS]):
        words = _WORD.findall(unit)
        if 0 < len(words) <= _UNIT_WORDS and not any(letter.isdigit() for letter in unit):
            found[" ".join(words).casefold()] = None
    return tuple(found)[:_MARKS]


def alike(one: Traits, means: NDArray[np.float32], marks: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """How alike documents read, in [0, 1], shape (2, n): by meaning, and by form (two and more phrases shared).

    means: shape (n, dim); marks: n sets, without those that tell nothing.
    """
    known = is_native(one.own.language)
    cosines = (means @ one.mean).astype(np.float64)
    meaning = np.clip((cosines - _FAR) / (_SAME - _FAR), 0.0, 1.0) * (1.0 if known else _FOREIGN)
    own = frozenset(one.marks)
    shared = np.array([len(own & each) for each in marks], dtype=np.float64)
    form = 1.0 - np.exp(-np.maximum(shared - 1.0, 0.0) / _MARKS_GROWTH)
    return np.stack([meaning, form])


def near(name: str, one: Label, other: Label, meaning: float, form: float) -> float:
    """How much a confirmed document says of another in one field, in [0, 1]: how alike both read, weighted by how alike
    the classifier thinks of both by itself (Bhattacharyya's coefficient of its probabilities), above the least.

    Where it thinks otherwise, a like meaning counts for nothing, and a like form, which a subject alone does not give,
    for half.

    >>> advice, law = Label("reference", 0.9, "intent", 0.05), Label("regulatory", 0.95)
    >>> near("truth", advice, advice, 0.7, 0.0), near("truth", advice, law, 0.7, 0.0)
    (0.5, 0.0)
    >>> near("truth", advice, advice, 0.0, 0.9) > near("truth", advice, law, 0.0, 0.9) > 0
    True
    """
    first, second = _chances(name, one), _chances(name, other)
    values = sorted({value for value in (*first, *second) if value is not None})
    rest = _VALUES.get(name, _OPEN_VALUES) - len(values)
    overlap = sum(sqrt(first.get(value, first[None]) * second.get(value, second[None])) for value in values)
    overlap = min(1.0, overlap + max(0, rest) * sqrt(first[None] * second[None]))
    likeness = 1.0 - (1.0 - meaning * overlap) * (1.0 - form * (1.0 + overlap) / 2.0)
    return max(0.0, round((likeness - _LEAST) / (1.0 - _LEAST), 9))


def _chances(name: str, label: Label) -> dict[str | None, float]:
    """The classifier's own probabilities; under None what each value has that it does not tell of."""
    told = ((label.value, label.probability), (label.runner_up, label.runner_up_probability))
    known: dict[str | None, float] = {value: share for value, share in told if value is not None and share > 0}
    rest = max(_REST, 1.0 - sum(known.values()))
    whole = rest + sum(known.values())
    shares = {value: share / whole for value, share in known.items()}
    return shares | {None: rest / whole / max(1, _VALUES.get(name, _OPEN_VALUES) - len(known))}


def taught(
    name: str, own: Label, found: Sequence[Lesson], strength: float, version: int = 0, quote: Quote = _name_only
) -> Label:
    """The label once lessons are weighed in: log-odds of the classifier's own plus, per value,
    strength · (1 - e^(-Σ nearness / 1.5)), near-identical examples counting once.

    A value that only lessons gave is no surer than (k + 1) / (k + 2) of k lessons (Laplace's rule of succession), and
    a law or policy never surer than `doubt_cap`. Without lessons the label is the classifier's own. quote: gives the
    words of this document that are most like a confirmed one's.
    """
    weights = {value: strength * (1.0 - exp(-mass / _LESSONS_GROWTH)) for value, mass in _masses(found).items()}
    if not weights or strength <= 0:
        return own
    chances = _chances(name, own)
    values = [value for value in chances if value is not None]
    values += [value for value in weights if value not in values]
    unnamed = max(0, _VALUES.get(name, _OPEN_VALUES) - len(values)) * chances[None]
    grown = {value: exp(log(chances.get(value, chances[None])) + weights.get(value, 0.0)) for value in values}
    whole = unnamed + sum(grown.values())
    order = sorted(grown, key=lambda value: (-grown[value], value))
    first, second = order[0], (order[1] if len(order) > 1 else None)
    number = len({each.example.kin for each in found if each.value == first})
    probability = min(grown[first] / whole, _most(name, own, first, number))
    if set(weights) == {own.value}:
        probability = max(probability, own.probability)
    runner_up = min(grown[second] / whole, 1.0 - probability) if second else 0.0
    told = sorted((each for each in found if each.value == first), key=lambda e: (-e.nearness, e.example.document_id))
    evidence = tuple(_evidence(told, weights.get(first, 0.0), version, quote))
    evidence += own.evidence if first in (own.value, own.value or own.runner_up) else ()
    weighing = weighings().get(name)
    if weighing is not None and probability < weighing.threshold:
        reason = f"Only {probability:.0%} for {first} and {runner_up:.0%} for {second}: too close to decide."
        return Label(None, 0.0, first, probability, evidence, reason)
    return Label(first, probability, second, runner_up, evidence, own.reason if own.value == first else "")


def _masses(found: Sequence[Lesson]) -> dict[str, float]:
    """Value → what speaks for it: the nearest of each kin."""
    nearest: dict[tuple[str, int], float] = {}
    for each in found:
        key = (each.value, each.example.kin)
        nearest[key] = max(nearest.get(key, 0.0), each.nearness)
    masses: dict[str, float] = {}
    for (value, _), nearness in sorted(nearest.items()):
        masses[value] = masses.get(value, 0.0) + nearness
    return masses


def _most(name: str, own: Label, value: str, number: int) -> float:
    """The most a label may claim."""
    if own.value == value and number == 0:
        return 1.0
    most = max(0.98, own.probability) if own.value == value else (number + 1) / (number + 2)
    if name == "truth" and value in _BINDING:
        most = min(most, max(weighings()["truth"].doubt_cap, own.probability if own.value == value else 0.0))
    return most


def _evidence(told: Sequence[Lesson], weight: float, version: int, quote: Quote) -> Iterator[Evidence]:
    whole = sum(each.nearness for each in told)
    for each in told[:_SHOWN]:
        rule = f"reads like '{each.example.name}', confirmed as {each.value} (lessons {version})"
        share = round(weight * each.nearness / whole, 6)
        yield Evidence(quote(each.example), EvidenceSource.CORRECTION, each.value, share, rule)
