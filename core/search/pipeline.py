"""The complete search pipeline, and rescoring, which reads no store.

question → route, filters → legs → reranker → score → near duplicates → page → citations

The order of the results is made of bands, so that page after page is the same as one long list. Band 0 holds what the
legs find at their first depth; where a page needs more, the depth doubles, and what is found only then is the next
band, ranked within itself and listed behind. How likely an answer is, and what the reranker reads, depends on band 0
alone. The list ends when the legs have found every admissible passage, or when a band holds next to no results.
"""
# Longer than 300 lines: the stages of a search can be read in one place.

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Document
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.frozen import fast_replace, maker_of
from core.domain.queries import Chip, Route, ScoreProfile, SearchRequest
from core.domain.results import Candidate, Dropped, DropReason, Hit, LegReport, SearchResult, Signals
from core.knowledge.profiles import BUILT_IN, check_profile, fitted_for_another
from core.knowledge.rerankers import rerank_table
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.clock import Timer, stopwatch
from core.ports.model_choice import DEFAULT_CHOICE, ModelChoice, under_one_model
from core.ports.models import Reranker
from core.ports.stores import Embedder, EntityGraph, Profiles, SparseIndex, VectorIndex
from core.search.citations.cite import cite_hits
from core.search.explanation import MissingExplanation, why_not
from core.search.fair_semaphore import FairSemaphore
from core.search.query.expansion import SynonymFinder, wordings_of
from core.search.query.per_request import check_request, given_vector, profile_for
from core.search.query.route import question_terms, read_route, routed_only
from core.search.query.syntax import ParsedQuery, misread, narrowed, read_query
from core.search.ranking.answerability import (
    answer_estimate,
    answer_threshold,
    filters_match_nothing,
    what_is_missing,
)
from core.search.ranking.factors import ScoringContext
from core.search.ranking.rerank import reranked, with_rerank
from core.search.ranking.score import FusedRank, collapse, fuse, rank
from core.search.retrieval.graph import question_entities
from core.search.retrieval.retriever import (
    OVERSAMPLED,
    RERANKED_DEPTH,
    RetrievalRequest,
    RetrievalResult,
    Retriever,
    admitted,
    exhausted,
    in_other_languages,
    question_vector,
    text_admissible,
    with_uses,
)
from core.search.store import DocumentUsage

__all__ = ["SearchPipeline", "fused_under"]

_LEG_THREADS = 8  # threads shared by all searches. Chosen by hand, not fitted.
_FEW = 1 / 20
"""A band with a smaller share of results among its passages is the last one: otherwise a strict profile would have the
whole library measured for a page it cannot fill. So a search measures some 20 passages for each result at most."""
_UNJUDGED = "Only a part of the library could be searched."
_Vector = Callable[[], NDArray[np.float32]]
_Routes = dict[tuple[str, tuple[str, ...]], Route]


