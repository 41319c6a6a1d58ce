"""Evaluation: question sets with relevance judgments, and experiments that measure search on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.coverage import RunState
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile

__all__ = [
    "ANSWERS_FROM",
    "GRADES",
    "NOTHING_ANSWERS",
    "Experiment",
    "ExperimentKind",
    "Interval",
    "JudgedQuestion",
    "Judgment",
    "Level",
    "MetricChange",
    "OptimiserResult",
    "OptimiserSettings",
    "QuestionOutcome",
    "QuestionSet",
    "Relevant",
]

GRADES = {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers"}
"""What a grade means."""
ANSWERS_FROM = 2
"""Least grade of a result that counts as an answer."""
NOTHING_ANSWERS = "none"
"""The kind of a question that nothing in the library answers: the right result is to say so."""


class Level(StrEnum):
    """What is ranked and graded: passages, or documents in the order of their best passage."""

    PASSAGE = "passage"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions for repeated evaluation. `name` is unique per project (case-insensitive).

    id: 0 until stored. project: None = the whole library. every_hours: interval of automatic evaluation with the
    default profile; 0 = never. measured_at: start of the last automatic one. version: for optimistic locking."""

    name: str
    project: str | None
    level: Level
    who: str
    at: datetime
    id: int = 0
    note: str = ""
    every_hours: int = 0
    measured_at: datetime | None = None
    retired: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class Relevant:
    """Where an answer is known to be: one unit contains all of `must_contain`. grade 1–3. page: 1-based, None = any."""

    sha256: str
    must_contain: tuple[str, ...]
    grade: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question of a set. key: its external name ("q17"), unique in the set. kind: groups questions in reports.

    id: 0 until stored. filters: of the search. relevant: answers known beforehand; people's judgments are added and
    override them.
    """

    set_id: int
    key: str
    question: str
    kind: str = "natural"
    filters: SearchFilters = SearchFilters()
    relevant: tuple[Relevant, ...] = ()
    id: int = 0
    retired: bool = False

    @property
    def answerable(self) -> bool:
        """Whether the library is expected to answer it."""
        return self.kind != NOTHING_ANSWERS


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judge's grade of one result; the latest per question, unit and judge applies.

    unit: the graded passage or document, as core.evaluation.judgments.units names it; stable when the file is ingested
    again. grade: of GRADES, None for "can't judge". blind: judged without seeing scores, profile or rank. id: 0 until
    stored."""

    set_id: int
    question_id: int
    unit: str
    grade: int | None
    who: str
    at: datetime
    blind: bool = False
    id: int = 0


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over n questions with its 95 % bootstrap interval; low = high = mean where n is 1."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def is_reliable(self) -> bool:
        """Whether the interval is worth showing: of fewer than five values, a bootstrap repeats little but these."""
        return self.n >= 5

    @property
    def ends(self) -> tuple[float, float]:
        """The ends that are shown; the mean twice where the interval is not."""
        return (self.low, self.high) if self.is_reliable else (self.mean, self.mean)


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """One question's part of a measurement.

    measures: metric → value in [0, 1], without metrics that do not apply (no known answer, nothing graded). unjudged:
    share of the first ten results without a grade, None without results. ranking: the first units shown, best first.
    first: the top document. hits: number of results shown. scored: (unit, total, grade) of the graded results whose
    display depends on the total alone, best first; the top result has grade -1 when it is not graded; for a question
    without an answer, the first ten count as 0."""

    question_id: int
    key: str
    question: str
    kind: str
    answerable: bool
    hits: int
    measures: Mapping[str, float]
    unjudged: float | None
    ranking: tuple[str, ...] = ()
    first: str = ""
    milliseconds: float = 0.0
    scored: tuple[tuple[str, float, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One question's metric before and after."""

    key: str
    question: str
    kind: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class OptimiserSettings:
    """Settings of the weight optimiser. Deterministic: the same settings, library and judgments give the same weights.

    measure: the metric to maximise. factors: those whose weights are searched; the others get 0. trials: weight vectors
    tried, per fold and for all questions. folds: cross-validation folds, stratified by kind of question.
    """

    factors: tuple[str, ...]
    measure: str = "ndcg@10"
    trials: int = 200
    folds: int = 5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class OptimiserResult:
    """The result of a weight search, with its cross-validated effect.

    training: found weights on the questions they were fitted on; baseline: the current weights; held_out: each question
    measured with weights fitted without it. gain: held_out − baseline; p_value: of a paired randomisation test.
    recommended: whether the gain is significant; verdict: the reason, as text. profile: fitted on all questions. worse,
    better: held-out questions that changed. spread: factor → least and highest weight over the folds; a wide range
    means the questions do not determine it."""

    training: Interval
    held_out: Interval
    baseline: Interval
    gain: Interval
    p_value: float
    recommended: bool
    verdict: str
    profile: ScoreProfile
    worse: tuple[MetricChange, ...] = ()
    better: tuple[MetricChange, ...] = ()
    spread: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class ExperimentKind(StrEnum):
    """A measurement of one profile, or a weight search."""

    MEASURED = "measured"
    OPTIMISED = "optimised"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One stored run over a question set. id: 0 until stored.

    profile: the whole profile at the time. judgments_version: the last judgment included; corpus_hash: digest of the
    searchable library. state: as of a coverage run; `running` without a heartbeat for a minute means it was killed.
    measures: metric → mean with interval; unjudged: mean share of the first ten results without a grade. outcomes:
    empty in lists. scheduled: started by the scheduler, not by a person."""

    set_id: int
    set_name: str
    project: str | None
    kind: ExperimentKind
    profile: ScoreProfile
    who: str
    started_at: datetime
    beat_at: datetime
    state: RunState = RunState.RUNNING
    id: int = 0
    done: int = 0
    total: int = 0
    finished_at: datetime | None = None
    milliseconds: float = 0.0
    judgments_version: int = 0
    corpus_hash: str = ""
    measures: Mapping[str, Interval] = field(default_factory=dict)
    unjudged: float | None = None
    outcomes: tuple[QuestionOutcome, ...] = ()
    optimising: OptimiserSettings | None = None
    optimised: OptimiserResult | None = None
    note: str = ""
    problem: str = ""
    scheduled: bool = False
