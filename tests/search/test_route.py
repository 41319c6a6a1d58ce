"""What a question is about: a table of questions and what is read from them."""

import json
from datetime import date
from pathlib import Path

import pytest

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.query.asked_dates import dates_in_question
from core.search.query.route import question_terms, read_route, routed_only, truth_weight

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("question", "category", "confidence", "domain"),
    [
        ("What tax withholding is required by the IRS?", "regulatory_required", 0.8, "taxes"),
        ("Best practice for configuring earnings codes", "best_practice", 0.65, "earnings"),
        ("recommendations", "best_practice", 0.65, None),
        ("What's missing from time tracking config?", "gap_analysis", 0.8, "time"),
        ("Why is X set up this way?", "explanation", 0.65, None),
        ("How do I set up a holiday calendar?", "implementation", 0.8, "time"),
        ("What's configured?", "configuration", 0.8, None),
        ("Is overtime set up for Alaska?", "configuration", 0.65, "time"),
        ("company policy for PTO", "policy", 0.8, "time"),
        ("law, statute, penalty, legal", "regulatory_required", 0.95, None),
        ("first draft of a vacation plan", "default", 0.5, "time"),
        ("", "default", 0.5, None),
        ("What does the customer want for overtime?", "customer_intent", 0.65, "time"),
        ("What did our customers say they want?", "customer_intent", 0.65, None),
        ("What our new clients really wanted", "customer_intent", 0.65, None),
        ("Does the customer pay? I want a refund.", "default", 0.5, None),
        ("What the client wants", "customer_intent", 0.65, None),
        ("What do customers want?", "customer_intent", 0.65, None),
        ("Statements of work from 2025", "customer_intent", 0.65, None),
        ("best HR and payroll practices", "best_practice", 0.65, "earnings"),
        ("Which leave plans are not yet configured?", "gap_analysis", 0.65, "time"),
        ("our travel policies", "policy", 0.8, None),
        ("by means of a letter", "default", 0.5, None),
    ],
)
def test_the_category_with_most_patterns_wins(
    question: str, category: str, confidence: float, domain: str | None
) -> None:
    route = read_route(question, TODAY, terms=BUILT_IN_TERMS)
    assert (route.category, route.confidence, route.domain) == (category, pytest.approx(confidence), domain)


@pytest.mark.parametrize(
    ("question", "trend"),
    [
        ("latest AI news", True),
        ("recently", True),
        ("2026 tech trends", True),
        ("the 2025 wage base", True),
        ("published in 2020", False),
        ("part 2025-1600", False),
        ("renewal of contract", False),
        ("offices in New York", False),
        ("new offices in New York", True),
        ("what do we know about knowledge", False),
    ],
)
def test_only_whole_words_ask_for_what_is_new(question: str, trend: bool) -> None:
    assert read_route(question, TODAY, terms=BUILT_IN_TERMS).trend is trend


@pytest.mark.parametrize(
    ("question", "relational"),
    [("How is Acme related to the payroll vendor?", True), ("purchase orders", False), ("That chat was good", False)],
)
def test_relational_questions_name_a_relation(question: str, relational: bool) -> None:
    assert read_route(question, TODAY, terms=BUILT_IN_TERMS).relational is relational


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("changes since March 2024", "2024-03-01", None),
        ("rules before 2020", None, "2019-12-31"),
        ("after 30 June 2024", "2024-07-01", None),
        ("overtime in 2023", "2023-01-01", "2023-12-31"),
        ("between 2020 and February 2024", "2020-01-01", "2024-02-29"),
        ("work on 20 February 2025", "2025-02-20", "2025-02-20"),
        ("updates of the last 2 weeks", "2026-11-06", None),
        ("updates of the past 14 days", "2026-11-06", None),
        ("what changed last year", "2025-01-01", "2025-12-31"),
        ("what changed since last year", "2025-01-01", None),
        ("last year's receipts", None, None),
        ("on 31 June 2024", None, None),
        ("between 2024 and 2020", None, None),
        ("29 U.S.C. 1162", None, None),
        ("rules as of 2024", None, "2024-12-31"),
        ("the wage base as at 31 March 2024", None, "2024-03-31"),
        ("rules in force on 31 March 2024", None, "2024-03-31"),
        ("what is in force as of March 2024", None, "2024-03-31"),
        ("rates entered into force on 1 May 2024", "2024-05-01", "2024-05-01"),
        ("in 2024 employees must report", "2024-01-01", "2024-12-31"),
        ("before 2020 employees had to ask", None, "2019-12-31"),
        ("rates for 2024 year-end", "2024-01-01", "2024-12-31"),
        ("limits of March 2024 hours worked", "2024-03-01", "2024-03-31"),
    ],
)
def test_date_expressions_become_days(question: str, start: str | None, end: str | None) -> None:
    route = read_route(question, TODAY, terms=BUILT_IN_TERMS)
    assert (route.date_from, route.date_to) == (start, end)
    assert (dates_in_question(question, TODAY) is not None) == bool(start or end)