class SearchPipeline:
    """Answers questions over one tenant's stores. Thread-safe."""

    def __init__(
        self,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        profiles: Profiles = BUILT_IN,
        *,
        terms: Callable[[], WorkspaceTerms],
        timer: Timer,
        graph: EntityGraph | None = None,
        near: SynonymFinder | None = None,
        rerankers: Mapping[str, Reranker] | None = None,
        uses: Callable[[Sequence[int]], Mapping[int, DocumentUsage]] = lambda document_ids: {},
        choice: ModelChoice = DEFAULT_CHOICE,
        at_once: FairSemaphore | None = None,
    ) -> None:
        """terms: the workspace's, read once per question. timer: measures durations. graph, near, rerankers (by name):
        None or empty where the library has none. uses: usage of documents, where known. choice: the embedding model in
        use; a search during which it changes is run again. at_once: shared by all pipelines of a process; None for a
        process that has one."""
        self._catalogue, self._sparse, self._embedder, self._terms = catalogue, sparse, embedder, terms
        self._threads = ThreadPoolExecutor(_LEG_THREADS, thread_name_prefix="leg")
        self._retriever = Retriever(catalogue, vectors, sparse, embedder, self._threads, timer, graph, near)
        self._timer, self._choice, self._at_once = timer, choice, at_once or FairSemaphore()
        self._profiles, self._graph, self._rerankers, self._uses = profiles, graph, rerankers or {}, uses

    def search(self, request: SearchRequest, now: datetime) -> SearchResult:
        """Answer one question.

        Raises BadRequest for an unknown profile or an empty question, StoreFailed when no leg could search.
        """
        return under_one_model(self._choice, lambda: self._search(request, now, self._terms()))

    def search_many(
        self, requests: Sequence[SearchRequest], now: datetime, *, cited: bool = True
    ) -> Sequence[SearchResult]:
        """Answer many questions, in order; equal questions are embedded once, all of them in one batch.

        cited False leaves out the citations: where only the ranking counts, that saves a quarter of the time.

        Raises what `search` raises, and ModelUnavailable when the questions could not be embedded.
        """
        return under_one_model(self._choice, lambda: self._search_many(requests, now, cited=cited))

    def _search_many(self, requests: Sequence[SearchRequest], now: datetime, *, cited: bool) -> Sequence[SearchResult]:
        terms = self._terms()
        plain = [_parsed(request, terms).plain for request in requests]
        embedded = [text for text, request in zip(plain, requests, strict=True) if not request.query_vector]
        questions = list(dict.fromkeys(embedded))
        vectors = dict(zip(questions, self._embedder.embed(questions), strict=True)) if questions else {}
        routes: _Routes = {}
        return [
            self._search(
                request,
                now,
                terms,
                partial(vectors.__getitem__, question) if question in vectors else None,
                routes,
                cited=cited,
            )
            for request, question in zip(requests, plain, strict=True)
        ]

    def rescore(
        self, result: SearchResult, profile: ScoreProfile, now: datetime, *, cited: bool = True
    ) -> SearchResult:
        """Score the same candidates under another profile; reads no store. cited False leaves out the citations, which
        take most of the time. Raises BadTable for an invalid profile.
        """
        elapsed_ms = stopwatch(self._timer)
        check_profile(profile)
        filtered = tuple(item for item in result.dropped if item.reason is DropReason.FILTERED)
        return _finished(_ranked(replace(result, profile=profile, dropped=filtered), now), elapsed_ms, cited=cited)

    def why_not(self, result: SearchResult, document: Document) -> MissingExplanation:
        """Why a document is not among the results. Raises StoreFailed, ModelUnavailable."""
        query, passages = _parsed(result.request, self._terms()), self._catalogue.passages_of(document.id)
        text_matches = text_admissible(query, result.filters, self._catalogue, self._sparse)
        vector = given_vector(result.request, self._embedder)
        near = self._retriever.near(query.plain, [p.id for p in passages], vector)
        return why_not(result, document, passages, text_matches, near)

    @property
    def reranker_problems(self) -> Mapping[str, str]:
        """Reranker → why its model could not be loaded at the last attempt."""
        return {name: problem for name, each in self._rerankers.items() if (problem := each.problem)}

    def load_reranker(self, name: str) -> None:
        """Start to load the model of a reranker, without waiting for it."""
        if name in self._rerankers:
            self._rerankers[name].start_loading()

    def retry_reranker(self, name: str) -> None:
        """Load the model of a reranker again at its next search, if that failed before."""
        if name in self._rerankers:
            self._rerankers[name].forget_failure()

    def warm(self) -> None:
        """Load the model and touch both indexes, so that the first search does not wait."""
        self._retriever.find(RetrievalRequest("warm up", ("warm",)))

    def _search(
        self,
        request: SearchRequest,
        now: datetime,
        terms: WorkspaceTerms,
        vector: _Vector | None = None,
        routes: _Routes | None = None,
        *,
        cited: bool = True,
    ) -> SearchResult:
        elapsed_ms = stopwatch(self._timer)
        with self._at_once:
            found, retrieval = self._found(request, now, terms, vector, {} if routes is None else routes)
            if not request.rerank:
                return _finished(self._deepened(found, retrieval, now), elapsed_ms, cited=cited)
        found = self._with_reranker_scores(found, retrieval.question, now)  # seconds, in which others search
        with self._at_once:
            return _finished(self._deepened(found, retrieval, now), elapsed_ms, cited=cited)

    # Long on purpose: the stages run one after the other, and the flow can be read in one place.
    def _found(
        self, request: SearchRequest, now: datetime, terms: WorkspaceTerms, vector: _Vector | None, routes: _Routes
    ) -> tuple[SearchResult, RetrievalRequest]:
        """The candidates of the first depth, not ranked yet, and what was searched for. routes: of questions that were
        read already; this one's is added."""
        profile = profile_for(request, self._profile(request))
        check_request(request)
        query = _parsed(request, terms)
        vector = given_vector(request, self._embedder) or vector
        # Begun here, and in the same line of threads before the leg that waits for it, so that it always gets its turn.
        vector = vector or self._threads.submit(question_vector, self._embedder, query.plain).result
        read = request.question, request.removed_chips
        route = routes[read] = routes.get(read) or self._route(query, request, now, terms)
        filters = self._filters(query, request, now)
        if request.only_routed:
            filters = routed_only(filters, route)
        retrieval = RetrievalRequest(
            query.plain,
            question_terms(query.plain),
            filters,
            text_admissible(query, filters, self._catalogue, self._sparse),
            route.entities,
            route.answer_kind,
            wordings_of(query.plain),
            vector,
            RERANKED_DEPTH if request.rerank else OVERSAMPLED,
        )
        retrieved = self._retriever.find(retrieval)
        candidates, filtered, documents = self._admitted(retrieved, query.plain, filters)
        unranked = SearchResult(
            request=request,
            route=route,
            profile=profile,
            filters=filters,
            filters_in_words=(*filters.in_words(self._names(filters)), *query.in_words),
            hits=(),
            dropped=filtered,
            candidates=candidates,
            documents=documents,
            legs=retrieved.legs,
            answered=False,
            notices=(
                *misread(request.question, terms),
                *retrieved.notices,
                *fitted_for_another(profile, self._choice.known()),
            ),
            answer_probability=answer_estimate(candidates, "") if retrieved.complete else None,
            undated_left_out=self._catalogue.undated(filters) if filters.dated else 0,
            rarity=retrieved.rarity,
        )
        return unranked, retrieval

    def _admitted(
        self,
        retrieved: RetrievalResult,
        question: str,
        filters: SearchFilters,
        known: Iterable[int] = (),
        band: int = 0,
    ) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...], Mapping[int, Document]]:
        """The candidates that are not known, with their current labels, languages and usage; those left out; their
        documents."""
        old = set(known)
        fresh = [
            fast_replace(each, signals=fast_replace(each.signals, band=band)) if band else each
            for each in retrieved.candidates
            if each.passage.id not in old
        ]
        ids = sorted({candidate.passage.document_id for candidate in fresh})
        documents = self._catalogue.documents_by_id(ids)
        admissible, filtered = admitted(fresh, filters, documents)
        admissible = in_other_languages(admissible, question, documents)
        return with_uses(admissible, self._uses(ids)), filtered, documents

    def _deepened(self, result: SearchResult, retrieval: RetrievalRequest, now: datetime) -> SearchResult:
        """The result ranked, with as many bands as its page needs and there are."""
        needed = result.request.offset + (result.request.top_k or result.profile.max_results)
        band = 0
        while True:
            ranked = _ranked(result, now)
            ended = exhausted(result.legs, retrieval.depth) or _is_last(ranked, band)
            if ended or ranked.total >= needed:
                return replace(ranked, more=not ended)
            band += 1
            retrieval = replace(retrieval, depth=2 * retrieval.depth)
            found = self._retriever.find(retrieval)
            known = (each.passage.id for each in (*result.candidates, *(lost.candidate for lost in result.dropped)))
            candidates, filtered, documents = self._admitted(found, retrieval.question, result.filters, known, band)
            result = replace(
                result,
                candidates=(*result.candidates, *candidates),
                dropped=(*result.dropped, *filtered),
                documents={**result.documents, **documents},
                legs=tuple(_both(*each) for each in zip(result.legs, found.legs, strict=True)),
                notices=tuple(dict.fromkeys((*result.notices, *found.notices))),
            )

    def _route(self, query: ParsedQuery, request: SearchRequest, now: datetime, terms: WorkspaceTerms) -> Route:
        """The route of the question without its syntax, with what the syntax says and the entities it names."""
        route = read_route(query.plain, now.date(), terms, request.removed_chips)
        named = question_entities(query.plain, self._graph) if self._graph is not None else ()
        named_entities = tuple(name for name in named if f"entity:{name}" not in request.removed_chips)
        chips = (*query.chips, *route.chips, *(Chip(f"entity:{name}", name, name) for name in named_entities))
        return replace(route, entities=named_entities, chips=chips)

    def _filters(self, query: ParsedQuery, request: SearchRequest, now: datetime) -> SearchFilters:
        """The filters of the request, narrowed by the fields the question names."""
        names = {}
        if {"document", "-document"} & query.fields.keys():
            names = {document.id: document.name for document in self._catalogue.documents()}
        filters = narrowed(request.filters, query, names).resolved(now)
        if self._graph is None or not filters.entities:
            return filters
        known = self._graph.known(filters.entities)
        entity_names = tuple(known[name].entity.name if name in known else name for name in filters.entities)
        return filters.replace(entities=tuple(dict.fromkeys(entity_names)))

    def _with_reranker_scores(self, result: SearchResult, question: str, now: datetime) -> SearchResult:
        """The result with its best candidates, by score, read by the requested reranker.

        Raises BadRequest for an unknown reranker.
        """
        name = result.request.rerank
        if not name:
            return result
        if name not in self._rerankers:
            raise BadRequest(f"There is no reranker '{name}'.", f"Choose {', '.join(self._rerankers) or 'none'}.")
        elapsed_ms = stopwatch(self._timer)
        seconds = result.request.reranker_deadline
        deadline_ms = None if seconds is None else 1000 * seconds
        row = rerank_table().rows[name]
        candidates, notice = reranked(_best_first(result, now), question, self._rerankers[name], row, deadline_ms)
        probability = result.answer_probability
        return replace(
            result,
            candidates=tuple(sorted(candidates, key=lambda candidate: candidate.passage.id)),
            answer_probability=None if probability is None else answer_estimate(candidates, name),
            notices=(*result.notices, *filter(None, (notice,))),
            reranked=sum(candidate.signals.rerank_logit is not None for candidate in candidates),
            rerank_ms=elapsed_ms(),
        )

    def _profile(self, request: SearchRequest) -> ScoreProfile:
        if request.profile:
            return self._profiles.find(request.profile)
        return self._profiles.default(request.filters.project)

    def _names(self, filters: SearchFilters) -> Mapping[int, str]:
        named = (*filters.documents, *filters.exclude_documents)
        known = self._catalogue.documents_by_id(named) if named else {}
        return {0: "none that fits"} | {i: document.name for i, document in known.items()}


