"""How sure a mean is, and when a difference is more than chance."""

from itertools import product
from math import isnan
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.evaluation import Interval, MetricChange, QuestionOutcome
from core.evaluation.metrics.significance import changed, compared, interval, paired

SHARES = st.lists(st.integers(0, 20).map(lambda twentieths: twentieths / 20), min_size=1, max_size=30)
FEW = settings(max_examples=25)
"""Every example draws ten thousand samples."""


def outcome(number: int, **measures: float) -> QuestionOutcome:
    names = {name.replace("_at_", "@"): value for name, value in measures.items()}
    return QuestionOutcome(number, f"q{number}", f"Question {number}?", "natural", True, 5, names, None)


@FEW
@given(SHARES, st.integers(0, 5))
def test_the_interval_holds_the_mean_and_stays_among_the_values(values: list[float], seed: int) -> None:
    found = interval(values, seed)
    assert found.mean == pytest.approx(fmean(values))
    assert found.n == len(values)
    assert min(values) - 1e-12 <= found.low <= found.mean <= found.high <= max(values) + 1e-12


@pytest.mark.parametrize("values", [[0.25], [1.0] * 8, [0.1 + 0.2, 0.3]])
def test_one_value_or_equal_ones_have_no_width(values: list[float]) -> None:
    found = interval(values)
    assert found.low == found.mean == found.high == pytest.approx(values[0])


def test_nothing_measured_has_no_mean() -> None:
    found = interval([])
    assert found.n == 0
    assert isnan(found.mean)
    assert isnan(found.low)
    assert isnan(found.high)


def test_the_interval_is_about_two_standard_errors_each_way() -> None:
    """A fair coin thrown 400 times: the standard error is 0.5 / √400 = 0.025, and 1.96 of them are 0.049."""
    found = interval([0.0, 1.0] * 200, seed=3)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - 0.049, abs=0.006)
    assert found.high == pytest.approx(0.5 + 0.049, abs=0.006)


def test_the_same_seed_gives_the_same_interval_and_p_value() -> None:
    before, after = [place / 40 for place in range(40)], [place * 7 % 40 / 40 for place in range(40)]
    assert interval(before, 5) == interval(before, 5)
    assert paired(before, after, 5) == paired(before, after, 5)
    assert interval(before, 5) != interval(before, 6)


def exact_p_value(gains: list[float]) -> float:
    """Every way of giving each gain a sign: twice the share of the rarer side, counting what was observed."""
    observed = sum(gains)
    sums = [
        sum(sign * gain for sign, gain in zip(signs, gains, strict=True))
        for signs in product((1, -1), repeat=len(gains))
    ]
    above = sum(total >= observed - 1e-12 for total in sums) / len(sums)
    below = sum(total <= observed + 1e-12 for total in sums) / len(sums)
    return min(1.0, 2 * min(above, below))


@FEW
@given(st.lists(st.integers(-20, 20).map(lambda twentieths: twentieths / 20), min_size=1, max_size=9))
def test_few_questions_are_tested_by_every_way_of_swapping_them(gains: list[float]) -> None:
    found = paired([0.0] * len(gains), gains)
    assert found.p_value == pytest.approx(exact_p_value(gains))
    assert found.n == len(gains)
    assert found.gain.mean == pytest.approx(fmean(gains))


@FEW
@given(SHARES.flatmap(lambda before: st.tuples(st.just(before), st.permutations(before))))
def test_swapping_before_and_after_turns_the_gain_and_keeps_the_p_value(both: tuple[list[float], list[float]]) -> None:
    before, after = both
    there, back = paired(before, after), paired(after, before)
    assert there.gain.mean == pytest.approx(-back.gain.mean)
    assert 0.0 < there.p_value <= 1.0
    assert there.p_value == pytest.approx(back.p_value)


@pytest.mark.parametrize(("before", "after"), [([], []), ([0.5], [1.0]), ([0.3] * 20, [0.3] * 20)])
def test_nothing_one_question_or_no_difference_is_not_significant(before: list[float], after: list[float]) -> None:
    assert paired(before, after).p_value == 1.0


def test_a_gain_on_every_question_is_significant_and_noise_is_not() -> None:
    before = [place % 10 / 20 for place in range(60)]
    better = paired(before, [value + 0.1 for value in before])
    assert better.p_value < 0.001
    assert better.gain.low > 0.0
    noisy = paired(before, [value + (0.1 if place % 2 else -0.1) for place, value in enumerate(before)])
    assert noisy.p_value > 0.5
    assert noisy.gain.low < 0.0 < noisy.gain.high


def test_unpaired_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired([0.1], [0.1, 0.2])


def test_measurements_are_compared_over_the_questions_both_have_the_measure_for() -> None:
    first = [outcome(1, ndcg_at_10=0.2, map=0.1), outcome(2, ndcg_at_10=0.4), outcome(3, ndcg_at_10=0.9), outcome(5)]
    second = [outcome(2, ndcg_at_10=0.6, map=0.5), outcome(1, ndcg_at_10=0.3), outcome(4, ndcg_at_10=1.0), outcome(5)]
    found = compared(first, second)
    assert list(found) == ["ndcg@10"]
    assert found["ndcg@10"].n == 2
    assert found["ndcg@10"].gain.mean == pytest.approx(0.15)
    assert found["ndcg@10"].p_value == 0.5
    assert compared([], second) == compared(first, []) == {}


def test_compared_measures_stand_in_the_order_of_every_table() -> None:
    both = [outcome(1, false_refusal=0.0, own=1.0, p_at_5=0.2, ndcg_at_10=0.1)]
    assert list(compared(both, both)) == ["ndcg@10", "p@5", "false_refusal", "own"]


def test_changed_questions_are_told_largest_change_first_then_by_key() -> None:
    first = [outcome(n, map=0.5) for n in range(1, 7)]
    second = [outcome(n, map=value) for n, value in enumerate([0.5, 0.4, 0.9, 0.0, 0.9, 0.5 + 1e-12], 1)]
    worse, better = changed(first, second, "map")
    assert [change.key for change in worse] == ["q4", "q2"]
    assert better == (
        MetricChange("q3", "Question 3?", "natural", 0.5, 0.9),
        MetricChange("q5", "Question 5?", "natural", 0.5, 0.9),
    )


def test_more_false_refusals_are_worse() -> None:
    worse, better = changed([outcome(1, false_refusal=0.0)], [outcome(1, false_refusal=1.0)], "false_refusal")
    assert [change.key for change in worse] == ["q1"]
    assert better == ()


def test_a_measure_or_question_only_one_has_did_not_change() -> None:
    assert changed([outcome(1, map=0.1)], [outcome(1), outcome(2, map=0.9)], "map") == ((), ())
    assert changed([], [], "map") == ((), ())


def test_an_interval_is_a_value() -> None:
    assert interval([0.5]) == Interval(0.5, 0.5, 0.5, 1)
