"""The whole query flow, and rescoring, which touches no store."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from core.documents import Document
from core.errors import BadRequest
from core.filters import SearchFilters
from core.ports import Catalogue, Embedder, Profiles, SparseIndex, VectorIndex
from core.queries import Route, ScoreProfile, SearchRequest
from core.results import Candidate, Dropped, DropReason, Hit, SearchResult, Signals
from core.search.answer import judge
from core.search.cite import cite_hits
from core.search.collapse import collapse
from core.search.factors import Asked
from core.search.fuse import Fused, fuse
from core.search.meaning import SentenceMeaning
from core.search.retrieve import Retriever
from core.search.route import question_terms, read_route, routed_only
from core.search.score import rank
from core.tables.built_in import BUILT_IN
from core.tables.profiles import check_profile

__all__ = ["Searcher", "fused_under"]

_LEG_THREADS = 8
_UNJUDGED = "Only a part of the library could be searched."


class Searcher:
    """Answers questions over one tenant's stores. Thread-safe."""

    def __init__(
        self,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        profiles: Profiles = BUILT_IN,
    ) -> None:
        self._catalogue, self._embedder = catalogue, embedder
        self._threads = ThreadPoolExecutor(_LEG_THREADS, thread_name_prefix="leg")
        self._meaning = SentenceMeaning(embedder)
        self._retriever = Retriever(catalogue, vectors, sparse, embedder, self._threads)
        self._profiles = profiles

    def search(self, request: SearchRequest, now: datetime) -> SearchResult:
        """Answer one question.

        Raises BadRequest for an unknown profile or an empty question, StoreFailed when no leg could search.
        """
        return self._search(request, now, None)

    def search_many(
        self, requests: Sequence[SearchRequest], now: datetime, *, cited: bool = True
    ) -> Sequence[SearchResult]:
        """Answer many questions, in their order; equal questions are embedded once, all of them in one batch.

        Sentences are chosen by their words alone: to measure the meaning of twenty per question would take most time.
        cited False leaves the hits without citations: where only their order counts, that saves a quarter of the time.

        Raises what `search` raises, and ModelUnavailable when the questions could not be embedded.
        """
        questions = list(dict.fromkeys(request.question.strip() for request in requests))
        vectors = dict(zip(questions, self._embedder.embed(questions), strict=True)) if questions else {}
        return [self._search(request, now, vectors[request.question.strip()], cited=cited) for request in requests]

    def rescore(
        self, result: SearchResult, profile: ScoreProfile, now: datetime, *, cited: bool = True
    ) -> SearchResult:
        """The same candidates under another profile; touches no store. cited False leaves the hits without citations,
        which take most of the time. Raises BadTable for an unsound profile.
        """
        started = perf_counter()
        check_profile(profile)
        filtered = tuple(item for item in result.dropped if item.reason is DropReason.FILTERED)
        return _ranked(replace(result, profile=profile, dropped=filtered), now, started, self._meaning, cited=cited)

    def warm(self) -> None:
        """Load the model and touch both indexes, so that the first search does not wait."""
        self._retriever.find("warm up", ("warm",), SearchFilters())

    def _search(
        self, request: SearchRequest, now: datetime, vector: NDArray[np.float32] | None, *, cited: bool = True
    ) -> SearchResult:
        started = perf_counter()
        profile = self._profile(request)
        question = request.question.strip()
        if not question:
            raise BadRequest("The question is empty.", "Type what you want to know.")
        route = read_route(question, now.date(), request.removed_chips)
        filters = request.filters.resolved(now)
        if request.only_routed:
            filters = routed_only(filters, route)
        found = self._retriever.find(question, question_terms(question), filters, vector)
        documents = self._catalogue.documents_by_id(sorted({c.passage.document_id for c in found.candidates}))
        admitted, filtered = _admitted(found.candidates, filters, documents)
        unranked = SearchResult(
            request=request,
            route=route,
            profile=profile,
            filters=filters,
            filters_in_words=filters.in_words(self._names(filters)),
            hits=(),
            dropped=filtered,
            candidates=admitted,
            documents=documents,
            legs=found.legs,
            answered=False,
            notices=found.notices,
            refusal=_refusal(question, route, admitted) if found.complete else "",
            undated_left_out=self._catalogue.undated(filters) if filters.dated else 0,
            rarity=found.rarity,
        )
        return _ranked(unranked, now, started, self._meaning if vector is None else None, cited=cited)

    def _profile(self, request: SearchRequest) -> ScoreProfile:
        if request.profile:
            return self._profiles.find(request.profile)
        return self._profiles.default(request.filters.project)

    def _names(self, filters: SearchFilters) -> Mapping[int, str]:
        named = (*filters.documents, *filters.exclude_documents)
        return {i: document.name for i, document in self._catalogue.documents_by_id(named).items()} if named else {}


