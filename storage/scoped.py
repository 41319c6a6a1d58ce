"""The indexes as a person sees them who may see some projects only: their filters are narrowed before they search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.domain.results import LegHits, TermScores
from core.ports.catalogue import Catalogue
from core.ports.stores import PassageIds, SparseIndex, VectorIndex, Vectors

__all__ = ["ScopedSparseIndex", "ScopedVectorIndex"]

_LIVING_AND_ARCHIVED = SearchFilters(archived=None)


class ScopedVectorIndex:
    """Implements core.ports.stores.VectorIndex over the index of the whole library. projects: which the person sees;
    catalogue: as the person sees it."""

    def __init__(self, index: VectorIndex, projects: Sequence[str], catalogue: Catalogue) -> None:
        self._index, self._projects, self._catalogue = index, projects, catalogue

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace the vectors of stored passages. Raises StoreFailed."""
        self._index.add(passages, vectors, embedded_by=embedded_by)

    def update(self, passages: Sequence[Passage]) -> None:
        """Changed filter fields of these passages. Raises StoreFailed."""
        self._index.update(passages)

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Delete the vectors of these documents. but: passages whose vectors stay. Raises StoreFailed."""
        self._index.delete(document_ids, but=but)

    def ping(self) -> None:
        """Raises StoreFailed when the index does not answer."""
        self._index.ping()

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The nearest visible passages, best first. Raises StoreFailed."""
        found = self._index.search(vector, filters.within(self._projects), top_k, among)
        return replace(found, rows_before=self.count())

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Visible passages' ids and vectors, ids ascending. Raises StoreFailed."""
        return self._index.blocks(filters.within(self._projects))

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine per visible passage. Raises StoreFailed."""
        return self._index.similarities(vector, self._seen(passage_ids))

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The vectors of the visible ones of these passages. Raises StoreFailed."""
        return self._index.vectors(self._seen(passage_ids))

    def count(self) -> int:
        """Visible passages. Raises StoreFailed."""
        return len(self._catalogue.admissible(_LIVING_AND_ARCHIVED))

    def passage_ids(self) -> PassageIds:
        """Visible passages with a vector, ascending. Raises StoreFailed."""
        return np.intersect1d(self._index.passage_ids(), self._catalogue.admissible(_LIVING_AND_ARCHIVED))

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of the visible ones of these passages. Raises StoreFailed."""
        self._index.discard(np.intersect1d(passage_ids, self._catalogue.admissible(_LIVING_AND_ARCHIVED)))

    def vacuum(self) -> None:
        """Of the whole library. Raises StoreFailed."""
        self._index.vacuum()

    def _seen(self, passage_ids: Sequence[int]) -> list[int]:
        ids = np.asarray(list(passage_ids), dtype=np.int64)
        seen: list[int] = ids[np.isin(ids, self._catalogue.admissible(_LIVING_AND_ARCHIVED))].tolist()
        return seen


class ScopedSparseIndex:
    """Implements core.ports.stores.SparseIndex over the index of the whole library. catalogue: as the person sees it.

    How rare a term is stays that of the whole library: it is a number of each term that is asked for, and weighs the
    same for everybody, so that two people see the same score.
    """

    def __init__(self, index: SparseIndex, catalogue: Catalogue) -> None:
        self._index, self._catalogue = index, catalogue

    def add(self, passages: Sequence[Passage]) -> None:
        """Index passages. Raises StoreFailed."""
        self._index.add(passages)

    def delete(self, document_ids: Sequence[int]) -> None:
        """Remove documents. Raises StoreFailed."""
        self._index.delete(document_ids)

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """The visible admissible passages with the highest score, best first."""
        (found,) = self.search_many([terms], admissible, top_k)
        return found

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """As `search`, for each question."""
        seen = self._seen()
        chosen = seen if admissible is None else np.intersect1d(admissible, seen, assume_unique=True)
        return [replace(each, rows_before=len(seen)) for each in self._index.search_many(questions, chosen, top_k)]

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> TermScores:
        """The contribution of each term per visible passage."""
        return self._index.explain(terms, self._among(passage_ids))

    def passages_containing(self, terms: Sequence[str]) -> PassageIds:
        """The visible passages that contain all of these words."""
        return np.intersect1d(self._index.passages_containing(terms), self._seen(), assume_unique=True)

    def contained_stems(self, stems: Sequence[str], passage_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these stems each visible passage contains."""
        seen = np.isin(np.asarray(passage_ids, dtype=np.int64), self._seen())
        return self._index.contained_stems(stems, passage_ids) & seen[:, None]

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term in the whole library."""
        return self._index.rarity(terms)

    def count(self) -> int:
        """Visible passages."""
        return len(self._seen())

    def unused(self, stems: Sequence[str]) -> Sequence[str]:
        """Those that no passage of the whole library contains."""
        return self._index.unused(stems)

    def vacuum(self) -> None:
        """Of the whole library. Raises StoreFailed."""
        self._index.vacuum()

    def differences(self) -> tuple[int, int]:
        """Of the whole library: only an administrator of every project may ask. Changes nothing."""
        return self._index.differences()

    def reconcile(self) -> tuple[int, int]:
        """Of the whole library, as `differences`."""
        return self._index.reconcile()

    def _seen(self) -> PassageIds:
        return self._catalogue.admissible(_LIVING_AND_ARCHIVED)

    def _among(self, passage_ids: Sequence[int]) -> list[int]:
        ids = np.asarray(list(passage_ids), dtype=np.int64)
        seen: list[int] = ids[np.isin(ids, self._seen())].tolist()
        return seen
