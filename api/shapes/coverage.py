"""Topics, runs, boards and decisions of coverage (docs/meeting-pack.schema.json)."""

from datetime import date, datetime
from typing import Any, Self

from pydantic import ConfigDict, Field

from api.inputs import Shape
from core.domain.coverage import CoverageRun

__all__ = ["BoardShape", "DecisionShape", "PackShape", "RunShape", "TopicShape"]


class TopicShape(Shape):
    """A topic that a project must cover."""

    id: int
    name: str
    origin: str
    needs: list[str] = Field(description="The truths it requires.")
    owner: str
    domain: str | None
    jurisdiction: str | None
    modality: str | None
    source: dict[str, Any] | None = Field(description="The requirement's citation.")
    version: int = Field(description="Send it back with a change.")


class RunShape(Shape):
    """A coverage run; a snapshot of the board when done."""

    id: int
    project: str | None
    name: str
    state: str = Field(description="running, done, stopped or failed.")
    done: int = Field(description="Cells assessed so far.")
    total: int
    carried: int = Field(description="Cells reused from the run before, because nothing relevant changed.")
    started_at: datetime
    finished_at: datetime | None
    coverage: float | None
    profile: str
    problem: str

    @classmethod
    def of(cls, run: CoverageRun) -> Self:
        return cls.model_validate(run)


class CellShape(Shape):
    """One topic under one truth."""

    topic: str
    truth: str = Field(description="A truth, or configuration.")
    state: str
    needed: bool
    evidence_score: float
    threshold: float
    margin: float
    reason: str
    error: str
    evidence: list[dict[str, Any]]
    near_misses: list[dict[str, Any]]


class GapShape(Shape):
    """A gap of the board, with what to obtain."""

    topic: str
    truth: str
    severity: str
    recommendation: str


class BoardShape(Shape):
    """The coverage board with current decisions applied."""

    run_id: int
    taken_at: str
    project: str | None
    profile: str
    coverage: float | None = Field(description="Covered ÷ assessed cells, in [0, 1].")
    milliseconds: float
    topics: list[str]
    cells: list[CellShape]
    gaps: list[GapShape]


class DecisionShape(Shape):
    """One entry of the decision log."""

    id: int
    topic_id: int
    topic: str
    kind: str = Field(description="A truth, configuration, or conflict:<key>.")
    number: int = Field(description="1, 2, 3 … per topic and kind.")
    verdict: str
    who: str
    at: str
    reason: str
    comment: str
    owner: str
    due: date | None
    expires: date | None
    state: str | None
    score: float
    pinned: list[dict[str, Any]]


class PackShape(Shape):
    """The meeting pack as data (schema fivefold.meeting-pack/1)."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    made_at: str
    made_by: str
    snapshot: dict[str, Any]
    topics: list[dict[str, Any]]
    decisions: list[DecisionShape]
    conflicts: list[dict[str, Any]]
