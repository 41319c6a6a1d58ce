"""Better weights: found where they are, refused where they are not, and the same for the same seed."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import BadRequest
from core.domain.evaluation import JudgedQuestion, Level, OptimiserSettings
from core.domain.filters import SearchFilters
from core.domain.queries import Route, ScoreProfile, SearchRequest
from core.domain.results import Candidate, SearchResult, Signals
from core.evaluation.judgments.units import passage_unit
from core.evaluation.metrics.grades import GradedResult, Grades, measure_rankings
from core.evaluation.tuning.optimiser import (
    RAISABLE,
    OptimisationRequest,
    OptimisationStopped,
    check_optimising,
    dealt,
    optimised,
)
from core.evaluation.tuning.replay import Replay
from core.knowledge.profiles import check_profile

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
SHA = "0a" * 32
DOCUMENT = Document(1, "law.pdf", SHA, 1, DocumentState.READY, NOW)
CURRENT = ScoreProfile("mine", {"similarity": 1.0}, threshold=0.0, floor=0.0, version=3)
WANTED = OptimiserSettings(("similarity", "term_coverage"), trials=25, folds=3)

Telling = Callable[[Random, bool], tuple[float, float]]
"""(similarity, coverage) of a passage that is relevant, or is not."""


def coverage_tells(random: Random, relevant: bool) -> tuple[float, float]:
    """Relevant passages hold the question's words; similarity says nothing."""
    return random.random(), random.uniform(0.6, 1.0) if relevant else random.uniform(0.0, 0.5)


def nothing_tells(random: Random, relevant: bool) -> tuple[float, float]:
    """Neither says anything."""
    return random.random(), random.random()


def similarity_tells(random: Random, relevant: bool) -> tuple[float, float]:
    """The current weights are the best already."""
    return random.uniform(0.6, 1.0) if relevant else random.uniform(0.0, 0.5), random.random()


def coverage_hints(random: Random, relevant: bool) -> tuple[float, float]:
    """Relevant passages hold more of the question's words, mostly."""
    return random.random(), random.uniform(0.2, 1.0) if relevant else random.uniform(0.0, 0.8)


def passage(number: int, place: int) -> Passage:
    text = f"Words of question {number}, said differently for the {place}th time: {number * 1000 + place}."
    return Passage(text, 1, 0, len(text), (), id=number * 100 + place, document_id=1, document_name="law.pdf")


def requests(telling: Telling, questions: int = 24, seed: int = 5) -> tuple[list[OptimisationRequest], Grades]:
    """Questions with twelve candidates each, three of them relevant."""
    random, found, known = Random(seed), [], {}
    for number in range(1, questions + 1):
        places = [(passage(number, place), place % 4 == 0) for place in range(12)]
        candidates = []
        for each, relevant in places:
            similarity, coverage = telling(random, relevant)
            candidates.append(Candidate(each, Signals(similarity, bm25=1.0, bm25_most=2.0, term_coverage=coverage)))
        question = JudgedQuestion(1, f"q{number}", f"Question {number}?", "odd" if number % 2 else "even", id=number)
        found.append(OptimisationRequest(question, Replay(result(candidates), NOW)))
        known[number] = GradedResult(True, {passage_unit(SHA, each): 2 for each, relevant in places if relevant})
    return found, Grades(Level.PASSAGE, known)


def result(candidates: Sequence[Candidate]) -> SearchResult:
    """A search that only retrieved."""
    return SearchResult(
        request=SearchRequest("?"),
        route=Route(),
        profile=CURRENT,
        filters=SearchFilters(),
        filters_in_words=(),
        hits=(),
        dropped=(),
        candidates=tuple(candidates),
        documents={1: DOCUMENT},
        legs=(),
        answered=True,
    )


# What is found


def test_weights_that_help_on_questions_not_seen_are_recommended() -> None:
    found = optimised(*requests(coverage_tells), CURRENT, WANTED)
    assert found.recommended
    assert found.verdict.startswith("Recommended: ndcg@10 +")
    assert found.p_value < 0.05
    assert found.gain.low > 0
    assert found.held_out.mean > found.baseline.mean
    assert found.profile.weights["term_coverage"] > found.profile.weights.get("similarity", 0.0)
    assert len(found.better) > len(found.worse)
    assert found.held_out.n == found.baseline.n == found.gain.n == 24


