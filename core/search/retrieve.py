"""Request → candidates: the legs side by side, with everything measured that scoring reads.

dense ∥ sparse ∥ graph → measured → the dense leg again, by the moved question, among what was found
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from core.entities import EntityGraph
from core.errors import FivefoldError, StoreFailed
from core.filters import SearchFilters
from core.ports import Catalogue, Embedder, PassageIds, SparseIndex, VectorIndex
from core.results import Candidate, LegHits, LegReport
from core.search.dense import question_vector, search_dense
from core.search.graph import GraphFound, graph_reasons, walk_graph
from core.search.measure import Measurer
from core.search.near import NearWords
from core.search.route import question_terms
from core.search.sparse import search_sparse, with_more
from core.search.why_not import Near
from core.search.wordings import NO_WORDINGS, Wordings

__all__ = ["Found", "Retriever", "Wanted"]

OVERSAMPLED = 60
"""Passages each leg brings: fusion needs more than the page shows, and sliders re-rank them without asking again."""
_MORE = 25
"""Passages looked at besides that say the question in other words: each costs as much to measure as any other."""
_NO_HITS = LegHits((), 0, 0)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for. question: in words; terms: unstemmed, to search for by word; entities: canonical names;
    wordings: other ones of what the question says.

    filters: resolved. among: of these passages only, beside the filters; None means all. kind: of answer the question
    asks for. vector: waits for that of the question, when somebody embeds it already.
    """

    question: str
    terms: tuple[str, ...] = ()
    filters: SearchFilters = SearchFilters()
    among: PassageIds | None = None
    entities: tuple[str, ...] = ()
    kind: str = ""
    wordings: Wordings = NO_WORDINGS
    vector: Callable[[], NDArray[np.float32]] | None = None


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
    """Searches all legs, each among the admissible passages only: filters apply before ranking."""

    def __init__(
        self,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        threads: Executor,
        graph: EntityGraph | None = None,
        near: NearWords | None = None,
    ) -> None:
        self._catalogue, self._vectors, self._sparse, self._graph = catalogue, vectors, sparse, graph
        self._embedder, self._threads = embedder, threads
        self._measurer = Measurer(catalogue, vectors, sparse, near)

    # One leg after the other, each named: split up, what runs beside what could not be read in one place.
    def find(self, wanted: Wanted) -> Found:
        """The candidates for a question. Raises StoreFailed when no leg could search: an error is never an empty
        result."""
        embedded: list[NDArray[np.float32]] = []

        def dense() -> LegHits:
            embedded.append(wanted.vector() if wanted.vector else question_vector(self._embedder, wanted.question))
            return search_dense(self._vectors, embedded[0], wanted.filters, OVERSAMPLED, wanted.among)

        def sparse() -> LegHits:
            admissible = self._admissible(wanted)
            if not wanted.wordings.terms:
                return search_sparse(self._sparse, wanted.terms, admissible, OVERSAMPLED)
            both = (*wanted.terms, *wanted.wordings.terms)
            own, wider = self._sparse.search_many([wanted.terms, both], admissible, OVERSAMPLED)
            return with_more(own, wider, _MORE)

        waiting: dict[str, Future[_Leg]] = {"dense": self._threads.submit(_timed, dense)}
        walked: list[GraphFound] = []
        if self._graph is not None and wanted.entities:
            asked = (self._graph, wanted.entities, wanted.filters, wanted.among, OVERSAMPLED)

            def graph() -> LegHits:
                walked.append(walk_graph(*asked))
                return walked[0].hits

            waiting["graph"] = self._threads.submit(_timed, graph)
        by_word = _timed(sparse)
        near = self._measurer.near_words(wanted.terms)  # while the dense leg waits for its model
        legs = {name: by_word if name == "sparse" else waiting[name].result() for name in _order(waiting)}
        notices = _notices(legs)
        ranked = {name: [hit.passage_id for hit in leg.hits.hits] for name, leg in legs.items() if not leg.error}
        measured = self._measurer.measured(
            sorted({i for found in ranked.values() for i in found}),
            () if legs["sparse"].error else wanted.terms,
            {hit.passage_id: hit.score for hit in legs["dense"].hits.hits},
            None if legs["dense"].error else embedded[0],
            near,
            wanted.wordings,
            kind=wanted.kind,
        )
        if measured.feedback:
            ranked["dense"] = sorted(measured.feedback, key=lambda i: (-measured.feedback[i], i))[:OVERSAMPLED]
        shared = graph_reasons(walked[0]) if walked else {}
        reports = tuple(_report(name, leg) for name, leg in legs.items())
        return Found(measured.candidates(ranked, shared), reports, measured.rarity, notices)

    def near(self, question: str, passage_ids: Sequence[int]) -> Near:
        """How near these passages come to a question by themselves."""
        vector = question_vector(self._embedder, question)
        return Near(
            self._vectors.similarities(vector, passage_ids), self._sparse.explain(question_terms(question), passage_ids)
        )

    def _admissible(self, wanted: Wanted) -> PassageIds:
        admissible = self._catalogue.admissible(wanted.filters)
        if wanted.among is None:
            return admissible
        return np.intersect1d(admissible, wanted.among, assume_unique=True)


def _order(waiting: Mapping[str, object]) -> tuple[str, ...]:
    return ("dense", "sparse", "graph") if "graph" in waiting else ("dense", "sparse")


def _timed(leg: Callable[[], LegHits]) -> _Leg:
    """Run one leg; a known failure becomes its error, so that the others can still answer."""
    started = perf_counter()
    try:
        hits, error = leg(), ""
    except FivefoldError as failure:
        hits, error = _NO_HITS, failure.message
    return _Leg(hits, (perf_counter() - started) * 1000, error)


def _notices(legs: Mapping[str, _Leg]) -> tuple[str, ...]:
    """What to say of the legs that failed. Raises StoreFailed when none could search."""
    failed = {name: leg.error for name, leg in legs.items() if leg.error}
    if all(name in failed for name in ("dense", "sparse")):
        raise StoreFailed(
            "Nothing could be searched: " + " · ".join(failed.values()),
            "Check the database on the Settings page, then search again.",
        )
    others = "the other leg alone" if len(legs) == 2 else "the other legs"
    return tuple(
        f"{name.capitalize()} search failed, so results come from {others}: {error}" for name, error in failed.items()
    )


def _report(name: str, leg: _Leg) -> LegReport:
    return LegReport(name, len(leg.hits.hits), leg.hits.rows_before, leg.hits.rows_after, leg.milliseconds, leg.error)