def _admitted(
    candidates: Sequence[Candidate], filters: SearchFilters, documents: Mapping[int, Document]
) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """Candidates as the catalogue has them now: an index may lag behind a label that was just changed."""
    admitted: list[Candidate] = []
    changed: list[Candidate] = []
    for candidate in candidates:
        if candidate.passage.document_id in documents:
            (admitted if filters.admits(candidate.passage) else changed).append(candidate)
    reason = "its labels changed while it was searched"
    return tuple(admitted), tuple(Dropped(candidate, DropReason.FILTERED, reason) for candidate in changed)


def fused_under(result: SearchResult, profile: ScoreProfile) -> tuple[Candidate, ...]:
    """The candidates in fused order, by the profile's leg weights over the legs that ran."""
    legs = profile.relational_legs if result.route.relational else profile.legs
    weights = {leg.leg: getattr(legs, leg.leg) for leg in result.legs if not leg.error}
    known = {candidate.passage.id: candidate for candidate in result.candidates}
    fused = fuse({i: candidate.signals.ranks for i, candidate in known.items()}, weights, profile.fusion_k)
    return tuple(
        replace(known[item.passage_id], signals=_placed(known[item.passage_id].signals, item)) for item in fused
    )


def _placed(signals: Signals, place: Fused) -> Signals:
    return replace(signals, fusion=place.score, ranks=place.ranks)


def _ranked(
    result: SearchResult, now: datetime, started: float, meaning: SentenceMeaning | None, *, cited: bool = True
) -> SearchResult:
    """The result with its candidates fused, scored, judged, collapsed, cut and cited under its profile. Touches no
    store."""
    result = replace(result, candidates=fused_under(result, result.profile))
    asked = Asked.of(result.route, result.profile, now)
    complete = not any(leg.error for leg in result.legs)
    kept, dropped = rank(result.candidates, asked, thresholds=complete)
    shown, collapsed = collapse(kept)
    most = result.request.top_k or result.profile.max_results
    beyond = tuple(
        Dropped(item.candidate, DropReason.BEYOND_MAX, f"rank {number} of at most {most}", item.score)
        for number, (item, _) in enumerate(shown[most:], most + 1)
    )
    hits = tuple(Hit(n, item.candidate, item.score, (), similar) for n, (item, similar) in enumerate(shown[:most], 1))
    silence = result.refusal
    if not hits and not silence:
        threshold = f"Nothing reached the threshold {result.profile.threshold:g} of the profile '{result.profile.ref}'."
        silence = threshold if complete else _UNJUDGED
    if result.refusal:
        missed = tuple(Dropped(hit.candidate, DropReason.NO_ANSWER, silence, hit.score) for hit in hits)
        dropped, hits = (*missed, *dropped), ()
    return replace(
        result,
        hits=_cited(hits, result, meaning) if cited else hits,
        dropped=(*result.dropped, *dropped, *collapsed, *beyond),
        answered=bool(hits),
        silence=silence,
        milliseconds=(perf_counter() - started) * 1000,
    )


def _refusal(question: str, route: Route, candidates: Sequence[Candidate]) -> str:
    """Why nothing answers, whatever the profile; "" when something may."""
    dates = next((chip.words for chip in route.chips if chip.kind == "date"), "")
    verdict = judge(question, candidates, dates)
    return "" if verdict.answered else verdict.silence


def _cited(hits: Sequence[Hit], result: SearchResult, meaning: SentenceMeaning | None) -> tuple[Hit, ...]:
    question, candidates = result.request.question.strip(), [hit.candidate for hit in hits]
    told = cite_hits(candidates, result.documents, question, result.rarity, meaning)
    return tuple(replace(hit, citations=citations) for hit, citations in zip(hits, told, strict=True))
