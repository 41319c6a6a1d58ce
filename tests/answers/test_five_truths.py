"""One question to five truths, over real stores in memory."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.answers.answer import answer_of_five, best_sentences, confidence_of, truth_request
from core.domain.coverage import ConflictKind
from core.domain.documents import Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.five_truths import AgreementKind, Figure, FiveTruthsAnswer, TruthAnswer, TruthState
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult, Signals
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.query.route import read_route
from tests.answers.asking import COUNTED, QUESTION, answer_for, expense_library, no_figures, searching
from tests.search.library import NOW, Library, WordEmbedder, payroll_library


def states(answer: FiveTruthsAnswer) -> str:
    """One letter per truth: a answered, s silent, f failed, n not asked."""
    return "".join(each.state.value[0] for each in answer.truths)


def test_each_truth_answers_with_the_sentence_that_says_so() -> None:
    answer = answer_for(figures=lambda question: (COUNTED,))
    assert [each.truth for each in answer.truths] == list(Truth)
    assert states(answer) == "aasaa"
    assert answer.of(Truth.REGULATORY).citations[0].quote == "Employees must submit expense reports within 30 days."
    assert answer.of(Truth.COMPLIANCE).citations[0].document_name == "policy.md"
    assert answer.of(Truth.REALITY).figures == (COUNTED,)
    assert answer.of(Truth.REALITY).evidence_score == 0.5
    assert all(0 <= each.evidence_score <= 1 for each in answer.truths)
    assert answer.answered and answer.asked_at == NOW and answer.profile == "balanced"


def test_every_sentence_belongs_to_its_truth_and_stands_on_its_page() -> None:
    library = expense_library()
    for reported in answer_for(library=library).truths:
        assert len(reported.citations) <= 3
        for citation in reported.citations:
            assert citation.truth is reported.truth
            page = library.catalogue.page(citation.document_id, citation.page_number)
            assert citation.quote == page.text[citation.start : citation.end]


def test_where_truths_disagree_and_agree_is_said() -> None:
    answer = answer_for()
    disputes = [(each.kind, each.first.truth, each.second.truth) for each in answer.conflicts]
    assert (ConflictKind.NUMBER, Truth.REGULATORY, Truth.COMPLIANCE) in disputes
    assert answer.conflicts[0].words.startswith("Regulatory says “within 30 days”")
    (agreement,) = answer.agreements
    assert agreement.kind is AgreementKind.AMOUNT
    assert (agreement.first.truth, agreement.second.truth) == (Truth.REGULATORY, Truth.REFERENCE)
    assert agreement.words == "Regulatory and reference both say “within 30 days”."


def test_a_silent_truth_says_why_and_what_to_obtain() -> None:
    answer = answer_for()
    intent = answer.of(Truth.INTENT)
    assert intent.state is TruthState.SILENT and intent.silence and intent.evidence_score == 0
    assert intent.needed.startswith(f"Obtain a requirement, statement of work or decision on “{QUESTION}”")
    assert intent.needed in answer.to_raise
    reality = answer.of(Truth.REALITY)
    assert "an export of the records" in reality.needed
    assert any(words.startswith("Settle which holds: Regulatory") for words in answer.to_raise)


def test_the_worst_hole_comes_first() -> None:
    library = Library()
    library.add("guide.html", "Employees submit expense reports within 30 days.", truth=Truth.REFERENCE)
    answer = answer_for(library=library)
    assert states(answer) == "sssas"
    assert [words.split(" on ")[0] for words in answer.to_raise] == [
        "Obtain a law, regulation or agency publication",
        "Obtain an internal policy, procedure or audit control",
        "Obtain a requirement, statement of work or decision",
        "Obtain an export of the records or the set-up table",
    ]


def test_an_empty_library_is_silent_everywhere_with_no_confidence() -> None:
    answer = answer_for(library=Library())
    assert states(answer) == "sssss"
    assert answer.confidence == 0 and "None of the" in answer.confidence_reason
    assert not answer.answered and not answer.conflicts and not answer.agreements


def test_a_truth_without_passages_says_so_instead_of_what_they_lack() -> None:
    answer = answer_for()
    assert answer.of(Truth.REALITY).silence == "The library has no passage that is labelled reality with certainty."
    narrowed = answer_for(filters=SearchFilters(tags=("nowhere",)))
    assert narrowed.of(Truth.REGULATORY).silence == "No regulatory passage matches the filters."
    phrase = answer_for('"a phrase that nobody wrote"')
    assert phrase.of(Truth.REGULATORY).silence == "No regulatory passage matches the filters."


def test_a_long_question_is_quoted_in_short_in_what_it_needs() -> None:
    answer = answer_for("expense reports " * 20)
    assert answer.to_raise and all(answer.question not in words for words in answer.to_raise)


def test_what_the_filters_leave_out_is_not_asked() -> None:
    seen: list[SearchRequest] = []
    library = expense_library()

    def watching(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        seen.extend(requests)
        return searching(library)(requests)

    def never(question: str) -> tuple[Figure, ...]:
        raise AssertionError("reality was not asked")

    filters = SearchFilters(truths=("regulatory", "compliance"), exclude_truths=("compliance",))
    answer = answer_of_five(
        QUESTION, search=watching, figures=never, profile="balanced", filters=filters, now=NOW, terms=BUILT_IN_TERMS
    )
    assert states(answer) == "annnn"
    assert [request.filters.truths for request in seen] == [("regulatory",)]
    assert answer.filters_in_words == ("truth is regulatory or compliance", "truth is not compliance")
    assert "Include compliance, intent, reference and reality in the filters." in answer.to_raise
    assert not answer.of(Truth.COMPLIANCE).needed


def test_other_filters_hold_for_every_truth() -> None:
    filters = SearchFilters(authorities=("government",), recency_months=12, include_undated=True)
    answer = answer_for(filters=filters)
    assert states(answer) == "assss"
    assert answer.filters_in_words[0] == "authority is government"
    assert any("dated on or after" in words for words in answer.filters_in_words)
    undated = answer_for(filters=filters.replace(include_undated=False))
    assert "Regulatory: 1 undated document was left out by the date filter." in undated.notices


def test_a_broken_store_fails_and_is_never_silent() -> None:
    def broken(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        raise StoreFailed("The database does not answer.")

    answer = answer_for(search=broken)
    assert states(answer) == "fffff"
    assert answer.confidence == 0
    assert not any("Obtain" in words for words in answer.to_raise)
    assert answer.of(Truth.REGULATORY).silence == "It could not be searched: The database does not answer."


def test_one_failing_truth_does_not_take_the_others_along() -> None:
    library = expense_library()

    def half(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        if any("compliance" in request.filters.truths for request in requests):
            raise StoreFailed("The index is gone.", "Build it again.")
        return searching(library)(requests)

    answer = answer_for(search=half)
    assert states(answer) == "afsas"
    failed = answer.of(Truth.COMPLIANCE)
    assert failed.silence == "It could not be searched: The index is gone. Build it again."
    assert failed.needed == "Ask again when the compliance documents can be searched."
    assert not answer.notices  # the truth itself tells it
    assert "Compliance is unknown, because the search failed." in answer.confidence_reason


def test_half_a_search_that_finds_nothing_failed() -> None:
    library = expense_library()

    def without_dense(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        results = searching(library)(requests)
        return [
            replace(
                result,
                legs=tuple(replace(leg, error="no model") if leg.leg == "dense" else leg for leg in result.legs),
                notices=("The search by meaning failed: no model",),
            )
            for result in results
        ]

    answer = answer_for(search=without_dense)
    assert states(answer) == "aafaf"
    assert answer.notices.count("The search by meaning failed: no model") == 1
    assert "The search by meaning failed: no model" in answer.of(Truth.INTENT).silence


def test_figures_that_cannot_be_counted_are_told() -> None:
    def broken(question: str) -> tuple[Figure, ...]:
        raise StoreFailed("The table is locked.", "Try again.")

    answer = answer_for(figures=broken)
    reality = answer.of(Truth.REALITY)
    assert reality.state is TruthState.FAILED and not answer.notices
    assert reality.silence == "It could not be searched: The table is locked. Try again."


def test_a_broken_model_fails_every_truth() -> None:
    assert states(answer_for(library=expense_library(WordEmbedder(broken=True)))) == "fffff"


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(BadRequest):
        answer_for(question)


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(BadRequest):
        answer_of_five(
            QUESTION,
            search=searching(expense_library()),
            figures=no_figures,
            profile="none",
            filters=SearchFilters(),
            now=NOW,
            terms=BUILT_IN_TERMS,
        )


def test_the_same_question_twice_gives_equal_answers() -> None:
    assert answer_for(figures=lambda question: (COUNTED,)) == answer_for(figures=lambda question: (COUNTED,))
    library = payroll_library()
    question = "How is overtime configured?"
    assert answer_for(question, library) == answer_for(question, library)


def test_conflict_lowers_and_agreement_raises_confidence() -> None:
    law = "Employees must submit expense reports within 30 days."
    only_law, agreed, disputed = Library(), Library(), Library()
    for library in (only_law, agreed, disputed):
        library.add("law.pdf", law, truth=Truth.REGULATORY)
    agreed.add("policy.md", "Employees submit expense reports within 30 days.", truth=Truth.COMPLIANCE)
    disputed.add("policy.md", "Employees submit expense reports within 60 days.", truth=Truth.COMPLIANCE)
    none, one, two = (answer_for(library=library).confidence for library in (only_law, disputed, agreed))
    assert none < one < two <= 1


def test_the_best_sentences_come_from_different_documents_first() -> None:
    library = Library()
    texts = "Travel costs are refunded weekly. Travel costs are refunded by bank. Travel costs are refunded in euro."
    library.add("long.md", texts, truth=Truth.COMPLIANCE)
    library.add("short.md", "Travel costs are refunded on Friday.", truth=Truth.COMPLIANCE)
    request = truth_request("How are travel costs refunded?", Truth.COMPLIANCE, SearchFilters(), "balanced")
    (result,) = searching(library)([request])
    chosen = best_sentences(result.hits)
    assert len(chosen) == 3
    assert {citation.document_name for citation in chosen} == {"long.md", "short.md"}
    assert [citation.relevance for citation in chosen] == sorted((c.relevance for c in chosen), reverse=True)


def test_the_same_words_are_cited_once() -> None:
    library = Library()
    for name in ("one.md", "two.md"):
        library.add(name, f"Travel costs are refunded on Friday. See {name}.", truth=Truth.COMPLIANCE)
    quotes = [c.quote for c in answer_for("When are travel costs refunded?", library).of(Truth.COMPLIANCE).citations]
    assert quotes.count("Travel costs are refunded on Friday.") == 1


def test_what_shares_words_but_not_the_matter_is_no_answer() -> None:
    library = payroll_library()
    library.add(
        "lease.md",
        "The garden of the house is kept in order during the whole lease by the tenant, whoever owns the tools.",
        truth=Truth.INTENT,
    )
    answer = answer_for("When is the statement of every month furnished to the tenant?", library)
    intent = answer.of(Truth.INTENT)
    assert intent.state is TruthState.SILENT and not intent.citations and intent.evidence_score == 0
    assert intent.needed.startswith("Obtain a requirement")


def test_a_truth_that_answers_in_other_words_is_not_silent() -> None:
    """No word of the question stands in its passages; only their meaning is near."""
    library = expense_library()

    def in_other_words(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        near, far = Signals(0.9, 0.0, 10.0), Signals(0.3, 0.0, 10.0)
        results = searching(library)(requests)
        signals = [near if request.filters.truths == (Truth.COMPLIANCE,) else far for request in requests]
        return [
            replace(result, candidates=tuple(replace(each, signals=own) for each in result.candidates))
            for result, own in zip(results, signals, strict=True)
        ]

    answer = answer_for(search=in_other_words)
    assert states(answer) == "sasss"
    assert answer.of(Truth.COMPLIANCE).citations and answer.of(Truth.COMPLIANCE).evidence_score >= 0.5
    assert answer.of(Truth.REGULATORY).silence.startswith("None of the nearest passages contains")


def test_a_truth_does_not_lead_because_another_could_not_be_searched() -> None:
    library = expense_library()

    def without_law(requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        if any(request.filters.truths == (Truth.REGULATORY,) for request in requests):
            raise StoreFailed("The index is gone.", "Build it again.")
        return searching(library)(requests)

    whole, part = answer_for(library=library), answer_for(search=without_law)
    assert part.of(Truth.REGULATORY).state is TruthState.FAILED
    assert part.of(Truth.COMPLIANCE).evidence_score <= whole.of(Truth.COMPLIANCE).evidence_score


def test_one_more_truth_without_a_word_of_the_question_changes_nothing() -> None:
    library = Library()
    library.add("law.pdf", "Employees submit expense reports within 30 days.", truth=Truth.REGULATORY)
    alone = answer_for(library=library).of(Truth.REGULATORY)
    library.add("far.md", "Helium bottles stand upright in the north meadow.", truth=Truth.INTENT)
    both = answer_for(library=library).of(Truth.REGULATORY)
    assert both.evidence_score == pytest.approx(alone.evidence_score, abs=0.01), "words became a little rarer"


def test_holes_in_what_the_question_needs_come_first() -> None:
    library = Library()
    library.add("law.pdf", "Employees submit expense reports within 30 days.", truth=Truth.REGULATORY)
    answer = answer_for("What are the steps to configure expense reports of employees?", library)
    assert answer.to_raise[0].startswith("Obtain a vendor guide")
    assert answer.confidence_reason.startswith("This question needs reference, which is silent.")


@pytest.mark.parametrize(
    ("law", "policy", "reason"),
    [
        (0.9, 0.8, "Both truths that this question needs answer it (regulatory 0.90, compliance 0.80)."),
        (
            0.48,
            0.99,
            "1 of the 2 truths that this question needs answers it (compliance 0.99)."
            " Not the whole answer: regulatory 0.48.",
        ),
        (
            0.4,
            0.3,
            "None of the 2 truths that this question needs answers it."
            " Not the whole answer: regulatory 0.40, compliance 0.30.",
        ),
    ],
)
def test_a_truth_below_the_threshold_does_not_count_as_an_answer(law: float, policy: float, reason: str) -> None:
    scores = {Truth.REGULATORY: law, Truth.COMPLIANCE: policy}
    truths = [TruthAnswer(truth, TruthState.ANSWERED, evidence_score=score) for truth, score in scores.items()]
    route = read_route("When must overtime be approved?", NOW.date(), BUILT_IN_TERMS)
    assert confidence_of(truths, route, (), ())[1] == reason
