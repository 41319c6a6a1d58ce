"""The tools of the MCP server. Their signatures and docstrings are what a program reads of them."""
# Longer than 300 lines: one function per tool, whose parameters are its published schema.

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from api.mcp.context import CallContext, library
from api.mcp.library_results import (
    CiteCheckResult,
    ClaimResult,
    CoverageResult,
    EpisodeResult,
    EpisodesResult,
    InsightResult,
    InsightsResult,
    TableResult,
)
from api.mcp.search_results import AnswerResult, PassageResult, SearchAnswer
from core.coverage.topics import check_topics
from core.domain.coverage import Topic
from core.domain.documents import Authority, Sector, SourceType, TemporalClass, Truth
from core.domain.errors import BadRequest, NotFound
from core.domain.filters import FIELDS, check_filters
from core.domain.queries import SearchRequest
from core.insights.store import InsightQuery
from core.workbench import Workbench

__all__ = ["TOOLS"]

_MOST_ROWS = 100
"""Rows of a table answer: what an assistant can read. Chosen by hand."""
_MOST_RESULTS = 100
_MOST_AROUND = 10

Query = Annotated[str, Field(description="The question or the words to look for.", min_length=1, max_length=4000)]
Question = Annotated[str, Field(description="The question, in plain words.", min_length=1, max_length=4000)]
Project = Annotated[
    str | None, Field(description="A project: its documents and those shared by all projects. null: every project.")
]
Truths = Annotated[list[Truth] | None, Field(description="Only passages of these truths.")]
Tags = Annotated[list[str] | None, Field(description="Only documents with these tags; see tags_mode.")]
DateFrom = Annotated[str | None, Field(description="Only documents dated on or after this day, YYYY-MM-DD.")]
DateTo = Annotated[str | None, Field(description="Only documents dated on or before this day, YYYY-MM-DD.")]
Sectors = Annotated[list[Sector] | None, Field(description="Only insights and episodes of these sectors.")]
Page = Annotated[int, Field(description="Page of the list, from 1.", ge=1, le=1_000_000)]
PerPage = Annotated[int, Field(description="Items per page.", ge=1, le=100)]


# One parameter per filter: the signature is the published schema of the tool.
def hybrid_search(
    context: CallContext,
    query: Query,
    query_embedding: Annotated[
        list[float] | None,
        Field(description="Search with this vector instead of the query's own; of the library's model and size."),
    ] = None,
    top_k: Annotated[int, Field(description="Results to return.", ge=1, le=_MOST_RESULTS)] = 10,
    offset: Annotated[int, Field(description="Results to skip, for the next page.", ge=0)] = 0,
    weights: Annotated[
        dict[str, float] | None,
        Field(description="Factor → weight instead of the profile's; together 1. E.g. similarity, keyword, recency."),
    ] = None,
    threshold: Annotated[float | None, Field(description="Least score of a result, 0 to 1.", ge=0, le=1)] = None,
    half_life_days: Annotated[float | None, Field(description="Days after which a document counts half.", gt=0)] = None,
    profile: Annotated[str | None, Field(description="Score profile, name or name@version. null: the default.")] = None,
    rerank: Annotated[
        Literal["included", "fast", "balanced", "accurate"] | None,
        Field(description="Let a reranker read the best results."),
    ] = None,
    only_routed: Annotated[bool, Field(description="Only the truths the question is about.")] = False,
    tags_filter: Tags = None,
    tags_mode: Annotated[Literal["any", "all"], Field(description="Any of the tags, or all of them.")] = "any",
    date_from: DateFrom = None,
    date_to: DateTo = None,
    recency_months: Annotated[int | None, Field(description="Only documents of the last months.", ge=1)] = None,
    include_undated: Annotated[bool, Field(description="Let undated documents through a date filter.")] = False,
    source_type_filter: Annotated[list[SourceType] | None, Field(description="Only documents that came so.")] = None,
    sector_filter: Sectors = None,
    truth_filter: Truths = None,
    domain_filter: Annotated[list[str] | None, Field(description="Only these domains, e.g. taxes.")] = None,
    authority_filter: Annotated[list[Authority] | None, Field(description="Only authors of these kinds.")] = None,
    jurisdiction_filter: Annotated[
        list[str] | None, Field(description="Only these places: federal, country:XX, state:XX or global.")
    ] = None,
    temporal_class_filter: Annotated[list[TemporalClass] | None, Field(description="How content ages.")] = None,
    entity_filter: Annotated[list[str] | None, Field(description="Only passages that name these.")] = None,
    document_filter: Annotated[list[int] | None, Field(description="Only these documents, by id.")] = None,
    project: Project = None,
    exclude: Annotated[
        dict[str, list[str]] | None,
        Field(description="Field → values to leave out, e.g. {'truths': ['intent'], 'tags': ['draft']}."),
    ] = None,
    strict_labels: Annotated[bool, Field(description="Leave out passages whose label is uncertain.")] = False,
) -> SearchAnswer:
    """Find passages by meaning, keywords and entities at once, scored and cited.

    Every filter applies before ranking. The answer names the filters that were applied, what each leg (by meaning, by
    keyword, by entity) found and how long it took, and why each result scores as it does. answered is false when
    nothing found is strong enough to be an answer: then say so instead of guessing. Cite with the citation_id.
    """
    filters = check_filters(
        {
            "truths": truth_filter,
            "domains": domain_filter,
            "authorities": authority_filter,
            "jurisdictions": jurisdiction_filter,
            "source_types": source_type_filter,
            "temporal_classes": temporal_class_filter,
            "sectors": sector_filter,
            "tags": tags_filter,
            "tags_mode": tags_mode,
            "entities": entity_filter,
            "documents": document_filter,
            "projects": None if project is None else [project],
            "date_from": date_from,
            "date_to": date_to,
            "recency_months": recency_months,
            "include_undated": include_undated,
            "strict_labels": strict_labels,
            **_excluded(exclude or {}),
        }
    )
    workbench = library(context)
    request = SearchRequest(
        query,
        filters,
        profile=_profile(workbench, profile, project),
        top_k=top_k,
        offset=offset,
        only_routed=only_routed,
        rerank=rerank or "",
        weights=tuple((weights or {}).items()),
        threshold=threshold,
        half_life_days=half_life_days,
        query_vector=tuple(query_embedding or ()),
    )
    return SearchAnswer.of(workbench.search.run(request))


