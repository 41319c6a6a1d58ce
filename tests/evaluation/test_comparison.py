"""Experiments held against each other: what differs, what it may be worth, and what a threshold would do."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.coverage import RunState
from core.domain.evaluation import Experiment, ExperimentKind, Interval, QuestionOutcome
from core.domain.queries import ScoreProfile
from core.evaluation.experiment_report import comparison_data, comparison_table
from core.evaluation.experiments import UNGRADED
from core.evaluation.metrics.comparison import (
    OutcomeChange,
    QuestionComparison,
    QuestionOrder,
    by_kind,
    by_question,
    comparison,
    trend,
    turn,
)
from core.evaluation.metrics.grades import summary, unjudged_share
from core.evaluation.metrics.measures import MEASURES
from core.evaluation.metrics.significance import PairedTest
from core.evaluation.tuning.thresholds import ThresholdEffect, cuts_of
from core.formats.terminal import json_text

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
NDCG, REFUSED, FALSE_REFUSAL = "ndcg@10", "refused", "false_refusal"


def outcome(number: int, measures: Mapping[str, float], **values: object) -> QuestionOutcome:
    fields = {
        "kind": "natural",
        "answerable": True,
        "hits": 3,
        "unjudged": 0.0,
        "ranking": ("a", "b"),
        "first": "a.pdf",
    }
    return QuestionOutcome(number, f"q{number}", f"Question {number}?", measures=measures, **fields | values)  # type: ignore[arg-type]


def experiment(
    number: int, *outcomes: QuestionOutcome, profile: str = "mine", version: int = 1, **values: object
) -> Experiment:
    made = Experiment(
        set_id=1,
        set_name="Payroll",
        project=None,
        kind=ExperimentKind.MEASURED,
        profile=ScoreProfile(profile, {"similarity": 1.0}, version=version),
        who="Ada",
        started_at=NOON + timedelta(hours=number),
        beat_at=NOON + timedelta(hours=number),
        state=RunState.DONE,
        id=number,
        outcomes=outcomes,
        measures=summary(outcomes),
        unjudged=unjudged_share(outcomes),
        corpus_hash="c",
        judgments_version=7,
    )
    return replace(made, **values)


def outcomes_of(*values: float) -> tuple[QuestionOutcome, ...]:
    """Outcomes of questions with these values of nDCG."""
    return tuple(outcome(n, {NDCG: value}) for n, value in enumerate(values, 1))


def ndcgs(number: int, *values: float, **more: object) -> Experiment:
    """An experiment of such questions."""
    return experiment(number, *outcomes_of(*values), **more)


@pytest.fixture(scope="module")
def before() -> Experiment:
    """The first of two experiments."""
    return ndcgs(1, *[0.2, 0.4] * 10)


@pytest.fixture(scope="module")
def after() -> Experiment:
    """The second: every other question gains."""
    return ndcgs(2, *[0.5, 0.4] * 10, version=2)


# Measure by measure


def test_two_experiments_stand_side_by_side_with_their_difference(before: Experiment, after: Experiment) -> None:
    found = comparison([before, after])
    [row] = found.rows
    assert row.measure.name == NDCG
    assert [interval.mean for interval in row.values if interval] == pytest.approx([0.3, 0.45])
    first, gain = row.gains
    assert first is None
    assert gain is not None
    assert (gain.gain.mean, gain.n) == (pytest.approx(0.15), 20)
    assert gain.gain.low > 0
    assert turn(row.measure, gain) is OutcomeChange.BETTER
    assert (found.shared, found.doubts) == (20, ())
    assert found.row(NDCG) == row
    assert found.row("map") is None


def test_measures_stand_in_their_order_and_one_that_only_one_has_is_not_compared() -> None:
    one = experiment(1, outcome(1, {NDCG: 0.5}), outcome(2, {REFUSED: 1.0}, answerable=False, kind="none"))
    other = experiment(2, outcome(1, {NDCG: 0.5, "map": 0.4}))
    found = comparison([one, other])
    assert [row.measure.name for row in found.rows] == [NDCG, "map", REFUSED]
    average, refused = found.rows[1:]
    assert (average.values[0], average.gains) == (None, (None, None))
    assert (refused.values[1], refused.gains) == (None, (None, None))


def test_one_experiment_alone_has_values_and_no_difference(before: Experiment) -> None:
    found = comparison([before])
    assert found.rows[0].gains == (None,)
    assert found.doubts == ()
    assert found.shared == 20


def test_three_experiments_are_each_held_against_the_first(before: Experiment, after: Experiment) -> None:
    third = ndcgs(3, *[0.1, 0.4] * 10)
    row = comparison([before, after, third]).rows[0]
    assert [pair and round(pair.gain.mean, 3) for pair in row.gains] == [None, 0.15, -0.05]


def test_nothing_can_be_held_against_nothing() -> None:
    found = comparison([])
    assert (found.rows, found.shared, found.doubts) == ((), 0, ())


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"judgments_version": 8}, "on other judgments"),
        ({"corpus_hash": "d"}, "on another library"),
        ({"set_id": 2}, "different question sets"),
        ({"outcomes": outcomes_of(*[0.5, 0.4] * 6)}, "12 of 20 questions in common"),
    ],
)
def test_what_else_differs_is_told(
    before: Experiment, after: Experiment, changes: dict[str, object], expected: str
) -> None:
    [doubt] = comparison([before, replace(after, **changes)]).doubts
    assert expected in doubt


@pytest.mark.parametrize(
    ("measure", "gain", "p_value", "comes_to"),
    [
        (NDCG, 0.1, 0.01, OutcomeChange.BETTER),
        (NDCG, -0.1, 0.01, OutcomeChange.WORSE),
        (NDCG, 0.1, 0.05, OutcomeChange.CHANCE),
        (NDCG, 0.0, 1.0, OutcomeChange.SAME),
        (FALSE_REFUSAL, 0.1, 0.01, OutcomeChange.WORSE),
        (FALSE_REFUSAL, -0.1, 0.01, OutcomeChange.BETTER),
        (FALSE_REFUSAL, -0.1, 0.2, OutcomeChange.CHANCE),
    ],
)
def test_a_difference_counts_only_when_it_is_significant(
    measure: str, gain: float, p_value: float, comes_to: OutcomeChange
) -> None:
    assert turn(MEASURES[measure], PairedTest(Interval(gain, gain, gain, 9), p_value, 9)) is comes_to


# Kind by kind


def test_kinds_are_measured_by_themselves() -> None:
    one = experiment(
        1,
        outcome(1, {NDCG: 0.2}, kind="keyword", unjudged=0.5),
        outcome(2, {NDCG: 0.4}, kind="keyword", unjudged=0.1),
        outcome(3, {NDCG: 0.9}),
        outcome(4, {REFUSED: 1.0}, kind="none", answerable=False),
    )
    other = experiment(2, outcome(1, {NDCG: 0.4}, kind="keyword"), outcome(3, {NDCG: 0.9}))
    keyword, natural = by_kind([one, other], NDCG)
    assert (keyword.kind, keyword.questions, natural.kind, natural.questions) == ("keyword", 2, "natural", 1)
    assert keyword.values[0] == Interval(pytest.approx(0.3), pytest.approx(0.2), pytest.approx(0.4), 2)
    assert keyword.values[1] == Interval(0.4, 0.4, 0.4, 1)
    assert keyword.gains[0] is None
    assert keyword.gains[1] is not None
    assert (keyword.gains[1].gain.mean, keyword.gains[1].n) == (pytest.approx(0.2), 1)
    assert keyword.unjudged == (pytest.approx(0.3), 0.0)
    [none] = by_kind([one, other], REFUSED)
    assert (none.kind, none.values[1], none.gains) == ("none", None, (None, None))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), min_size=1, max_size=20))
def test_kinds_add_up_to_the_whole(given_: list[tuple[str, float]]) -> None:
    one = experiment(1, *(outcome(n, {NDCG: value}, kind=kind) for n, (kind, value) in enumerate(given_)))
    rows = by_kind([one], NDCG)
    assert sum(row.questions for row in rows) == len(given_)
    total = sum(row.values[0].mean * row.questions for row in rows if row.values[0])
    assert total / len(given_) == pytest.approx(one.measures[NDCG].mean)


# Question by question


def keys(rows: tuple[QuestionComparison, ...]) -> list[str]:
    return [row.key for row in rows]


def test_what_got_worse_or_better_comes_first() -> None:
    one, other = ndcgs(1, 0.5, 0.5, 0.5, 0.5), ndcgs(2, 0.6, 0.1, 0.5, 0.9)
    assert keys(by_question([one, other], NDCG, QuestionOrder.WORSE)) == ["q2", "q3", "q1", "q4"]
    assert keys(by_question([one, other], NDCG, QuestionOrder.BETTER)) == ["q4", "q1", "q3", "q2"]
    assert keys(by_question([one, other], NDCG)) == ["q1", "q2", "q3", "q4"]


def test_where_less_is_better_more_is_worse() -> None:
    one = experiment(1, *(outcome(n, {FALSE_REFUSAL: 0.0}) for n in (1, 2)))
    other = experiment(2, outcome(1, {FALSE_REFUSAL: 0.0}), outcome(2, {FALSE_REFUSAL: 1.0}))
    assert keys(by_question([one, other], FALSE_REFUSAL, QuestionOrder.WORSE)) == ["q2", "q1"]


def test_a_question_that_cannot_be_compared_comes_last_and_is_still_there() -> None:
    one = experiment(1, outcome(1, {}), outcome(2, {NDCG: 0.5}, ranking=("a", "b"), unjudged=None))
    other = experiment(2, outcome(2, {NDCG: 0.25}, ranking=("b", "a"), unjudged=0.5, first=""), outcome(3, {NDCG: 1.0}))
    compared, lacking, new = by_question([one, other], NDCG, QuestionOrder.WORSE)
    assert (compared.values, compared.gains) == ((0.5, 0.25), (None, -0.25))
    assert compared.overlaps[0] is None
    assert compared.overlaps[1] is not None
    assert 0 < compared.overlaps[1] < 1
    assert (compared.unjudged, compared.first) == ((None, 0.5), ("a.pdf", ""))
    assert (lacking.key, lacking.values, lacking.gains, lacking.overlaps) == (
        "q1",
        (None, None),
        (None, None),
        (None, None),
    )
    assert (new.key, new.values, new.gains, new.first) == ("q3", (None, 1.0), (None, None), ("", "a.pdf"))


def test_of_several_differences_the_largest_decides() -> None:
    three = [ndcgs(1, 0.5, 0.5), ndcgs(2, 0.4, 0.5), ndcgs(3, 0.5, 0.1)]
    assert keys(by_question(three, NDCG, QuestionOrder.WORSE)) == ["q2", "q1"]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_no_question_is_lost_by_the_order(values: list[tuple[float, float]]) -> None:
    pair = [ndcgs(1, *(old for old, _ in values)), ndcgs(2, *(new for _, new in values))]
    for order in QuestionOrder:
        rows = by_question(pair, NDCG, order)
        assert sorted(row.question_id for row in rows) == list(range(1, len(values) + 1))
    worse = [row.gains[1] or 0.0 for row in by_question(pair, NDCG, QuestionOrder.WORSE)]
    assert worse == sorted(worse)


# Over time


def test_a_line_per_profile_oldest_first_with_what_changed_in_between() -> None:
    listed = [
        ndcgs(6, 0.9, profile="other"),
        ndcgs(5, 0.8, version=2, judgments_version=9, corpus_hash="d"),
        ndcgs(4, 0.7, state=RunState.STOPPED),
        ndcgs(3, 0.6, kind=ExperimentKind.OPTIMISED),
        ndcgs(2, 0.5),
        ndcgs(1, 0.4, finished_at=NOON),
    ]
    other, mine = trend([replace(each, outcomes=()) for each in listed], NDCG)
    assert (other.profile, mine.profile) == ("other", "mine")
    assert [(point.experiment_id, point.ref, point.value.mean) for point in mine.points] == [
        (1, "mine@1", 0.4),
        (2, "mine@1", 0.5),
        (5, "mine@2", 0.8),
    ]
    assert [point.changed for point in mine.points] == [
        (),
        (),
        ("another version", "other judgments", "another library"),
    ]
    assert mine.points[0].at == NOON
    assert trend(listed, "map") == ()


# What a threshold does


def graded() -> Experiment:
    """Two questions with answers, one of them refused by the library, and two that nothing answers."""
    return experiment(
        1,
        outcome(1, {}, scored=(("a", 0.9, 3), ("b", 0.6, 0), ("c", 0.4, 1))),
        outcome(2, {}, scored=(("d", 0.8, UNGRADED), ("e", 0.3, 2))),
        outcome(3, {}, scored=()),
        outcome(4, {}, answerable=False, kind="none", scored=(("f", 0.5, 0), ("g", 0.2, 0))),
        outcome(5, {}, answerable=False, kind="none", scored=()),
    )


def cut(threshold: float) -> ThresholdEffect:
    return cuts_of(graded()).at(threshold)


def test_graded_results_are_counted_and_ungraded_ones_are_not() -> None:
    cuts = cuts_of(graded())
    assert (cuts.relevant, cuts.irrelevant, cuts.by_kind) == (3, 3, 2)
    assert sum(cuts.help.relevant) == 3
    assert sum(cuts.help.irrelevant) == 3


@pytest.mark.parametrize(
    ("threshold", "question_set", "losing", "silent", "answered", "refused"),
    [
        (0.0, 3, (), ("q3",), ("q4",), ("q5",)),
        (0.3, 3, (), ("q3",), ("q4",), ("q5",)),
        (0.35, 2, ("q2",), ("q3",), ("q4",), ("q5",)),
        (0.55, 1, ("q2",), ("q3",), (), ("q4", "q5")),
        (0.85, 1, ("q2",), ("q2", "q3"), (), ("q4", "q5")),
        (0.95, 0, ("q1", "q2"), ("q1", "q2", "q3"), (), ("q4", "q5")),
    ],
)
def test_a_threshold_says_who_loses_what(
    threshold: float,
    question_set: int,
    losing: tuple[str, ...],
    silent: tuple[str, ...],
    answered: tuple[str, ...],
    refused: tuple[str, ...],
) -> None:
    found = cut(threshold)
    assert (found.counts.relevant_retained, found.counts.relevant_lost) == (question_set, 3 - question_set)
    assert (found.losing, found.silent, found.answered, found.refused) == (losing, silent, answered, refused)


def test_what_nobody_has_graded_keeps_a_question_from_being_silent() -> None:
    assert "q2" in cut(0.5).losing
    assert "q2" not in cut(0.5).silent


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_shows_more(one: float, other: float) -> None:
    low, high = cut(min(one, other)), cut(max(one, other))
    assert high.counts.relevant_retained <= low.counts.relevant_retained
    assert high.counts.irrelevant_dropped >= low.counts.irrelevant_dropped
    assert set(low.losing) <= set(high.losing)
    assert set(low.silent) <= set(high.silent)
    assert set(high.answered) <= set(low.answered)


def test_figures_that_flatter_say_so() -> None:
    few = cuts_of(replace(graded(), unjudged=0.4)).doubts
    assert "Only 3 relevant and 3 irrelevant results" in few[0]
    assert "Nobody has graded 40% of the first ten results" in few[1]
    only_none = experiment(1, *graded().outcomes[1:], unjudged=0.0)
    assert any("question that nothing answers" in doubt for doubt in cuts_of(only_none).doubts)
    many = experiment(1, *(outcome(n, {}, scored=(("a", 0.9, 3), ("b", 0.2, 0))) for n in range(30)), unjudged=0.0)
    assert cuts_of(many).doubts == ()


def test_without_a_graded_result_there_is_nothing_to_suggest() -> None:
    cuts = cuts_of(experiment(1, outcome(1, {}, scored=(("a", 0.9, UNGRADED),))))
    assert cuts.help.suggested is None
    assert cuts.help.words == "No result has been graded yet."
    assert cuts.doubts == ()


# As data and as rows


def test_experiments_are_written_whole_with_their_differences(before: Experiment, after: Experiment) -> None:
    data = json.loads(json_text(comparison_data([before, after])))
    assert [each["experiment"] for each in data["experiments"]] == [1, 2]
    assert data["experiments"][1]["scored_with"]["weights"] == {"similarity": 1.0}
    assert len(data["experiments"][0]["outcomes"]) == 20
    [difference] = data["differences"]
    assert (difference["experiment"], difference["from"]) == (2, 1)
    assert difference["measures"][NDCG]["mean"] == pytest.approx(0.15)
    assert 0 < difference["measures"][NDCG]["p_value"] < 0.05
    assert data["questions_in_common"] == 20
    assert comparison_data([before])["differences"] == []


def test_rows_hold_every_experiment_side_by_side() -> None:
    one = experiment(1, outcome(1, {NDCG: 0.5}), outcome(2, {REFUSED: 1.0}, answerable=False))
    other = experiment(2, outcome(1, {NDCG: 0.75}, first="b.pdf"), version=2)
    heads, rows = comparison_table([one, other])
    assert heads[:4] == ["key", "question", "kind", "answerable"]
    assert heads[4:9] == [
        "mine@1 #1 ndcg@10",
        "mine@1 #1 refused",
        "mine@1 #1 hits",
        "mine@1 #1 unjudged",
        "mine@1 #1 first",
    ]
    assert rows[0] == ["q1", "Question 1?", "natural", True, 0.5, None, 3, 0.0, "a.pdf", 0.75, None, 3, 0.0, "b.pdf"]
    assert rows[1][4:] == [None, 1.0, 3, 0.0, "a.pdf", None, None, None, None, None]
    alone, _ = comparison_table([one])
    assert alone[4] == "mine@1 ndcg@10"
