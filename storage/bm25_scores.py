"""BM25 over segments with the statistics of them all: what one index built anew would score.

    score = Σ over stems  idf · tf / (tf + k1 · (1 - b + b · length / average length))
    idf   = ln(1 + (N - df + ½) / (df + ½))

The formulas are bm25s's "lucene" variant, the one that gives exactly 0 to a passage holding no word of the question.
bm25s itself computes all scores when it indexes, so it would have to index everything again at each upload; here they
are computed when asked, over the postings of the question's words only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.matching import index_stems
from core.ports import PassageIds
from core.results import LegHit, LegHits, TermScore
from storage.bm25_compounds import held_as, sought
from storage.bm25_segments import Segment

__all__ = ["K1", "B", "Bm25"]

K1, B = 1.5, 0.75
"""Saturation of repeated words and weight of a passage's length; bm25s's defaults (Robertson & Zaragoza 2009, §3.5)."""

_Shares = tuple[NDArray[np.int32], NDArray[np.float64]]


@cache
def _formulas() -> tuple[Callable[..., float], Callable[..., NDArray[np.float64]]]:
    """idf(df, N) and the term-frequency part of bm25s."""
    from bm25s import scoring

    return scoring._select_idf_scorer("lucene"), scoring._select_tfc_scorer("lucene")


class Bm25:
    """A library's segments at one moment; never changed, so that a search reads it without a lock."""

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self.segments = tuple(segment for segment in segments if segment.alive)
        self._count = sum(segment.alive for segment in self.segments)
        stems = sum(int(segment.lengths[segment.live].sum()) for segment in self.segments)
        self._average = max(stems / self._count, 1e-9) if self._count else 1.0

    def count(self) -> int:
        """Living passages."""
        return self._count

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term as a whole, ≥ 0; a term in no passage has the highest."""
        return {term: self._idf(stems[0]) if (stems := index_stems(term)) else 0.0 for term in terms}

    def _idf(self, stem: str) -> float:
        return self._idf_of(segment.postings(stem)[0] for segment in self.segments)

    def _idf_of(self, holding: Iterable[NDArray[np.int32]]) -> float:
        return float(_formulas()[0](sum(map(len, holding)), self._count))

    def _shares(self, terms: Sequence[str]) -> list[tuple[str, str, list[_Shares]]]:
        """(term, stem, per segment the living rows holding the stem and what it adds to the score of each); each stem
        once, under the first term that has it."""
        first: dict[str, str] = {}
        for term in terms:
            for stem in index_stems(term):
                first.setdefault(stem, term)
        found = []
        for stem, term in first.items():
            postings = [segment.postings(stem) for segment in self.segments]
            idf = self._idf_of(rows for rows, _ in postings)
            shares = [
                (rows, self._scored(idf, counts, segment.lengths[rows]))
                for segment, (rows, counts) in zip(self.segments, postings, strict=True)
            ]
            found.append((term, stem, shares))
        return found

    def _scored(self, idf: float, counts: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.float64]:
        return idf * _formulas()[1](counts.astype(np.float64), lengths.astype(np.float64), self._average, K1, B)

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """The admissible passages with a score above 0, best first; ties by passage id."""
        return self.search_many([terms], admissible, top_k)[0]

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for each question; which rows are open is worked out once."""
        opened = [
            s.live if admissible is None else s.live & np.isin(s.ids, admissible, assume_unique=True)
            for s in self.segments
        ]
        admitted = sum(int(np.count_nonzero(rows)) for rows in opened)
        return [LegHits(self._hits(terms, opened, top_k), self._count, admitted) for terms in questions]

    def _hits(self, terms: Sequence[str], opened: Sequence[NDArray[np.bool_]], top_k: int) -> tuple[LegHit, ...]:
        shares = self._shares(terms)
        ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
        for number, segment in enumerate(self.segments):
            found = np.zeros(len(segment.ids))
            for _, _, of_segment in shares:
                rows, added = of_segment[number]
                found[rows] += added
            hits = np.flatnonzero((found > 0) & opened[number])
            ids.append(segment.ids[hits])
            scores.append(found[hits])
        return _best(np.concatenate(ids), np.concatenate(scores), top_k)

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per indexed passage, the share of each stem it holds, in the order of the terms."""
        first: dict[str, str] = {}
        for term in terms:
            for stem in index_stems(term):
                first.setdefault(stem, term)
        idf = {stem: self._idf(stem) for stem in first}
        explained: dict[int, list[TermScore]] = {}
        for segment, rows in self._located(passage_ids):
            ids = segment.ids[rows].tolist()
            explained |= {i: [] for i in ids}
            for stem, term in first.items():
                held, counts = segment.postings(stem)
                at, there = _places(held, rows)
                added = self._scored(idf[stem], counts[at], segment.lengths[rows[there]])
                for place, score in zip(there.tolist(), added.tolist(), strict=True):
                    explained[ids[place]].append(TermScore(term, stem, score))
        return {passage_id: tuple(parts) for passage_id, parts in explained.items()}

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage holds."""
        found: dict[int, set[str]] = {}
        for segment, rows in self._located(passage_ids):
            ids = segment.ids[rows].tolist()
            found |= {i: set() for i in ids}
            for stem in stems:
                for place in _places(segment.postings(stem)[0], rows)[1].tolist():
                    found[ids[place]].add(stem)
        return {passage_id: frozenset(held) for passage_id, held in found.items()}

    def holding(self, terms: Sequence[str]) -> PassageIds:
        """The passages that hold every word of the terms, by stem, alone or in a compound; stop words restrict nothing,
        and no terms give every passage."""
        wanted = sought(terms)
        found = [np.empty(0, np.int64)]
        for segment in self.segments:
            open_rows = segment.live.copy()
            for stems in held_as(wanted, segment.columns):
                rows = np.zeros(len(open_rows), dtype=np.bool_)
                for stem in stems:
                    rows[segment.postings(stem)[0]] = True
                open_rows &= rows
            found.append(segment.ids[open_rows])
        return np.sort(np.concatenate(found))

    def _located(self, passage_ids: Sequence[int]) -> Iterator[tuple[Segment, NDArray[Any]]]:
        """Each segment with its living rows among these passages."""
        wanted = np.unique(np.asarray(passage_ids, dtype=np.int64))
        for segment in self.segments:
            at, _ = _places(segment.ids, wanted)
            yield segment, at[segment.live[at]]


def _places(among: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where each wanted number stands among others, both ascending, of those that do; and which of the wanted do."""
    if not len(among) or not len(wanted):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    asked = wanted.astype(among.dtype, copy=False)  # of another type, the whole of the others would be converted
    at = np.minimum(np.searchsorted(among, asked), len(among) - 1)
    there = np.flatnonzero(among[at] == asked)
    return at[there], there


def _best(ids: PassageIds, scores: NDArray[np.float64], top_k: int) -> tuple[LegHit, ...]:
    if top_k <= 0:
        return ()
    if len(ids) > top_k:
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        ids, scores = ids[scores >= least], scores[scores >= least]  # more than top_k when some tie
    order = np.lexsort((ids, -scores))[:top_k]
    return tuple(LegHit(int(i), float(s)) for i, s in zip(ids[order], scores[order], strict=True))