def _parsed(request: SearchRequest, terms: WorkspaceTerms) -> ParsedQuery:
    """The parsed question, without the syntax terms whose chips the user removed."""
    return read_query(request.question.strip(), terms).without_chips(request.removed_chips)


def _effective_profile(result: SearchResult) -> ScoreProfile:
    """The profile, with a weight for the reranker where one has scored something; the request's threshold holds."""
    if all(candidate.signals.rerank_logit is None for candidate in result.candidates):
        return result.profile
    profile = with_rerank(result.profile, rerank_table().rows[result.request.rerank].share)
    given = result.request.threshold
    return profile if given is None else replace(profile, threshold=given)


def fused_under(result: SearchResult, profile: ScoreProfile) -> tuple[Candidate, ...]:
    """The candidates in fused order, by the profile's leg weights over the legs that ran."""
    legs = profile.relational_legs if result.route.relational else profile.legs
    weights = {leg.leg: getattr(legs, leg.leg) for leg in result.legs if not leg.error}
    known = {candidate.passage.id: candidate for candidate in result.candidates}
    ranks = {i: candidate.signals.ranks for i, candidate in known.items()}
    bands = {i: candidate.signals.band for i, candidate in known.items()}
    fused = fuse(ranks, weights, profile.fusion_k, bands)
    made = maker_of(Candidate)
    return tuple(
        made(known[item.passage_id].passage, _with_fusion(known[item.passage_id].signals, item)) for item in fused
    )


