"""What would have to change for a passage to be first."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.replay import RankFirstWeight, first_if, moves, reweighted
from core.evaluation.tuning.sliders import changes_from_text, changes_in_text, sliders, tried
from core.knowledge.profiles import profiles
from tests.search.library import NOW, payroll_library

LIBRARY = payroll_library()
QUESTIONS = ["When must employers deposit withheld income taxes?", "overtime rate", "How is vacation accrued?"]
NAMES = ["relevance", "balanced", "authority"]


def search(question: str, profile: str) -> SearchResult:
    return LIBRARY.searcher.search(SearchRequest(question, profile=profile, top_k=50), NOW)


def first(result: SearchResult, profile: ScoreProfile) -> int | None:
    hits = LIBRARY.searcher.rescore(result, profile, NOW, cited=False).hits
    return hits[0].candidate.passage.id if hits else None


@given(st.sampled_from(QUESTIONS), st.sampled_from(NAMES), st.floats(0, 1), st.floats(0, 1))
def test_a_passage_is_first_for_the_weights_told_and_for_no_others(
    question: str, name: str, which: float, weight: float
) -> None:
    result = search(question, name)
    ids = [candidate.passage.id for candidate in result.candidates]
    passage = ids[int(which * (len(ids) - 1))]
    values = {each.factor: each for each in first_if(result, passage, NOW)}
    if first(result, result.profile) == passage:
        assert not values
        return
    for factor in {*result.profile.weights, "keyword", "authority"}:
        if result.profile.weights.get(factor, 0.0) >= 1:
            continue
        leads = first(result, reweighted(result.profile, factor, weight)) == passage
        span = values.get(factor)
        inside = span is not None and span.low + 1e-6 <= weight <= span.high - 1e-6
        outside = span is None or weight < span.low - 1e-6 or weight > span.high + 1e-6
        assert leads or not inside
        assert not leads or not outside


def test_the_smallest_change_comes_first_and_does_it() -> None:
    reports = 0
    for question in QUESTIONS:
        result = search(question, "balanced")
        for candidate in result.candidates:
            changes = first_if(result, candidate.passage.id, NOW)
            moved = [abs(each.nearest - each.now) for each in changes]
            assert moved == sorted(moved)
            for each in (change for change in changes if change.high - change.low > 1e-6):
                nudged = each.nearest + (1e-7 if each.now < each.low else -1e-7)
                assert first(result, reweighted(result.profile, each.factor, nudged)) == candidate.passage.id
                reports += 1
    assert reports


def test_each_number_that_is_written_and_the_sliders_of_its_link_put_the_passage_first() -> None:
    written = 0
    for question, profile in product(QUESTIONS, NAMES):
        result = search(question, profile)
        rows = sliders(result.profile)
        for candidate in result.candidates:
            for each in first_if(result, candidate.passage.id, NOW):
                for weight in each.shown or ():
                    assert first(result, reweighted(result.profile, each.factor, weight)) == candidate.passage.id
                    written += 1
                moved, problems = changes_from_text(changes_in_text(moves(result.profile, each)), rows)
                assert not problems
                if each.shown:
                    assert first(result, tried(result.profile, moved)) == candidate.passage.id
    assert written


def test_the_first_needs_no_change_and_a_stranger_has_none() -> None:
    result = search(QUESTIONS[1], "balanced")
    assert first_if(result, result.hits[0].candidate.passage.id, NOW) == ()
    assert first_if(result, 10**9, NOW) == ()


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_other_weights_keep_their_proportions(weight: float) -> None:
    profile = profiles()["relevance"]
    changed = reweighted(profile, "authority", weight)
    assert sum(changed.weights.values()) == pytest.approx(1)
    if weight < 1:
        old = profile.weights["similarity"] / profile.weights["domain"]
        assert changed.weights["similarity"] / changed.weights["domain"] == pytest.approx(old)


def test_it_is_said_in_words() -> None:
    assert RankFirstWeight("authority", 0.25, 0.6, 1.0).words == "at least 0.600"
