"""Request → candidates: both legs side by side, with everything measured that scoring reads.

dense ∥ sparse → measured → best matches → moved question → dense again, among what was found
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.errors import FivefoldError, StoreFailed
from core.filters import SearchFilters
from core.ports import Catalogue, Embedder, SparseIndex, VectorIndex
from core.results import Candidate, LegHits, LegReport, Signals, TermScore
from core.search.dense import question_vector, search_dense
from core.search.feedback import Match, best_matches, moved
from core.search.sparse import covered_share, search_sparse

__all__ = ["Found", "Retriever"]

OVERSAMPLED = 100
"""Passages each leg brings: fusion needs more than the page shows, and sliders re-rank them without asking again."""
_NO_HITS = LegHits((), 0, 0)


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval brought: candidates by passage id with their ranks, one report per leg, notices on what failed."""

    candidates: tuple[Candidate, ...]
    legs: tuple[LegReport, ...]
    rarity: Mapping[str, float]
    notices: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every leg could search."""
        return not any(leg.error for leg in self.legs)


@dataclass(frozen=True, slots=True)
class _Leg:
    hits: LegHits
    milliseconds: float
    error: str = ""


class Retriever:
    """Searches both legs, each among the admissible passages only: filters apply before ranking."""

    def __init__(
        self, catalogue: Catalogue, vectors: VectorIndex, sparse: SparseIndex, embedder: Embedder, threads: Executor
    ) -> None:
        self._catalogue, self._vectors, self._sparse = catalogue, vectors, sparse
        self._embedder, self._threads = embedder, threads

    def find(
        self,
        question: str,
        terms: Sequence[str],
        filters: SearchFilters,
        vector: NDArray[np.float32] | None = None,
    ) -> Found:
        """The candidates for a question. filters: resolved. vector: of the question, when it was embedded before.

        Raises StoreFailed when no leg could search: an error is never an empty result.
        """
        embedded: list[NDArray[np.float32]] = [] if vector is None else [vector]

        def dense() -> LegHits:
            if not embedded:
                embedded.append(question_vector(self._embedder, question))
            return search_dense(self._vectors, embedded[0], filters, OVERSAMPLED)

        def sparse() -> LegHits:
            return search_sparse(self._sparse, terms, self._catalogue.admissible(filters), OVERSAMPLED)

        waiting: Future[_Leg] = self._threads.submit(_timed, dense)
        legs = {"sparse": _timed(sparse), "dense": waiting.result()}
        notices = _notices(legs)
        ranked = {name: [hit.passage_id for hit in leg.hits.hits] for name, leg in legs.items() if not leg.error}
        similar = {hit.passage_id: hit.score for hit in legs["dense"].hits.hits}
        measured = self._measured(
            sorted({i for found in ranked.values() for i in found}),
            () if legs["sparse"].error else terms,
            similar,
            () if legs["dense"].error else embedded,
        )
        if measured.feedback:
            ranked["dense"] = sorted(measured.feedback, key=lambda i: (-measured.feedback[i], i))[:OVERSAMPLED]
        reports = tuple(_report(name, legs[name]) for name in ("dense", "sparse"))
        return Found(measured.candidates(ranked), reports, measured.rarity, notices)

    def _measured(
        self,
        ids: Sequence[int],
        terms: Sequence[str],
        similar: Mapping[int, float],
        embedded: Sequence[NDArray[np.float32]],
    ) -> "_Measured":
        """Everything scoring reads, of passages some leg found. similar: cosines the dense leg measured already."""
        unmeasured = [passage_id for passage_id in ids if passage_id not in similar]
        if unmeasured and embedded:
            similar = {**similar, **self._vectors.similarities(embedded[0], unmeasured)}
        explained = self._sparse.explain(terms, ids) if terms else {}
        rarity = dict(self._sparse.rarity(terms)) if terms else {}
        found = _Measured(self._catalogue.passages(ids), similar, {}, explained, rarity)
        if not embedded or not similar:
            return found
        counts = best_matches([found.match(passage_id) for passage_id in found.passages])
        there = moved(embedded[0], self._vectors.vectors(list(counts)), counts) if counts else None
        return found if there is None else replace(found, feedback=self._vectors.similarities(there, ids))


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was measured of the passages found, each by passage id. rarity: question term → rarity."""

    passages: Mapping[int, Passage]
    similar: Mapping[int, float]
    feedback: Mapping[int, float]
    explained: Mapping[int, Sequence[TermScore]]
    rarity: Mapping[str, float]

    def match(self, passage_id: int) -> Match:
        """How well a passage matches before feedback."""
        signals = self.signals(passage_id)
        keyword = min(signals.bm25 / signals.bm25_most, 1.0) if signals.bm25_most > 0 else 0.0
        return Match(passage_id, signals.similarity, keyword)

    def signals(self, passage_id: int) -> Signals:
        """What is measured of one passage, before its place among the others is known."""
        terms = tuple(self.explained.get(passage_id, ()))
        feedback = self.feedback.get(passage_id)
        return Signals(
            similarity=min(max(self.similar.get(passage_id, 0.0), 0.0), 1.0),
            bm25=sum(term.score for term in terms),
            bm25_most=sum(self.rarity.values()),
            terms=terms,
            coverage=covered_share(terms, self.rarity),
            feedback=None if feedback is None else min(max(feedback, 0.0), 1.0),
        )

    def candidates(self, ranked: Mapping[str, Sequence[int]]) -> tuple[Candidate, ...]:
        """The passages some leg ranks, by id, with all signals but those of fusion, which a profile decides."""
        ranks: dict[int, dict[str, int]] = {}
        for leg, ids in ranked.items():
            for rank, passage_id in enumerate(ids, 1):
                ranks.setdefault(passage_id, {})[leg] = rank
        return tuple(
            Candidate(self.passages[passage_id], replace(self.signals(passage_id), ranks=ranks[passage_id]))
            for passage_id in sorted(ranks)
            if passage_id in self.passages
        )


def _timed(leg: Callable[[], LegHits]) -> _Leg:
    """Run one leg; a known failure becomes its error, so that the other leg can still answer."""
    started = perf_counter()
    try:
        hits, error = leg(), ""
    except FivefoldError as failure:
        hits, error = _NO_HITS, failure.message
    return _Leg(hits, (perf_counter() - started) * 1000, error)


def _notices(legs: Mapping[str, _Leg]) -> tuple[str, ...]:
    """What to say of the legs that failed. Raises StoreFailed when none could search."""
    failed = {name: leg.error for name, leg in legs.items() if leg.error}
    if len(failed) == len(legs):
        raise StoreFailed(
            "Nothing could be searched: " + " · ".join(failed.values()),
            "Check the database on the Settings page, then search again.",
        )
    return tuple(
        f"{name.capitalize()} search failed, so results come from the other leg alone: {error}"
        for name, error in failed.items()
    )


def _report(name: str, leg: _Leg) -> LegReport:
    return LegReport(name, len(leg.hits.hits), leg.hits.rows_before, leg.hits.rows_after, leg.milliseconds, leg.error)
