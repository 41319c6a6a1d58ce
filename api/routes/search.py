"""Search: by query string or with all options, rescoring, why not, facets, similar passages."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import ConfigDict, Field

from api.inputs import Body, FilterBody, Id, Question, SearchBody, Shape, ShortText, filters_of, with_example
from api.paging import cursor_of_offset, offset_of_cursor
from api.route import AtWork, guarded_router
from api.shapes.documents import DocumentShape, PassageShape
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.search.exports import export_data
from core.search.query.per_request import changed_profile, profile_for
from core.search.result_data import next_offset

__all__ = ["routes"]


class CitationShape(Shape):
    """A cited sentence: start and end count characters of the page's text."""

    citation_id: str = Field(description="{passage id}.{sentence, counted from 0}")
    document: str
    title: str
    url: str
    source_type: str | None
    date: str | None
    sha256: str
    page: int | None
    start: int
    end: int
    quote: str
    relevance: float


class FactorShape(Shape):
    """One part of a score. contribution = weight · value."""

    name: str
    value: float
    weight: float
    contribution: float
    reason: str


class MultiplierShape(Shape):
    """A factor applied to the sum of the parts."""

    name: str
    value: float
    reason: str


class HitShape(Shape):
    """One result. score = Σ contributions × Π multipliers."""

    rank: int
    score: float
    factors: list[FactorShape]
    multipliers: list[MultiplierShape]
    passage_id: int
    document: str
    sha256: str
    page: int | None
    section: str
    truth: str | None
    domain: str | None
    authority: str | None
    jurisdiction: str | None
    date: str | None
    keywords: list[str]
    text: str
    citations: list[CitationShape]
    similar: list[int] = Field(description="Passages that say nearly the same, collapsed into this one.")


class LegShape(Shape):
    """What one leg of the search found."""

    leg: str = Field(description="dense, sparse, graph …")
    found: int
    rows_before: int
    rows_after: int = Field(description="Passages the filters admit.")
    milliseconds: float
    error: str


