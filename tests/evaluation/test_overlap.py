"""How alike two rankings are: laws, the definition summed term by term, and figures of its authors' own program."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import BadRequest
from core.evaluation.metrics.significance import jaccard, rank_biased_overlap

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
RANKINGS = st.lists(st.sampled_from(ALPHABET[:12]), max_size=12, unique=True)
PATIENCE = st.floats(0.05, 0.97)


def summed_by_definition(a: Sequence[str], b: Sequence[str], p: float, depth: int = 4000) -> float:
    """(1-p) · Σ p^(d-1) · agreement at d, the agreement beyond the end of a list going on as it was there."""
    short, long = sorted((a, b), key=len)
    total = 0.0
    for d in range(1, depth + 1):
        seen = min(d, len(long))
        shared = len(set(long[:seen]) & set(short[:seen]))
        if seen > len(short):
            at_its_end = len(set(short) & set(long[: len(short)])) / len(short)
            shared += at_its_end * (seen - len(short))
        total += (1 - p) * p ** (d - 1) * shared / seen
    return total


@given(RANKINGS, RANKINGS, PATIENCE)
def test_it_is_the_sum_its_definition_says(a: list[str], b: list[str], p: float) -> None:
    if a and b:
        assert rank_biased_overlap(a, b, p) == pytest.approx(summed_by_definition(a, b, p), abs=1e-9)


@pytest.mark.parametrize(
    ("other", "p", "expected"),
    [
        ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
        ("zclx", 0.9, 0.233312),
        ("f", 0.9, 0.053090),
        ("bafnecwvlog", 0.9, 0.620766),
        ("av", 0.2, 0.9),
        ("kxcnarvmwyp", 0.99, 0.529392),
        ("auzemcwhrtjvbfqxyk", 0.4, 0.772647),
    ],
)
def test_lists_of_uneven_length_get_what_webbers_own_program_gives(other: str, p: float, expected: float) -> None:
    """The alphabet against part of it; figures published with the Rust crate `rbo`."""
    assert rank_biased_overlap(ALPHABET, other, p) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("other", "p", "expected"),
    [
        ("agmtrsyhfidnjobwzkxvucqel", 0.9, 0.548749),
        ("achudyxfktsrzwbgqjenolivm", 0.5, 0.774012),
        ("jtnxyzovchmfldbksguqewari", 0.99, 0.868989),
    ],
)
def test_shuffled_lists_get_what_webbers_own_program_gives(other: str, p: float, expected: float) -> None:
    assert rank_biased_overlap(sorted(other), other, p) == pytest.approx(expected, abs=1e-6)


@given(RANKINGS, PATIENCE)
def test_a_ranking_is_wholly_like_itself_and_unlike_one_that_shares_nothing(a: list[str], p: float) -> None:
    assert rank_biased_overlap(a, a, p) == pytest.approx(1.0)
    assert jaccard(a, a) == 1.0
    if a:
        others = [item.upper() for item in a]
        assert rank_biased_overlap(a, others, p) == 0.0
        assert jaccard(a, others) == 0.0


@given(RANKINGS, RANKINGS, PATIENCE)
def test_it_is_the_same_both_ways_and_between_0_and_1(a: list[str], b: list[str], p: float) -> None:
    assert rank_biased_overlap(a, b, p) == rank_biased_overlap(b, a, p)
    assert 0.0 <= rank_biased_overlap(a, b, p) <= 1.0
    assert jaccard(a, b) == jaccard(b, a)
    assert 0.0 <= jaccard(a, b) <= 1.0


@given(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=15, unique=True), PATIENCE)
def test_the_longer_the_tops_agree_the_more_alike_they_are(a: list[str], p: float) -> None:
    others = [item.upper() for item in a]
    alike = [rank_biased_overlap(a, a[:shared] + others[shared:], p) for shared in range(len(a) + 1)]
    assert alike == sorted(alike)
    assert alike[0] == 0.0
    assert alike[-1] == pytest.approx(1.0)


def test_a_change_at_the_top_counts_more_than_one_further_down() -> None:
    swapped_first = rank_biased_overlap("abcdefghij", "bacdefghij")
    swapped_last = rank_biased_overlap("abcdefghij", "abcdefghji")
    assert swapped_first < swapped_last < 1.0
    assert jaccard("abcdefghij", "bacdefghij") == 1.0


def test_what_is_named_twice_counts_where_it_stands_first() -> None:
    assert rank_biased_overlap("aabac", "abc") == pytest.approx(1.0)
    assert jaccard("aab", "abb") == 1.0


def test_two_empty_lists_are_alike_an_empty_and_a_filled_one_are_not() -> None:
    assert rank_biased_overlap([], []) == jaccard([], []) == 1.0
    assert rank_biased_overlap([], ["a"]) == rank_biased_overlap(["a"], []) == jaccard([], ["a"]) == 0.0


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 2.0])
def test_a_reader_neither_always_stops_nor_always_goes_on(p: float) -> None:
    with pytest.raises(BadRequest, match="not between 0 and 1"):
        rank_biased_overlap(["a"], ["a"], p)
