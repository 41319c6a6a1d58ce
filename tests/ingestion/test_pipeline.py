"""The story of one upload: bytes in, labelled passages with vectors out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from adapters.sandboxed_reader import SandboxedReader
from core.domain.documents import Document, DocumentState, Label, Labels, Page, Passage, Span, Truth
from core.domain.errors import EmptyFile
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.sample import DocumentSample
from core.ingestion.pipeline import IngestionPipeline
from core.ingestion.sentence_vectors import embedded_text
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from core.ports.stores import Embedder, Vectors

NO_VECTORS = np.zeros((0, 26), dtype=np.float32)


class CountingLetters:
    """An embedder whose vectors are letter counts. asked: the texts of each inference, with their parts."""

    name, dimensions = "letters", 26

    def __init__(self) -> None:
        self.asked: list[Sequence[tuple[str, Sequence[Span]]]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        counts = np.array(rows, dtype=np.float32).reshape(-1, 26)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        self.asked.append(list(zip(texts, parts, strict=True)))
        found = [self.embed([part.of(text) for part in own]) for text, own in self.asked[-1]]
        return self.embed(texts), found


class ByFirstWord:
    """A classifier that believes a document's first word. segments: the sentences and vectors it was given."""

    def __init__(self) -> None:
        self.segments: list[tuple[Sequence[str], Vectors]] = []

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
        truth = Label(pages[0].text.split()[0].strip("#").lower() or "intent", 0.9)
        return replace(Labels(truth=truth, effective_date=Label("2023-06")), **corrections)

    def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
        return np.stack([in_context[segment] for segment in reading.segments]) if reading.segments else NO_VECTORS

    def labels(
        self, reading: DocumentSample, vectors: Vectors, corrections: Mapping[str, Label], terms: WorkspaceTerms
    ) -> Labels:
        self.segments.append((reading.segments, vectors))
        return self.document(reading.name, reading.title, [Page(1, reading.body)], corrections, terms=terms)

    def uncorrected(self, reading: DocumentSample, vectors: Vectors, terms: WorkspaceTerms) -> Labels:
        return self.labels(reading, vectors, {}, terms)

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        assert len(vectors) == len(passages)
        return [replace(passage, truth=Truth(labels.truth.value)) for passage in passages]


@pytest.fixture
def reader() -> Iterator[SandboxedReader]:
    reader = SandboxedReader(300, 4096)
    yield reader
    reader.close()


@pytest.fixture
def ingestor(reader: SandboxedReader) -> IngestionPipeline:
    return IngestionPipeline(CountingLetters(), ByFirstWord(), reader)


def pending(name: str) -> Document:
    return Document(7, name, "00", 1, DocumentState.PENDING, datetime(2026, 1, 1, tzinfo=UTC), project="p", tags=("t",))


def test_an_upload_becomes_labelled_passages_with_vectors(ingestor: IngestionPipeline) -> None:
    steps: list[str] = []
    text = "Intent of the customer.\n\n# Scope\n\nWe want leave. It is paid.\n\n# Price\n\nTen thousand."
    done = ingestor.run(pending("sow_final.md"), text.encode(), {}, steps.append, terms=BUILT_IN_TERMS)
    assert [step for step in steps if " " not in step] == ["read", "split", "embed", "classify", "entities"]
    assert f"split {len(done.passages)}" in steps and f"entities 1/{len(done.passages)}" in steps
    assert (done.document.state, done.document.title, done.document.pages) == (DocumentState.READY, "Scope", 1)
    assert done.document.passages == len(done.passages) == len(done.vectors) == 3
    assert done.document.date == datetime(2023, 6, 1, tzinfo=UTC)
    first = done.passages[0]
    assert (first.document_id, first.document_name, first.project, first.tags) == (7, "sow_final.md", "p", ("t",))
    assert first.truth is Truth.INTENT
    assert first.date == done.document.date
    np.testing.assert_allclose(done.vectors, CountingLetters().embed([embedded_text(p) for p in done.passages]))


def test_corrections_reach_the_classifier(ingestor: IngestionPipeline) -> None:
    done = ingestor.run(
        pending("a.txt"), b"Intent here.", {"truth": Label("reality", 1.0, confirmed=True)}, print, terms=BUILT_IN_TERMS
    )
    assert done.passages[0].truth is Truth.REALITY


PAID = "# Intent\n\nWe want leave for all of our employees. It is paid every month by the payroll office."


@pytest.mark.parametrize("corrected", [False, True], ids=["nothing corrected", "truth corrected"])
def test_the_classifier_reads_sentences_from_the_inference_of_the_passages(
    reader: SandboxedReader, corrected: bool
) -> None:
    embedder, classifier = CountingLetters(), ByFirstWord()
    truth = {"truth": Label("reality", 1.0, confirmed=True)} if corrected else {}
    IngestionPipeline(embedder, classifier, reader).run(
        pending("a.md"), PAID.encode(), truth, print, terms=BUILT_IN_TERMS
    )
    assert len(embedder.asked) == 1
    assert len(classifier.segments) == (2 if corrected else 1)
    for segments, vectors in classifier.segments:
        assert "It is paid every month by the payroll office." in segments
        np.testing.assert_allclose(vectors, CountingLetters().embed(segments))


def test_vectors_of_another_model_do_not_reach_the_classifier(reader: SandboxedReader) -> None:
    """The library's embedding model changes between the inference and the classification."""
    embedder, known = CountingLetters(), list[Mapping[str, NDArray[np.float32]]]()

    class Seen(ByFirstWord):
        def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
            known.append(in_context)
            return NO_VECTORS

    def exchanged(step: str) -> None:
        if step == "classify":
            embedder.name = "others"

    IngestionPipeline(embedder, Seen(), reader).run(pending("a.md"), PAID.encode(), {}, exchanged, terms=BUILT_IN_TERMS)
    assert known == [{}]


def test_the_labels_of_an_embedding_model_that_no_weight_was_fitted_to(reader: SandboxedReader) -> None:
    embedder = CountingLetters()
    done = IngestionPipeline(embedder, TruthClassifier(embedder), reader).run(
        pending("a.md"), PAID.encode(), {}, print, terms=BUILT_IN_TERMS
    )
    assert done.document.labels.truth.value and len(done.vectors) == len(done.passages)
    assert [len(texts) for texts in embedder.asked] == [1, 2]  # the passage, then its sentences alone


@pytest.mark.parametrize("corrected", [False, True], ids=["nothing corrected", "truth corrected"])
def test_a_file_is_embedded_once_with_the_built_in_model(
    reader: SandboxedReader, embedder: Embedder, corrected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []
    embed_parts = type(embedder).embed_parts

    def counted(self: Embedder, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> object:
        asked.append(texts)
        return embed_parts(self, texts, parts)

    monkeypatch.setattr(type(embedder), "embed_parts", counted)
    truth = {"truth": Label("reality", 1.0, confirmed=True)} if corrected else {}
    IngestionPipeline(embedder, TruthClassifier(embedder), reader).run(
        pending("a.md"), PAID.encode(), truth, print, terms=BUILT_IN_TERMS
    )
    assert [len(texts) for texts in asked] == [1]


def test_a_file_of_headers_only_is_empty_in_words(ingestor: IngestionPipeline) -> None:
    with pytest.raises(EmptyFile, match="no sentence"):
        ingestor.run(pending("rules.md"), b"---\ntitle: Rules\n---\n", {}, print, terms=BUILT_IN_TERMS)
