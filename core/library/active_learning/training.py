"""Training on confirmed labels: fits the nearest-neighbour model, and the classifier that uses it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Label, Labels, Page, Passage
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.sample import DocumentSample
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.neighbours import (
    LEARNED_FIELDS,
    DocumentTraits,
    Example,
    TrainedLabel,
    TrainedNeighbours,
    influence,
    similarities,
    traits_of,
    weigh_in,
)
from core.ports.stores import Vectors

__all__ = ["LabelPredictor", "TrainedClassifier", "TrainingResult", "train_neighbours"]

_SAME_TEXT = 0.985  # cosine of near-identical documents: versions, copies, the same form filled in twice

# Strengths that are tried, and the one to prefer, in log-odds. Chosen by hand, not fitted.
_STRENGTHS = (2.0, 4.0, 6.0, 8.0)

_USUAL = 6.0

_HUMILITY = 0.03  # penalty per unit of strength, in log loss. Chosen by hand, not fitted.

_LEAST_CHANCE = 0.01  # floor of a probability, so that its log loss stays finite


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Leave-one-out result for one field.

    right_alone: documents the classifier labels correctly without training; right_taught: with the examples of the
    others. strength: in log-odds; 0 when training would make the field worse, so it is not used. unused: ids of
    examples left out because they made others wrong.
    """

    field: str
    documents: int
    right_alone: int
    right_taught: int
    strength: float
    unused: tuple[int, ...] = ()


def train_neighbours(
    examples: Sequence[Example], version: int, common: frozenset[str]
) -> tuple[TrainedNeighbours, tuple[TrainingResult, ...]]:
    """The model trained on confirmed documents, and its leave-one-out result for every field that has any.

    The result does not depend on the order of the examples. common: uninformative marks.
    """
    ordered = sorted(examples, key=lambda each: each.document_id)
    if not ordered:
        return TrainedNeighbours(version), ()
    means = np.stack([each.traits.mean for each in ordered])
    groups = _group_duplicates(means)
    known = tuple(replace(each, group=group) for each, group in zip(ordered, groups, strict=True))
    marks = [frozenset(each.traits.marks) - common for each in known]
    likeness = np.stack([similarities(each.traits, means, marks) for each in known])
    outcomes = tuple(
        _choose_strength(name, known, likeness) for name in LEARNED_FIELDS if any(name in each.values for each in known)
    )
    strengths = {each.field: each.strength for each in outcomes}
    unused = {each.field: each.unused for each in outcomes if each.unused}
    return TrainedNeighbours(version, known, strengths, unused, common), outcomes


def _group_duplicates(means: NDArray[np.float32]) -> list[int]:
    """A number per example, shared by those a chain of near-identical ones connects."""
    groups = list(range(len(means)))
    same = means @ means.T >= _SAME_TEXT
    for one in range(len(means)):
        for other in np.flatnonzero(same[one, :one]):
            joined, into = groups[one], groups[int(other)]
            groups = [into if group == joined else group for group in groups]
    return groups


class _HeldOutTrial:
    """The confirmed documents of one field, each with the votes of the others that are not near-identical to it."""

    def __init__(self, name: str, known: Sequence[Example], likeness: NDArray[np.float64]) -> None:
        self.name = name
        self.known = [(at, each) for at, each in enumerate(known) if name in each.values]
        self.found = {
            one.document_id: [
                TrainedLabel(other, other.values[name], nearness)
                for column, other in self.known
                if other.group != one.group and likeness[row, :, column].any()
                if (nearness := influence(name, self.own(one), self.own(other), *likeness[row, :, column].tolist())) > 0
            ]
            for row, one in self.known
        }

    def own(self, example: Example) -> Label:
        label: Label = getattr(example.traits.own, self.name)
        return label

    def label(self, example: Example, strength: float, unused: frozenset[int]) -> Label:
        found = [each for each in self.found[example.document_id] if each.example.document_id not in unused]
        return weigh_in(self.name, self.own(example), found, strength)

    def right(self, strength: float, unused: frozenset[int] = frozenset()) -> int:
        return sum(self.label(each, strength, unused).value == each.values[self.name] for _, each in self.known)

    def loss(self, strength: float, unused: frozenset[int]) -> float:
        """Mean log loss of the confirmed values."""
        lost = 0.0
        for _, each in self.known:
            label = self.label(each, strength, unused)
            chances = {label.value: label.probability, label.runner_up: label.runner_up_probability}
            lost -= log(max(_LEAST_CHANCE, chances.get(each.values[self.name], 0.0)))
        return lost / len(self.known)


