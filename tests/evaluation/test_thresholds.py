"""Where to cut, and what it costs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.tuning.thresholds import ThresholdConsequences, Triple, consequences, threshold_help

TRIPLES = st.lists(
    st.tuples(st.integers(0, 20).map(lambda part: part / 20), st.booleans(), st.sampled_from(["q1", "q2", "q3"])),
    max_size=25,
)


def f1_of_keeping(triples: list[Triple], threshold: float) -> float:
    cost = consequences(triples, threshold)
    wrong = cost.relevant_lost + cost.irrelevant_retained
    return 2 * cost.relevant_retained / (2 * cost.relevant_retained + wrong) if cost.relevant_retained else 0.0


def mixed(triples: list[Triple]) -> bool:
    return len({good for _, good, _ in triples}) == 2


@given(TRIPLES)
def test_no_other_threshold_has_a_higher_f1_and_equal_ones_lie_above(triples: list[Triple]) -> None:
    found = threshold_help(triples)
    if not mixed(triples):
        assert found.suggested is None
        return
    assert found.suggested is not None
    assert found.f1 == pytest.approx(f1_of_keeping(triples, found.suggested))
    for score in {score for score, _, _ in triples}:
        other = f1_of_keeping(triples, score)
        assert other <= found.f1 + 1e-12
        if score < found.suggested:
            assert other < found.f1


@given(TRIPLES)
def test_the_suggestion_lies_half_way_between_two_scores(triples: list[Triple]) -> None:
    found = threshold_help(triples)
    if found.suggested is None:
        return
    scores = sorted({0.0, *(score for score, _, _ in triples)})
    halves = {(low + high) / 2 for low, high in pairwise(scores)}
    assert found.suggested in halves or (found.suggested == 0.0 and 0.0 in found.thresholds)


@given(TRIPLES)
def test_histograms_count_every_result_once_in_common_bins(triples: list[Triple]) -> None:
    found = threshold_help(triples)
    assert sum(found.relevant) == sum(good for _, good, _ in triples)
    assert sum(found.irrelevant) == sum(not good for _, good, _ in triples)
    assert len(found.relevant) == len(found.irrelevant) == len(found.edges) - 1 == 20
    assert (found.edges[0], found.edges[-1]) == (0.0, 1.0)


@given(TRIPLES)
def test_precision_and_recall_are_those_of_keeping_what_scores_as_much(triples: list[Triple]) -> None:
    found = threshold_help(triples)
    assert list(found.thresholds) == (sorted({score for score, _, _ in triples}) if mixed(triples) else [])
    for threshold, precision, recall in zip(found.thresholds, found.precision, found.recall, strict=True):
        cost = consequences(triples, threshold)
        assert precision == pytest.approx(cost.relevant_retained / (cost.relevant_retained + cost.irrelevant_retained))
        assert recall == pytest.approx(cost.relevant_retained / (cost.relevant_retained + cost.relevant_lost))


@given(TRIPLES, st.floats(0, 1))
def test_what_is_kept_and_what_is_not_is_everything(triples: list[Triple], threshold: float) -> None:
    cost = consequences(triples, threshold)
    assert cost.relevant_retained + cost.relevant_lost == sum(good for _, good, _ in triples)
    assert cost.irrelevant_retained + cost.irrelevant_dropped == sum(not good for _, good, _ in triples)
    assert set(cost.losing) <= {key for _, good, key in triples if good}
    with_relevant = {key for _, good, key in triples if good}
    assert set(cost.emptied) & with_relevant <= set(cost.losing)


def test_consequences_name_the_questions_that_lose_their_last_relevant_or_every_result() -> None:
    triples = [
        (0.9, True, "kept"),
        (0.2, True, "kept"),
        (0.8, False, "misled"),
        (0.3, True, "misled"),
        (0.4, True, "silent"),
        (0.1, False, "silent too"),
        (0.1, False, "silent too"),
    ]
    assert consequences(triples, 0.5) == ThresholdConsequences(
        threshold=0.5,
        relevant_retained=1,
        relevant_lost=3,
        irrelevant_retained=1,
        irrelevant_dropped=2,
        losing=("misled", "silent"),
        emptied=("silent", "silent too"),
    )


def test_a_result_on_the_threshold_is_kept() -> None:
    assert consequences([(0.5, True, "q")], 0.5).relevant_retained == 1


def test_the_lowest_of_equally_good_thresholds_is_suggested() -> None:
    """From 0.8 on precision is 1 and recall ½, from 0.2 on precision ½ and recall 1: F1 is ⅔ for both."""
    triples = [(0.8, True, "q"), (0.6, False, "q"), (0.4, False, "q"), (0.2, True, "q"), (0.1, False, "q")]
    found = threshold_help(triples)
    assert found.f1 == pytest.approx(2 / 3)
    assert found.suggested == pytest.approx(0.15)
    assert found.words == "From 0.150 on, 2 of 2 relevant results are kept and 1 of 3 irrelevant ones dropped."


def test_two_scores_with_nothing_between_them_are_still_parted() -> None:
    low = 0.5
    high = 0.5000000000000001
    found = threshold_help([(low, False, "q"), (high, True, "q")])
    assert found.suggested == high
    assert found.f1 == 1.0


def test_scores_beyond_0_and_1_widen_the_bins() -> None:
    found = threshold_help([(-0.5, False, "q"), (1.5, True, "q")])
    assert (found.edges[0], found.edges[-1]) == (-0.5, 1.5)
    assert found.irrelevant[0] == found.relevant[-1] == 1
    assert found.suggested == 0.5


@pytest.mark.parametrize(
    ("triples", "why"),
    [
        ([], "No result has been graded yet."),
        ([(0.4, False, "q")], "No relevant result"),
        ([(0.4, True, "q"), (0.6, True, "q")], "No irrelevant result"),
    ],
)
def test_without_both_kinds_nothing_is_suggested_and_it_says_why(triples: list[Triple], why: str) -> None:
    found = threshold_help(triples)
    assert found.suggested is None
    assert found.f1 is None
    assert found.thresholds == found.precision == found.recall == ()
    assert why in found.words


def test_no_results_have_no_consequences() -> None:
    assert consequences([], 0.5) == ThresholdConsequences(0.5, 0, 0, 0, 0)
