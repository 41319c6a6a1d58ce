"""What every factor is worth: one table per factor, and the shared cases."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.domain.documents import Authority, Passage, Sector, SourceType, Span, TemporalClass, Truth
from core.domain.queries import Route
from core.domain.results import Candidate, Signals, TermScore
from core.knowledge.profiles import profiles
from core.search.ranking.factors import FACTORS, ScoringContext, overlap, retention, utility

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
PLAIN = Passage("Deposits are due monthly.", 1, 0, 25, (Span(0, 25),), id=7, document_id=1)


def value(
    name: str,
    *,
    route: Route = Route(),  # noqa: B008
    signals: Signals = Signals(0.0),  # noqa: B008
    half_life_days: float | None = None,
    **labels: object,
) -> float:
    """One factor's value for a passage with these labels."""
    context = ScoringContext.of(route, replace(profiles()["trend"], half_life_days=half_life_days), NOW)
    valued = FACTORS[name](Candidate(replace(PLAIN, **labels), signals), context)
    assert 0 <= valued.value <= 1
    assert valued.reason
    return valued.value


def aged(days: float | str | None) -> datetime | None:
    """A date so many days before now; "future" is tomorrow."""
    if days is None:
        return None
    return NOW + timedelta(days=1) if isinstance(days, str) else NOW - timedelta(days=days)


RECENCY = [(0, 1.0), (180, 1.0), (181, 0.9), (365, 0.9), (366, 0.8), (730, 0.8), (731, 0.7), (1095, 0.7), (1096, 0.6)]
HALF_LIFE = [(0, 1.0), (7, 0.7071), (14, 0.5), (28, 0.25), (None, 0.5), ("future", 1.0)]
FRESHNESS = [(0, 1.0), (30, 0.5), (60, 0.3333), (365, 0.0759)]
JURISDICTION = [
    ("state:CA", "state:CA", 1.0),
    ("federal", "country:US", 1.0),
    ("federal", "state:CA", 0.9),
    ("country:US", "state:CA", 0.9),
    ("global", "state:CA", 0.9),
    ("global", "country:DE", 0.9),
    ("state:CA", "federal", 0.8),
    (None, "state:CA", 0.7),
    ("state:CA", None, 0.7),
    ("country:DE", "federal", 0.6),
    ("country:DE", "state:CA", 0.6),
    ("state:CA", "country:DE", 0.6),
    ("state:TX", "state:CA", 0.5),
]


@pytest.mark.parametrize(("days", "expected"), [*RECENCY, (None, 0.7), ("future", 1.0)])
def test_recency_goes_down_in_steps(days: float | str | None, expected: float) -> None:
    assert value("recency", date=aged(days)) == expected


@pytest.mark.parametrize(("days", "expected"), HALF_LIFE)
def test_half_life_halves(days: float | str | None, expected: float) -> None:
    assert value("half_life", date=aged(days)) == pytest.approx(expected, abs=1e-4)


def test_half_life_follows_the_source_type_where_the_profile_leaves_it_open() -> None:
    assert value("half_life", date=aged(7), source_type=SourceType.FEED) == pytest.approx(0.5)
    assert value("half_life", date=aged(60), source_type=SourceType.PAPER) == pytest.approx(0.5)


@pytest.mark.parametrize("source", SourceType)
def test_a_half_life_of_the_profile_holds_for_every_source_type(source: SourceType) -> None:
    assert value("half_life", half_life_days=3, date=aged(3), source_type=source) == pytest.approx(0.5)


@pytest.mark.parametrize(("days", "expected"), FRESHNESS)
def test_freshness_fades(days: float, expected: float) -> None:
    assert value("freshness", date=aged(days)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("own", "query", "expected"), JURISDICTION)
def test_jurisdictions_enclose_each_other(own: str | None, query: str | None, expected: float) -> None:
    assert value("jurisdiction", route=Route(jurisdiction=query), jurisdiction=own) == expected


@pytest.mark.parametrize(
    ("category", "authority", "expected"),
    [
        ("regulatory_required", Authority.GOVERNMENT, 1.0),
        ("regulatory_required", Authority.CUSTOMER, 0.2),
        ("policy", Authority.INTERNAL, 1.0),
        ("default", Authority.VENDOR, 0.85),
        ("a category of a workspace", Authority.VENDOR, 0.85),
        ("default", None, 0.5),
    ],
)
def test_authority_depends_on_the_kind_of_question(category: str, authority: Authority | None, expected: float) -> None:
    assert value("authority", route=Route(category), authority=authority) == expected


@pytest.mark.parametrize(
    ("own", "query", "expected"),
    [("taxes", "taxes", 1.0), (None, "taxes", 0.7), ("taxes", None, 0.7), ("time", "taxes", 0.5)],
)
def test_domain_is_the_same_unknown_or_another(own: str | None, query: str | None, expected: float) -> None:
    assert value("domain", route=Route(domain=query), domain=own) == expected


@pytest.mark.parametrize(
    ("temporal", "expected"),
    [("evergreen", 1.0), ("current", 1.0), ("dated", 0.7), ("historical", 0.5), (None, 1.0)],
)
def test_what_is_historical_counts_half(temporal: str | None, expected: float) -> None:
    assert value("temporal", temporal_class=TemporalClass(temporal) if temporal else None) == expected


