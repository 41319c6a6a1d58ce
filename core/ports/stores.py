"""Protocols of the stores and of the embedder: what the product needs from them, and nothing more.

Every store object is bound to one tenant when it is made (`bootstrap.workbench`), so no method takes a tenant. Each
Protocol has one executable contract test in tests/stores that every implementation passes, the in-memory ones included.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Document, Label, Page, Passage, Span
from core.domain.errors import Cure
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile
from core.domain.results import LegHits, Statistics, TermScore

__all__ = [
    "BlobStore",
    "Catalogue",
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
        """Model name with its revision; vectors of different names are never mixed."""

    @property
    def dimensions(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in order. Raises ModelUnavailable."""
        ...

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """As `embed`, and per text one row for each of its parts: the meaning of the part in its context."""
        ...


class VectorIndex(Protocol):
    """Dense vector search. Filters apply before ranking: if k admissible passages exist, k are returned."""

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages (id > 0)."""
        ...

    def update(self, passages: Sequence[Passage]) -> None:
        """Update the fields that filters read (labels, tags, dates …); vectors stay."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The admissible passages nearest to a vector of shape (dim,), by cosine, best first; ties by passage id.

        among: restricts to these passages as well; None means all.
        """
        ...

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Ids and vectors of all admissible passages, in blocks of some thousand, ids ascending over all blocks; for
        comparing many questions with the whole library in one pass."""
        ...

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine of the vector with each of these passages; ids without a vector are absent."""
        ...

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors of these passages, each of shape (dim,); ids without a vector are absent."""
        ...

    def count(self) -> int: ...

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector, even if it is not in the catalogue."""
        ...

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages."""
        ...


class SparseIndex(Protocol):
    """BM25 over stemmed text. Never blocks a search: new uploads are searchable at once, compaction runs separately."""

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
        """The result of `search` for the terms of each question; shared work is done once."""
        ...

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per passage, the contribution of each term; they sum to the score `search` returns."""
        ...

    def holding(self, terms: Sequence[str]) -> PassageIds:
        """The passages that contain all of these unstemmed words, by stem; terms that are not indexed (stop words)
        restrict nothing, and no terms at all give every passage."""
        ...

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage contains."""
        ...

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each unstemmed term, ≥ 0; highest for a term in no passage."""
        ...

    def count(self) -> int: ...

    def differences(self) -> tuple[int, int]:
        """(catalogue passages missing from the index, index entries that are not in the catalogue or have another
        text). Changes nothing."""
        ...

    def reconcile(self) -> tuple[int, int]:
        """Index the missing passages and remove the stale ones of `differences`; writes nothing when there are none."""
        ...


class BlobStore(Protocol):
    """Original files, addressed by the SHA-256 of their bytes."""

    def put(self, data: bytes) -> str:
        """Store the bytes durably and return their hex SHA-256; storing twice is harmless."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises NotFound, or StoreFailed when they no longer match their hash."""
        ...

    def exists(self, sha256: str) -> bool: ...


class Follower(Protocol):
    """A service that keeps its own record of every document. Called in the ingestion job once the document is
    searchable. An exception fails the job, which is then retried, so both methods must be idempotent."""

    def follow(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors) -> None:
        """A document was ingested, for the first time or again; passages are stored, with their vectors."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted."""
        ...


class Catalogue(Protocol):
    """The system of record: documents, pages, passages, labels, corrections."""

    def add_document(self, document: Document) -> Document:
        """Store a pending document (id 0) and return it with its id."""
        ...

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        ...

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Many documents at once; missing ones are absent."""
        ...

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The living document with these bytes in this project; None when there is none."""
        ...

    def documents(self, *, archived: bool | None = False) -> Sequence[Document]:
        """All documents of the tenant, newest first."""
        ...

    def mark(self, document_id: int, *, step: str) -> None:
        """Record which pipeline step runs now."""
        ...

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Mark a document as failed at a step: what happened, what to do and what can help. It is no longer
        searchable."""
        ...

    def save_ingested(
        self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors
    ) -> Sequence[Passage]:
        """Replace everything stored for the document in one transaction; returns the passages with ids.

        With the pgvector index the vectors are stored in the same rows; otherwise the index stores them.
        """
        ...

    def save_labels(self, document: Document, passages: Sequence[Passage]) -> None:
        """Store changed labels, tags, dates, project or archived flag; texts, spans and vectors are unchanged."""
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
        """Ids of the passages of ready documents that the filters admit."""
        ...

    def saying(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text contains each phrase: exact matching on word boundaries that ignores case,
        whitespace and punctuation."""
        ...

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of everything search reads of its admissible passages (ids, labels, project, tags …),
        for every document with such passages. Equal digests mean equal evidence."""
        ...

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a configuration table."""
        ...

    def undated(self, filters: SearchFilters) -> int:
        """Number of documents a date filter excludes only because they are undated."""
        ...

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → number of passages; each field is counted under the filters of the other fields."""
        ...

    def correct(self, sha256: str, field: str, value: str, who: str, at: datetime) -> None:
        """Store an analyst's label for these bytes, permanently; "" returns the field to the classifier."""
        ...

    def corrections(self, sha256: str) -> Mapping[str, Label]:
        """The latest correction per label field, as confirmed labels."""
        ...

    def save_searched(self, question: str, hits: int, at: datetime) -> None: ...

    def last_searches(self, limit: int) -> Sequence[tuple[str, int, datetime]]: ...

    def statistics(self) -> Statistics: ...


class Profiles(Protocol):
    """The available score profiles."""

    def find(self, ref: str) -> ScoreProfile:
        """A profile by "name" (its newest version) or "name@version". Raises BadRequest, listing the available ones."""
        ...

    def default(self, project: str | None) -> ScoreProfile:
        """The default profile of a project (None: of the whole library)."""
        ...
