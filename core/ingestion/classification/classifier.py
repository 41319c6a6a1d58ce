"""The document classifier: decides every label of a document and its passages, with evidence.

Truth, authority, jurisdiction and date come from small linear models fitted on public documents (linear_model.py);
the domain from the keywords of the workspace. An analyst's correction always wins. Deterministic; no language model.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Label, Labels, Page, Passage
from core.ingestion.classification.dates import effective_date_label, temporal_label
from core.ingestion.classification.document_features import features_of
from core.ingestion.classification.jurisdiction import jurisdiction_label
from core.ingestion.classification.language import language_label
from core.ingestion.classification.linear_model import ClassifierModel, built_in_model
from core.ingestion.classification.passages import labelled_passages
from core.ingestion.classification.sample import DocumentSample, read_for_classifying
from core.ingestion.classification.subject import authority_label, domain_label
from core.ingestion.classification.truth import truth_label
from core.ingestion.classification.weighting import Prototypes, confirmed_label
from core.ingestion.sentence_vectors import embed_alone
from core.knowledge.languages import is_native, reading_language
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.stores import Embedder, Vectors

__all__ = ["Classifier", "TruthClassifier"]

_CACHED_VOCABULARIES = 8  # embedded sets of domain prototypes; enough for several drafts at once; chosen by hand


class Classifier(Protocol):
    """Decides labels with evidence, using a workspace's terms."""

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
        """metadata: facts stated in the file, for example "published" with an ISO date."""
        ...

    def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
        """The vectors of a sample's segments. in_context: those that are known from their passages."""
        ...

    def labels(
        self, reading: DocumentSample, vectors: Vectors, corrections: Mapping[str, Label], terms: WorkspaceTerms
    ) -> Labels:
        """The labels of a document that was sampled and embedded before. vectors: of the sample's segments."""
        ...

    def uncorrected(self, reading: DocumentSample, vectors: Vectors, terms: WorkspaceTerms) -> Labels:
        """The labels before anything people taught."""
        ...

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]: ...


class TruthClassifier:
    """The built-in `Classifier`. Domain prototypes are embedded at first use and cached.

    model: the fitted weights; the built-in ones, except where sources are left out of the fitting to measure.
    """

    def __init__(self, embedder: Embedder, model: ClassifierModel | None = None) -> None:
        self._embedder = embedder
        self._given = model
        self._own_domains: dict[object, Prototypes] = {}

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
        """Labels with probability, runner-up and quoted evidence; a field in `corrections` overrides the decision.

        metadata: facts stated in the file ("published": an ISO date). terms: the workspace's domains, authorities
        and jurisdictions. Raises ModelUnavailable.
        """
        reading, vectors = self.read(name, title, pages, metadata)
        return self.labels(reading, vectors, corrections, terms)

    def uncorrected(self, reading: DocumentSample, vectors: Vectors, terms: WorkspaceTerms) -> Labels:
        """The labels that the fitted weights give. Raises ModelUnavailable."""
        return self.labels(reading, vectors, {}, terms)

    def read(
        self, name: str, title: str, pages: Sequence[Page], metadata: Mapping[str, str] | None = None
    ) -> tuple[DocumentSample, Vectors]:
        """The sample of a document, and the vectors of its sentences, embedded alone. Raises ModelUnavailable."""
        reading = read_for_classifying(name, title, pages, metadata or {})
        return reading, embed_alone(self._embedder, reading.segments)

    def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
        """The vectors of a sample's segments, shape (segments, dim), as if each was embedded alone.

        in_context: segment → its vector in its passage (`EmbeddedPassages.segments`). One that is absent is embedded,
        as all are under an embedding model that no map was fitted to. Raises ModelUnavailable.
        """
        known = self._model.reads_context(self._embedder.name)
        inside = [segment for segment in reading.segments if known and segment in in_context]
        outside = [segment for segment in reading.segments if not known or segment not in in_context]
        found = dict(zip(outside, embed_alone(self._embedder, outside), strict=True))
        if inside:
            estimated = self._model.as_alone(np.stack([in_context[segment] for segment in inside]))
            found |= zip(inside, estimated, strict=True)
        # In the precision in which they are stored, so that labels are the same when they are decided again.
        rows = np.array([found[segment] for segment in reading.segments], dtype=np.float16).astype(np.float32)
        return rows if reading.segments else np.zeros((0, self._embedder.dimensions), dtype=np.float32)

    def labels(
        self, reading: DocumentSample, vectors: Vectors, corrections: Mapping[str, Label], terms: WorkspaceTerms
    ) -> Labels:
        """The labels of a sample; vectors: of its segments. A label in `corrections` is kept, and labels that depend
        on it follow."""
        fixed = {field: confirmed_label(label) for field, label in corrections.items()}
        model, known = self._model, self._model.comparable(vectors, self._embedder.name)
        language = fixed.get("language") or language_label(reading)
        blocks = model.blocks(features_of(reading, reading_language(language)), known)
        truth = fixed.get("truth") or truth_label(reading, blocks, known, model)
        sure = _as_decided(corrections.get("truth"), truth)
        authority = fixed.get("authority") or authority_label(reading, blocks, known, sure, model, terms)
        jurisdiction = fixed.get("jurisdiction") or jurisdiction_label(
            reading, blocks, sure, _as_decided(corrections.get("authority"), authority), language, model, terms
        )
        native = is_native(language)
        return Labels(
            truth=truth,
            domain=fixed.get("domain")
            or domain_label(reading, self._domains(terms), vectors, terms, model, known, native),
            authority=authority,
            jurisdiction=jurisdiction,
            effective_date=fixed.get("effective_date") or effective_date_label(reading, sure, language, model),
            temporal_class=fixed.get("temporal_class") or temporal_label(reading, truth),
            language=language,
        )

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        """The passages with labels: those of the document, or their own truth where their words clearly state one.

        vectors: of the passages; those of another embedding model than the fitted one do not count.
        """
        return labelled_passages(labels, passages, self._model.comparable(vectors, self._embedder.name), self._model)

    @property
    def _model(self) -> ClassifierModel:
        return self._given or built_in_model()

    def _domains(self, terms: WorkspaceTerms) -> Prototypes:
        """Prototypes of the workspace's domains, built-in and own, under the embedding model in use."""
        own = (self._embedder.name, terms.prototypes)
        if own not in self._own_domains:
            if len(self._own_domains) >= _CACHED_VOCABULARIES:
                self._own_domains.clear()
            self._own_domains[own] = Prototypes(self._embedder, terms.prototypes)
        return self._own_domains[own]


def _as_decided(given: Label | None, label: Label) -> Label:
    """A label that is only kept counts with the probability it was given; one that a person chose is certain."""
    keeps_given = given is not None and not given.confirmed and given.probability > 0
    return given if given is not None and keeps_given else label
