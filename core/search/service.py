"""The search service that pages, commands and API routes call."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.domain.entities import EntityPage, EntityType
from core.domain.errors import NotFound, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.people import LOCAL_LOGIN, Principal
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import Candidate, SearchResult
from core.ports.catalogue import Catalogue
from core.ports.model_choice import DEFAULT_CHOICE, ModelChoice, under_one_model
from core.ports.search_processes import SearchProcesses
from core.ports.stores import EntityGraph, SparseIndex, VectorIndex
from core.search.explanation import MissingExplanation
from core.search.pipeline import SearchPipeline
from core.search.retrieval.similar import SimilarPassage, similar_to
from core.search.usage_tracker import UsageTracker

__all__ = ["SearchService", "login_of", "remember_question"]

_log = logging.getLogger(__name__)


def login_of(person: Principal | None) -> str:
    """Whose searches are remembered; None is whoever owns this machine."""
    return LOCAL_LOGIN if person is None else person.login


def remember_question(catalogue: Catalogue, question: str, hits: int, at: datetime, login: str) -> None:
    """Add a question to a person's recent ones; if the database cannot, its answer is not lost for that."""
    try:
        catalogue.save_searched(question, hits, at, login)
    except StoreFailed:
        _log.exception("A question could not be added to the recent ones.")


class SearchService:
    """Search in one tenant's library. graph: None for a library without entities. processes: search in their place;
    None: this process searches."""

    def __init__(
        self,
        *,
        pipeline: SearchPipeline,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        graph: EntityGraph | None,
        usage: UsageTracker,
        now: Callable[[], datetime],
        choice: ModelChoice = DEFAULT_CHOICE,
        processes: SearchProcesses | None = None,
    ) -> None:
        self._processes = processes
        self._pipeline, self._catalogue, self._vectors, self._sparse = pipeline, catalogue, vectors, sparse
        self._graph, self._usage, self._now, self._choice = graph, usage, now, choice

    def run(self, request: SearchRequest, *, remember: bool = True, by: Principal | None = None) -> SearchResult:
        """Answer one question. remember: add it to this person's recent searches, and log the results shown.

        Raises BadRequest for an unknown profile, StoreFailed when no leg could search.
        """
        result = None if self._processes is None or request.rerank else self._processes.search(request)
        if result is None:
            result = self._with_place_notice(self._pipeline.search(request, self._now()))
        if remember and request.question.strip():
            remember_question(self._catalogue, request.question, result.total, self._now(), login_of(by))
            self._usage.shown(result)
        return result

    def _with_place_notice(self, result: SearchResult) -> SearchResult:
        """The result, with a notice when the question names a place that no passage searched is, or may be, labelled
        with."""
        jurisdiction = result.route.jurisdiction
        words = next((chip.words for chip in result.route.chips if chip.kind == "jurisdiction"), "")
        there = result.filters.replace(jurisdictions=(jurisdiction,) if jurisdiction else (), exclude_jurisdictions=())
        if (
            not jurisdiction
            or not words
            or any(each.passage.jurisdiction == jurisdiction for each in result.candidates)
            or len(self._catalogue.admissible(there))
        ):
            return result
        where = "that the filters admit" if result.filters_in_words else "in the library"
        notice = f"No passage {where} is labelled {words}. The results are about other places."
        return replace(result, notices=(*result.notices, notice))

    def run_many(self, requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        """Answer many questions, in order, without adding them to the recent searches. Raises what `run` raises."""
        return self._pipeline.search_many(requests, self._now())

    def rescore(self, result: SearchResult, profile: ScoreProfile) -> SearchResult:
        """Score the same candidates under another profile; reads no store."""
        return self._pipeline.rescore(result, profile, self._now())

    def similar(self, passage_id: int, filters: SearchFilters) -> Sequence[SimilarPassage]:
        """The admissible passages most similar to a stored one. Raises NotFound, StoreFailed."""
        passages = self._catalogue.passages([passage_id])
        if passage_id not in passages:
            raise NotFound(
                f"Passage {passage_id} is not in the library.", "Its document was replaced or deleted; search again."
            )
        return under_one_model(
            self._choice,
            lambda: similar_to(
                passages[passage_id],
                filters.resolved(self._now()),
                catalogue=self._catalogue,
                vectors=self._vectors,
                sparse=self._sparse,
            ),
        )

    def why_missing(self, result: SearchResult, document_id: int) -> MissingExplanation:
        """Why a document is not among the results. Raises NotFound, StoreFailed, ModelUnavailable."""
        return self._pipeline.why_not(result, self._catalogue.document(document_id))

    def explain(self, result: SearchResult, passage_id: int) -> Candidate:
        """The candidate behind a passage of a result, whether shown or dropped. Raises NotFound."""
        for candidate in result.candidates:
            if candidate.passage.id == passage_id:
                return candidate
        raise NotFound(f"Passage {passage_id} is not among the candidates.", "Search again; the library has changed.")

    def recent(self, limit: int = 8, by: Principal | None = None) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, time) of this person's searches, newest first, each question once."""
        return self._catalogue.last_searches(limit, login_of(by))

    def forget_recent(self, by: Principal | None = None) -> None:
        """Delete this person's recent searches. Raises StoreFailed."""
        self._catalogue.delete_searches(login_of(by))

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages that a filter on the value admits, under the filters of the other fields."""
        return self._catalogue.facets(filters.resolved(self._now()))

    def months(self, filters: SearchFilters) -> Mapping[str, int]:
        """Month ("2024-05") → passages dated in it, under all filters but those of the date."""
        return self._catalogue.months(filters)

    def undated(self, filters: SearchFilters) -> int:
        """Number of documents a date filter excludes only because they are undated."""
        return self._catalogue.undated(filters.resolved(self._now()))

    def entities(self, part: str, kind: EntityType | None, limit: int, offset: int) -> EntityPage:
        """Entities whose name contains `part`, those in most passages first; none for a library without entities."""
        if self._graph is None:
            return EntityPage((), 0)
        return self._graph.search(part, kind, limit=limit, offset=offset)

    @property
    def reranker_problems(self) -> Mapping[str, str]:
        """Reranker → why its model could not be loaded at the last attempt."""
        return self._pipeline.reranker_problems

    def load_reranker(self, name: str) -> None:
        """Start to load the model of a reranker, without waiting for it."""
        self._pipeline.load_reranker(name)

    def retry_reranker(self, name: str) -> None:
        """Load the model of a reranker again at its next search, if that failed before."""
        self._pipeline.retry_reranker(name)

    def warm(self) -> None:
        """Load the models and indexes, so that the first search does not wait."""
        self._pipeline.warm()