def _choose_strength(name: str, known: Sequence[Example], likeness: NDArray[np.float64]) -> TrainingResult:
    """Choose the strength that labels most held-out documents correctly.

    Among equals, the one with the lowest log loss plus a penalty per unit; a strength below the usual one only where it
    labels more correctly, since new documents are seldom as easy as the confirmed ones.
    """
    trial = _HeldOutTrial(name, known, likeness)
    alone = trial.right(0.0)
    unused = _find_misleading(trial)
    strength = _USUAL
    if any(trial.found.values()):
        right = {each: trial.right(each, unused) for each in _STRENGTHS}
        best = [each for each in _STRENGTHS if right[each] == max(right.values())]
        best = [each for each in best if each >= _USUAL] or best
        strength = min(best, key=lambda each: trial.loss(each, unused) + _HUMILITY * each)
        strength = strength if right[strength] >= alone else 0.0
    taught_right = trial.right(strength, unused) if strength else alone
    return TrainingResult(name, len(trial.known), alone, taught_right, strength, tuple(sorted(unused)))


def _find_misleading(trial: _HeldOutTrial) -> frozenset[int]:
    """Greedily drop the worst example while that makes more of the others right."""
    unused: frozenset[int] = frozenset()
    while True:
        right = trial.right(_USUAL, unused)
        blamed = _find_blamed(trial, unused)
        gains = {each: trial.right(_USUAL, unused | {each}) - right for each in sorted(blamed)}
        worst = max(gains, key=lambda each: (gains[each], -each), default=None)
        if worst is None or gains[worst] <= 0:
            return unused
        unused |= {worst}


def _find_blamed(trial: _HeldOutTrial, unused: frozenset[int]) -> set[int]:
    """The examples that spoke where the classifier was right by itself and is wrong with them."""
    blamed: set[int] = set()
    for _, each in trial.known:
        confirmed = each.values[trial.name]
        if trial.own(each).value == confirmed != trial.label(each, _USUAL, unused).value:
            blamed |= {vote.example.document_id for vote in trial.found[each.document_id] if vote.value != confirmed}
    return blamed - unused


_LEADING = ("truth", "authority")
"""What other fields follow from, in this order."""

Seen = Callable[[DocumentSample, Vectors, Labels], None]


class LabelPredictor:
    """A trained model prepared for labelling many documents."""

    def __init__(self, neighbours: TrainedNeighbours) -> None:
        self.neighbours = neighbours
        self._fields = [name for name in LEARNED_FIELDS if neighbours.covers(name)]
        self._marks = [frozenset(each.traits.marks) - neighbours.common for each in neighbours.examples]
        self._means = np.stack([each.traits.mean for each in neighbours.examples]) if neighbours.examples else None

    def found(self, traits: DocumentTraits) -> Mapping[str, Sequence[TrainedLabel]]:
        """Field → the confirmed documents that support a value; fields without any are absent."""
        if self._means is None or not self._fields:
            return {}
        likeness = similarities(traits, self._means, self._marks)
        found: dict[str, list[TrainedLabel]] = {}
        for at in np.flatnonzero(likeness.any(axis=0)):
            example = self.neighbours.examples[int(at)]
            for name in self._fields:
                if name not in example.values or example.document_id in self.neighbours.unused.get(name, ()):
                    continue
                own, other = getattr(traits.own, name), getattr(example.traits.own, name)
                nearness = influence(name, own, other, *likeness[:, at].tolist())
                if nearness > 0:
                    found.setdefault(name, []).append(TrainedLabel(example, example.values[name], nearness))
        return found

    def label(self, name: str, own: Label, found: Sequence[TrainedLabel], quote: Callable[[Example], str]) -> Label:
        """The classifier's own label adjusted by this model."""
        return weigh_in(name, own, found, self.neighbours.strengths.get(name, 0.0), self.neighbours.version, quote)

    def predict(self, traits: DocumentTraits) -> Mapping[str, str | None]:
        """Field → predicted value, for the trained fields with examples; consequences of a changed label are not
        predicted.
        """
        found = self.found(traits)
        return {name: self.label(name, getattr(traits.own, name), found[name], _no_quote).value for name in found}


