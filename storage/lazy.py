"""Stand-ins that load the real thing at first use, so that a page is drawn before models load."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage, Span
from core.filters import SearchFilters
from core.ports import Embedder, PassageIds, VectorIndex, Vectors
from core.results import LegHits

__all__ = ["LazyEmbedder", "LazyVectorIndex"]

T = TypeVar("T")


class _Once(Generic[T]):
    """Makes a value at first use, once; a failed attempt is tried again by the next caller."""

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
    """ports.Embedder. Every use can raise ModelUnavailable until the model has been loaded."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._real = _Once(load)

    @property
    def name(self) -> str:
        """Model name with its revision."""
        return self._real().name

    @property
    def notice(self) -> str:
        """What the user should know of the loaded model; "" while none is loaded."""
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
    """ports.VectorIndex whose making waits for the embedding model's name, or for a heavy import."""

    def __init__(self, make: Callable[[], VectorIndex]) -> None:
        self._real = _Once(make)

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages."""
        self._real().add(passages, vectors)

    def update(self, passages: Sequence[Passage]) -> None:
        """What filters read of these passages changed."""
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