def _best_first(result: SearchResult, now: datetime) -> tuple[Candidate, ...]:
    """All candidates in the order of their scores, those that a better one stands for last."""
    fused = replace(result, candidates=fused_under(result, result.profile))
    scored, _ = rank(fused.candidates, ScoringContext.of_result(fused, result.profile, now), thresholds=False)
    distinct, collapsed = collapse(scored)
    return (*(item.candidate for item, _ in distinct), *(item.candidate for item in collapsed))


def _with_fusion(signals: Signals, fused: FusedRank) -> Signals:
    return fast_replace(signals, fusion=fused.score, ranks=fused.ranks)


def _both(earlier: LegReport, later: LegReport) -> LegReport:
    """The report of a leg that searched again, deeper. A failure at any depth stays."""
    spent = earlier.milliseconds + later.milliseconds
    return replace(later, milliseconds=spent, error=later.error or earlier.error)


def _is_last(ranked: SearchResult, band: int) -> bool:
    """Whether next to none of a band's passages reached the thresholds, so that no deeper band is searched for."""
    passages = sum(candidate.signals.band == band for candidate in ranked.candidates)
    short = (DropReason.BELOW_FLOOR, DropReason.BELOW_THRESHOLD)
    below = sum(each.reason in short and each.candidate.signals.band == band for each in ranked.dropped)
    return passages - below <= _FEW * passages


