"""Classifies an insight or episode into a sector, by its words and its sentence vectors. Deterministic."""

from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np

from core.domain.documents import Sector
from core.domain.errors import ModelUnavailable
from core.knowledge.multi_pattern import PhraseFinder
from core.knowledge.sectors import sectors
from core.ports.stores import Embedder, Vectors
from core.text.sentences import sentences

__all__ = ["SectorClassifier", "SectorSuggestion"]

_PER_WORD = 0.2
"""Added to the cosine per distinct phrase of a sector, for at most three phrases. Chosen by hand, not fitted."""
_MOST_WORDS = 3
_LEAST = 0.3
"""Score below which a note counts as a plain fact. Chosen by hand, not fitted."""
_SENTENCES = 12
"""Sentences read of a long note: the first ones show its kind."""


@dataclass(frozen=True, slots=True)
class SectorSuggestion:
    """A sector and the reason in words; the user may choose another."""

    sector: Sector
    reason: str


class SectorClassifier:
    """Suggests sectors. The table's sentences are embedded once, at the first suggestion. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._making = embedder, Lock()
        self._vectors: tuple[str, Vectors] = ("", np.zeros((0, 0), dtype=np.float32))

    def suggest(self, text: str) -> SectorSuggestion:
        """Suggest the sector with the highest score; without a model, the words alone decide.

        score = cosine of the note's nearest sentence with the sector's nearest sentence, at least 0, + 0.2 per distinct
        phrase of the sector in the note (at most three). Ties go by table order.
        """
        cues = _cue_phrases(text)
        near = self._near(text)
        totals = {
            sector: near.get(sector, ("", 0.0))[1] + _PER_WORD * min(len(cues[sector]), _MOST_WORDS)
            for sector in sectors()
        }
        best = max(totals, key=lambda sector: totals[sector])
        if totals[best] < _LEAST and not cues[best]:
            return SectorSuggestion(Sector.SEMANTIC, "nothing marks it as anything but a fact")
        if cues[best]:
            quoted = ", ".join(f"“{phrase}”" for phrase in cues[best][:_MOST_WORDS])
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
            if self._vectors[0] != self._embedder.name:
                model = self._embedder.name
                self._vectors = model, self._embedder.embed([sentence for _, sentence in _examples()])
            return self._vectors[1]


def _examples() -> list[tuple[Sector, str]]:
    return [(sector, sentence) for sector, row in sectors().items() for sentence in row.sentences]


@cache
def _finder() -> PhraseFinder:
    return PhraseFinder({sector.value: row.words for sector, row in sectors().items()})


def _cue_phrases(text: str) -> dict[Sector, list[str]]:
    """Per sector the distinct phrases of it that the note holds, as it writes them, in reading order."""
    cues: dict[Sector, list[str]] = {sector: [] for sector in sectors()}
    for found in _finder().find(text):
        phrase = text[found.start : found.end].lower()
        if phrase not in cues[Sector(found.key)]:
            cues[Sector(found.key)].append(phrase)
    return cues