def _excluded(exclude: Mapping[str, list[str]]) -> dict[str, Any]:
    """The exclusions as filters. Raises BadRequest for a field that cannot be excluded."""
    known = [field.name for field in FIELDS if field.name != "documents"]
    unknown = [name for name in exclude if name not in known]
    if unknown:
        raise BadRequest(f"'{unknown[0]}' cannot be excluded.", f"Exclude values of: {', '.join(known)}.")
    return {f"exclude_{name}": values for name, values in exclude.items()}


def _profile(workbench: Workbench, profile: str | None, project: str | None) -> str:
    """The reference of a profile, or of the project's default. Raises BadRequest."""
    profiles = workbench.evaluation.profiles
    return (profiles.find(profile) if profile else profiles.default(project)).ref


def answer(
    context: CallContext,
    question: Question,
    project: Project = None,
    truth_filter: Truths = None,
    tags_filter: Tags = None,
    date_from: DateFrom = None,
    date_to: DateTo = None,
    profile: Annotated[str | None, Field(description="Score profile, name or name@version. null: the default.")] = None,
    write: Annotated[
        bool, Field(description="Also write the answer as running text, every sentence with its citation ids.")
    ] = False,
) -> AnswerResult:
    """Answer a question from all five truths: what the law requires, what our rules say, what the customer wants, what
    is recommended, and what the data show.

    Each truth answers with quoted sentences and figures, or says why it is silent and what to obtain. Agreements and
    contradictions between truths are named. With write, a language model words the text when one is configured, and
    its unsupported sentences are marked; otherwise the text is made of the quotes.
    """
    filters = check_filters({"truths": truth_filter, "tags": tags_filter, "date_from": date_from, "date_to": date_to})
    workbench = library(context)
    scored = _profile(workbench, profile, project)
    found = workbench.answers.ask(question, filters=filters, profile=scored, project=project)
    if not write:
        return AnswerResult.of(found)
    text = workbench.answers.write(found)
    return AnswerResult.of(found, text.marked, text.written_by, *text.notices)


def read_passage(
    context: CallContext,
    passage_id: Annotated[int | None, Field(description="A passage, as in a result of hybrid_search.", ge=1)] = None,
    citation_id: Annotated[str | None, Field(description="Or a citation, e.g. 42.3: the passage it is in.")] = None,
    around: Annotated[int, Field(description="Passages before and after it to read too.", ge=0, le=_MOST_AROUND)] = 1,
) -> PassageResult:
    """Read a passage with its place, its labels, its sentences with their citation ids, and the text around it."""
    workbench = library(context)
    passage = workbench.documents.passage(_passage_id(passage_id, citation_id))
    document = workbench.documents.get(passage.document_id)
    return PassageResult.of(passage, document, workbench.documents.passages(document.id), around)


