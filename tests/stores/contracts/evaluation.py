"""Tunings: some made by hand, others at random."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from core.domain.coverage import RunState
from core.domain.evaluation import (
    Experiment,
    ExperimentKind,
    Interval,
    JudgedQuestion,
    Judgment,
    Level,
    QuestionOutcome,
    QuestionSet,
)
from core.domain.profiles import ProfileVersion, current_factor_name
from core.domain.queries import LegWeights, ScoreProfile

AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
NOWHERE = 10**9
"""An id that nothing has."""

FULL_PROFILE = ScoreProfile(
    "Größe – 残業 'quoted'; --",
    {"similarity": 0.1 + 0.2, "a": 1 / 3, "keywords": 0.3666666666666667},
    multipliers={"recency": 0.5, "authority": 1.0},
    threshold=0.45,
    floor=1e-7,
    max_results=25,
    half_life_days=0.1,
    fusion_k=7,
    legs=LegWeights(0.5, 0.25, 0.1),
    relational_legs=LegWeights(0.1, 0.2, 0.7),
    routing_outside=0.0,
    covered=0.61,
    partial=2 / 7,
    version=1,
)


def version_of(name: str, number: int, who: str = "Ann", **values: Any) -> ProfileVersion:
    return replace(ProfileVersion(ScoreProfile(name, {"similarity": 1.0}, version=number), who, AT), **values)


def set_of(name: str, project: str | None = None, **values: Any) -> QuestionSet:
    return replace(QuestionSet(name, project, Level.PASSAGE, "Ann", AT), **values)


def question(question_set: QuestionSet, key: str, **values: Any) -> JudgedQuestion:
    return replace(JudgedQuestion(question_set.id, key, f"What of {key}?"), **values)


def judgment(question: JudgedQuestion, unit: str, grade: int | None, who: str = "Ann", **values: Any) -> Judgment:
    return replace(Judgment(question.set_id, question.id, unit, grade, who, AT), **values)


def experiment_of(set_id: int = 1, **values: Any) -> Experiment:
    begun = Experiment(set_id, "Leave", None, ExperimentKind.MEASURED, FULL_PROFILE, "Ann", AT, AT)
    return replace(begun, **values)


_INTERVAL = Interval(0.1 + 0.2, 0.125, 1 / 3, 50)
FULL_EXPERIMENT = experiment_of(
    project="north",
    kind=ExperimentKind.OPTIMISED,
    state=RunState.DONE,
    done=50,
    total=50,
    finished_at=AT + timedelta(hours=1),
    milliseconds=1234.5678,
    judgments_version=NOWHERE,
    corpus_hash="ab" * 32,
    measures={"ndcg@10": _INTERVAL, "map": _INTERVAL, "answer@1": _INTERVAL},
    unjudged=0.0,
    outcomes=(
        QuestionOutcome(
            1, "q1", "What?", "negation", True, 10, {"ndcg@10": 1.0, "mrr": 1 / 7}, 0.3, ("a:1", "b:2"), "a", 1.5
        ),
        QuestionOutcome(2, "q2", "Which?", "none", False, 0, {}, None),
    ),
    note="März",
    problem="none",
    scheduled=True,
)

_STORABLE = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
_ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=8))])
_PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    # Hypothesis tries words of our code, too: a former name of a factor is read as its name now.
    str: st.text(_STORABLE, max_size=8).filter(lambda name: current_factor_name(name) == name),
    int: st.integers(-(2**31), 2**31 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=_ZONES),
    type(None): st.none(),
}


def made(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of core whatsoever, every field at random, so that a field added later is tried too."""
    of = get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{each.name: made(hints[each.name]) for each in fields(kind) if each.init})
    if isinstance(kind, UnionType):
        return st.one_of(*map(made, of))
    if get_origin(kind) is tuple:
        return st.lists(made(of[0]), max_size=2).map(tuple) if of[1] is ... else st.tuples(*map(made, of))
    if get_origin(kind) is Mapping:
        return st.dictionaries(made(of[0]), made(of[1]), max_size=3)
    assert issubclass(kind, Enum), f"no values of {kind} are known"
    return st.sampled_from(kind)
