"""One retrieval under any profile: searched again, re-scored and replayed alike."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from time import perf_counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.domain.documents import Origin, Sector, SourceType, TemporalClass, Truth
from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import LegWeights, ScoreProfile, SearchRequest
from core.domain.results import LegHits, SearchResult
from core.evaluation.experiments import DEPTH
from core.evaluation.tuning.replay import Replay
from core.knowledge.profiles import check_profile, profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import Vectors
from core.search.pipeline import SearchPipeline
from core.search.ranking.factors import FACTORS
from tests.fakes import FakeVectorIndex
from tests.search.library import NOW, Library, WordEmbedder, payroll_library

QUESTIONS = (
    "When must employers deposit withheld income taxes?",
    "How is overtime configured for employees?",
    "overtime rate since 2025",
    "Which federal rules relate overtime to the statement of wages?",
    "vacation days per month in California",
    "What is the latest on garnishments and overtime?",
)
SILENT = "Zeppelin hangar mooring mast"
TWIN = "garnishments are withheld from disposable earnings after mandatory deductions, in the order received"


class BrokenVectors(FakeVectorIndex):
    """Dense search that fails."""

    def search(self, vector: Vectors, filters: SearchFilters, top_k: int, among: object = None) -> LegHits:
        raise StoreFailed("The index is gone.")


class One:
    """The only profile there is."""

    def __init__(self, profile: ScoreProfile) -> None:
        self.profile = profile

    def find(self, ref: str) -> ScoreProfile:
        return self.profile

    def default(self, project: str | None) -> ScoreProfile:
        return self.profile


def stocked() -> Library:
    """The payroll library, with everything a factor can tell apart: dates, places, memories, keywords, twins."""
    library = payroll_library()
    library.add("one.md", f"{TWIN}.", f"{TWIN}. Always.", truth=Truth.REGULATORY)
    recent = datetime(2026, 1, 2, tzinfo=UTC)
    library.add("two.md", f"Today {TWIN}.", temporal_class=TemporalClass.HISTORICAL, date=recent)
    library.add(
        "feed.html",
        "The overtime rate rises in 2026.",
        "Garnishments and overtime are news.",
        date=datetime(2026, 1, 10, tzinfo=UTC),
        source_type=SourceType.FEED,
        temporal_class=TemporalClass.DATED,
        keywords=("overtime", "rate"),
    )
    library.add(
        "note.md",
        "Overtime in California is doubled on the seventh day.",
        date=datetime(2024, 6, 1, tzinfo=UTC),
        jurisdiction="state:CA",
        origin=Origin.INSIGHT,
        sector=Sector.EPISODIC,
    )
    library.add("later.md", "Overtime deposits change.", date=datetime(2027, 1, 1, tzinfo=UTC), domain="earnings")
    return library


LIBRARY = stocked()


@cache
def found(question: str) -> SearchResult:
    """What the product's own profile gives, once."""
    return LIBRARY.searcher.search(SearchRequest(question, top_k=DEPTH), NOW)