def _passage_id(passage_id: int | None, citation_id: str | None) -> int:
    if (passage_id is None) == (citation_id is None):
        raise BadRequest("Name one passage.", "Give either passage_id or citation_id.")
    number = str(passage_id) if citation_id is None else citation_id.partition(".")[0]
    if not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise NotFound(f"'{citation_id or passage_id}' is not a citation.", "Give an id of a result, e.g. 42.3.")
    return int(number)


def cite_check(
    context: CallContext,
    text: Annotated[
        str,
        Field(
            description="The text. Each sentence ends with what it rests on, in square brackets: a sentence [42.3], "
            "several [42.3, 43.0], a passage [42], or a place [handbook.pdf, p.5].",
            min_length=1,
        ),
    ],
    project: Project = None,
) -> CiteCheckResult:
    """Check a text: which of its sentences do their citations support?

    Each sentence is supported, supported partly, not supported (its amounts, dates, names or meaning differ from what
    it cites), not found (the citation leads to nothing), or not cited; with the sentence of the library that decides.
    Run it on what you write, and correct or drop what is not supported.
    """
    found = [ClaimResult.of(each) for each in library(context).cite_check.check(text, project)]
    counts: dict[str, int] = {}
    for each in found:
        counts[each.state] = counts.get(each.state, 0) + 1
    return CiteCheckResult(sentences=found, counts=counts)


def coverage(
    context: CallContext,
    topics: Annotated[
        list[str] | None,
        Field(description="Topics to assess at once. null: the stored board, with reviewers' decisions."),
    ] = None,
    project: Project = None,
    only_gaps: Annotated[bool, Field(description="Only the cells that need evidence.")] = False,
) -> CoverageResult:
    """Which topics does the library support, under which of the five truths, and what is missing?

    Each cell has a state, a score against a threshold, its evidence and its near misses. Gaps say what to obtain and
    who is likely to have it; not_read names files that were not read and may fill a gap.
    """
    workbench = library(context)
    if topics is not None:
        named = [Topic(name, project=project) for name in check_topics(topics)]
        return CoverageResult.of(workbench.coverage.glance(named, project), only_gaps=only_gaps)
    board = workbench.coverage.board(project)
    if board is None:
        raise NotFound("No board has been assessed.", "Name topics, or assess the board on the Coverage page.")
    return CoverageResult.of(board, only_gaps=only_gaps)


def ask_table(
    context: CallContext,
    question: Question,
    project: Project = None,
    max_rows: Annotated[int, Field(description="Rows to return.", ge=1, le=_MOST_ROWS)] = 50,
) -> TableResult:
    """Count or list from the library's tables: how many, how much, which, on average. Returns the rows, how the
    question was read, and the SQL that counted; or says why the tables cannot answer."""
    return TableResult.of(library(context).tables.ask(question, project), max_rows)


def list_insights(
    context: CallContext,
    words: Annotated[str, Field(description="Part of the text; empty: all.")] = "",
    tags_filter: Annotated[list[str] | None, Field(description="Any of these tags.")] = None,
    sector_filter: Sectors = None,
    project: Project = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> InsightsResult:
    """The notes that analysts saved on evidence, newest first, with the sentences they rest on."""
    workbench = library(context)
    query = InsightQuery(words, tuple(sector_filter or ()), tuple(tags_filter or ()), project)
    found = workbench.insights.insights(query, page, per_page)
    strengths = workbench.insights.strengths(found.items)
    items = [InsightResult.of(each, strength) for each, strength in zip(found.items, strengths, strict=True)]
    return InsightsResult(insights=items, total=found.total, page=found.page, pages=found.pages)


def list_episodes(
    context: CallContext,
    words: Annotated[str, Field(description="Part of the question or reflection; empty: all.")] = "",
    tags_filter: Annotated[list[str] | None, Field(description="Any of these tags.")] = None,
    sector_filter: Sectors = None,
    project: Project = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> EpisodesResult:
    """Questions that were asked before, newest first: what was opened, whether it helped, and what was learnt."""
    workbench = library(context)
    query = InsightQuery(words, tuple(sector_filter or ()), tuple(tags_filter or ()), project)
    found = workbench.insights.episodes(query, page, per_page)
    strengths = workbench.insights.strengths(found.items)
    items = [EpisodeResult.of(each, strength) for each, strength in zip(found.items, strengths, strict=True)]
    return EpisodesResult(episodes=items, total=found.total, page=found.page, pages=found.pages)


TOOLS: Mapping[Callable[..., Any], str] = {
    hybrid_search: "Search the library",
    answer: "Answer from five truths",
    read_passage: "Read a passage",
    cite_check: "Check citations",
    coverage: "Coverage of topics",
    ask_table: "Ask the tables",
    list_insights: "List insights",
    list_episodes: "List episodes",
}
"""Tool → its title."""
