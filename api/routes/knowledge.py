"""Routes that other knowledge tools use, with the same addresses, options and field names."""

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from pydantic import Field

from api.inputs import CHOICE, Body, Question, Shape, ShortText, with_example
from api.route import AtWork, guarded_router
from api.routes.entities import EntityName, OfType, find_entity
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import Hit, Score, SearchResult
from core.library.enrichment.store import OPERATIONS
from core.library.enrichment.values import Operation
from core.workbench import Workbench

__all__ = ["routes"]

routes = guarded_router("knowledge")

_PROFILE = "knowledge"
"""Similarity .50, keyword overlap .25, utility .15, freshness .10, × temporal class (core/knowledge/profiles.toml)."""
_BY_MEANING = ScoreProfile("vector", {"similarity": 1.0}, floor=0.0)
"""Plain vector search: the cosine, and nothing else."""


class KnowledgeHit(Shape):
    """One result. Every score is in [0, 1]."""

    id: int = Field(description="The passage.")
    document: str
    content: str
    score: float
    vector_score: float
    keyword_score: float
    utility_score: float
    freshness_score: float
    temporal_weight: float
    temporal_class: str | None
    keywords: list[str]
    tags: list[str]


class KnowledgeResults(Shape):
    """Results, best first."""

    query: str
    hybrid: bool
    total: int
    results: list[KnowledgeHit]
    notices: list[str]


@routes.get("/knowledge/search", response_model=KnowledgeResults, summary="Hybrid or vector search")
def knowledge_search(
    caller: AtWork,
    q: Annotated[Question, Query(description="The question.", examples=["overtime pay"])],
    hybrid: Annotated[bool, Query(description="false: plain vector search.")] = True,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    threshold: Annotated[
        float | None, Query(ge=0, le=1, description="Minimum score; without: 0.3 for hybrid search.")
    ] = None,
    tags: Annotated[list[ShortText], Query(max_length=50, description="Any of them; also separated by commas.")] = [],  # noqa: B006
) -> KnowledgeResults:
    """hybrid: similarity, keywords, utility and freshness under the profile `knowledge`. Otherwise by similarity alone.
    All scores are given either way."""
    named = tuple(dict.fromkeys(tag.strip() for each in tags for tag in each.split(",") if tag.strip()))
    request = SearchRequest(q, SearchFilters(tags=named), _PROFILE, top_k=limit, threshold=threshold)
    search = caller.workbench.search
    result = search.run(request, remember=hybrid)
    scores = {hit.candidate.passage.id: hit.score for hit in result.hits}
    if not hybrid:
        scores = _knowledge_scores(caller.workbench, result)
        result = search.rescore(result, replace(_BY_MEANING, threshold=threshold or 0.0, max_results=limit))
    return KnowledgeResults(
        query=q,
        hybrid=hybrid,
        total=result.total,
        results=[_hit(hit, scores.get(hit.candidate.passage.id)) for hit in result.hits],
        notices=list(result.notices),
    )


def _knowledge_scores(workbench: Workbench, result: SearchResult) -> dict[int, Score]:
    """Passage → its score under the profile `knowledge`, for every candidate of a result."""
    profile = workbench.evaluation.profiles.find(_PROFILE)
    rescored = workbench.search.rescore(result, replace(profile, threshold=0.0, max_results=100))
    scored = {hit.candidate.passage.id: hit.score for hit in rescored.hits}
    dropped = {each.candidate.passage.id: each.score for each in rescored.dropped if each.score is not None}
    return {**dropped, **scored}


def _hit(hit: Hit, score: Score | None) -> KnowledgeHit:
    passage = hit.candidate.passage
    values: dict[str, float] = {}
    if score is not None:
        values |= {each.name: each.value for each in score.factors}
        values |= {each.name: each.value for each in score.multipliers}
    return KnowledgeHit(
        id=passage.id,
        document=passage.document_name,
        content=passage.text,
        score=hit.score.total,
        vector_score=hit.candidate.signals.similarity,
        keyword_score=values.get("keyword_overlap", 0.0),
        utility_score=values.get("utility", 0.0),
        freshness_score=values.get("freshness", 0.0),
        temporal_weight=values.get("temporal", 1.0),
        temporal_class=passage.temporal_class,
        keywords=list(passage.keywords),
        tags=list(passage.tags),
    )


