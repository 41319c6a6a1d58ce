"""Two results side by side: the differences add up, swapping turns the signs, and the sentence's numbers add up too."""

import re
from dataclasses import replace
from math import fsum, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Passage
from core.domain.errors import NotFound
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Factor, Multiplier, Score, Signals
from core.search.explanation import ComparedResult, ResultComparison, compare, compare_scores, decided
from tests.search.library import NOW, payroll_library

WEIGHTS = {"similarity": 0.5, "authority": 0.2, "domain": 0.15, "recency": 0.1, "jurisdiction": 0.05}
unit = st.floats(0, 1)


def score(values: list[float], times: list[float]) -> Score:
    pairs = zip(WEIGHTS.items(), values, strict=False)
    factors = tuple(Factor(name, value, weight, weight * value, "because") for (name, weight), value in pairs)
    multipliers = tuple(Multiplier(f"times{place}", each, "because") for place, each in enumerate(times))
    total = fsum(factor.contribution for factor in factors) * prod(each.value for each in multipliers)
    return Score(total, factors, multipliers)


scores = st.builds(score, st.lists(unit, min_size=5, max_size=5), st.lists(unit, max_size=3))


def versus(left: Score, right: Score) -> ResultComparison:
    plain = Passage("words", 1, 0, 5, ())
    sides = [
        ComparedResult(Candidate(replace(plain, id=n), Signals(0.5)), each) for n, each in enumerate((left, right), 1)
    ]
    return ResultComparison(sides[0], sides[1], compare_scores(left, right))


@given(scores, scores)
def test_the_differences_add_up_to_the_difference_of_the_totals(left: Score, right: Score) -> None:
    parts = compare_scores(left, right)
    assert fsum(part.difference for part in parts) == pytest.approx(left.total - right.total, abs=1e-9)
    assert [abs(part.difference) for part in parts] == sorted((abs(p.difference) for p in parts), reverse=True)


@given(scores, scores)
def test_swapping_the_two_turns_every_sign(left: Score, right: Score) -> None:
    there = {part.name: part.difference for part in compare_scores(left, right)}
    back = {part.name: part.difference for part in compare_scores(right, left)}
    assert there.keys() == back.keys()
    assert all(there[name] == pytest.approx(-back[name], abs=1e-12) for name in there)


@given(scores, scores)
def test_the_sentence_names_who_is_ahead_and_its_numbers_add_up(left: Score, right: Score) -> None:
    sentence = decided(versus(left, right), ("A", "B"))
    if abs(left.total - right.total) < 1e-9:
        assert sentence.startswith("Both score")
        return
    assert sentence.startswith("A" if left.total > right.total else "B")
    lead = re.match(r"[AB] is ahead by (\d\.\d{3}):", sentence)
    if lead:
        parts = [float(each.replace("−", "-")) for each in re.findall(r"[+−]\d\.\d{3}", sentence)]
        assert fsum(parts) == pytest.approx(float(lead[1]), abs=1e-9)
        written = [float(f"{each.total:.3f}") for each in (left, right)]
        assert float(lead[1]) == pytest.approx(abs(written[0] - written[1]), abs=1e-9)


def test_the_sentence_reads_as_one_would_say_it() -> None:
    left, right = score([0.8, 0.5, 0.4, 1, 1], []), score([0.62, 0.25, 0.5333333333, 1, 1], [])
    sentence = decided(versus(left, right), ("law.pdf", "memo.md"))
    assert sentence == "law.pdf is ahead by 0.120: Similarity +0.090, Authority +0.050, Domain −0.020."


def test_a_multiplier_counts_with_what_it_takes_away() -> None:
    left, right = score([1, 1, 1, 1, 1], [1.0]), score([1, 1, 1, 1, 1], [0.5])
    (first, *rest) = compare_scores(left, right)
    assert first.name == "times0" and first.difference == pytest.approx(0.5)
    assert first.label.startswith("× ") and all(part.difference == 0 for part in rest)


def test_equal_scores_say_what_decides() -> None:
    same = score([0.5] * 5, [])
    assert decided(versus(same, same), ("A", "B")).endswith("comes first: A.")


def test_any_two_candidates_of_a_result_can_be_compared_shown_or_not() -> None:
    library = payroll_library()
    result = library.searcher.search(SearchRequest("overtime rate", top_k=1), NOW)
    scored = [*(hit.candidate.passage.id for hit in result.hits), *(d.candidate.passage.id for d in result.dropped)]
    assert len(scored) > 2
    for other in scored[1:]:
        sentence = compare(result, scored[0], other)
        assert sentence.left.rank == 1 and sentence.right.rank is None and sentence.right.why
        assert fsum(part.difference for part in sentence.parts) == pytest.approx(sentence.difference, abs=1e-9)


def test_a_passage_that_is_none_of_the_result_is_not_found() -> None:
    result = payroll_library().searcher.search(SearchRequest("overtime rate"), NOW)
    with pytest.raises(NotFound):
        compare(result, result.hits[0].candidate.passage.id, 10_000)
