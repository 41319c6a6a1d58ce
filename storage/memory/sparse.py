"""BM25 by looking at every passage."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.documents import Passage
from core.matching import stem, stemmed_words
from core.ports import PassageIds
from core.results import LegHit, LegHits, TermScore

__all__ = ["MemorySparseIndex"]

K1, B = 1.5, 0.75


@dataclass(frozen=True, slots=True)
class _Row:
    document_id: int
    counts: Counter[str]
    length: int


class MemorySparseIndex:
    """ports.SparseIndex, exact."""

    def __init__(self) -> None:
        self._rows: dict[int, _Row] = {}

    def add(self, passages: Sequence[Passage]) -> None:
        """Store or replace."""
        for passage in passages:
            stems = stemmed_words(f"{passage.context}\n{passage.text}")
            self._rows[passage.id] = _Row(passage.document_id, Counter(stems), len(stems))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget every passage of these documents."""
        self._rows = {i: row for i, row in self._rows.items() if row.document_id not in set(document_ids)}

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """Admissible passages with a score above 0, best first; ties by passage id."""
        ids = list(self._rows) if admissible is None else [int(i) for i in admissible if int(i) in self._rows]
        scores = {i: sum(part.score for part in parts) for i, parts in self.explain(terms, ids).items()}
        best = sorted((i for i in ids if scores[i] > 0), key=lambda i: (-scores[i], i))[: max(top_k, 0)]
        return LegHits(tuple(LegHit(i, scores[i]) for i in best), len(self._rows), len(ids))

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per passage, the share of each term it holds."""
        by_stem = {stem(term.lower()): term for term in reversed(terms)}
        idf = {s: self._idf(s) for s in by_stem}
        average = sum(row.length for row in self._rows.values()) / max(1, len(self._rows))
        found = {}
        for i in passage_ids:
            if i in self._rows:
                row = self._rows[i]
                norm = K1 * (1 - B + B * row.length / max(average, 1e-9))
                found[i] = tuple(
                    TermScore(by_stem[s], s, idf[s] * row.counts[s] / (row.counts[s] + norm))
                    for s in sorted(by_stem)
                    if row.counts[s]
                )
        return found

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term, ≥ 0."""
        return {term: self._idf(stem(term.lower())) for term in terms}

    def _idf(self, stemmed: str) -> float:
        holding = sum(1 for row in self._rows.values() if row.counts[stemmed])
        return math.log(1 + (len(self._rows) - holding + 0.5) / (holding + 0.5))

    def count(self) -> int:
        """Passages indexed."""
        return len(self._rows)
