"""BM25 over segments with the statistics of them all: what one index built anew would score.

    score = Σ over stems  idf · tf / (tf + k1 · (1 - b + b · length / average length))
    idf   = ln(1 + (N - df + ½) / (df + ½))

The formulas are bm25s's "lucene" variant, the one that gives exactly 0 to a passage holding no word of the question.
bm25s itself computes all scores when it indexes, so it would have to index everything again at each upload; here they
are computed when asked, over the postings of the question's words only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from core.matching import index_stems
from core.ports import PassageIds
from core.results import LegHit, LegHits, TermScore
from storage.bm25_compounds import held_as, sought
from storage.bm25_kernels import kernels
from storage.bm25_segments import Segment

__all__ = ["K1", "B", "Bm25"]

K1, B = 1.5, 0.75
"""Saturation of repeated words and weight of a passage's length; bm25s's defaults (Robertson & Zaragoza 2009, §3.5)."""


@cache
def _idf_of() -> Callable[[int, int], float]:
    """idf(df, N) of bm25s."""
    from bm25s import scoring

    found: Callable[[int, int], float] = scoring._select_idf_scorer("lucene")
    return found


class Bm25:
    """A library's segments at one moment; never changed, so that a search reads it without a lock."""

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self.segments = tuple(segment for segment in segments if segment.alive)
        self._alive = [segment.alive for segment in self.segments]
        self._count = sum(self._alive)
        stems = sum(int(segment.lengths[segment.live].sum()) for segment in self.segments)
        average = max(stems / self._count, 1e-9) if self._count else 1.0
        self._norms = [K1 * ((1 - B) + B * s.lengths.astype(np.float64) / average) for s in self.segments]
        self._known: dict[str, float] = {}  # idf of stems that were asked for and are held

    def count(self) -> int:
        """Living passages."""
        return self._count

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term as a whole, ≥ 0; a term in no passage has the highest."""
        return {term: self._idf(stems[0]) if (stems := index_stems(term)) else 0.0 for term in terms}

    def _idf(self, stem: str) -> float:
        known = self._known.get(stem)
        if known is not None:
            return known
        holding = 0
        for segment, alive in zip(self.segments, self._alive, strict=True):
            rows = segment.span(stem)[0]
            holding += len(rows) if alive == len(segment.live) else int(np.count_nonzero(segment.live[rows]))
        found = float(_idf_of()(holding, self._count))
        if holding:
            self._known[stem] = found
        return found

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """The admissible passages with a score above 0, best first; ties by passage id."""
        return self.search_many([terms], admissible, top_k)[0]

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for each question; which rows are open is worked out once."""
        opened = [s.live if admissible is None else _open_rows(s, admissible) for s in self.segments]
        admitted = sum(int(np.count_nonzero(rows)) for rows in opened)
        added: list[str] = []
        found = [np.zeros(len(segment.ids)) for segment in self.segments]
        hits = []
        for terms in questions:
            stems = list(_first(terms))
            if stems[: len(added)] != added:  # else it goes on from the question before
                added, found = [], [np.zeros(len(segment.ids)) for segment in self.segments]
            self._add(stems[len(added) :], found)
            added = stems
            hits.append(LegHits(self._best(found, opened, top_k), self._count, admitted))
        return hits

    def _add(self, stems: Sequence[str], found: Sequence[NDArray[np.float64]]) -> None:
        """What more stems are worth to the rows of each segment."""
        for segment, norms, scores in zip(self.segments, self._norms, found, strict=True):
            for stem in stems:
                kernels().score(scores, *segment.span(stem), norms, self._idf(stem))

    def _best(
        self, found: Sequence[NDArray[np.float64]], opened: Sequence[NDArray[np.bool_]], top_k: int
    ) -> tuple[LegHit, ...]:
        if top_k <= 0:
            return ()
        ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
        for segment, measured, open_rows in zip(self.segments, found, opened, strict=True):
            rows = kernels().best(measured, open_rows, min(top_k, len(measured)))
            ids.append(segment.ids[rows])
            scores.append(measured[rows])
        together, all_scores = np.concatenate(ids), np.concatenate(scores)
        order = np.lexsort((together, -all_scores))[:top_k]
        return tuple(map(LegHit, together[order].tolist(), all_scores[order].tolist()))

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per indexed passage, the share of each stem it holds, in the order of the terms."""
        first = _first(terms)
        asked, idf = list(first.items()), np.array([self._idf(stem) for stem in first])
        explained: dict[int, tuple[TermScore, ...]] = {}
        for ids, rows, norms, counts in self._counted(list(first), passage_ids):
            scores = (idf * (counts / (norms[rows][:, None] + counts))).tolist()
            for i, held, added in zip(ids, counts.tolist(), scores, strict=True):
                parts = zip(asked, held, added, strict=True)
                explained[i] = tuple([TermScore(term, stem, score) for (stem, term), count, score in parts if count])
        return explained

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage holds."""
        found: dict[int, frozenset[str]] = {}
        for ids, _, _, counts in self._counted(stems, passage_ids):
            found |= {i: frozenset(compress(stems, held)) for i, held in zip(ids, counts.tolist(), strict=True)}
        return found

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
                    rows[segment.span(stem)[0]] = True
                open_rows &= rows
            found.append(segment.ids[open_rows])
        return np.sort(np.concatenate(found))

    def _counted(
        self, stems: Sequence[str], passage_ids: Sequence[int]
    ) -> Iterator[tuple[list[int], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]]:
        """For each segment the living passages among these: ids, rows, the norms of all rows, and how often each of
        these rows holds each stem, shape (rows, stems)."""
        wanted = np.array(sorted(set(passage_ids)), dtype=np.int64)
        for segment, norms in zip(self.segments, self._norms, strict=True):
            some = _within(wanted, segment.ids)
            rows = np.searchsorted(segment.ids, some)
            rows = rows[(segment.ids[rows] == some) & segment.live[rows]]
            columns = np.array([segment.columns.get(stem, -1) for stem in stems], dtype=np.int64)
            counts = kernels().counted(segment.starts, segment.rows, segment.counts, columns, rows)
            yield segment.ids[rows].tolist(), rows, norms, counts


def _first(terms: Sequence[str]) -> dict[str, str]:
    """Each stem of the terms once, with the first term that has it."""
    first: dict[str, str] = {}
    for term in terms:
        for stem in index_stems(term):
            first.setdefault(stem, term)
    return first


def _open_rows(segment: Segment, admissible: PassageIds) -> NDArray[np.bool_]:
    """Which living rows are admissible: bool, shape (n,)."""
    some = _within(admissible, segment.ids)
    if np.array_equal(some, segment.ids):
        return segment.live
    return kernels().admitted(segment.ids, segment.live, some)


def _within(ids: PassageIds, among: PassageIds) -> PassageIds:
    """Those of the ids that lie between the first and the last of others, both ascending."""
    start, end = np.searchsorted(ids, (among[0], among[-1] + 1))
    return ids[start:end]
