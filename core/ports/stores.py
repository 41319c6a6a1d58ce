"""Protocols of the stores and of the embedder: what the product needs from them, and nothing more.

Every store object is bound to one tenant when it is made (`bootstrap.workbench`), so no method takes a tenant. Each
Protocol has one executable contract test in tests/stores that every implementation passes, the in-memory ones included.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage, Span
from core.domain.entities import Entity, EntityPage, EntityType, KnownEntity, MentionPage
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile
from core.domain.results import LegHits, TermScores

__all__ = ["BlobStore", "Embedder", "EntityGraph", "PassageIds", "Profiles", "SparseIndex", "VectorIndex", "Vectors"]

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

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace the vectors of stored passages (id > 0). embedded_by: their model; "" for the one in use."""
        ...

    def update(self, passages: Sequence[Passage]) -> None:
        """Update the fields that filters read (labels, tags, dates …); vectors stay."""
        ...

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Delete the vectors of these documents. but: passages whose vectors stay."""
        ...

    def ping(self) -> None:
        """Asked before a change of several stores begins. Raises StoreFailed when the index does not answer."""
        ...

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

    def vacuum(self) -> None:
        """Rewrite files that still hold what was deleted."""
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

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> TermScores:
        """Per indexed passage, the contribution of each term; they sum to the score `search` returns."""
        ...

    def passages_containing(self, terms: Sequence[str]) -> PassageIds:
        """The passages that contain all of these unstemmed words, by stem; terms that are not indexed (stop words)
        restrict nothing, and no terms at all give every passage."""
        ...

    def contained_stems(self, stems: Sequence[str], passage_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these stems each of the passages contains: shape (passages, stems); none, if it is not indexed."""
        ...

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each unstemmed term, ≥ 0; highest for a term in no passage."""
        ...

    def count(self) -> int: ...

    def unused(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that no passage of the library contains; order kept."""
        ...

    def vacuum(self) -> None:
        """Rewrite files that still hold words of deleted passages."""
        ...

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

    def delete(self, sha256: str) -> None:
        """Delete the bytes; harmless when they are gone."""
        ...

    def names(self) -> Iterator[str]:
        """The SHA-256 of everything stored, in any order."""
        ...


class Profiles(Protocol):
    """The available score profiles."""

    def find(self, ref: str) -> ScoreProfile:
        """A profile by "name" (its newest version) or "name@version". Raises BadRequest, listing the available ones."""
        ...

    def default(self, project: str | None) -> ScoreProfile:
        """The default profile of a project (None: of the whole library)."""
        ...


class EntityGraph(Protocol):
    """Which passages mention which entities, for one tenant. Passages that share an entity are linked."""

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Store the entities that stored passages (id > 0) mention; `entities` gives type and aliases of each name.

        Replaces what was stored for the same documents.
        """
        ...

    def add_each(self, contents: Sequence[tuple[Sequence[Passage], Sequence[Entity]]]) -> None:
        """The same for the passages of several documents, each with its own entities."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Spelling → entity, for those of the given names that match an entity of a living passage; without its
        aliases.

        Canonical names match in any case, aliases only as spelled. When several entities share an alias, the one in
        most passages is taken, then the first by name."""
        ...

    def passages_naming(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """At most `most` admissible passages that mention any of these entities, each with all names it mentions.

        weights: canonical name → weight > 0. Order: by the sum of the weights of the entities mentioned, largest first,
        then by id. filters: resolved. among: restricts to these passages as well; None means all.
        """
        ...

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, passages the filters admit)."""
        ...

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities of living passages whose name or alias contains `part`; ignores case, "%" and "_" are literal.
        "" matches every entity. kind: only entities of this type."""
        ...

    def mentions(self, name: str, kind: EntityType, *, limit: int, offset: int = 0) -> MentionPage:
        """The living documents that mention the entity of this canonical name and type."""
        ...
