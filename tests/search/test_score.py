"""Scores add up, thresholds say why, and nothing irrelevant is lifted by who wrote it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import fsum, prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Authority, Passage, Span, TemporalClass, Truth
from core.domain.queries import Route, ScoreProfile
from core.domain.results import Candidate, DropReason, Signals
from core.knowledge.profiles import profiles
from core.search.ranking.factors import FACTORS, ScoringContext
from core.search.ranking.score import fuse, rank, score

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
PLAIN = Passage("Deposits are due monthly.", 1, 0, 25, (Span(0, 25),), id=7, document_id=1)


def candidate(similarity: float = 0.0, *, passage_id: int = 7, bm25: float = 0.0, **labels: object) -> Candidate:
    """A candidate with these labels."""
    return Candidate(replace(PLAIN, id=passage_id, **labels), Signals(similarity, bm25, max(bm25, 1.0)))


shares = st.floats(0, 1, allow_nan=False)
candidates = st.builds(
    lambda similarity, bm25, fusion, days, truth, authority, temporal, passage_id: Candidate(
        replace(
            PLAIN,
            id=passage_id,
            truth=truth,
            authority=authority,
            temporal_class=temporal,
            date=None if days is None else NOW - timedelta(days=days),
        ),
        Signals(similarity, bm25 * 20, 20.0, (), fusion, bm25),
    ),
    shares,
    shares,
    shares,
    st.none() | st.integers(-400, 4000),
    st.none() | st.sampled_from(list(Truth)),
    st.none() | st.sampled_from(list(Authority)),
    st.none() | st.sampled_from(list(TemporalClass)),
    st.integers(1, 500),
)


@st.composite
def any_profile(draw: st.DrawFn) -> ScoreProfile:
    names = draw(st.lists(st.sampled_from(list(FACTORS)), min_size=1, max_size=8, unique=True))
    raw = [draw(st.floats(0.01, 1)) for _ in names]
    softened = st.sampled_from(["temporal", "strength", "routing"])
    multipliers = draw(st.dictionaries(softened, st.floats(0.01, 1), max_size=2))
    weights = {name: weight / fsum(raw) for name, weight in zip(names, raw, strict=True)}
    return ScoreProfile("any", weights, multipliers, threshold=draw(shares), floor=draw(shares))


@given(candidates, any_profile())
def test_the_shown_parts_add_up_for_any_weights(found: Candidate, profile: ScoreProfile) -> None:
    shown = score(found, ScoringContext.of(Route(), profile, NOW))
    total = fsum(f.weight * f.value for f in shown.factors) * prod(m.value for m in shown.multipliers)
    assert abs(shown.total - total) < 1e-9
    assert (
        abs(sum(f.contribution for f in shown.factors) * prod(m.value for m in shown.multipliers) - shown.total) < 1e-9
    )
    assert -1e-9 <= shown.total <= 1 + 1e-9
    assert {f.name for f in shown.factors} == set(profile.weights)


@given(st.lists(candidates, max_size=12, unique_by=lambda c: c.passage.id), any_profile())
def test_every_candidate_is_ranked_or_dropped_with_a_reason(found: list[Candidate], profile: ScoreProfile) -> None:
    context, dropped = rank(found, ScoringContext.of(Route(), profile, NOW))
    assert sorted([k.candidate.passage.id for k in context] + [d.candidate.passage.id for d in dropped]) == sorted(
        c.passage.id for c in found
    )
    totals = [round(k.score.total, 9) for k in context]
    assert totals == sorted(totals, reverse=True)
    assert all(k.score.total >= profile.threshold for k in context)
    assert all(d.reason in (DropReason.BELOW_FLOOR, DropReason.BELOW_THRESHOLD) and d.detail for d in dropped)


@given(st.lists(candidates, max_size=12, unique_by=lambda c: c.passage.id), any_profile(), st.randoms())
def test_the_order_depends_on_scores_and_ids_only(found: list[Candidate], profile: ScoreProfile, rng: object) -> None:
    context = ScoringContext.of(Route(), profile, NOW)
    shuffled = list(found)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rank(found, context) == rank(shuffled, context)


def test_authority_and_recency_alone_never_lift_an_irrelevant_passage() -> None:
    grand = {"authority": Authority.GOVERNMENT, "domain": "taxes", "date": NOW, "jurisdiction": "federal"}
    route = Route("regulatory_required", 0.8, {Truth.REGULATORY: 1.0}, "taxes", "federal")
    context, dropped = rank([candidate(0.0, **grand)], ScoringContext.of(route, profiles()["relevance"], NOW))
    assert not context
    assert dropped[0].score is not None
    assert dropped[0].score.total == pytest.approx(0.55)
    assert dropped[0].reason is DropReason.BELOW_FLOOR
    assert "no keyword hit" in dropped[0].detail


def test_a_keyword_hit_is_evidence() -> None:
    found = candidate(0.0, bm25=2.0, authority=Authority.GOVERNMENT, domain="taxes", date=NOW)
    route = Route("regulatory_required", 0.8, {}, "taxes")
    context, _ = rank([found], ScoringContext.of(route, profiles()["relevance"], NOW))
    assert [k.candidate for k in context] == [found]


def test_a_total_just_below_the_threshold_is_told_with_the_digits_that_tell_them_apart() -> None:
    profile = ScoreProfile("one", {"similarity": 1.0}, threshold=0.5, floor=0.0)
    _, dropped = rank([candidate(0.49996), candidate(0.4)], ScoringContext.of(Route(), profile, NOW))
    assert [each.detail for each in dropped] == ["score 0.49996 < 0.50000", "score 0.400 < 0.500"]


def test_without_thresholds_nothing_is_dropped() -> None:
    context, dropped = rank(
        [candidate(0.01)], ScoringContext.of(Route(), profiles()["relevance"], NOW), thresholds=False
    )
    assert (len(context), dropped) == (1, ())


RELEVANCE = [
    (1.0, "internal", None, "default", None, None, None, 0.785),
    (0.5, "internal", None, "default", None, None, None, 0.56),
    (0.0, "government", "taxes", "regulatory_required", NOW, "state:CA", "state:CA", 0.55),
    (0.9, "government", "taxes", "regulatory_required", NOW, "state:CA", "state:CA", 0.955),
    (0.3, "government", "taxes", "regulatory_required", None, None, "state:CA", 0.64),
]


@pytest.mark.parametrize(("similarity", "authority", "domain", "category", "date", "own", "query", "total"), RELEVANCE)
def test_the_relevance_profile_reaches_these_totals(
    similarity: float,
    authority: str,
    domain: str | None,
    category: str,
    date: datetime | None,
    own: str | None,
    query: str | None,
    total: float,
) -> None:
    found = candidate(similarity, authority=Authority(authority), domain=domain, date=date, jurisdiction=own)
    route = Route(category, domain=domain, jurisdiction=query)
    assert score(found, ScoringContext.of(route, profiles()["relevance"], NOW)).total == pytest.approx(total)


def test_the_trend_profile_puts_the_newer_first() -> None:
    found = [
        Candidate(replace(PLAIN, id=1, date=NOW - timedelta(days=30)), Signals(0.5, fusion=0.9)),
        Candidate(replace(PLAIN, id=2, date=NOW - timedelta(days=1)), Signals(0.5, fusion=0.7)),
    ]
    context, _ = rank(found, ScoringContext.of(Route(), profiles()["trend"], NOW))
    assert [(k.candidate.passage.id, round(k.score.total, 4)) for k in context] == [(2, 0.7755), (1, 0.6979)]
    unknown = score(Candidate(PLAIN, Signals(0.5)), ScoringContext.of(Route(), profiles()["trend"], NOW))
    assert unknown.total == pytest.approx(0.5)


def test_reciprocal_rank_rewards_agreement() -> None:
    fused = fuse({1: {"sparse": 1}, 2: {"sparse": 2, "dense": 1}, 3: {"dense": 2}}, {"sparse": 1, "dense": 1})
    assert [item.passage_id for item in fused] == [2, 1, 3]
    best = fused[0].score
    assert [round(item.score / best, 4) for item in fused] == [1.0, 0.5041, 0.4959]
    assert fused[0].ranks == {"sparse": 2, "dense": 1, "fused": 1}


def test_first_in_every_leg_is_worth_one() -> None:
    assert fuse({4: {"sparse": 1, "dense": 1}}, {"sparse": 0.2, "dense": 0.65})[0].score == pytest.approx(1.0)
    assert fuse({4: {"sparse": 1}}, {"sparse": 0.2})[0].score == pytest.approx(1.0)
    assert fuse({}, {"sparse": 0.2}) == ()


def test_all_shared_cases_of_profiles_hold(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "cases.json").read_text("utf-8"))
    for case in cases["relevance_profile"]:
        found = candidate(
            case["similarity"],
            authority=Authority(case["authority"]),
            domain=case["chunk_domain"],
            date=datetime.fromisoformat(case["date"]).replace(tzinfo=UTC) if case["date"] else None,
            jurisdiction=case["cj"] and f"state:{case['cj']}",
        )
        route = Route(case["category"], domain=case["query_domain"], jurisdiction=case["qj"] and f"state:{case['qj']}")
        total = score(found, ScoringContext.of(route, profiles()["relevance"], NOW)).total
        assert total == pytest.approx(case["final"], abs=1e-9), case
    trend = cases["trend_profile"]
    found = [
        Candidate(replace(PLAIN, id=i, date=NOW - timedelta(days=row["age_days"])), Signals(0.5, fusion=row["fusion"]))
        for i, row in enumerate(trend["input"], 1)
    ]
    context, _ = rank(found, ScoringContext.of(Route(), profiles()["trend"], NOW))
    assert [[k.candidate.signals.fusion, round(k.score.total, 4)] for k in context] == trend["expected"]
    fusion = cases["reciprocal_rank_k60"]
    names = ["a", "b", "c"]
    legs = ("sparse", "dense")
    ranks = {names.index(n): {leg: fusion[leg].index(n) + 1 for leg in legs if n in fusion[leg]} for n in names}
    fused = fuse(ranks, dict(zip(("sparse", "dense"), fusion["weights"], strict=True)))
    best = fused[0].score
    assert {names[f.passage_id]: round(f.score / best, 4) for f in fused} == fusion["divided_by_best"]
