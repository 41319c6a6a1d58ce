"""Request → candidates: runs the legs in parallel and measures everything that scoring reads.

Exact phrases restrict the passages before retrieval; current labels and usage are applied after it.

dense ∥ sparse ∥ graph → features → the dense leg ranked by passage and best sentence
"""
# Over 300 lines: what is known of a candidate is put together in one place.

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Document
from core.domain.errors import FivefoldError, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.frozen import fast_replace
from core.domain.queries import LEG_LABELS
from core.domain.results import Candidate, Dropped, DropReason, LegHits, LegReport
from core.knowledge.english_reading import language_of_question
from core.knowledge.languages import is_other_language
from core.ports.catalogue import Catalogue
from core.ports.clock import Timer, stopwatch
from core.ports.stores import Embedder, EntityGraph, PassageIds, SparseIndex, VectorIndex
from core.search.explanation import NearestPassage
from core.search.query.expansion import NO_WORDINGS, QueryExpansions, SynonymFinder
from core.search.query.route import question_terms
from core.search.query.syntax import ParsedQuery
from core.search.ranking.features import FeatureExtractor
from core.search.retrieval.graph import GraphResult, graph_reasons, walk_graph
from core.search.store import DocumentUsage
from core.text.tokenize import bare_words

__all__ = [
    "OVERSAMPLED",
    "RERANKED_DEPTH",
    "RetrievalRequest",
    "RetrievalResult",
    "Retriever",
    "admitted",
    "exhausted",
    "in_other_languages",
    "question_vector",
    "text_admissible",
    "with_uses",
]

_MOST_READ = 100_000  # passages whose text is read per condition: some ten microseconds each


def text_admissible(
    query: ParsedQuery, filters: SearchFilters, catalogue: Catalogue, sparse: SparseIndex
) -> PassageIds | None:
    """The admissible passages whose text contains every phrase and no excluded word, ascending; None when the question
    has neither. filters: resolved.

    The keyword index finds the passages with all words of a phrase; the catalogue checks that they are consecutive.
    Passages that are not indexed yet are always read. At most 100,000 passages are read per condition; if there are
    more, those with the highest BM25 for the phrase, and an excluded word then excludes by its stem. Raises
    StoreFailed."""
    if not query.phrases and not query.without:
        return None
    ids = catalogue.admissible(filters)
    unindexed = np.setdiff1d(ids, sparse.passages_containing(()), assume_unique=True)

    def passages_with(phrases: Sequence[str]) -> PassageIds:
        containing = sparse.passages_containing(phrases)
        return np.intersect1d(ids, np.union1d(containing, unindexed), assume_unique=True)

    if query.phrases:
        ids = catalogue.with_phrases(_weightiest(query.phrases, passages_with(query.phrases), sparse), query.phrases)
    for phrase in query.without:
        containing = passages_with([phrase])
        matching = containing if len(containing) > _MOST_READ else catalogue.with_phrases(containing, [phrase])
        ids = np.setdiff1d(ids, matching, assume_unique=True)
    return ids


def _weightiest(phrases: Sequence[str], containing: PassageIds, sparse: SparseIndex) -> PassageIds:
    """As many of the passages as may be read, ascending: chosen by BM25, then the newest."""
    if len(containing) <= _MOST_READ:
        return containing
    parts = [word for phrase in phrases for word in bare_words(phrase)]
    best = np.array([hit.passage_id for hit in sparse.search(parts, containing, _MOST_READ).hits], dtype=np.int64)
    latest = np.setdiff1d(containing, best)[::-1]
    return np.sort(np.concatenate([best, latest[: _MOST_READ - len(best)]]))


def admitted(
    candidates: Sequence[Candidate], filters: SearchFilters, documents: Mapping[int, Document]
) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """Candidates with their current catalogue data, because an index may lag behind a label change."""
    admissible: list[Candidate] = []
    changed: list[Candidate] = []
    admits = filters.predicate()
    for candidate in candidates:
        if candidate.passage.document_id in documents:
            (admissible if admits(candidate.passage) else changed).append(candidate)
    reason = "its labels changed while it was searched"
    return tuple(admissible), tuple(Dropped(candidate, DropReason.FILTERED, reason) for candidate in changed)