def test_all_but_the_weights_stays_as_it_was() -> None:
    current = replace(CURRENT, threshold=0.2, fusion_k=33, multipliers={"temporal": 0.5})
    found = optimised(*requests(coverage_tells), current, WANTED)
    assert replace(found.profile, weights=current.weights) == current
    assert check_profile(found.profile)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_weights_that_only_fit_by_chance_are_not_recommended(seed: int) -> None:
    found = optimised(*requests(nothing_tells, seed=seed), CURRENT, replace(WANTED, seed=seed))
    assert not found.recommended
    assert found.verdict.startswith("Not recommended: ")
    # It does fit what it was found on: that is why the held-out questions decide.
    assert found.training.mean > found.held_out.mean


def test_the_best_weights_already_are_not_replaced() -> None:
    found = optimised(*requests(similarity_tells), CURRENT, WANTED)
    assert not found.recommended
    assert found.gain.mean <= 0
    assert "not better" in found.verdict


def test_a_gain_that_may_be_chance_says_so() -> None:
    found = optimised(*requests(coverage_hints, questions=10, seed=7), CURRENT, WANTED)
    assert found.gain.mean > 0
    assert not found.recommended
    assert "may be chance" in found.verdict
    assert "10 held-out questions" in found.verdict


def test_weights_that_break_a_silence_are_not_recommended_whatever_they_gain() -> None:
    telling = replace(CURRENT, threshold=0.4)
    loud = Candidate(passage(99, 1), Signals(0.1, bm25=1.0, bm25_most=2.0, term_coverage=0.9))
    hushed = Candidate(passage(98, 1), Signals(0.1, bm25=1.0, bm25_most=2.0, term_coverage=0.0))
    found = optimised(*requests(coverage_tells), telling, WANTED, unanswerable=[Replay(result([loud]), NOW)])
    assert found.gain.mean > 0 and not found.recommended
    assert "1 questions that nothing answers would show results, 0 do now" in found.verdict
    assert found.verdict.startswith("Not recommended") and "Recommended" not in found.verdict
    arguments = optimised(*requests(coverage_tells), telling, WANTED, unanswerable=[Replay(result([hushed]), NOW)])
    assert arguments.recommended


def test_the_same_seed_finds_the_same_and_another_may_not() -> None:
    first, again = (optimised(*requests(coverage_tells), CURRENT, WANTED) for _ in range(2))
    assert first == again
    other = optimised(*requests(coverage_tells), CURRENT, replace(WANTED, seed=2))
    assert other.profile.weights != first.profile.weights


def test_every_question_is_held_out_once_and_measured_with_weights_found_without_it() -> None:
    """A single question on which similarity misleads: trained on the others, its weights cannot know it."""
    few, grades = requests(coverage_tells, questions=12)
    found = optimised(few, grades, CURRENT, replace(WANTED, folds=4))
    changed = [change.key for change in (*found.worse, *found.better)]
    assert len(changed) == len(set(changed))
    before = measure_rankings(
        grades, {each.question.id: each.replay.ranking(CURRENT, Level.PASSAGE) for each in few}, ["ndcg@10"]
    )
    for change in (*found.worse, *found.better):
        number = int(change.key[1:])
        assert change.before == before[number]["ndcg@10"]
        assert 0 <= change.after <= 1
    gains = [change.after - change.before for change in (*found.worse, *found.better)]
    assert sum(gains) / 12 == pytest.approx(found.gain.mean)


def test_the_largest_changes_come_first() -> None:
    found = optimised(*requests(nothing_tells), CURRENT, WANTED)
    for changes, sign in ((found.worse, -1), (found.better, 1)):
        sizes = [sign * (change.after - change.before) for change in changes]
        assert sizes == sorted(sizes, reverse=True)
        assert all(size > 0 for size in sizes)


