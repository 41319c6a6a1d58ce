"""Entities, insights, episodes, usage and health."""

from datetime import datetime
from typing import Self

from pydantic import Field

from api.inputs import Shape
from core.domain.entities import KnownEntity
from core.insights.store import Episode, Insight

__all__ = [
    "EntityShape",
    "EpisodeShape",
    "HealthShape",
    "IndexShape",
    "InsightShape",
    "StatisticsShape",
    "UsageShape",
    "UsedShape",
]


class EntityShape(Shape):
    """An entity of the library."""

    name: str
    type: str
    aliases: list[str]
    passages: int = Field(description="Living passages that mention it.")

    @classmethod
    def of(cls, known: KnownEntity) -> Self:
        entity = known.entity
        return cls(name=entity.name, type=entity.type, aliases=list(entity.aliases), passages=known.passages)


class LinkShape(Shape):
    """A sentence that an insight or episode rests on."""

    passage_id: int
    document_id: int
    document_name: str
    page: int
    start: int
    end: int
    quote: str


class NoteShape(Shape):
    """What insights and episodes have in common."""

    id: int
    at: datetime
    who: str
    project: str | None
    tags: list[str]
    sector: str
    links: list[LinkShape]
    deleted_at: datetime | None
    version: int = Field(description="Send it back with a change.")


class InsightShape(NoteShape):
    """An analyst's note on evidence."""

    text: str
    question: str
    strength: float | None = Field(default=None, description="After decay, in (0, 1].")

    @classmethod
    def of(cls, insight: Insight, strength: float | None = None) -> Self:
        return cls.model_validate(insight).model_copy(update={"strength": strength})


class EpisodeShape(NoteShape):
    """A question, what was opened, and the outcome."""

    question: str
    reward: float = Field(description="In [-1, 1]: 1 helpful, -1 misleading.")
    reflection: str
    strength: float | None = Field(default=None, description="After decay, in (0, 1].")

    @classmethod
    def of(cls, episode: Episode, strength: float | None = None) -> Self:
        return cls.model_validate(episode).model_copy(update={"strength": strength})


class QuestionUsageShape(Shape):
    """How a document was used for one question."""

    question: str
    shown: int
    opened: int
    cited: int
    last: datetime


class UsageShape(Shape):
    """How a document was used."""

    shown: int
    opened: int
    cited: int
    last: datetime | None
    questions: list[QuestionUsageShape]


class UsedShape(Shape):
    """A document that was used lately."""

    document_id: int
    at: datetime


class HealthShape(Shape):
    """Whether the library answers."""

    status: str = Field(description="ok or failed.")


class IndexShape(Shape):
    """Where to begin."""

    name: str
    version: str
    openapi: str = Field(description="The description of every route.")
    health: str


class StatisticsShape(Shape):
    """Contents of the library."""

    documents: int
    passages: int
    by_truth: dict[str, int] = Field(description="Truth → documents; unknown for those without a label.")
    by_state: dict[str, int]
    unsure: int = Field(description="Documents whose truth is uncertain.")
    waiting_jobs: int
    notices: list[str] = Field(description="Degraded parts.")
