"""A small library in memory, and an embedder whose vectors are words: real stores, no model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from time import perf_counter
from zlib import crc32

import numpy as np

from core.domain.documents import Authority, Document, DocumentState, Page, Passage, Span, Truth
from core.domain.errors import ModelUnavailable
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import Vectors
from core.search.pipeline import SearchPipeline
from core.text.tokenize import index_stems
from tests.fakes import FakeCatalogue, FakeSparseIndex, FakeVectorIndex

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


class WordEmbedder:
    """Each stem is one of 512 directions: texts that share words are near each other."""

    name, dimensions = "words", 512

    def __init__(self, *, broken: bool = False) -> None:
        self.broken, self.batches = broken, 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise ModelUnavailable("The weights are gone.")
        self.batches += 1
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for stem in index_stems(text):
                vectors[row, crc32(stem.encode()) % self.dimensions] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths == 0, 1, lengths)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        reported = zip(texts, parts, strict=True)
        return self.embed(texts), [self.embed([part.of(text) for part in own]) for text, own in reported]


class Library:
    """Documents of one page each, stored in memory and searchable at once."""

    def __init__(self, embedder: WordEmbedder | None = None) -> None:
        self.catalogue, self.vectors, self.sparse = FakeCatalogue(), FakeVectorIndex(), FakeSparseIndex()
        self.embedder = embedder or WordEmbedder()
        self.searcher = SearchPipeline(
            self.catalogue, self.vectors, self.sparse, self.embedder, terms=lambda: BUILT_IN_TERMS, timer=perf_counter
        )

    def add(self, name: str, *texts: str, **labels: object) -> tuple[Passage, ...]:
        """A document whose page holds the texts, one passage each; labels go to every passage."""
        page = "\n".join(texts)
        pending = Document(0, name, sha256(page.encode()).hexdigest(), len(page), DocumentState.PENDING, NOW)
        document = self.catalogue.add_document(replace(pending, paged=name.endswith(".pdf")))
        passages = [passage(text, page, document, **labels) for text in texts]
        vectors = WordEmbedder().embed(texts)
        ready = replace(document, state=DocumentState.READY, passages=len(passages), pages=1)
        stored = self.catalogue.save_ingested(ready, [Page(1, page)], passages, vectors)
        self.vectors.add(stored, vectors)
        self.sparse.add(stored)
        return tuple(stored)


def passage(text: str, page: str, document: Document, **labels: object) -> Passage:
    """A passage with its sentences cut at ". "."""
    start = page.index(text)
    spans, at = [], 0
    for sentence in text.split(". "):
        spans.append(Span(at, min(at + len(sentence) + 1, len(text))))
        at += len(sentence) + 2
    plain = Passage(text, 1, start, start + len(text), tuple(spans))
    return replace(plain, document_id=document.id, document_name=document.name, **labels)


def payroll_library(embedder: WordEmbedder | None = None) -> Library:
    """Five documents, one per truth."""
    library = Library(embedder)
    library.add(
        "pub.pdf",
        "Employers must deposit withheld income taxes every month. Deposits are due on the 15th.",
        "A wage and tax statement must be furnished by January 31.",
        truth=Truth.REGULATORY,
        authority=Authority.GOVERNMENT,
        jurisdiction="federal",
        domain="taxes",
        date=datetime(2025, 12, 1, tzinfo=UTC),
    )
    library.add(
        "handbook.md",
        "Vacation accrues at two days per month. Ask your manager before you book vacation.",
        truth=Truth.COMPLIANCE,
        authority=Authority.INTERNAL,
        domain="time",
    )
    library.add("sow.docx", "The customer wants overtime configured for three locations.", truth=Truth.INTENT)
    library.add("guide.html", "We recommend one earning code per overtime rate.", truth=Truth.REFERENCE)
    library.add("codes.csv", "OT1 overtime at 1.5 of the regular rate.", truth=Truth.REALITY)
    return library
