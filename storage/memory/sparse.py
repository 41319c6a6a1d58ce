"""BM25 that forgets when the process ends."""

from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from core.documents import Passage
from core.ports import PassageIds
from core.results import LegHits, TermScore
from storage.bm25_scores import Bm25
from storage.bm25_segments import build, settled, without

__all__ = ["MemorySparseIndex"]


class MemorySparseIndex:
    """ports.SparseIndex whose segments live in memory only."""

    def __init__(self) -> None:
        self._writing = Lock()
        self._bm25 = Bm25()

    def add(self, passages: Sequence[Passage]) -> None:
        """Store or replace."""
        if not passages:
            return
        fresh = build(passages)
        with self._writing:
            older = [without(s, np.isin(s.ids, fresh.ids, assume_unique=True)) for s in self._bm25.segments]
            self._bm25 = Bm25(settled([*older, fresh]))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget every passage of these documents."""
        with self._writing:
            gone = np.asarray(document_ids, dtype=np.int64)
            self._bm25 = Bm25([without(s, np.isin(s.documents, gone)) for s in self._bm25.segments])

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """Admissible passages with a score above 0, best first; ties by passage id."""
        return self._bm25.search(terms, admissible, top_k)

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for the terms of each question."""
        return [self.search(terms, admissible, top_k) for terms in questions]

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per passage, the share of each term it holds."""
        return self._bm25.explain(terms, passage_ids)

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage holds."""
        return self._bm25.held(stems, passage_ids)

    def holding(self, terms: Sequence[str]) -> PassageIds:
        """The passages that hold every word of the terms, by stem."""
        return self._bm25.holding(terms)

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term, ≥ 0."""
        return self._bm25.rarity(terms)

    def count(self) -> int:
        """Passages indexed."""
        return self._bm25.count()
