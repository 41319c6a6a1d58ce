"""Minimums and maximums: read as people write them, missed or held, and told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import BadRequest
from core.domain.evaluation import Interval
from core.evaluation.metrics.measures import MEASURES, MetricLimit, MissedLimit, bounds, missed


def test_several_bounds_are_read_in_the_order_they_were_given() -> None:
    found = bounds(["ndcg@10=0.8", " refused = 1 ", "hit@5=.5e0"], ["false_refusal=0"])
    assert found == (
        MetricLimit("ndcg@10", 0.8),
        MetricLimit("refused", 1),
        MetricLimit("hit@5", 0.5),
        MetricLimit("false_refusal", 0),
    )
    assert bounds([]) == ()


@pytest.mark.parametrize(
    ("minimum", "problem"),
    [
        ("ndcg@10", "'ndcg@10' is not a minimum"),
        ("ndcg@10:0.8", "'ndcg@10:0.8' is not a minimum"),
        ("", "'' is not a minimum"),
        ("=0.8", "no measure ''"),
        ("accuracy=0.8", "no measure 'accuracy'"),
        ("NDCG@10=0.8", "no measure 'NDCG@10'"),
        ("ndcg@10=", "'' in 'ndcg@10=' is not a number"),
        ("ndcg@10=high", "'high' in 'ndcg@10=high' is not a number"),
        ("ndcg@10=0,8", "'0,8' in 'ndcg@10=0,8' is not a number"),
        ("ndcg@10=80%", "'80%' in 'ndcg@10=80%' is not a number"),
        ("ndcg@10=0_1", "is not a number"),
        ("ndcg@10=٠.٥", "is not a number"),
        ("ndcg@10=nan", "'nan' in 'ndcg@10=nan' is not a number"),
        ("ndcg@10=1.01", r"'ndcg@10=1.01' is outside \[0, 1\]"),
        ("ndcg@10=-0.1", r"'ndcg@10=-0.1' is outside \[0, 1\]"),
        ("ndcg@10=1e999", r"is outside \[0, 1\]"),
        ("false_refusal=0.1", "'false_refusal' has no minimum: less of it is better"),
    ],
)
def test_what_is_no_minimum_is_named(minimum: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem) as caught:
        bounds(["map=0.1", minimum])
    assert caught.value.hint


def test_a_measure_of_which_more_is_better_has_no_maximum() -> None:
    with pytest.raises(BadRequest, match="'map' has no maximum: more of it is better") as caught:
        bounds([], ["map=0.9"])
    assert caught.value.hint == "Give it a minimum instead."


def test_a_measure_is_bounded_once() -> None:
    with pytest.raises(BadRequest, match="'map' is bounded twice"):
        bounds(["map=0.1", "map=0.2"])


def test_a_bound_that_is_reached_exactly_is_held_whatever_the_order_of_summing() -> None:
    tenths = Interval(sum([0.1] * 8) / 8 * 8, 0.7, 0.9, 8)
    assert tenths.mean < 0.8
    assert missed(bounds(["ndcg@10=0.8"]), {"ndcg@10": tenths}) == ()
    assert missed(bounds([], ["false_refusal=0.8"]), {"false_refusal": tenths}) == ()


def test_a_missed_minimum_says_by_how_much_and_whether_chance_may_be_to_blame() -> None:
    [near] = missed(bounds(["ndcg@10=0.8"]), {"ndcg@10": Interval(0.75, 0.7, 0.8, 60)})
    assert near.by == pytest.approx(0.05)
    assert near.reached
    [far] = missed(bounds(["ndcg@10=0.8"]), {"ndcg@10": Interval(0.75, 0.7, 0.79, 60)})
    assert not far.reached
    assert str(far) == "ndcg@10 is 0.750, 0.05 below the minimum 0.8; its interval, 0.700 to 0.790, does not reach it."


def test_a_missed_maximum_is_above_it() -> None:
    [found] = missed(bounds([], ["false_refusal=0.1"]), {"false_refusal": Interval(0.2, 0.05, 0.3, 60)})
    assert found.reached
    assert "0.1 above the maximum 0.1; its interval, 0.050 to 0.300, reaches it." in str(found)
    [far] = missed(bounds([], ["false_refusal=0.1"]), {"false_refusal": Interval(0.2, 0.15, 0.3, 60)})
    assert not far.reached


def test_what_could_not_be_measured_does_not_pass() -> None:
    [found] = missed(bounds(["refused=0"]), {"ndcg@10": Interval(1, 1, 1, 5)})
    assert (found.found, found.by, found.reached) == (None, None, False)
    assert "refused was not measured" in str(found)


SHARES = st.floats(0, 1)


@given(st.sampled_from(sorted(MEASURES)), SHARES, SHARES)
def test_a_bound_is_held_or_missed_by_what_lies_between(name: str, expected: float, mean: float) -> None:
    more = MEASURES[name].higher_is_better
    text = f"{name}={expected!r}"
    stored = bounds([text]) if more else bounds([], [text])
    assert stored == (MetricLimit(name, expected),)
    found = missed(stored, {name: Interval(mean, 0, 1, 9)})
    beyond = expected - mean if more else mean - expected
    assert found == ((MissedLimit(stored[0], Interval(mean, 0, 1, 9)),) if beyond > 1e-9 else ())
    assert all(each.by == pytest.approx(beyond) and each.reached for each in found)