def _ranked(result: SearchResult, now: datetime) -> SearchResult:
    """The result with its candidates fused, scored, checked for an answer, deduplicated and cut to its page under its
    profile. Reads no store."""
    result = replace(result, profile=_effective_profile(result), candidates=fused_under(result, result.profile))
    context = ScoringContext.of_result(result, result.profile, now)
    complete = not any(leg.error for leg in result.legs)
    scored, dropped = rank(result.candidates, context, thresholds=complete)
    distinct, collapsed = collapse(scored)
    start = result.request.offset
    end = start + (result.request.top_k or result.profile.max_results)
    numbered = list(enumerate(distinct, 1))
    earlier = tuple(
        Dropped(item.candidate, DropReason.EARLIER_PAGE, f"rank {number}", item.score)
        for number, (item, _) in numbered[:start]
    )
    beyond = tuple(
        Dropped(item.candidate, DropReason.BEYOND_MAX, f"rank {number}; the list ends at {end}", item.score)
        for number, (item, _) in numbered[end:]
    )
    first = [candidate for candidate in result.candidates if not candidate.signals.band]
    threshold = answer_threshold(first, result.request.rerank)
    answered = bool(distinct) and (result.answer_probability is None or result.answer_probability >= threshold)
    return replace(
        result,
        hits=tuple(Hit(number, item.candidate, item.score, (), near) for number, (item, near) in numbered[start:end]),
        dropped=(*result.dropped, *dropped, *collapsed, *earlier, *beyond),
        answered=answered,
        silence="" if answered else _silence(result, len(distinct), dropped, complete=complete),
        total=len(distinct),
    )


def _finished(ranked: SearchResult, elapsed_ms: Callable[[], float], *, cited: bool) -> SearchResult:
    """The ranked result with citations, unless these are left out, and the time it took."""
    hits = _cited(ranked.hits, ranked) if cited else ranked.hits
    return replace(ranked, hits=hits, milliseconds=elapsed_ms())


def _silence(result: SearchResult, total: int, dropped: Sequence[Dropped], *, complete: bool) -> str:
    """What is missing for an answer, or why no passage is listed."""
    if not complete:
        return _UNJUDGED
    if filters_match_nothing(result):
        return f"No passage matches the filters: {', '.join(result.filters_in_words)}."
    if not total and any(each.reason is DropReason.BELOW_THRESHOLD for each in dropped):
        return f"Nothing reached the threshold {result.profile.threshold:g} of the profile '{result.profile.ref}'."
    first = [candidate for candidate in result.candidates if not candidate.signals.band]
    return what_is_missing(first, result.rarity, result.route.answer_kind)


def _cited(hits: Sequence[Hit], result: SearchResult) -> tuple[Hit, ...]:
    candidates = [hit.candidate for hit in hits]
    citations_by_hit = cite_hits(candidates, result.documents, result.rarity, result.route.answer_kind)
    return tuple(replace(hit, citations=citations) for hit, citations in zip(hits, citations_by_hit, strict=True))
