"""Compares experiments by metric, by kind of question and by question, and shows one metric over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import inf

from core.domain.coverage import RunState
from core.domain.evaluation import Experiment, ExperimentKind, Interval, QuestionOutcome
from core.evaluation.metrics.grades import unjudged_share
from core.evaluation.metrics.measures import EQUAL_WITHIN, MEASURES, Measure
from core.evaluation.metrics.significance import PairedTest, compared, interval, paired, rank_biased_overlap

__all__ = [
    "UNJUDGED_MOST",
    "ExperimentComparison",
    "KindComparison",
    "MeasureComparison",
    "OutcomeChange",
    "QuestionComparison",
    "QuestionOrder",
    "TrendLine",
    "TrendPoint",
    "by_kind",
    "by_question",
    "comparison",
    "trend",
    "turn",
]

UNJUDGED_MOST = 0.05
"""Largest unjudged share of the first ten results without a warning. Chosen by hand, not fitted."""

_SIGNIFICANT = 0.05  # p value; the usual convention


class OutcomeChange(StrEnum):
    """Interpretation of a difference: better, worse, not significant, or none."""

    BETTER = "better"
    WORSE = "worse"
    CHANCE = "may be chance"
    SAME = "the same"


def turn(measure: Measure, pair: PairedTest) -> OutcomeChange:
    """Interpret a difference from the first experiment: better or worse only when it is significant.

    >>> turn(MEASURES["false_refusal"], PairedTest(Interval(0.2, 0.1, 0.3, 60), 0.01, 60)).value
    'worse'
    """
    if abs(pair.gain.mean) <= EQUAL_WITHIN:
        return OutcomeChange.SAME
    if pair.p_value >= _SIGNIFICANT:
        return OutcomeChange.CHANCE
    return OutcomeChange.BETTER if (pair.gain.mean > 0) == measure.higher_is_better else OutcomeChange.WORSE


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """One measure under every experiment. values: None where it applies to no question.

    gains: over the first experiment, on the questions that both have; None for the first itself, and without such
    questions.
    """

    measure: Measure
    values: tuple[Interval | None, ...]
    gains: tuple[PairedTest | None, ...]


@dataclass(frozen=True, slots=True)
class KindComparison:
    """One measure over the questions of one kind, as MeasureComparison says it. questions: those that any experiment
    asked.

    unjudged: mean share of the first ten results nobody has graded, per experiment; None without results.
    """

    kind: str
    questions: int
    values: tuple[Interval | None, ...]
    gains: tuple[PairedTest | None, ...]
    unjudged: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class QuestionComparison:
    """One question under every experiment. values: its measure; gains: over the first, None for the first itself and
    where either lacks it; overlaps: of the ranking with the first's (RBO, p = 0.9). None: not asked, or not known.

    first: the document on top, "" without results.
    """

    question_id: int
    key: str
    question: str
    kind: str
    values: tuple[float | None, ...]
    gains: tuple[float | None, ...]
    overlaps: tuple[float | None, ...]
    unjudged: tuple[float | None, ...]
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExperimentComparison:
    """Experiments side by side. shared: number of questions all of them asked. doubts: why they may not be comparable,
    in words."""

    experiments: tuple[Experiment, ...]
    rows: tuple[MeasureComparison, ...]
    shared: int
    doubts: tuple[str, ...]

    def row(self, measure: str) -> MeasureComparison | None:
        """One measure's row; None when no question has it."""
        return next((row for row in self.rows if row.measure.name == measure), None)


def comparison(experiments: Sequence[Experiment]) -> ExperimentComparison:
    """Compare experiments with outcomes; a metric that none of them has is absent."""
    outcomes = [each.outcomes for each in experiments]
    values = [each.measures for each in experiments]
    gains = _gains(outcomes)
    rows = [
        MeasureComparison(
            measure,
            tuple(measures.get(name) for measures in values),
            tuple(None if found is None else found.get(name) for found in gains),
        )
        for name, measure in MEASURES.items()
        if any(name in measures for measures in values)
    ]
    question_ids = [{outcome.question_id for outcome in each} for each in outcomes]
    shared = set.intersection(*question_ids) if question_ids else set()
    return ExperimentComparison(
        tuple(experiments), tuple(rows), len(shared), _doubts(experiments, question_ids, shared)
    )


def _gains(outcomes: Sequence[Sequence[QuestionOutcome]]) -> list[Mapping[str, PairedTest] | None]:
    return [None if not index else compared(outcomes[0], each) for index, each in enumerate(outcomes)]


def _doubts(experiments: Sequence[Experiment], question_ids: Sequence[set[int]], shared: set[int]) -> tuple[str, ...]:
    if len(experiments) < 2:
        return ()
    most = max(map(len, question_ids))
    checks = (
        (len({each.set_id for each in experiments}) > 1, "They were measured with different question sets."),
        (
            len(shared) < most,
            f"They have {len(shared)} of {most} questions in common; differences are over these alone.",
        ),
        (
            len({each.judgments_version for each in experiments}) > 1,
            "They were measured on other judgments: part of a difference may be what was graded in between.",
        ),
        (
            len({each.corpus_hash for each in experiments}) > 1,
            "They were measured on another library: part of a difference may be what was added or changed in between.",
        ),
    )
    return tuple(words for holds, words in checks if holds)


