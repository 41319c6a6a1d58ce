"""A measure over time: one line per profile, and what else was not as it was from one measurement to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.boards import RunState
from core.experiments import Experiment, ExperimentKind, Interval

__all__ = ["Line", "Point", "trend"]


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement. changed: what else is not as it was at the point before, in words."""

    experiment_id: int
    at: datetime
    ref: str
    value: Interval
    unjudged: float | None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """The measurements of all versions of a profile, oldest first."""

    profile: str
    points: tuple[Point, ...]


def trend(experiments: Sequence[Experiment], measure: str) -> tuple[Line, ...]:
    """One line per profile that was measured, the one measured last first. experiments: newest first, as they are
    listed."""
    lines: dict[str, list[Experiment]] = {}
    for each in experiments:
        if each.state is RunState.DONE and each.kind is ExperimentKind.MEASURED and measure in each.measures:
            lines.setdefault(each.profile.name, []).append(each)
    return tuple(Line(name, _points(list(reversed(held)), measure)) for name, held in lines.items())


def _points(held: Sequence[Experiment], measure: str) -> tuple[Point, ...]:
    return tuple(
        Point(
            each.id,
            each.finished_at or each.started_at,
            each.profile.ref,
            each.measures[measure],
            each.unjudged,
            _changed(before, each) if before else (),
        )
        for before, each in zip([None, *held], held, strict=False)
    )


def _changed(before: Experiment, now: Experiment) -> tuple[str, ...]:
    checks = (
        ("another version", before.profile.ref != now.profile.ref),
        ("other judgments", before.judgments_version != now.judgments_version),
        ("another library", before.corpus_hash != now.corpus_hash),
    )
    return tuple(words for words, differs in checks if differs)
