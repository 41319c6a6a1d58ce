"""The classifier, told what people confirmed: its own labels, and those that lessons change, with what follows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.documents import Label, Labels, Page, Passage
from core.ingest.classify import TruthClassifier
from core.ingest.classify_reading import Reading
from core.ingest.lessons import LEARNED_FIELDS, Example, Lesson, Lessons, Traits, alike, near, taught, traits_of
from core.ports import Vectors

__all__ = ["TaughtClassifier", "Teacher"]

_LEADING = ("truth", "authority")
"""What other fields follow from, in this order."""

Seen = Callable[[Reading, Vectors, Labels], None]


class Teacher:
    """Lessons made ready to be asked of many documents."""

    def __init__(self, lessons: Lessons) -> None:
        self.lessons = lessons
        self._fields = [name for name in LEARNED_FIELDS if lessons.teach(name)]
        self._marks = [frozenset(each.traits.marks) - lessons.common for each in lessons.examples]
        self._means = np.stack([each.traits.mean for each in lessons.examples]) if lessons.examples else None

    def found(self, traits: Traits) -> Mapping[str, Sequence[Lesson]]:
        """Field → the confirmed documents that speak for a value; fields without are absent."""
        if self._means is None or not self._fields:
            return {}
        likeness = alike(traits, self._means, self._marks)
        found: dict[str, list[Lesson]] = {}
        for at in np.flatnonzero(likeness.any(axis=0)):
            example = self.lessons.examples[int(at)]
            for name in self._fields:
                if name not in example.values or example.document_id in self.lessons.unused.get(name, ()):
                    continue
                own, other = getattr(traits.own, name), getattr(example.traits.own, name)
                nearness = near(name, own, other, *likeness[:, at].tolist())
                if nearness > 0:
                    found.setdefault(name, []).append(Lesson(example, example.values[name], nearness))
        return found

    def label(self, name: str, own: Label, found: Sequence[Lesson], quote: Callable[[Example], str]) -> Label:
        """The classifier's own label with these lessons weighed in."""
        return taught(name, own, found, self.lessons.strengths.get(name, 0.0), self.lessons.version, quote)

    def foreseen(self, traits: Traits) -> Mapping[str, str | None]:
        """Field → value, of the learned fields that lessons speak of; what follows from a changed one is not seen."""
        found = self.found(traits)
        return {name: self.label(name, getattr(traits.own, name), found[name], _nothing).value for name in found}


def _nothing(example: Example) -> str:
    return ""


class TaughtClassifier:
    """core.ports.Classifier: the product's own, and over it the lessons of the moment. `seen` hears of every document
    what was read of it and the labels given without lessons and corrections."""

    def __init__(
        self,
        own: TruthClassifier,
        teacher: Callable[[], Teacher],
        seen: Seen = lambda reading, vectors, own: None,
    ) -> None:
        self.own, self._teacher, self._seen = own, teacher, seen

    def document(
        self,
        name: str,
        title: str,
        pages: Sequence[Page],
        corrections: Mapping[str, Label],
        metadata: Mapping[str, str] | None = None,
    ) -> Labels:
        """Labels as of `TruthClassifier.document`, lessons weighed in; a correction wins. Raises ModelUnavailable."""
        reading, vectors = self.own.read(name, title, pages, metadata)
        own = self.own.labels(reading, vectors, {})
        self._seen(reading, vectors, own)
        return self.labels(reading, vectors, corrections, self._teacher(), own)

    def labels(
        self,
        reading: Reading,
        vectors: Vectors,
        corrections: Mapping[str, Label],
        teacher: Teacher,
        own: Labels | None = None,
    ) -> Labels:
        """The labels of what was read, as these lessons have it. vectors: of its segments; own: labels given without
        lessons and corrections, worked out when absent."""
        own = self.own.labels(reading, vectors, {}) if own is None else own
        labels = self.own.labels(reading, vectors, corrections) if corrections else own
        found = {n: each for n, each in teacher.found(traits_of(reading, vectors, own)).items() if n not in corrections}
        if not found:
            return labels

        def quote(example: Example) -> str:
            if not len(vectors):
                return reading.name
            return reading.segments[int((vectors @ example.traits.mean).argmax())]

        settled: dict[str, Label] = {}
        for name in sorted(found, key=lambda each: each not in _LEADING):
            before: Label = getattr(labels, name)
            label = teacher.label(name, before, found[name], quote)
            if name in _LEADING and label.value != before.value:
                labels = self.own.labels(reading, vectors, {**corrections, **settled, name: label})
            settled[name] = label
            labels = replace(labels, **settled)
        return labels

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        """The passages labelled: as their document, or by their own words where these clearly state another truth."""
        return self.own.passages(labels, passages, vectors)