class MentioningDocument(Shape):
    """A document that mentions the entity."""

    id: int
    name: str
    mentions: int
    sentence: str


class EntityDocuments(Shape):
    """An entity and the documents that mention it, most mentions first."""

    name: str
    type: str
    aliases: list[str]
    total: int
    documents: list[MentioningDocument]


@routes.get("/knowledge/entities/{name}", response_model=EntityDocuments, summary="Documents that name an entity")
def knowledge_entity(
    caller: AtWork,
    name: EntityName,
    type_: OfType = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> EntityDocuments:
    """The documents that mention an entity, each with the sentence of the first mention."""
    entity = find_entity(caller.workbench, name, type_)
    page = caller.workbench.document_list.naming(entity, limit=limit, offset=offset)
    documents = [
        MentioningDocument(id=each.document.id, name=each.document.name, mentions=each.mentions, sentence=each.sentence)
        for each in page.entries
    ]
    return EntityDocuments(
        name=entity.name, type=entity.type, aliases=list(entity.aliases), total=page.total, documents=documents
    )


class OperationCounts(Shape):
    """Documents by the outcome of one operation."""

    done: int
    failed: int
    outdated: int
    missing: int


class EnrichmentStatisticsShape(Shape):
    """How much of the library is enriched. rate: in [0, 100]."""

    total: int
    embedded: int
    enriched: int
    unenriched: int
    rate: float
    operations: dict[str, OperationCounts]


@routes.get("/knowledge/enrich/stats", response_model=EnrichmentStatisticsShape, summary="How much is enriched")
def enrichment_statistics(caller: AtWork) -> EnrichmentStatisticsShape:
    """Documents with summary, keywords, questions and the other results, in all and per operation."""
    return EnrichmentStatisticsShape.model_validate(caller.workbench.enrichment.statistics())


class EnrichmentBatch(Body):
    """batchSize: documents at most. operations: empty for all."""

    model_config = with_example({"batchSize": 10, "operations": ["summary", "keywords"]})

    batchSize: int = Field(default=10, ge=1, le=100)  # noqa: N815 - as other tools call it
    operations: list[Annotated[Operation, CHOICE]] = Field(default=[], max_length=len(OPERATIONS))


class FailedOperation(Shape):
    """An operation that failed on a document, and why."""

    document_id: int
    operation: str
    problem: str
    hint: str


class EnrichmentOutcome(Shape):
    """What a batch did. remaining: documents that still lack something."""

    processed: int
    succeeded: int
    failed: int
    remaining: int
    failures: list[FailedOperation]


@routes.post("/knowledge/enrich/batch", response_model=EnrichmentOutcome, summary="Enrich documents")
def enrich_batch(caller: AtWork, batch: EnrichmentBatch) -> EnrichmentOutcome:
    """Run the operations that are missing or outdated on the next documents. Each succeeds or fails by itself, and a
    failure is tried again by the next batch."""
    enrichment = caller.workbench.enrichment
    operations = tuple(dict.fromkeys(batch.operations)) or tuple(Operation)
    failed_before = set(enrichment.failed())  # these come last, so that they hold up no others
    lacking = sorted(enrichment.lacking(operations), key=lambda each: each in failed_before)
    report = enrichment.enrich_many(lacking[: batch.batchSize], operations=operations)
    failed = {each.document_id for each in report.failures}
    return EnrichmentOutcome(
        processed=report.done,
        succeeded=report.done - len(failed),
        failed=len(failed),
        remaining=len(enrichment.lacking(operations)),
        failures=[FailedOperation.model_validate(each) for each in report.failures],
    )