def searched(question: str, profile: ScoreProfile) -> SearchResult:
    """A full search under a profile: retrieved, scored and cited anew."""
    searcher = SearchPipeline(
        LIBRARY.catalogue,
        LIBRARY.vectors,
        LIBRARY.sparse,
        LIBRARY.embedder,
        One(profile),
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    return searcher.search(SearchRequest(question, profile=profile.name, top_k=DEPTH), NOW)


def placed(result: SearchResult) -> list[tuple[int, float]]:
    """Passage id and total of what is shown, best first."""
    return [(hit.candidate.passage.id, hit.score.total) for hit in result.hits]


def replayed(result: SearchResult, profile: ScoreProfile, most: int = DEPTH) -> list[tuple[int, float]]:
    """The same, replayed."""
    return [(candidate.passage.id, total) for candidate, total in Replay(result, NOW).ranked(profile, most)]


def agree(one: list[tuple[int, float]], other: list[tuple[int, float]]) -> None:
    """Same passages, same order, totals within 1e-9."""
    assert [passage for passage, _ in one] == [passage for passage, _ in other]
    assert all(abs(mine - theirs) < 1e-9 for (_, mine), (_, theirs) in zip(one, other, strict=True))


SHARE = st.floats(0, 1)
LEGS = st.tuples(SHARE, SHARE, SHARE).filter(any).map(lambda stored: LegWeights(*stored))


def weighed(shares: Mapping[str, float]) -> Mapping[str, float]:
    """Weights that sum to 1."""
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


PROFILES = st.builds(
    ScoreProfile,
    name=st.just("trial"),
    weights=st.dictionaries(st.sampled_from(list(FACTORS)), st.floats(0.001, 1), min_size=1).map(weighed),
    multipliers=st.dictionaries(st.sampled_from(list(FACTORS)), st.floats(0.001, 1), max_size=3),
    threshold=st.one_of(st.just(0.0), SHARE, st.sampled_from([0.35, 0.5, 0.7])),
    floor=SHARE,
    max_results=st.integers(1, 100),
    half_life_days=st.floats(0.1, 1000),
    fusion_k=st.integers(1, 1000),
    legs=LEGS,
    relational_legs=LEGS,
    routing_outside=st.none() | SHARE,
)
"""Any sound profile."""

NEUTRAL = ScoreProfile("neutral", {"domain": 0.1, "recency": 0.2, "jurisdiction": 0.7}, threshold=0.7, floor=0.0)
"""What nothing is known of scores 0.7 in each part: exactly its threshold, when the parts are summed exactly."""


@settings(max_examples=150)
@given(st.sampled_from((*QUESTIONS, SILENT)), PROFILES)
@example(QUESTIONS[1], NEUTRAL)
def test_rescoring_agrees_with_a_full_search_for_any_weights(question: str, profile: ScoreProfile) -> None:
    full = searched(question, check_profile(profile))
    again = LIBRARY.searcher.rescore(found(question), profile, NOW, cited=False)
    agree(placed(again), placed(full))
    assert [(each.candidate.passage.id, each.reason) for each in again.dropped] == [
        (each.candidate.passage.id, each.reason) for each in full.dropped
    ]
    for one, other in zip((*again.hits, *again.dropped), (*full.hits, *full.dropped), strict=True):
        assert one.score is not None
        assert other.score is not None
        assert abs(one.score.total - other.score.total) < 1e-9


@settings(max_examples=300)
@given(st.sampled_from(QUESTIONS), PROFILES)
@example(QUESTIONS[1], NEUTRAL)
def test_a_replay_agrees_with_rescoring_for_any_weights(question: str, profile: ScoreProfile) -> None:
    agree(
        replayed(found(question), profile),
        placed(LIBRARY.searcher.rescore(found(question), profile, NOW, cited=False)),
    )


@settings(max_examples=50)
@given(st.lists(PROFILES, min_size=2, max_size=6))
def test_what_was_ranked_before_changes_nothing(tried: list[ScoreProfile]) -> None:
    replay = Replay(found(QUESTIONS[1]), NOW)
    for profile in (*tried, *reversed(tried)):
        fresh = Replay(found(QUESTIONS[1]), NOW)
        assert replay.ranked(profile, DEPTH) == fresh.ranked(profile, DEPTH)


@pytest.mark.parametrize("name", list(profiles()))
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_products_own_profiles_are_replayed_as_they_are_searched(question: str, name: str) -> None:
    agree(replayed(found(question), profiles()[name]), placed(searched(question, profiles()[name])))


def test_near_identical_passages_are_shown_once_whichever_comes_first() -> None:
    question = "In which order are garnishments withheld?"
    result = found(question)
    texts = {c.passage.id: c.passage.text for c in result.candidates if TWIN in c.passage.text}
    shown = {}
    for factor in ("temporal", "recency"):
        profile = ScoreProfile("one", {factor: 1.0}, threshold=0.0, floor=0.0)
        ranked = replayed(result, profile)
        agree(ranked, placed(LIBRARY.searcher.rescore(result, profile, NOW)))
        shown[factor] = [texts[passage] for passage, _ in ranked if passage in texts]
    # The plain text is like both others, which are not like each other: who comes first decides who is hidden.
    assert shown == {"temporal": [f"{TWIN}."], "recency": [f"Today {TWIN}.", f"{TWIN}. Always."]}


def test_a_total_at_the_threshold_is_kept_as_in_a_search() -> None:
    result = found(QUESTIONS[1])
    totals = {total for _, total in replayed(result, replace(NEUTRAL, threshold=0.0))}
    assert 0.7 in totals
    for total in totals:
        profile = replace(NEUTRAL, threshold=total)
        agree(replayed(result, profile), placed(LIBRARY.searcher.rescore(result, profile, NOW)))
        assert total in {stored for _, stored in replayed(result, profile)}


def test_without_a_leg_nothing_is_judged_by_thresholds() -> None:
    library = Library(WordEmbedder())
    searcher = SearchPipeline(
        LIBRARY.catalogue,
        BrokenVectors(),
        LIBRARY.sparse,
        library.embedder,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    result = searcher.search(SearchRequest(QUESTIONS[1], top_k=DEPTH), NOW)
    strict = ScoreProfile("strict", {"similarity": 0.5, "keyword": 0.5}, threshold=0.99, floor=0.99)
    assert replayed(result, strict)
    agree(replayed(result, strict), placed(searcher.rescore(result, strict, NOW)))


def test_no_more_is_shown_than_asked_for() -> None:
    profile = profiles()["balanced"]
    whole = replayed(found(QUESTIONS[1]), replace(profile, threshold=0.0))
    assert len(whole) > 3
    assert replayed(found(QUESTIONS[1]), replace(profile, threshold=0.0), 3) == whole[:3]


def test_an_empty_library_has_nothing_to_rank() -> None:
    result = Library().searcher.search(SearchRequest("overtime"), NOW)
    assert replayed(result, profiles()["balanced"]) == []


def test_passage_ids_break_ties() -> None:
    flat = ScoreProfile("flat", {"fusion": 0.0, "authority": 1.0}, threshold=0.0, floor=0.0)
    ranked = replayed(found(QUESTIONS[1]), flat)
    for (first, one), (second, other) in pairwise(ranked):
        assert one > other or first < second
