"""Which kind of memory a note is, from its words and from what it sounds like. The same text gives the same answer."""

from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np

from core.documents import Sector
from core.errors import ModelUnavailable
from core.ingest.sentences import sentences
from core.ports import Embedder, Vectors
from core.tables.phrases import PhraseFinder
from core.tables.sectors import sectors

__all__ = ["SectorReader", "SectorSuggestion"]

_PER_WORD = 0.2
"""What one distinct word of a sector adds to the cosine with its nearest sentence; three words say all words can."""
_MOST_WORDS = 3
_LEAST = 0.3
"""Below this, nothing marks a note as anything but a fact."""
_SENTENCES = 12
"""Of a long note its first sentences are read; they say what it is."""


@dataclass(frozen=True, slots=True)
class SectorSuggestion:
    """A sector and the reason in words, for the person who may choose another."""

    sector: Sector
    reason: str


class SectorReader:
    """Suggests sectors. The table's sentences are embedded once, at the first suggestion. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._making = embedder, Lock()
        self._vectors: Vectors | None = None

    def suggest(self, text: str) -> SectorSuggestion:
        """The sector with the highest sum of nearness and words; without a model, the words alone decide.

        sum = cosine of the note's nearest sentence with the nearest sentence of the sector, at least 0,
        + 0.2 per distinct phrase of the sector in the note (at most three). Ties go by table order.
        """
        said = _said(text)
        near = self._near(text)
        totals = {
            sector: near.get(sector, ("", 0.0))[1] + _PER_WORD * min(len(said[sector]), _MOST_WORDS)
            for sector in sectors()
        }
        best = max(totals, key=lambda sector: totals[sector])
        if totals[best] < _LEAST and not said[best]:
            return SectorSuggestion(Sector.SEMANTIC, "nothing marks it as anything but a fact")
        if said[best]:
            quoted = ", ".join(f"“{phrase}”" for phrase in said[best][:_MOST_WORDS])
            return SectorSuggestion(best, f"it says {quoted}")
        return SectorSuggestion(best, f"it sounds like “{near[best][0].rstrip('.')}”")

    def _near(self, text: str) -> dict[Sector, tuple[str, float]]:
        """Per sector its sentence nearest to the note, and their cosine; empty when the model's weights are missing."""
        spans = sentences(text)[:_SENTENCES]
        if not spans:
            return {}
        try:
            own = self._embedder.embed([span.of(text) for span in spans])
            cosines = np.asarray(own @ self._prototypes().T).max(axis=0)
        except ModelUnavailable:
            return {}
        near: dict[Sector, tuple[str, float]] = {}
        for (sector, sentence), cosine in zip(_examples(), cosines.tolist(), strict=True):
            if cosine > near.get(sector, ("", 0.0))[1]:
                near[sector] = (sentence, cosine)
        return near

    def _prototypes(self) -> Vectors:
        with self._making:
            if self._vectors is None:
                self._vectors = self._embedder.embed([sentence for _, sentence in _examples()])
            return self._vectors


def _examples() -> list[tuple[Sector, str]]:
    return [(sector, sentence) for sector, row in sectors().items() for sentence in row.sentences]


@cache
def _finder() -> PhraseFinder:
    return PhraseFinder({sector.value: row.words for sector, row in sectors().items()})


def _said(text: str) -> dict[Sector, list[str]]:
    """Per sector the distinct phrases of it that the note holds, as it writes them, in reading order."""
    said: dict[Sector, list[str]] = {sector: [] for sector in sectors()}
    for found in _finder().find(text):
        phrase = text[found.start : found.end].lower()
        if phrase not in said[Sector(found.key)]:
            said[Sector(found.key)].append(phrase)
    return said