def with_uses(candidates: Sequence[Candidate], uses: Mapping[int, DocumentUsage]) -> tuple[Candidate, ...]:
    """The candidates, each with the usage of its document."""
    return tuple(
        fast_replace(each, signals=fast_replace(each.signals, uses=known.uses, distinct_questions=len(known.questions)))
        if (known := uses.get(each.passage.document_id)) is not None
        else each
        for each in candidates
    )


def in_other_languages(
    candidates: Sequence[Candidate], question: str, documents: Mapping[int, Document]
) -> tuple[Candidate, ...]:
    """The candidates, each with whether its document is clearly in another language than the question."""
    language = language_of_question(question)
    others = {i for i, document in documents.items() if is_other_language(document.labels.language, language)}
    return tuple(
        fast_replace(each, signals=fast_replace(each.signals, other_language=True))
        if each.passage.document_id in others
        else each
        for each in candidates
    )


OVERSAMPLED = 24
"""Hits per leg at first: fusion needs more than the page shows, and sliders re-rank them without a new search. More
take longer to score. Chosen by hand."""
RERANKED_DEPTH = 60  # with a reranker, which reads up to 100 passages: two legs find them
_MORE = 15
"""Additional hits of synonyms; few, because each costs as much to measure as any other. Chosen by hand."""
_NO_HITS = LegHits((), 0, 0)
_EVERYTHING = SearchFilters(archived=None)


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What to search for. question: as text; terms: unstemmed, repeated as in the question, for keyword search;
    entities: canonical names; wordings: synonyms of the question's terms.

    filters: resolved. among: restricts to these passages as well; None means all. kind: of answer the question asks
    for. vector: waits for the question's vector when it is already being embedded. depth: hits per leg.
    """

    question: str
    terms: tuple[str, ...] = ()
    filters: SearchFilters = SearchFilters()
    among: PassageIds | None = None
    entities: tuple[str, ...] = ()
    kind: str = ""
    wordings: QueryExpansions = NO_WORDINGS
    vector: Callable[[], NDArray[np.float32]] | None = None
    depth: int = OVERSAMPLED


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Retrieved candidates by passage id with their ranks, one report per leg, and notices on failed legs."""

    candidates: tuple[Candidate, ...]
    legs: tuple[LegReport, ...]
    rarity: Mapping[str, float]
    notices: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every leg ran."""
        return not any(leg.error for leg in self.legs)


@dataclass(frozen=True, slots=True)
class _Leg:
    hits: LegHits
    milliseconds: float
    error: str = ""


class Retriever:
    """Runs all legs, each among the admissible passages only: filters apply before ranking."""

    def __init__(
        self,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        threads: Executor,
        timer: Timer,
        graph: EntityGraph | None = None,
        near: SynonymFinder | None = None,
    ) -> None:
        self._catalogue, self._vectors, self._sparse, self._graph = catalogue, vectors, sparse, graph
        self._embedder, self._threads, self._timer = embedder, threads, timer
        self._measurer = FeatureExtractor(catalogue, vectors, sparse, near)

    # Long on purpose: the legs are run in one place, so that what runs in parallel is visible.
    def find(self, request: RetrievalRequest) -> RetrievalResult:
        """The candidates for a question. Raises StoreFailed when no leg could search: an error is never an empty
        result."""
        embedded: list[NDArray[np.float32]] = []

        def dense() -> LegHits:
            embedded.append(request.vector() if request.vector else question_vector(self._embedder, request.question))
            return self._vectors.search(embedded[0], request.filters, request.depth, request.among)

        admissible = cache(lambda: self._admissible(request))

        def sparse() -> LegHits:
            if not request.wordings.terms:
                return _search_sparse(self._sparse, request.terms, admissible(), request.depth)
            both = (*request.terms, *request.wordings.terms)
            own, wider = self._sparse.search_many([request.terms, both], admissible(), request.depth)
            return _with_more(own, wider, _MORE)

        walked: list[GraphResult] = []

        def graph() -> LegHits:
            assert self._graph is not None
            rows = (len(self._catalogue.admissible(_EVERYTHING)), len(admissible()))
            where = (request.filters, request.among, request.depth, rows)
            walked.append(walk_graph(self._graph, request.entities, *where))
            return walked[0].hits

        # The dense leg has a thread, because it waits for the model; the others take less time than that together.
        waiting = self._threads.submit(_timed, dense, self._timer)
        by_word = _timed(sparse, self._timer)
        near = self._measurer.near_words(tuple(dict.fromkeys(request.terms)), request.question)
        by_entity = _timed(graph, self._timer) if self._graph is not None and request.entities else None
        legs = {"dense": waiting.result(), "sparse": by_word} | ({"graph": by_entity} if by_entity else {})
        notices = _notices(legs)
        ranked = {name: [hit.passage_id for hit in leg.hits.hits] for name, leg in legs.items() if not leg.error}
        measured = self._measurer.measured(
            sorted({i for found in ranked.values() for i in found}),
            () if legs["sparse"].error else request.terms,
            {hit.passage_id: hit.score for hit in legs["dense"].hits.hits},
            None if legs["dense"].error else embedded[0],
            near,
            request.wordings,
            kind=request.kind,
        )
        if "dense" in ranked:
            ranked["dense"] = measured.by_meaning()[: request.depth]
        shared = graph_reasons(walked[0]) if walked else {}
        reports = tuple(_report(name, leg) for name, leg in legs.items())
        return RetrievalResult(measured.candidates(ranked, shared), reports, measured.rarity, notices)

    def near(
        self, question: str, passage_ids: Sequence[int], given: Callable[[], NDArray[np.float32]] | None = None
    ) -> NearestPassage:
        """How near these passages are to a question. given: its vector, None to embed it."""
        vector = given() if given is not None else question_vector(self._embedder, question)
        return NearestPassage(
            self._vectors.similarities(vector, passage_ids), self._sparse.explain(question_terms(question), passage_ids)
        )

    def _admissible(self, request: RetrievalRequest) -> PassageIds:
        admissible = self._catalogue.admissible(request.filters)
        if request.among is None:
            return admissible
        return np.intersect1d(admissible, request.among, assume_unique=True)


def _timed(leg: Callable[[], LegHits], timer: Timer) -> _Leg:
    """Run one leg; a known failure becomes its error, so that the other legs can still answer."""
    elapsed_ms = stopwatch(timer)
    try:
        hits, error = leg(), ""
    except FivefoldError as failure:
        hits, error = _NO_HITS, failure.message
    return _Leg(hits, elapsed_ms(), error)


def _notices(legs: Mapping[str, _Leg]) -> tuple[str, ...]:
    """A notice for each failed leg. Raises StoreFailed when every leg failed."""
    failed = {name: leg.error for name, leg in legs.items() if leg.error}
    if all(name in failed for name in ("dense", "sparse")):
        raise StoreFailed(
            "Nothing could be searched: " + " · ".join(failed.values()),
            "Check the database on the Settings page, then search again.",
        )
    others = "the other leg alone" if len(legs) == 2 else "the other legs"
    return tuple(
        f"The search {LEG_LABELS[name]} failed, so results come from {others}: {error}"
        for name, error in failed.items()
    )


def _report(name: str, leg: _Leg) -> LegReport:
    return LegReport(name, len(leg.hits.hits), leg.hits.rows_before, leg.hits.rows_after, leg.milliseconds, leg.error)


def exhausted(legs: Sequence[LegReport], depth: int) -> bool:
    """Whether the legs have found all they can at this depth, so that a deeper search finds nothing else."""
    return all(leg.error or leg.found < depth or leg.found >= leg.rows_after for leg in legs)


def question_vector(embedder: Embedder, question: str) -> NDArray[np.float32]:
    """The question as a vector of shape (dim,), L2-normalised. Raises ModelUnavailable."""
    vector: NDArray[np.float32] = embedder.embed([question])[0]
    return vector


def _search_sparse(index: SparseIndex, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
    """The admissible passages with the highest BM25 > 0, best first; none without terms. Raises StoreFailed."""
    if not terms:
        rows = index.count()
        return LegHits((), rows, rows if admissible is None else len(admissible))
    return index.search(terms, admissible, top_k)


def _with_more(own: LegHits, wider: LegHits, most: int) -> LegHits:
    """The hits of the question's own words, followed by hits only of other wordings, among the `most` best of them."""
    known = {hit.passage_id for hit in own.hits}
    return replace(own, hits=(*own.hits, *(hit for hit in wider.hits[:most] if hit.passage_id not in known)))
