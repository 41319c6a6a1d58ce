"""The narrow seams: what the product needs from stores and models, and nothing more.

Every store object is bound to one tenant when it is made (`storage.opening`), so no method takes a tenant. Each
Protocol has one executable contract test in tests/stores that every implementation passes, the in-memory ones included.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.documents import Document, Label, Labels, Page, Passage, Span
from core.errors import Cure
from core.filters import SearchFilters
from core.queries import ScoreProfile
from core.results import LegHits, Statistics, TermScore

__all__ = [
    "BlobStore",
    "Catalogue",
    "Classifier",
    "Embedder",
    "Follower",
    "PassageIds",
    "Profiles",
    "SparseIndex",
    "VectorIndex",
    "Vectors",
]

Vectors = NDArray[np.float32]
"""float32, shape (n, dim), rows L2-normalised."""

PassageIds = NDArray[np.int64]
"""int64, shape (n,), sorted ascending, unique."""


class Embedder(Protocol):
    """Text to vectors."""

    @property
    def name(self) -> str:
        """Model name with its revision; vectors of different names never mix."""

    @property
    def dimensions(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in their order. Raises ModelUnavailable."""
        ...

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """What `embed` gives, and per text a row for each of its parts: what the part means where it stands."""
        ...


class VectorIndex(Protocol):
    """Dense search. Filters apply before ranking: if k admissible passages exist, k come back."""

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages (id > 0)."""
        ...

    def update(self, passages: Sequence[Passage]) -> None:
        """Passages whose labels, tags, dates … changed: what filters read follows; vectors stay."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The admissible passages nearest to a vector of shape (dim,), by cosine, best first; ties by passage id.

        among: of these passages only, beside the filters; None means all.
        """
        ...

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, some thousand at a time, ids ascending over all blocks: for work
        that compares many questions with the whole library in one pass."""
        ...

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine of the vector with each of these passages; ids without a vector are absent."""
        ...

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors of these passages, each of shape (dim,); ids without a vector are absent."""
        ...

    def count(self) -> int: ...


class SparseIndex(Protocol):
    """BM25 over stemmed text. Never blocks a search: a new upload is findable at once, compaction runs apart."""

    def add(self, passages: Sequence[Passage]) -> None: ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """The admissible passages with the highest BM25 score > 0 for unstemmed terms, best first; ties by passage id.

        admissible None means all.
        """
        ...

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for the terms of each question; what they share is worked out once."""
        ...

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per passage, each term's share; the shares sum to the score `search` gives it."""
        ...

    def holding(self, terms: Sequence[str]) -> PassageIds:
        """The passages that hold every one of these unstemmed words, by stem; terms that are not indexed (stop words)
        restrict nothing, and no terms at all give every passage."""
        ...

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage holds."""
        ...

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each unstemmed term, ≥ 0; a term in no passage has the highest."""
        ...

    def count(self) -> int: ...


class BlobStore(Protocol):
    """Originals, by the SHA-256 of their bytes."""

    def put(self, data: bytes) -> str:
        """Store the bytes (durably, before returning) and give their hex SHA-256; storing twice is harmless."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises NotFound, or StoreFailed when they no longer match their name."""
        ...

    def exists(self, sha256: str) -> bool: ...


class Follower(Protocol):
    """What keeps a record of its own of every document. Called in the job that reads the document, after it can be
    found; what it raises fails the job, and the job is tried again, so both are safe to repeat."""

    def follow(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors) -> None:
        """A document was read, the first time or again; passages are stored ones, vectors theirs."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted."""
        ...


class Catalogue(Protocol):
    """The system of record: documents, pages, passages, labels, corrections."""

    def add_document(self, document: Document) -> Document:
        """Store a pending document (id 0) and give it back with its id."""
        ...

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        ...

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Many documents at once; missing ones are absent."""
        ...

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The living document with these bytes in this project."""
        ...

    def documents(self, *, archived: bool | None = False) -> Sequence[Document]:
        """All documents of the tenant, newest first."""
        ...

    def mark(self, document_id: int, *, step: str) -> None:
        """Say which pipeline step runs now."""
        ...

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Leave a document failed at a step, with what happened, what to do and what can help; nothing of it stays
        searchable."""
        ...

    def save_ingested(
        self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors
    ) -> Sequence[Passage]:
        """Replace everything known of the document in one transaction; returns the passages with ids.

        With the pgvector index the vectors are stored in the same rows; otherwise they are the index's business.
        """
        ...

    def save_labels(self, document: Document, passages: Sequence[Passage]) -> None:
        """Labels, tags, dates, project or archived flag changed; texts, spans and vectors did not."""
        ...

    def delete(self, document_id: int) -> None: ...

    def page(self, document_id: int, number: int) -> Page:
        """Raises NotFound."""
        ...

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages by (document_id, page number); missing ones are absent."""
        ...

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id, with labels and sentence spans; missing ones are absent."""
        ...

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        ...

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages of ready documents the filters admit."""
        ...

    def saying(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text holds each phrase: its words in a row, on word borders, whatever the
        capitals and whatever blanks and punctuation stand between them."""
        ...

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of all that search reads of the document's admissible passages (ids, labels, project,
        tags …), for every document that has such passages: equal digests, equal evidence."""
        ...

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a set-up table."""
        ...

    def undated(self, filters: SearchFilters) -> int:
        """Documents left out by the date filter only because they are undated."""
        ...

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → number of passages, each field counted under the other fields' filters."""
        ...

    def correct(self, sha256: str, field: str, value: str, who: str, at: datetime) -> None:
        """Keep an analyst's label for these bytes, for ever; "" gives the field back to the classifier."""
        ...

    def corrections(self, sha256: str) -> Mapping[str, Label]:
        """The latest correction per label field, as confirmed labels."""
        ...

    def save_searched(self, question: str, hits: int, at: datetime) -> None: ...

    def last_searches(self, limit: int) -> Sequence[tuple[str, int, datetime]]: ...

    def statistics(self) -> Statistics: ...


class Profiles(Protocol):
    """The score profiles there are."""

    def find(self, ref: str) -> ScoreProfile:
        """By "name" (its newest version) or "name@version". Raises BadRequest, naming those there are."""
        ...

    def default(self, project: str | None) -> ScoreProfile:
        """The one a project (None: the whole library) searches with unless told otherwise."""
        ...


class Classifier(Protocol):
    """Decides labels with evidence."""

    def document(
        self,
        name: str,
        title: str,
        pages: Sequence[Page],
        corrections: Mapping[str, Label],
        metadata: Mapping[str, str] | None = None,
    ) -> Labels:
        """metadata: what the file says of itself, e.g. "published" with an ISO date."""
        ...

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]: ...
