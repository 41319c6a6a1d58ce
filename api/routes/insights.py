"""Insights and episodes: list, add, change, delete and restore."""
# Over 300 lines: both kinds have the same routes.

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field

from api.inputs import CHOICE, Body, Id, LongText, Project, Question, ShortText, with_example
from api.paging import Listed, PageOf, Paging, paged
from api.route import AtWork, guarded_router
from api.shapes.insights import EpisodeShape, InsightShape
from core.domain.documents import Sector
from core.domain.errors import Outdated
from core.domain.results import Citation
from core.insights.service import link_of
from core.insights.store import MOST_PER_PAGE, Episode, EvidenceLink, Insight, InsightPage, InsightQuery, M
from core.search.citations.cite import citation_of

__all__ = ["routes"]

routes = guarded_router("insights and episodes")

NoteId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Its number.")]
Words = Annotated[ShortText, Query(description="Part of the text.")]
Sectors = Annotated[list[Sector], Query(max_length=5, description="Any of them.")]
Tags = Annotated[list[ShortText], Query(max_length=50, description="Any of them.")]
OfProject = Annotated[ShortText | None, Query(description="Of a project and of the whole library.")]
Deleted = Annotated[bool, Query(description="Only deleted ones.")]


def _query(words: str, sector: list[Sector], tag: list[str], project: str | None, deleted: bool) -> InsightQuery:
    return InsightQuery(words, tuple(sector), tuple(tag), project or None, deleted)


def _fetch(pages: Any) -> Any:
    """Entries for (limit, offset) from pages of 100. pages: gives the page of a number."""

    def fetch(limit: int, offset: int) -> Listed[Any]:
        number, skip = offset // MOST_PER_PAGE + 1, offset % MOST_PER_PAGE
        page: InsightPage[Any] = pages(number)
        entries = list(page.items)
        while len(entries) < skip + limit and number < page.pages:
            number += 1
            entries += pages(number).items
        return Listed(entries[skip : skip + limit], page.total)

    return fetch


def _unchanged(item: M, version: int) -> M:
    """The item, if it still has the version that was read. Raises Outdated."""
    if item.version != version:
        raise Outdated(f"This {item.origin.value} was changed meanwhile.", "Read it again, then change it.")
    return item


class Note(Body):
    """What insights and episodes have in common."""

    tags: list[ShortText] = Field(default=[], max_length=30)
    sector: Annotated[Sector, CHOICE] | None = Field(default=None, description="null: suggested from the text.")
    project: Project = None


# Insights


@routes.get("/insights", response_model=PageOf[InsightShape], summary="List insights")
def list_insights(
    caller: AtWork,
    paging: Paging,
    words: Words = "",
    sector: Sectors = [],  # noqa: B006 - FastAPI copies it
    tag: Tags = [],  # noqa: B006
    project: OfProject = None,
    deleted: Deleted = False,
) -> dict[str, Any]:
    """Analysts' notes on evidence, newest first."""
    insights, query = caller.workbench.insights, _query(words, sector, tag, project, deleted)
    fetch = _fetch(lambda number: insights.insights(query, number, MOST_PER_PAGE))
    return paged(paging, fetch, lambda each: each.id, InsightShape.of)


class NewInsight(Note):
    """passages: what the note rests on; the first sentence of each is linked. question: asked at the time."""

    model_config = with_example({"text": "California counts overtime by the day.", "tags": ["overtime"]})

    text: Annotated[LongText, Field(min_length=1)]
    question: Annotated[LongText, Field(max_length=2_000)] = ""
    passages: list[Id] = Field(default=[], max_length=50)


@routes.post("/insights", status_code=201, response_model=InsightShape, summary="Add an insight")
def add_insight(caller: AtWork, new: NewInsight) -> InsightShape:
    """A note is found by the next search, ranked among the documents."""
    saved = caller.workbench.insights.save(
        new.text,
        tags=new.tags,
        sector=new.sector,
        links=[_link(caller, each) for each in dict.fromkeys(new.passages)],
        question=new.question,
        project=new.project or None,
        who=caller.name,
    )
    return InsightShape.of(saved)


def _link(caller: AtWork, passage_id: int) -> EvidenceLink:
    """The link to a passage's first sentence. Raises NotFound."""
    documents = caller.workbench.documents
    passage = documents.passage(passage_id)
    citation: Citation = citation_of(passage, documents.get(passage.document_id), 0)
    return link_of(citation)


@routes.get("/insights/{insight_id}", response_model=InsightShape, summary="Get an insight")
def get_insight(caller: AtWork, insight_id: NoteId) -> InsightShape:
    """An insight with its current strength."""
    found = caller.workbench.insights.insight(insight_id)
    return InsightShape.of(found, caller.workbench.insights.strengths([found])[0])


class InsightChange(Body):
    """The fields to change. version: of the insight as it was read."""

    version: int = Field(ge=1, le=2**31 - 1)
    text: Annotated[LongText, Field(min_length=1)] | None = None
    tags: list[ShortText] | None = Field(default=None, max_length=30)
    sector: Annotated[Sector, CHOICE] | None = None