def test_weights_sum_to_one_and_can_be_read() -> None:
    found = optimised(
        *requests(coverage_tells), CURRENT, replace(WANTED, factors=("similarity", "term_coverage", "phrase_match"))
    )
    assert sum(found.profile.weights.values()) == pytest.approx(1, abs=1e-12)
    assert all(round(weight, 3) == pytest.approx(weight, abs=1e-9) for weight in found.profile.weights.values())
    assert set(found.spread) == {"similarity", "term_coverage", "phrase_match"}
    assert all(0 <= low <= high <= 1 for low, high in found.spread.values())


def test_factors_that_are_not_named_weigh_nothing() -> None:
    current = replace(CURRENT, weights={"similarity": 0.5, "authority": 0.5})
    found = optimised(*requests(coverage_tells), current, WANTED)
    assert set(found.profile.weights) <= set(WANTED.factors)


def test_a_base_without_any_of_the_factors_is_a_start_too() -> None:
    current = replace(CURRENT, weights={"authority": 1.0})
    found = optimised(*requests(coverage_tells), current, replace(WANTED, trials=1))
    assert found.profile == current
    assert found.gain.mean == 0
    assert not found.recommended


@pytest.mark.parametrize("measure", RAISABLE)
def test_every_measure_of_rankings_can_be_raised(measure: str) -> None:
    found = optimised(*requests(coverage_tells), CURRENT, replace(WANTED, measure=measure, trials=8))
    assert found.verdict.count(measure) == 1
    assert 0 <= found.baseline.mean <= found.training.mean <= 1


# How it goes


def test_every_trial_is_told() -> None:
    reports: list[tuple[int, int]] = []
    optimised(*requests(coverage_tells), CURRENT, WANTED, on_trial=lambda done, total: reports.append((done, total)))
    assert reports == [(number, 100) for number in range(1, 101)]


def test_it_stops_at_the_next_trial() -> None:
    reports: list[int] = []
    with pytest.raises(OptimisationStopped):
        optimised(
            *requests(coverage_tells),
            CURRENT,
            WANTED,
            on_trial=lambda done, total: reports.append(done),
            stop=lambda: len(reports) == 7,
        )
    assert reports[-1] == 7


# What cannot be


def test_too_few_questions_are_refused() -> None:
    few, grades = requests(coverage_tells, questions=9)
    with pytest.raises(BadRequest, match="9 judged questions are too few") as refused:
        optimised(few, grades, CURRENT, WANTED)
    assert "at least 10" in refused.value.hint


def test_a_fold_needs_two_questions() -> None:
    few, grades = requests(coverage_tells, questions=15)
    with pytest.raises(BadRequest, match="too few") as refused:
        optimised(few, grades, CURRENT, replace(WANTED, folds=8))
    assert "at least 16" in refused.value.hint


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"measure": "refused"}, "'refused' cannot be optimised"),
        ({"factors": ("similarity", "charm")}, "no factor 'charm'"),
        ({"factors": ("similarity", "similarity")}, "nothing to weigh"),
        ({"factors": ()}, "nothing to weigh"),
        ({"folds": 1}, "1 is not a number of folds"),
        ({"trials": 0}, "0 is not a number of trials"),
        ({"seed": -1}, "-1 is not a number of seed"),
    ],
)
def test_a_search_that_cannot_be_is_refused(wrong: dict[str, object], expected: str) -> None:
    with pytest.raises(BadRequest, match=expected):
        check_optimising(replace(WANTED, **wrong))


# Folds


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.integers(2, 8), st.integers(0, 99))
def test_folds_are_even_overall_and_within_each_kind(kinds: list[str], folds: int, seed: int) -> None:
    fold = dealt(kinds, folds, seed)
    assert len(fold) == len(kinds)
    for some in (range(len(kinds)), *([n for n, kind in enumerate(kinds) if kind == each] for each in set(kinds))):
        sizes = Counter(fold[place] for place in some)
        stored = [sizes[number] for number in range(folds)]
        assert max(stored) - min(stored) <= 1
    assert fold == dealt(kinds, folds, seed)


def test_another_seed_deals_otherwise() -> None:
    assert dealt(["a"] * 30, 5, 1) != dealt(["a"] * 30, 5, 2)