def test_routing_is_the_weight_of_the_truth() -> None:
    route = Route(truths={Truth.REGULATORY: 1.0, Truth.COMPLIANCE: 0.8})
    weights = [value("routing", route=route, truth=truth) for truth in (Truth.REGULATORY, Truth.COMPLIANCE, None)]
    assert weights == [1.0, 0.8, 1.0]


def test_keywords_are_valued_absolutely() -> None:
    half = Signals(0.0, bm25=3.0, bm25_most=6.0, terms=(TermScore("deposit", "deposit", 3.0),), term_coverage=0.5)
    assert value("keyword", signals=half) == 0.5
    assert value("keyword", signals=Signals(0.0, bm25_most=6.0)) == 0.0
    assert value("term_coverage", signals=half, route=Route(keywords=("deposit", "semiweekly"))) == 0.5


@pytest.mark.parametrize(
    "name",
    [
        "best_sentence_similarity",
        "answer_kind",
        "synonym_match",
        "fusion",
        "term_coverage",
        "half_life",
        "keyword_overlap",
        "authority",
    ],
)
def test_what_is_not_known_is_neutral_not_absent(name: str) -> None:
    assert value(name) == 0.5


def test_a_passage_that_holds_the_kind_of_answer_asked_for_is_worth_more_and_says_what_it_holds() -> None:
    context = ScoringContext.of(Route(answer_kind="duration"), profiles()["trend"], NOW)
    reported = [
        FACTORS["answer_kind"](Candidate(PLAIN, Signals(0.0, answer=answer, answer_words=words)), context)
        for answer, words in ((1.0, "72 hours"), (0.8, "a week"), (0.0, ""), (None, ""))
    ]
    assert [valued.value for valued in reported] == [1.0, 0.8, 0.0, 0.5]
    assert reported[0].reason == "its best sentence contains a length of time: '72 hours'"
    assert reported[2].reason == "no sentence near the question contains a length of time"
    assert reported[3].reason == "neutral: its sentences were not measured"


def test_what_no_reranker_has_read_stays_behind_what_it_has() -> None:
    assert value("rerank") == 0.0 <= value("rerank", signals=Signals(0.0, rerank_logit=-1e9))


def test_reranking_is_a_sigmoid() -> None:
    assert value("rerank", signals=Signals(0.0, rerank_logit=0.0)) == 0.5
    assert value("rerank", signals=Signals(0.0, rerank_logit=-1e9)) == pytest.approx(0.0, abs=1e-9)
    assert value("rerank", signals=Signals(0.0, rerank_logit=2.0)) == pytest.approx(0.8808, abs=1e-4)


def test_insights_fade_and_documents_do_not() -> None:
    assert value("strength", date=aged(5000)) == 1.0
    fresh, old = (value("strength", sector=Sector.SEMANTIC, date=aged(days)) for days in (0, 100))
    assert fresh == 1.0
    assert old == pytest.approx(0.5 + 0.5 * 0.3679, abs=1e-4)


def test_similarity_is_clipped() -> None:
    assert [value("similarity", signals=Signals(s)) for s in (-0.2, 0.4, 1.2)] == [0.0, 0.4, 1.0]


def test_all_shared_cases_of_factors_hold(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "cases.json").read_text("utf-8"))
    for case in cases["jurisdiction"]:
        route = Route(jurisdiction=case["question"])
        assert value("jurisdiction", route=route, jurisdiction=case["passage"]) == case["value"], case
    for table, factor in (
        ("recency_steps_days", "recency"),
        ("half_life_14_days", "half_life"),
        ("freshness_30_days", "freshness"),
    ):
        for days, expected in cases[table]:
            assert value(factor, date=aged(days)) == pytest.approx(expected, abs=1e-4), (table, days)
    for case in cases["keyword_overlap"]:
        shown = overlap(tuple(case["document_keywords"]), tuple(case["query"]))
        assert shown == pytest.approx(case["value"], abs=1e-4), case
    for case in cases["utility"]:
        shown = utility(case["uses"], case["distinct_questions"])
        assert shown == pytest.approx(case["value"], abs=1e-3), case
    bases = {"emotional": 200, "reflective": 180, "episodic": 150, "procedural": 120, "semantic": 100}
    for sector, days, stored in cases["sector_decay_days"]:
        assert retention(days, bases[sector]) == pytest.approx(stored, abs=2e-3), (sector, days)


@pytest.mark.parametrize(
    ("start", "end", "days", "expected"),
    [
        (None, None, 4000, 1.0),
        (None, None, None, 1.0),
        ("2025-03-01", None, 100, 1.0),
        ("2025-03-01", None, 400, 0.9),
        (None, "2025-03-01", 400, 1.0),
        ("2026-01-15", "2026-01-15", 0, 1.0),
        ("2025-01-01", "2025-12-31", 0, 0.9),
        ("2025-01-01", "2025-12-31", None, 0.95),
    ],
)
def test_the_time_a_question_names_is_preferred(
    start: str | None, end: str | None, days: float | None, expected: float
) -> None:
    assert value("date_match", route=Route(date_from=start, date_to=end), date=aged(days)) == expected