@pytest.mark.parametrize(
    "question",
    [
        "equipment for 2000 dollars",
        "a fee of 2026 €",
        "fees for $2026",
        "between 1900 and 2000 hours",
        "after 2000 hours of work",
        "a 2000-hour year, for 2000-3000 euros",
        "firms of 2000 employees",
        "up to 2026 people",
        "for 2026.50 dollars",
        "what does section 2019 say",
        "duties of § 2026",
        "for part 2026",
    ],
)
def test_an_amount_a_count_and_a_section_are_no_years(question: str) -> None:
    route = read_route(question, TODAY, terms=BUILT_IN_TERMS)
    assert (route.date_from, route.date_to, route.trend) == (None, None, False)


def test_every_kind_of_chip_can_be_removed() -> None:
    question = "What is the latest IRS rule in Texas on tax deposits since 2024, related to garnishment?"
    kinds = [chip.kind for chip in read_route(question, TODAY, terms=BUILT_IN_TERMS).chips]
    assert kinds == ["category", "domain", "jurisdiction", "date", "trend", "relational"]
    for kind in kinds:
        assert kind not in [chip.kind for chip in read_route(question, TODAY, BUILT_IN_TERMS, (kind,)).chips]
    bare = read_route(question, TODAY, BUILT_IN_TERMS, kinds)
    assert (bare.category, bare.domain, bare.jurisdiction, bare.date_from, bare.trend) == (
        "default",
        None,
        None,
        None,
        False,
    )


def test_a_chip_says_which_words_made_it() -> None:
    chips = {
        chip.kind: chip.words
        for chip in read_route("How many active employees in Texas?", TODAY, terms=BUILT_IN_TERMS).chips
    }
    assert chips["jurisdiction"] == "Texas"
    assert "How many" in chips["category"]


def test_truths_outside_the_route_stay_searchable() -> None:
    route = read_route("How to configure overtime", TODAY, terms=BUILT_IN_TERMS)
    assert truth_weight(route, Truth.REFERENCE) == 1.0
    assert truth_weight(route, Truth.INTENT) == truth_weight(route, None) == 0.3


def test_only_routed_truths_gives_way_to_chosen_ones() -> None:
    route = read_route("How to configure overtime", TODAY, terms=BUILT_IN_TERMS)
    assert routed_only(SearchFilters(), route).truths == ("reference",)
    assert routed_only(SearchFilters(truths=("intent",)), route).truths == ("intent",)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What's an hourly-paid W-2 job?", ("hourly", "paid", "w-2", "job")),
        ("I'm sure they don't: tax, taxes", ("sure", "tax", "tax")),
        ("last year’s FSA money", ("last", "year", "fsa", "money")),
        ("How long can my lunch break be?", ("lunch", "break")),
        ("how many", ("many",)),
        ("the and of", ()),
    ],
)
def test_searched_words_are_words_a_text_may_hold(question: str, terms: tuple[str, ...]) -> None:
    assert question_terms(question) == terms


def test_all_shared_cases_of_routing_hold(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "cases.json").read_text("utf-8"))
    for case in cases["routing"]:
        route = read_route(case["query"], TODAY, terms=BUILT_IN_TERMS)
        allowed = case["category"] if isinstance(case["category"], list) else [case["category"]]
        assert route.category in allowed, case
        assert route.domain == case.get("domain"), case
        assert route.confidence == pytest.approx(case.get("confidence", route.confidence)), case
        assert route.jurisdiction == case.get("jurisdiction", route.jurisdiction), case
        read = [[truth.value, weight] for truth, weight in route.truths.items()]
        assert read == case.get("truths", read), case
    for kind in ("trend", "relational"):
        for case in cases[kind]:
            assert getattr(read_route(case["question"], TODAY, terms=BUILT_IN_TERMS), kind) is case[kind], case
    for case in cases["query_keywords"]:
        assert list(read_route(case["query"], TODAY, terms=BUILT_IN_TERMS).keywords) == case["keywords"], case


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("¿Qué plazo tiene el contratista para firmar?", ("plazo", "contratista", "firmar")),
        (
            "Con quale unità di misura si devono registrare le assenze?",
            ("unità", "misura", "devono", "registrare", "assenze"),
        ),
        ("Est-ce qu'un prestataire peut utiliser l'outil ?", ("prestataire", "peut", "utiliser", "outil")),
        ("What is the per diem for an en route stop?", ("per", "diem", "en", "route", "stop")),
        ("El Paso overtime", ("el", "paso", "overtime")),
    ],
)
def test_stop_words_of_the_questions_own_language_are_no_terms(question: str, terms: tuple[str, ...]) -> None:
    assert question_terms(question) == terms
