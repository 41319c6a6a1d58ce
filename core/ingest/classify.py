"""Decides every label of a document and its passages, with the words that decided.

Signals: file name, title, signs of the text (core/tables/truths.toml …), and how near its sentences are to sentences
this project wrote for each label. An analyst's correction always wins. No language model; the same
input always gives the same output.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from core.documents import Label, Labels, Page, Passage
from core.ingest.classify_clues import Clue, clues
from core.ingest.classify_dates import effective_date_label, temporal_label
from core.ingest.classify_language import is_native, language_label
from core.ingest.classify_passages import labelled_passages
from core.ingest.classify_places import jurisdiction_label
from core.ingest.classify_reading import Reading, read_for_classifying
from core.ingest.classify_subject import authority_label, domain_label
from core.ingest.classify_truth import truth_label
from core.ingest.classify_weighing import Prototypes, confirmed
from core.ports import Embedder, Vectors
from core.tables.prototypes import own_prototypes

__all__ = ["TruthClassifier"]

_KEPT_VOCABULARIES = 8


class TruthClassifier:
    """The classifier of `core.ports.Classifier`. Prototypes are embedded at first use and kept."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._domains_of: dict[object, Prototypes] = {}

    def document(
        self,
        name: str,
        title: str,
        pages: Sequence[Page],
        corrections: Mapping[str, Label],
        metadata: Mapping[str, str] | None = None,
    ) -> Labels:
        """Labels with probability, runner-up and quoted evidence; a field in `corrections` is taken from there.

        metadata: what the file says of itself ("published": an ISO date). Raises ModelUnavailable.
        """
        reading, vectors = self.read(name, title, pages, metadata)
        return self.labels(reading, vectors, corrections)

    def read(
        self, name: str, title: str, pages: Sequence[Page], metadata: Mapping[str, str] | None = None
    ) -> tuple[Reading, Vectors]:
        """What is read of a document, and the vectors of its sampled sentences. Raises ModelUnavailable."""
        reading = read_for_classifying(name, title, pages, metadata or {})
        return reading, self._vectors(reading)

    def clues(self, name: str, pages: Sequence[Page]) -> tuple[Clue, ...]:
        """What tells which truth a document states, before it is weighed. Raises ModelUnavailable."""
        reading, vectors = self.read(name, "", pages)
        return clues(reading, self._truths, vectors, is_native(language_label(reading)))

    def labels(self, reading: Reading, vectors: Vectors, corrections: Mapping[str, Label]) -> Labels:
        """The labels of what was read; vectors: of its segments. A label of `corrections` stands, and what follows
        from it follows."""
        fixed = {field: confirmed(label) for field, label in corrections.items()}
        language = fixed.get("language") or language_label(reading)
        native = is_native(language)
        truth = fixed.get("truth") or truth_label(reading, self._truths, vectors, native)
        authority = fixed.get("authority") or authority_label(reading, truth, self._authorities, vectors, native)
        return Labels(
            truth=truth,
            domain=fixed.get("domain") or domain_label(reading, self._domains, vectors, native),
            authority=authority,
            jurisdiction=fixed.get("jurisdiction") or jurisdiction_label(reading, truth, authority, language),
            effective_date=fixed.get("effective_date") or effective_date_label(reading, truth),
            temporal_class=fixed.get("temporal_class") or temporal_label(reading, truth),
            language=language,
        )

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        """The passages labelled: as their document, or by their own words where these clearly state another truth."""
        return labelled_passages(labels, passages)

    def _vectors(self, reading: Reading) -> Vectors:
        if not reading.segments:
            return np.zeros((0, self._embedder.dimensions), dtype=np.float32)
        return self._embedder.embed([" ".join(segment.split()) for segment in reading.segments])

    @cached_property
    def _truths(self) -> Prototypes:
        return Prototypes(self._embedder, "truth")

    @cached_property
    def _authorities(self) -> Prototypes:
        return Prototypes(self._embedder, "authority")

    @property
    def _domains(self) -> Prototypes:
        """Those of the domains there are where it is asked: the workspace's own among them."""
        own = own_prototypes()
        if own not in self._domains_of:
            if len(self._domains_of) >= _KEPT_VOCABULARIES:
                self._domains_of.clear()
            self._domains_of[own] = Prototypes(self._embedder, "domain", own)
        return self._domains_of[own]
