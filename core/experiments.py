"""What measuring gave: per question and overall, kept so that any two measurements can be compared later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.boards import RunState
from core.queries import ScoreProfile

__all__ = ["Change", "Experiment", "ExperimentKind", "Interval", "Optimised", "Optimising", "Outcome"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over n questions with its 95 % bootstrap interval; low = high = mean where n is 1."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question's part of a measurement.

    measures: measure → value in [0, 1], without those that do not apply (no answer known, nothing graded). unjudged:
    share of the first ten results nobody has graded, None without results. ranking: the first units shown, best first.
    first: the document on top. hits: how many results were shown. scored: (unit, total, grade) of the graded results
    whose showing the total alone decides, best first; the best result is there with grade -1 when nobody graded it; of
    a question that nothing answers, the first ten count as 0.
    """

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
class Change:
    """One question's measure before and after."""

    key: str
    question: str
    kind: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Optimising:
    """What to search for: the same values find the same weights on the same library and judgments.

    measure: what to raise. factors: whose weights are searched; the others weigh 0. trials: mixes tried, for each fold
    and for all questions. folds: parts the questions are dealt into, each held out once; kinds are spread over them.
    """

    factors: tuple[str, ...]
    measure: str = "ndcg@10"
    trials: int = 200
    folds: int = 5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Optimised:
    """What a search for better weights found, and what it is worth on questions it has not seen.

    training: the found weights on the questions they were found on; baseline: the current ones; held_out: each question
    measured with the weights found without it. gain: held_out over baseline; p_value: of a paired randomisation test.
    recommended: whether the gain is significant; verdict: why or why not, in words. profile: found on all questions.
    worse, better: held-out questions that changed. spread: factor → least and most weight over the folds: wide means
    that the questions do not decide it.
    """

    training: Interval
    held_out: Interval
    baseline: Interval
    gain: Interval
    p_value: float
    recommended: bool
    verdict: str
    profile: ScoreProfile
    worse: tuple[Change, ...] = ()
    better: tuple[Change, ...] = ()
    spread: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class ExperimentKind(StrEnum):
    """A measurement of one profile, or a search for better weights."""

    MEASURED = "measured"
    OPTIMISED = "optimised"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One run over a question set, kept for good. id: 0 until stored.

    profile: the whole profile as it was. judgments_version: the last judgment it knew; corpus_hash: digest of what
    search could read. state: as of a coverage run; one that is `running` but has not beaten for a minute was killed.
    measures: measure → mean with interval; unjudged: mean share of the first ten results nobody has graded.
    outcomes: left empty in lists. scheduled: begun by the clock rather than by a person.
    """

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
    outcomes: tuple[Outcome, ...] = ()
    optimising: Optimising | None = None
    optimised: Optimised | None = None
    note: str = ""
    problem: str = ""
    scheduled: bool = False
