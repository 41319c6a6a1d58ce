"""Experiments held against each other: measure by measure, kind by kind, question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from core.experiments import Experiment, Interval, Outcome
from core.tuning.metrics import MEASURES, Measure
from core.tuning.outcomes import unjudged_share
from core.tuning.overlap import rank_biased_overlap
from core.tuning.significance import Paired, compared, interval, paired

__all__ = [
    "UNJUDGED_MOST",
    "Comparison",
    "KindRow",
    "MeasureRow",
    "Order",
    "QuestionRow",
    "Turn",
    "by_kind",
    "by_question",
    "comparison",
    "turn",
]

UNJUDGED_MOST = 0.05
"""Greatest share of the first ten results nobody has graded under which figures are taken at their word."""
_SIGNIFICANT = 0.05
_SAME = 1e-9


class Turn(StrEnum):
    """What a difference comes to."""

    BETTER = "better"
    WORSE = "worse"
    CHANCE = "may be chance"
    SAME = "the same"


def turn(measure: Measure, pair: Paired) -> Turn:
    """What a difference over the first comes to: better and worse only when it is significant.

    >>> turn(MEASURES["false_refusal"], Paired(Interval(0.2, 0.1, 0.3, 60), 0.01, 60)).value
    'worse'
    """
    if abs(pair.gain.mean) <= _SAME:
        return Turn.SAME
    if pair.p_value >= _SIGNIFICANT:
        return Turn.CHANCE
    return Turn.BETTER if (pair.gain.mean > 0) == measure.higher_is_better else Turn.WORSE


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure under every experiment. values: None where it applies to no question.

    gains: over the first experiment, on the questions that both have; None for the first itself, and without such
    questions.
    """

    measure: Measure
    values: tuple[Interval | None, ...]
    gains: tuple[Paired | None, ...]


@dataclass(frozen=True, slots=True)
class KindRow:
    """One measure over the questions of one kind, as MeasureRow says it. questions: those that any experiment asked.

    unjudged: mean share of the first ten results nobody has graded, per experiment; None without results.
    """

    kind: str
    questions: int
    values: tuple[Interval | None, ...]
    gains: tuple[Paired | None, ...]
    unjudged: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class QuestionRow:
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
class Comparison:
    """Experiments side by side. shared: questions that all of them asked. doubts: why they may not be held against
    each other, in words."""

    experiments: tuple[Experiment, ...]
    rows: tuple[MeasureRow, ...]
    shared: int
    doubts: tuple[str, ...]

    def row(self, measure: str) -> MeasureRow | None:
        """One measure's row; None when no question has it."""
        return next((row for row in self.rows if row.measure.name == measure), None)


def comparison(experiments: Sequence[Experiment]) -> Comparison:
    """Experiments with their outcomes, side by side; a measure that none of them has is absent."""
    outcomes = [each.outcomes for each in experiments]
    values = [each.measures for each in experiments]
    gains = _gains(outcomes)
    rows = [
        MeasureRow(
            measure,
            tuple(held.get(name) for held in values),
            tuple(None if found is None else found.get(name) for found in gains),
        )
        for name, measure in MEASURES.items()
        if any(name in held for held in values)
    ]
    asked = [{outcome.question_id for outcome in each} for each in outcomes]
    shared = set.intersection(*asked) if asked else set()
    return Comparison(tuple(experiments), tuple(rows), len(shared), _doubts(experiments, asked, shared))


def _gains(outcomes: Sequence[Sequence[Outcome]]) -> list[Mapping[str, Paired] | None]:
    return [None if not place else compared(outcomes[0], each) for place, each in enumerate(outcomes)]


def _doubts(experiments: Sequence[Experiment], asked: Sequence[set[int]], shared: set[int]) -> tuple[str, ...]:
    if len(experiments) < 2:
        return ()
    most = max(map(len, asked))
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


def by_kind(experiments: Sequence[Experiment], measure: str) -> tuple[KindRow, ...]:
    """One row per kind of question that has the measure, in the order they are asked."""
    kinds = dict.fromkeys(outcome.kind for each in experiments for outcome in each.outcomes)
    rows = [_kind_row(experiments, measure, kind) for kind in kinds]
    return tuple(row for row in rows if any(row.values))


def _kind_row(experiments: Sequence[Experiment], measure: str, kind: str) -> KindRow:
    own = [[each for each in one.outcomes if each.kind == kind and measure in each.measures] for one in experiments]
    return KindRow(
        kind,
        len({outcome.question_id for held in own for outcome in held}),
        tuple(interval([each.measures[measure] for each in held]) if held else None for held in own),
        tuple(_gain(own[0], each, measure) if place else None for place, each in enumerate(own)),
        tuple(unjudged_share(held) for held in own),
    )


def _gain(first: Sequence[Outcome], second: Sequence[Outcome], measure: str) -> Paired | None:
    before = {outcome.question_id: outcome.measures[measure] for outcome in first}
    both = [(before[each.question_id], each.measures[measure]) for each in second if each.question_id in before]
    return paired([old for old, _ in both], [new for _, new in both]) if both else None


# Question by question


class Order(StrEnum):
    """Which questions come first."""

    WORSE = "What got worse first"
    BETTER = "What got better first"
    ASKED = "As they are asked"


def by_question(experiments: Sequence[Experiment], measure: str, order: Order = Order.ASKED) -> tuple[QuestionRow, ...]:
    """One row per question that any experiment asked. With several differences the largest decides; a question that
    has none comes after those that have one."""
    outcomes = [{outcome.question_id: outcome for outcome in each.outcomes} for each in experiments]
    known = {number: outcome for held in outcomes for number, outcome in held.items()}
    rows = [_question_row(known[number], [held.get(number) for held in outcomes], measure) for number in known]
    if order is Order.ASKED:
        return tuple(rows)
    worse_first = (order is Order.WORSE) == MEASURES[measure].higher_is_better
    return tuple(sorted(rows, key=lambda row: _least(row.gains if worse_first else _mirrored(row.gains))))


def _least(gains: Sequence[float | None]) -> float:
    return min((gain for gain in gains if gain is not None), default=inf)


def _mirrored(gains: Sequence[float | None]) -> list[float | None]:
    return [None if gain is None else -gain for gain in gains]


def _question_row(known: Outcome, held: Sequence[Outcome | None], measure: str) -> QuestionRow:
    values = tuple(None if each is None else each.measures.get(measure) for each in held)
    first, ranked = values[0], held[0].ranking if held[0] else None
    return QuestionRow(
        known.question_id,
        known.key,
        known.question,
        known.kind,
        values,
        tuple(
            None if first is None or value is None or not place else value - first for place, value in enumerate(values)
        ),
        tuple(
            None if ranked is None or each is None or not place else rank_biased_overlap(ranked, each.ranking)
            for place, each in enumerate(held)
        ),
        tuple(each.unjudged if each else None for each in held),
        tuple(each.first if each else "" for each in held),
    )