@routes.patch("/insights/{insight_id}", response_model=InsightShape, summary="Change an insight")
def change_insight(caller: AtWork, insight_id: NoteId, change: InsightChange) -> InsightShape:
    """409 when someone else changed it since it was read."""
    insights = caller.workbench.insights
    known = _unchanged(insights.insight(insight_id), change.version)
    return InsightShape.of(insights.change(replace(known, **_values(change))))


def _values(change: Body) -> dict[str, Any]:
    values = change.model_dump(exclude={"version"}, exclude_none=True)
    return values | ({"tags": tuple(values["tags"])} if "tags" in values else {})


@routes.delete("/insights/{insight_id}", status_code=204, summary="Delete an insight")
def delete_insight(caller: AtWork, insight_id: NoteId) -> None:
    """Take an insight out of every search and list; it can be restored."""
    insights = caller.workbench.insights
    known: Insight = insights.insight(insight_id)
    if known.deleted_at is None:
        insights.delete(known)


@routes.post("/insights/{insight_id}/restore", response_model=InsightShape, summary="Restore an insight")
def restore_insight(caller: AtWork, insight_id: NoteId) -> InsightShape:
    """Bring a deleted insight back."""
    insights = caller.workbench.insights
    known = insights.insight(insight_id)
    return InsightShape.of(known if known.deleted_at is None else insights.restore(known))


# Episodes


@routes.get("/episodes", response_model=PageOf[EpisodeShape], summary="List episodes")
def list_episodes(
    caller: AtWork,
    paging: Paging,
    words: Words = "",
    sector: Sectors = [],  # noqa: B006 - FastAPI copies it
    tag: Tags = [],  # noqa: B006
    project: OfProject = None,
    deleted: Deleted = False,
) -> dict[str, Any]:
    """Questions with their outcome, newest first."""
    insights, query = caller.workbench.insights, _query(words, sector, tag, project, deleted)
    fetch = _fetch(lambda number: insights.episodes(query, number, MOST_PER_PAGE))
    return paged(paging, fetch, lambda each: each.id, EpisodeShape.of)


class NewEpisode(Note):
    """reward: 1 helpful, -1 misleading, 0 neither. opened: passages, in the order they were opened."""

    model_config = with_example({"question": "When must overtime be paid?", "reward": 1})

    question: Question
    reward: float = Field(default=0, ge=-1, le=1)
    reflection: LongText = ""
    opened: list[Id] = Field(default=[], max_length=200)


@routes.post("/episodes", status_code=201, response_model=EpisodeShape, summary="Add an episode")
def add_episode(caller: AtWork, new: NewEpisode) -> EpisodeShape:
    """Record the outcome of a question."""
    saved = caller.workbench.insights.finish_episode(
        new.question,
        opened=new.opened,
        reward=new.reward,
        reflection=new.reflection,
        tags=new.tags,
        sector=new.sector or Sector.EPISODIC,
        project=new.project or None,
        who=caller.name,
    )
    return EpisodeShape.of(saved)


@routes.get("/episodes/{episode_id}", response_model=EpisodeShape, summary="Get an episode")
def get_episode(caller: AtWork, episode_id: NoteId) -> EpisodeShape:
    """An episode with its current strength."""
    found = caller.workbench.insights.episode(episode_id)
    return EpisodeShape.of(found, caller.workbench.insights.strengths([found])[0])


class EpisodeChange(Body):
    """The fields to change. version: of the episode as it was read."""

    version: int = Field(ge=1, le=2**31 - 1)
    reward: float | None = Field(default=None, ge=-1, le=1)
    reflection: LongText | None = None
    tags: list[ShortText] | None = Field(default=None, max_length=30)
    sector: Annotated[Sector, CHOICE] | None = None


@routes.patch("/episodes/{episode_id}", response_model=EpisodeShape, summary="Change an episode")
def change_episode(caller: AtWork, episode_id: NoteId, change: EpisodeChange) -> EpisodeShape:
    """409 when someone else changed it since it was read."""
    insights = caller.workbench.insights
    known = _unchanged(insights.episode(episode_id), change.version)
    return EpisodeShape.of(insights.change(replace(known, **_values(change))))


@routes.delete("/episodes/{episode_id}", status_code=204, summary="Delete an episode")
def delete_episode(caller: AtWork, episode_id: NoteId) -> None:
    """Take an episode out of every search and list; it can be restored."""
    insights = caller.workbench.insights
    known: Episode = insights.episode(episode_id)
    if known.deleted_at is None:
        insights.delete(known)


@routes.post("/episodes/{episode_id}/restore", response_model=EpisodeShape, summary="Restore an episode")
def restore_episode(caller: AtWork, episode_id: NoteId) -> EpisodeShape:
    """Bring a deleted episode back."""
    insights = caller.workbench.insights
    known = insights.episode(episode_id)
    return EpisodeShape.of(known if known.deleted_at is None else insights.restore(known))