class SearchShape(Shape):
    """A search result: the same data as the JSON download of the page Search (schema fivefold.search/1)."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    question: str
    request: dict[str, Any]
    profile: str
    answered: bool = Field(description="Whether the library probably answers the question.")
    answer_probability: float | None
    silence: str = Field(description="What is missing, when it probably does not answer.")
    filters: list[str] = Field(description="The filters in words.")
    applied_filters: dict[str, Any]
    total: int
    more: bool
    hits: list[HitShape]
    legs: list[LegShape]
    notices: list[str]
    milliseconds: float
    left_out: list[dict[str, Any]] = Field(description="Passages that were found and not shown, each with its reason.")
    bibliography: list[dict[str, Any]]
    next_cursor: str | None = Field(default=None, description="For the next page of GET /search.")


class MissingShape(Shape):
    """Why a document is not among the results."""

    document: DocumentShape
    reasons: list[str] = Field(description="One sentence per reason.")
    passages: int
    admitted: int = Field(description="Its passages that the filters admit.")
    found: int
    best: PassageShape | None = Field(description="Its admitted passage nearest to the question.")


class SimilarShape(Shape):
    """A passage similar to another."""

    passage: PassageShape
    nearness: float = Field(description="In [0, 1].")
    cosine: float | None
    shared: list[str] = Field(description="Rare words that both contain.")


class RecentSearch(Shape):
    """A question asked before."""

    question: str
    results: int
    at: datetime


routes = guarded_router("search")


class SearchQuery(FilterBody):
    """A search in a query string. Filters are repeated parameters: `truths=regulatory&truths=compliance`."""

    model_config = ConfigDict(extra="forbid", strict=False)  # a query string holds texts only

    q: Question = Field(description="The question.", examples=["When must overtime be paid?"])
    profile: ShortText = Field(default="", description="A score profile; empty: the default.")
    limit: int = Field(default=10, ge=1, le=100, description="At most so many results.")
    offset: int = Field(default=0, ge=0, le=10_000, description="Results to skip.")
    cursor: str = Field(default="", max_length=500, description="`next_cursor` of the page before; instead of offset.")
    only_routed: bool = Field(default=False, description="Only the truths this question is about.")
    rerank: ShortText = Field(default="", description="included, fast, balanced or accurate; empty: none.")


@routes.get("/search", response_model=SearchShape, summary="Search")
def search(caller: AtWork, query: Annotated[SearchQuery, Query()]) -> dict[str, Any]:
    """Passages that answer a question, each with its score in parts and its cited sentences."""
    mark = query.model_dump_json(exclude={"limit", "offset", "cursor"})
    offset = offset_of_cursor(query.cursor, mark) if query.cursor else query.offset
    profiles, filters = caller.workbench.evaluation.profiles, filters_of(query)
    scored = profiles.find(query.profile) if query.profile else profiles.default(filters.project)
    request = SearchRequest(
        query.q,
        filters,
        scored.ref,
        top_k=query.limit,
        offset=offset,
        only_routed=query.only_routed,
        rerank=query.rerank,
    )
    result = caller.workbench.search.run(request)
    end = next_offset(result)
    return {**export_data(result), "next_cursor": None if end is None else cursor_of_offset(end, mark)}


@routes.post("/search", response_model=SearchShape, summary="Search with all options")
def search_with_options(caller: AtWork, search: SearchBody) -> dict[str, Any]:
    """The same as GET, with filters as data, and with weights, threshold, reranker or query vector of your own."""
    return export_data(caller.workbench.search.run(search.request(caller.workbench.evaluation.profiles)))


class Scoring(Body):
    """How to score: a profile, and what is different from it."""

    profile: ShortText = Field(default="", description="Empty: the profile of the search.")
    weights: dict[ShortText, Annotated[float, Field(ge=0, le=1)]] | None = None
    multipliers: dict[ShortText, Annotated[float, Field(gt=0, le=1)]] | None = None
    threshold: float | None = Field(default=None, ge=0, le=1)
    floor: float | None = Field(default=None, ge=0, le=1)
    max_results: int | None = Field(default=None, ge=1, le=100)
    half_life_days: float | None = Field(default=None, gt=0, le=1e6)

    def of(self, base: ScoreProfile) -> ScoreProfile:
        """The profile with these changes. Raises BadTable naming every wrong value."""
        return changed_profile(base, self.model_dump(exclude={"profile"}, exclude_none=True), "scoring")


class Rescoring(Body):
    """A search, and how to score what it found."""

    model_config = with_example(
        {
            "search": {"question": "When must overtime be paid?"},
            "scoring": {"weights": {"similarity": 0.7, "authority": 0.3}},
        }
    )

    search: SearchBody
    scoring: Scoring


@routes.post("/search/rescore", response_model=SearchShape, summary="Score the same results otherwise")
def rescore(caller: AtWork, rescoring: Rescoring) -> dict[str, Any]:
    """The candidates of a search under another profile, or other weights; a threshold that is given holds as it is,
    also with a reranker. A search made in the last two minutes is not repeated."""
    result, scoring = _retrieved(caller, rescoring.search), rescoring.scoring
    profiles, request = caller.workbench.evaluation.profiles, result.request
    if scoring.profile:
        base, threshold = profiles.find(scoring.profile), scoring.threshold
    else:  # without the weight of the reranker, which rescoring gives it again
        base = profile_for(request, profiles.find(request.profile))
        threshold = request.threshold if scoring.threshold is None else scoring.threshold
    found = replace(result, request=replace(request, threshold=threshold))
    return export_data(caller.workbench.search.rescore(found, scoring.of(base)))


class WhyNot(Body):
    """A search, and the document that is missing among its results."""

    model_config = with_example({"search": {"question": "When must overtime be paid?"}, "document_id": 1})

    search: SearchBody
    document_id: Id


@routes.post("/search/why-not", response_model=MissingShape, summary="Why a document is not among the results")
def why_not(caller: AtWork, request: WhyNot) -> MissingShape:
    """Every reason why a document is missing: filters, distance, threshold, or a passage that says the same."""
    caller.workbench.documents.get(request.document_id)
    found = caller.workbench.search.why_missing(_retrieved(caller, request.search), request.document_id)
    return MissingShape(
        document=DocumentShape.of(found.document),
        reasons=list(found.reasons),
        passages=found.passages,
        admitted=found.admitted,
        found=found.found,
        best=None if found.best is None else PassageShape.model_validate(found.best),
    )


@routes.post("/search/facets", response_model=dict[str, dict[str, int]], summary="Values of filters with counts")
def facets(caller: AtWork, filters: FilterBody) -> dict[str, dict[str, int]]:
    """Filter → value → passages it admits under the other filters; uncertain labels too unless `strict_labels`."""
    found = caller.workbench.search.facets(filters_of(filters))
    return {field: dict(counts) for field, counts in found.items()}


@routes.get("/search/recent", response_model=list[RecentSearch], summary="Recent searches")
def recent(
    caller: AtWork, limit: Annotated[int, Query(ge=1, le=100, description="At most so many.")] = 8
) -> list[RecentSearch]:
    """Questions that you asked before, newest first, each once."""
    found = caller.workbench.search.recent(limit)
    return [RecentSearch(question=question, results=results, at=at) for question, results, at in found]


@routes.delete("/search/recent", status_code=204, summary="Forget recent searches")
def forget_recent(caller: AtWork) -> None:
    """Delete the list of your recent searches."""
    caller.workbench.search.forget_recent()


@routes.get("/passages/{passage_id}/similar", response_model=list[SimilarShape], summary="Similar passages")
def similar(caller: AtWork, passage_id: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> list[SimilarShape]:
    """The passages nearest to one passage, by meaning and by rare words."""
    found = caller.workbench.search.similar(passage_id, filters_of(None))
    return [
        SimilarShape(
            passage=PassageShape.model_validate(each.passage),
            nearness=each.nearness,
            cosine=each.cosine,
            shared=list(each.shared),
        )
        for each in found
    ]


def _retrieved(caller: AtWork, search: SearchBody) -> SearchResult:
    """The result of a search, which is not noted as a search of the person."""
    request = search.request(caller.workbench.evaluation.profiles)
    return caller.latest.result(
        (repr(caller.principal), request), lambda: caller.workbench.search.run(request, remember=False)
    )
