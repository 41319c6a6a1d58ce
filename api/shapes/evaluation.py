"""Score profiles, question sets, judgments and experiments."""

from dataclasses import replace
from datetime import datetime
from typing import Self

from pydantic import Field

from api.access import Caller
from api.inputs import Shape
from bootstrap.environment import utc_now
from core.domain.coverage import RunState
from core.domain.evaluation import Experiment
from core.domain.profiles import ProfileVersion
from core.domain.queries import ScoreProfile
from core.evaluation.experiments import interrupted

__all__ = [
    "ExperimentShape",
    "JudgedQuestionShape",
    "JudgmentShape",
    "MeasuredExperimentShape",
    "PooledShape",
    "ProfileShape",
    "ProfileVersionShape",
    "QuestionSetShape",
]


class LegWeightsShape(Shape):
    """Weights of the legs in fusion."""

    dense: float
    sparse: float
    graph: float


class ProfileShape(Shape):
    """A named way of scoring."""

    ref: str = Field(description="name, or name@version.")
    name: str
    version: int = Field(description="0: built in.")
    weights: dict[str, float]
    multipliers: dict[str, float]
    threshold: float
    floor: float
    max_results: int
    half_life_days: float | None
    fusion_k: int
    legs: LegWeightsShape
    relational_legs: LegWeightsShape
    routing_outside: float | None
    covered: float | None
    partial: float | None
    default: bool = Field(description="Whether searches use it unless told otherwise.")

    @classmethod
    def of(cls, profile: ScoreProfile, default: str = "") -> Self:
        given = {name: getattr(profile, name) for name in cls.model_fields if name != "default"}
        return cls.model_validate(given | {"default": profile.ref == default})


class ProfileVersionShape(Shape):
    """One version of a profile."""

    profile: ProfileShape
    who: str
    at: datetime
    note: str
    origin: str = Field(description="The profile it was made from.")
    retired: bool

    @classmethod
    def of(cls, version: ProfileVersion) -> Self:
        return cls(
            profile=ProfileShape.of(version.profile),
            who=version.who,
            at=version.at,
            note=version.note,
            origin=version.origin,
            retired=version.retired,
        )


class QuestionSetShape(Shape):
    """A set of questions for repeated evaluation."""

    id: int
    name: str
    project: str | None
    level: str = Field(description="What is graded: passage or document.")
    who: str
    at: datetime
    note: str
    every_hours: int
    version: int


class JudgedQuestionShape(Shape):
    """One question of a set."""

    id: int
    set_id: int
    key: str
    question: str
    kind: str


class JudgmentShape(Shape):
    """One judge's grade of one result."""

    id: int
    set_id: int
    question_id: int
    unit: str = Field(description="The graded passage or document, as the pool names it.")
    grade: int | None = Field(description="0 irrelevant, 1 related, 2 answers in part, 3 answers; null: can't judge.")
    who: str
    at: datetime
    blind: bool


class PooledShape(Shape):
    """A result to judge."""

    unit: str
    document: str
    text: str


class IntervalShape(Shape):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


class ExperimentShape(Shape):
    """A measurement of one profile on one set."""

    id: int
    set_id: int
    set_name: str
    project: str | None
    kind: str
    profile: str
    who: str
    state: str = Field(description="running, done, stopped (also when its program was killed) or failed.")
    done: int
    total: int
    started_at: datetime
    finished_at: datetime | None
    measures: dict[str, IntervalShape]
    unjudged: float | None
    note: str
    problem: str

    @classmethod
    def of(cls, experiment: Experiment, caller: Caller) -> Self:
        """As it is now: an experiment whose program was killed is stopped."""
        if interrupted(experiment, utc_now()) and not caller.work.running(f"experiment {experiment.id}"):
            experiment = replace(experiment, state=RunState.STOPPED)
        given = {name: getattr(experiment, name) for name in cls.model_fields if name not in ("profile", "outcomes")}
        more = {"outcomes": experiment.outcomes} if "outcomes" in cls.model_fields else {}
        return cls.model_validate(given | more | {"profile": experiment.profile.ref})


class OutcomeShape(Shape):
    """One question's part of a measurement."""

    question_id: int
    key: str
    question: str
    hits: int
    measures: dict[str, float]
    unjudged: float | None
    first: str = Field(description="The top document.")


class MeasuredExperimentShape(ExperimentShape):
    """A measurement with its questions."""

    outcomes: list[OutcomeShape]