def _no_quote(example: Example) -> str:
    return ""


class TrainedClassifier:
    """A Classifier: the built-in one, adjusted by the current trained model. `seen` receives the sample of every
    classified document and its labels before training and corrections.
    """

    def __init__(
        self,
        own: TruthClassifier,
        predictor: Callable[[], LabelPredictor],
        seen: Seen = lambda reading, vectors, own: None,
    ) -> None:
        self.own, self._predictor, self._seen = own, predictor, seen

    def document(
        self,
        name: str,
        title: str,
        pages: Sequence[Page],
        corrections: Mapping[str, Label],
        metadata: Mapping[str, str] | None = None,
        *,
        terms: WorkspaceTerms,
    ) -> Labels:
        """As `TruthClassifier.document`, adjusted by training; a correction wins. Raises ModelUnavailable."""
        return self.labels(*self.own.read(name, title, pages, metadata), corrections, terms)

    def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
        """As `TruthClassifier.segment_vectors`. Raises ModelUnavailable."""
        return self.own.segment_vectors(reading, in_context)

    def labels(
        self, reading: DocumentSample, vectors: Vectors, corrections: Mapping[str, Label], terms: WorkspaceTerms
    ) -> Labels:
        """As `TruthClassifier.labels`, adjusted by training; a correction wins. Raises ModelUnavailable."""
        own = self.own.labels(reading, vectors, {}, terms)
        self._seen(reading, vectors, own)
        return self.adjusted(reading, vectors, corrections, self._predictor(), terms, own)

    def uncorrected(self, reading: DocumentSample, vectors: Vectors, terms: WorkspaceTerms) -> Labels:
        """The labels before training and corrections. Raises ModelUnavailable."""
        return self.own.uncorrected(reading, vectors, terms)

    def adjusted(
        self,
        reading: DocumentSample,
        vectors: Vectors,
        corrections: Mapping[str, Label],
        predictor: LabelPredictor,
        terms: WorkspaceTerms,
        own: Labels | None = None,
    ) -> Labels:
        """The labels of a sample under this model. vectors: of its segments; own: labels before training and
        corrections, computed when absent.
        """
        own = self.own.labels(reading, vectors, {}, terms) if own is None else own
        labels = self.own.labels(reading, vectors, corrections, terms) if corrections else own
        found = {
            n: each for n, each in predictor.found(traits_of(reading, vectors, own)).items() if n not in corrections
        }
        if not found:
            return labels

        def quote(example: Example) -> str:
            if not len(vectors):
                return reading.name
            return reading.segments[int((vectors @ example.traits.mean).argmax())]

        settled: dict[str, Label] = {}
        for name in sorted(found, key=lambda each: each not in _LEADING):
            before: Label = getattr(labels, name)
            label = predictor.label(name, before, found[name], quote)
            if name in _LEADING and label.value != before.value:
                labels = self.own.labels(reading, vectors, {**corrections, **settled, name: label}, terms)
            settled[name] = label
            labels = replace(labels, **settled)
        return labels

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        """The passages labelled: as their document, or by their own words where these clearly state another truth."""
        return self.own.passages(labels, passages, vectors)
