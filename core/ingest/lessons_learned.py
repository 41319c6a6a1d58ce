"""What may be learned from confirmed documents: checked by leaving each one out, and nothing that makes that worse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from core.documents import Label
from core.ingest.lessons import LEARNED_FIELDS, Example, Lesson, Lessons, alike, near, taught

__all__ = ["Learned", "learned"]

_SAME_TEXT = 0.985  # cosine of near-identical documents: versions, copies, the same form filled in twice
_STRENGTHS = (2.0, 4.0, 6.0, 8.0)
_USUAL = 6.0
_HUMILITY = 0.03  # log loss a strength must gain per unit
_LEAST_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Learned:
    """What leaving each confirmed document out says of one field.

    right_alone: documents the classifier labels as a person did, by itself; right_taught: with the lessons of the
    others. strength 0: lessons would make it worse, and are not used. unused: documents that make others wrong.
    """

    field: str
    documents: int
    right_alone: int
    right_taught: int
    strength: float
    unused: tuple[int, ...] = ()


def learned(examples: Sequence[Example], version: int, common: frozenset[str]) -> tuple[Lessons, tuple[Learned, ...]]:
    """The lessons of confirmed documents, and per field with any what they were found to be worth.

    The same examples give the same lessons, whatever their order. common: marks that tell nothing.
    """
    ordered = sorted(examples, key=lambda each: each.document_id)
    if not ordered:
        return Lessons(version), ()
    means = np.stack([each.traits.mean for each in ordered])
    kins = _kins(means)
    known = tuple(replace(each, kin=kin) for each, kin in zip(ordered, kins, strict=True))
    marks = [frozenset(each.traits.marks) - common for each in known]
    likeness = np.stack([alike(each.traits, means, marks) for each in known])
    outcomes = tuple(
        _tried(name, known, likeness) for name in LEARNED_FIELDS if any(name in each.values for each in known)
    )
    strengths = {each.field: each.strength for each in outcomes}
    unused = {each.field: each.unused for each in outcomes if each.unused}
    return Lessons(version, known, strengths, unused, common), outcomes


def _kins(means: NDArray[np.float32]) -> list[int]:
    """A number per example, shared by those a chain of near-identical ones connects."""
    kins = list(range(len(means)))
    same = means @ means.T >= _SAME_TEXT
    for one in range(len(means)):
        for other in np.flatnonzero(same[one, :one]):
            joined, into = kins[one], kins[int(other)]
            kins = [into if kin == joined else kin for kin in kins]
    return kins


class _Trial:
    """One field's confirmed documents, each with the lessons of the others that are no kin of it."""

    def __init__(self, name: str, known: Sequence[Example], likeness: NDArray[np.float64]) -> None:
        self.name = name
        self.known = [(at, each) for at, each in enumerate(known) if name in each.values]
        self.found = {
            one.document_id: [
                Lesson(other, other.values[name], nearness)
                for column, other in self.known
                if other.kin != one.kin and likeness[row, :, column].any()
                if (nearness := near(name, self.own(one), self.own(other), *likeness[row, :, column].tolist())) > 0
            ]
            for row, one in self.known
        }

    def own(self, example: Example) -> Label:
        label: Label = getattr(example.traits.own, self.name)
        return label

    def label(self, example: Example, strength: float, unused: frozenset[int]) -> Label:
        found = [each for each in self.found[example.document_id] if each.example.document_id not in unused]
        return taught(self.name, self.own(example), found, strength)

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


def _tried(name: str, known: Sequence[Example], likeness: NDArray[np.float64]) -> Learned:
    """The strength with which most documents left out are right; of equals, the one whose probabilities fit best, and a
    weaker one than the usual only where it makes more right: the next document is seldom as easy as those confirmed."""
    trial = _Trial(name, known, likeness)
    alone = trial.right(0.0)
    unused = _misleading(trial)
    strength = _USUAL
    if any(trial.found.values()):
        right = {each: trial.right(each, unused) for each in _STRENGTHS}
        best = [each for each in _STRENGTHS if right[each] == max(right.values())]
        best = [each for each in best if each >= _USUAL] or best
        strength = min(best, key=lambda each: trial.loss(each, unused) + _HUMILITY * each)
        strength = strength if right[strength] >= alone else 0.0
    taught_right = trial.right(strength, unused) if strength else alone
    return Learned(name, len(trial.known), alone, taught_right, strength, tuple(sorted(unused)))


def _misleading(trial: _Trial) -> frozenset[int]:
    """Examples left out one after the other, the worst first, while that makes more of the others right."""
    unused: frozenset[int] = frozenset()
    while True:
        right = trial.right(_USUAL, unused)
        blamed = _blamed(trial, unused)
        gains = {each: trial.right(_USUAL, unused | {each}) - right for each in sorted(blamed)}
        worst = max(gains, key=lambda each: (gains[each], -each), default=None)
        if worst is None or gains[worst] <= 0:
            return unused
        unused |= {worst}


def _blamed(trial: _Trial, unused: frozenset[int]) -> set[int]:
    """The examples that spoke where the classifier was right by itself and is wrong with them."""
    blamed: set[int] = set()
    for _, each in trial.known:
        said = each.values[trial.name]
        if trial.own(each).value == said != trial.label(each, _USUAL, unused).value:
            blamed |= {near.example.document_id for near in trial.found[each.document_id] if near.value != said}
    return blamed - unused
