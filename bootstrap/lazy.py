"""Lazy proxies that load the real object at first use, so that a page is drawn before models load."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage, Span
from core.domain.filters import SearchFilters
from core.domain.results import LegHits
from core.ports.stores import Embedder, PassageIds, VectorIndex, Vectors

__all__ = ["LazyEmbedder", "LazyVectorIndex"]

T = TypeVar("T")


class _Lazy(Generic[T]):
    """Creates a value at first use, once; after a failure the next caller tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._lock = make, Lock()
        self._made: T | None = None

    def __call__(self) -> T:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def made(self) -> T | None:
        """The value, if it has been made."""
        return self._made


class LazyEmbedder:
    """Lazy core.ports.stores.Embedder. Every use can raise ModelUnavailable until the model has been loaded."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._real = _Lazy(load)

    @property
    def name(self) -> str:
        """Model name with its revision."""
        return self._real().name

    @property
    def notice(self) -> str:
        """The loaded model's notice for the user; "" while none is loaded."""
        real = self._real.made
        return "" if real is None else str(getattr(real, "notice", ""))

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._real().dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in their order."""
        return self._real().embed(texts)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """Vectors for texts, and for the parts of each."""
        return self._real().embed_parts(texts, parts)


class LazyVectorIndex:
    """Lazy core.ports.stores.VectorIndex: creating it needs the embedding model's name, or a heavy import."""

    def __init__(self, make: Callable[[], VectorIndex]) -> None:
        self._real = _Lazy(make)

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages."""
        self._real().add(passages, vectors)

    def update(self, passages: Sequence[Passage]) -> None:
        """Update the fields of these passages that filters read."""
        self._real().update(passages)

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget these documents' vectors."""
        self._real().delete(document_ids)

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The admissible passages nearest to a vector."""
        return self._real().search(vector, filters, top_k, among)

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector."""
        return self._real().blocks(filters)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine of the vector with each of these passages."""
        return self._real().similarities(vector, passage_ids)

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors of these passages."""
        return self._real().vectors(passage_ids)

    def count(self) -> int:
        """Vectors stored."""
        return self._real().count()

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector."""
        return self._real().passage_ids()

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages."""
        self._real().discard(passage_ids)