# Kind by kind
def by_kind(experiments: Sequence[Experiment], measure: str) -> tuple[KindComparison, ...]:
    """One row per kind of question that has the measure, in the order they are asked."""
    kinds = dict.fromkeys(outcome.kind for each in experiments for outcome in each.outcomes)
    rows = [_kind_row(experiments, measure, kind) for kind in kinds]
    return tuple(row for row in rows if any(row.values))


def _kind_row(experiments: Sequence[Experiment], measure: str, kind: str) -> KindComparison:
    own = [[each for each in one.outcomes if each.kind == kind and measure in each.measures] for one in experiments]
    return KindComparison(
        kind,
        len({outcome.question_id for group in own for outcome in group}),
        tuple(interval([each.measures[measure] for each in group]) if group else None for group in own),
        tuple(_gain(own[0], each, measure) if index else None for index, each in enumerate(own)),
        tuple(unjudged_share(group) for group in own),
    )


def _gain(first: Sequence[QuestionOutcome], second: Sequence[QuestionOutcome], measure: str) -> PairedTest | None:
    before = {outcome.question_id: outcome.measures[measure] for outcome in first}
    both = [(before[each.question_id], each.measures[measure]) for each in second if each.question_id in before]
    return paired([old for old, _ in both], [new for _, new in both]) if both else None


# Question by question
class QuestionOrder(StrEnum):
    """Sort order of questions."""

    WORSE = "What got worse first"
    BETTER = "What got better first"
    ASKED = "As they are asked"


def by_question(
    experiments: Sequence[Experiment], measure: str, order: QuestionOrder = QuestionOrder.ASKED
) -> tuple[QuestionComparison, ...]:
    """One row per question that any experiment asked. With several differences the largest decides; a question that
    has none comes after those that have one."""
    outcomes = [{outcome.question_id: outcome for outcome in each.outcomes} for each in experiments]
    known = {number: outcome for run in outcomes for number, outcome in run.items()}
    rows = [_question_row(known[number], [run.get(number) for run in outcomes], measure) for number in known]
    if order is QuestionOrder.ASKED:
        return tuple(rows)
    worse_first = (order is QuestionOrder.WORSE) == MEASURES[measure].higher_is_better
    return tuple(sorted(rows, key=lambda row: _least(row.gains if worse_first else _mirrored(row.gains))))


def _least(gains: Sequence[float | None]) -> float:
    return min((gain for gain in gains if gain is not None), default=inf)


def _mirrored(gains: Sequence[float | None]) -> list[float | None]:
    return [None if gain is None else -gain for gain in gains]


def _question_row(
    known: QuestionOutcome, outcomes: Sequence[QuestionOutcome | None], measure: str
) -> QuestionComparison:
    values = tuple(None if each is None else each.measures.get(measure) for each in outcomes)
    first, ranked = values[0], outcomes[0].ranking if outcomes[0] else None
    return QuestionComparison(
        known.question_id,
        known.key,
        known.question,
        known.kind,
        values,
        tuple(
            None if first is None or value is None or not index else value - first for index, value in enumerate(values)
        ),
        tuple(
            None if ranked is None or each is None or not index else rank_biased_overlap(ranked, each.ranking)
            for index, each in enumerate(outcomes)
        ),
        tuple(each.unjudged if each else None for each in outcomes),
        tuple(each.first if each else "" for each in outcomes),
    )


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One experiment. changed: what else differs from the previous point, in words."""

    experiment_id: int
    at: datetime
    ref: str
    value: Interval
    unjudged: float | None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrendLine:
    """The measurements of all versions of a profile, oldest first."""

    profile: str
    points: tuple[TrendPoint, ...]


def trend(experiments: Sequence[Experiment], measure: str) -> tuple[TrendLine, ...]:
    """One line per profile that was measured, the one measured last first. experiments: newest first, as they are
    listed."""
    lines: dict[str, list[Experiment]] = {}
    for each in experiments:
        if each.state is RunState.DONE and each.kind is ExperimentKind.MEASURED and measure in each.measures:
            lines.setdefault(each.profile.name, []).append(each)
    return tuple(TrendLine(name, _points(list(reversed(experiments)), measure)) for name, experiments in lines.items())


def _points(experiments: Sequence[Experiment], measure: str) -> tuple[TrendPoint, ...]:
    return tuple(
        TrendPoint(
            each.id,
            each.finished_at or each.started_at,
            each.profile.ref,
            each.measures[measure],
            each.unjudged,
            _changed(before, each) if before else (),
        )
        for before, each in zip([None, *experiments], experiments, strict=False)
    )


def _changed(before: Experiment, now: Experiment) -> tuple[str, ...]:
    checks = (
        ("another version", before.profile.ref != now.profile.ref),
        ("other judgments", before.judgments_version != now.judgments_version),
        ("another library", before.corpus_hash != now.corpus_hash),
    )
    return tuple(words for words, differs in checks if differs)
