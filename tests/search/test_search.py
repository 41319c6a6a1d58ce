"""The query flow as stories, over real stores in memory."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.documents import Truth
from core.domain.errors import BadRequest, BadTable, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import Route, ScoreProfile, SearchRequest
from core.domain.results import DropReason, LegHits, SearchResult, TermScore
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import PassageIds
from core.search.pipeline import SearchPipeline
from core.search.query.route import read_route
from tests.fakes import FakeSparseIndex, FakeVectorIndex
from tests.search.library import NOW, Library, WordEmbedder, payroll_library

LIBRARY = payroll_library()


def ask(question: str, library: Library = LIBRARY, **options: object) -> SearchResult:
    """One search over a library."""
    return library.searcher.search(SearchRequest(question, **options), NOW)


def test_a_question_is_answered_by_the_sentence_that_says_so() -> None:
    result = ask("When must employers deposit withheld income taxes?")
    assert result.answered
    best = result.hits[0]
    assert best.rank == 1
    assert best.citations[0].quote == "Employers must deposit withheld income taxes every month."
    assert best.citations[0].document_name == "pub.pdf"
    assert best.citations[0].page == 1
    assert result.route.category == "regulatory_required"
    assert [leg.leg for leg in result.legs] == ["dense", "sparse"]
    assert all(leg.rows_before == 6 and leg.rows_after == 6 and not leg.error for leg in result.legs)


def test_every_quote_stands_on_its_page() -> None:
    questions = ("overtime rate", "When are deposits due?", "vacation days per month", "statement by January 31")
    hits = [hit for question in questions for hit in ask(question).hits]
    assert len(hits) >= len(questions)
    for hit in hits:
        for citation in hit.citations:
            page = LIBRARY.catalogue.page(citation.document_id, citation.page_number)
            assert citation.quote == page.text[citation.start : citation.end]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(list(Truth)), max_size=3),
    st.lists(st.sampled_from(["taxes", "time"]), max_size=2),
    st.lists(st.sampled_from(["federal", "state:CA"]), max_size=1),
    st.sampled_from(["overtime rate", "deposit taxes", "vacation days per month", "statement by January 31"]),
)
def test_filters_hold_on_every_leg(truths: list[Truth], domains: list[str], places: list[str], question: str) -> None:
    filters = SearchFilters(truths=tuple(truths), domains=tuple(domains), jurisdictions=tuple(places))
    result = ask(question, filters=filters, profile="trend")
    assert all(filters.admits(candidate.passage) for candidate in result.candidates)
    assert len({leg.rows_after for leg in result.legs}) == 1
    alone = {c.passage.id: c.signals.similarity for c in ask(question, profile="trend").candidates}
    for candidate in result.candidates:
        assert candidate.signals.similarity == pytest.approx(
            alone.get(candidate.passage.id, candidate.signals.similarity)
        )


@pytest.mark.parametrize("name", list(profiles()))
def test_rescoring_is_searching_without_a_store(name: str) -> None:
    first = ask("How is overtime configured for employees?")
    requested = ask("How is overtime configured for employees?", profile=name)
    rescored = LIBRARY.searcher.rescore(first, profiles()[name], NOW)
    assert [hit.candidate.passage.id for hit in rescored.hits] == [hit.candidate.passage.id for hit in requested.hits]
    for one, other in zip(rescored.hits, requested.hits, strict=True):
        assert abs(one.score.total - other.score.total) < 1e-9
        assert one.citations == other.citations
    assert [(d.candidate.passage.id, d.reason) for d in rescored.dropped] == [
        (d.candidate.passage.id, d.reason) for d in requested.dropped
    ]


def test_an_unsound_profile_is_not_rescored() -> None:
    with pytest.raises(BadTable):
        LIBRARY.searcher.rescore(ask("overtime"), ScoreProfile("mine", {"similarity": 0.4}), NOW)


def test_an_unknown_profile_and_an_empty_question_are_refused() -> None:
    with pytest.raises(BadRequest, match="charm"):
        ask("overtime", profile="charm")
    with pytest.raises(BadRequest, match="empty"):
        ask("   ")


def test_every_candidate_is_a_hit_or_says_why_not() -> None:
    result = ask("overtime rate", top_k=1)
    shown = [hit.candidate.passage.id for hit in result.hits]
    left = [dropped.candidate.passage.id for dropped in result.dropped]
    assert len(shown) == 1
    assert sorted(shown + left) == sorted(candidate.passage.id for candidate in result.candidates)
    assert DropReason.BEYOND_MAX in {dropped.reason for dropped in result.dropped}
    assert all(dropped.detail for dropped in result.dropped)
    assert "rank 2; the list ends at 1" in {dropped.detail for dropped in result.dropped}


def test_what_nothing_answers_is_said_above_the_nearest_passages() -> None:
    result = ask("Zeppelin hangar mooring mast")
    assert not result.answered
    assert result.answer_probability is not None and result.answer_probability < 0.5
    assert result.hits and "“zeppelin”" in result.silence.lower()


def test_what_falls_below_the_threshold_of_a_strict_profile_is_said_with_the_nearest_misses() -> None:
    result = ask("Zeppelin hangar mooring mast", profile="relevance")
    assert (result.answered, result.hits) == (False, ())
    assert result.silence and result.dropped


def test_an_empty_library_says_so_and_does_not_fail() -> None:
    result = ask("overtime", Library())
    assert (result.answered, result.hits, result.candidates) == (False, (), ())
    assert result.silence


def test_the_same_text_twice_is_shown_once() -> None:
    library = payroll_library()
    text = "Garnishments are withheld from disposable earnings after mandatory deductions, in the order received."
    (first,) = library.add("one.md", text)
    second, _ = library.add("two.md", text, "The cafeteria opens at noon.")
    result = ask("In which order are garnishments withheld?", library)
    ids = [hit.candidate.passage.id for hit in result.hits]
    assert ids[0] == first.id
    assert second.id not in ids
    assert result.hits[0].similar == (second.id,)


def test_undated_documents_left_out_are_counted() -> None:
    result = ask("overtime rate", filters=SearchFilters(date_from=datetime(2025, 1, 1, tzinfo=UTC)))
    assert result.undated_left_out == 4
    assert result.filters_in_words == ("dated on or after 2025-01-01",)


def test_only_routed_truths_are_searched_when_asked() -> None:
    result = ask("How to configure overtime", only_routed=True)
    assert {candidate.passage.truth for candidate in result.candidates} == {Truth.REFERENCE}


def test_a_question_about_the_latest_puts_the_newest_document_first() -> None:
    library = Library()
    text = "The overtime rate for hourly staff is one and a half times the regular rate."
    for year in (2021, 2025, 2023):
        bulletin = f"Bulletin {year}. {text} It replaces what bulletin {year - 1} said about shift work."
        library.add(f"bulletin-{year}.md", bulletin, date=datetime(year, 3, 1, tzinfo=UTC))
    library.add("undated.md", f"Notes of a meeting. {text} Nobody objected to it.")

    def order(question: str) -> list[str]:
        return [hit.candidate.passage.document_name for hit in ask(question, library).hits]

    found = order("latest overtime rate")
    assert found[0] == "bulletin-2025.md"
    assert [name for name in found if name != "undated.md"] == sorted(
        ("bulletin-2021.md", "bulletin-2023.md", "bulletin-2025.md"), reverse=True
    )
    assert order("overtime rate")[0] == "undated.md"
    hit = ask("latest overtime rate", library).hits[-1]
    trend = next(each for each in hit.score.multipliers if each.name == "trend")
    assert 0.5 <= trend.value < 1 and trend.reason


def test_an_uncertain_label_ranks_lower_is_marked_and_can_be_excluded() -> None:
    library = Library()
    certain = "Vacation accrues at two days per month. Managers approve each request before it is booked."
    uncertain = "Vacation accrues at two days per month. Managers approve every request before it is booked."
    library.add("draft.md", uncertain, truth=Truth.INTENT, possible_labels=("truth:compliance",))
    library.add("handbook.md", certain, truth=Truth.COMPLIANCE)
    library.add("notes.md", "Vacation accrues somehow, says the customer.", truth=Truth.INTENT)
    filters = SearchFilters(truths=("compliance",))
    question = "Does vacation accrue before managers approve every request?"
    free = [hit.candidate.passage.document_name for hit in ask(question, library).hits]
    assert free[0] == "draft.md"
    first, second = ask(question, library, filters=filters).hits
    assert [each.candidate.passage.document_name for each in (first, second)] == ["handbook.md", "draft.md"]
    marked = next(each for each in second.score.multipliers if each.name == "label_match")
    assert marked.value == 0.85 and "truth" in marked.reason
    (only,) = ask(question, library, filters=filters.replace(strict_labels=True)).hits
    assert only.candidate.passage.document_name == "handbook.md"


def test_truths_outside_the_route_stay_searchable_and_weigh_less() -> None:
    library = Library()
    text = "Overtime is configured with one earning code for each rate."
    library.add("guide.md", f"{text} See the manual.", truth=Truth.REFERENCE)
    library.add("codes.csv", f"{text} See the table.", truth=Truth.INTENT)
    hits = ask("How to configure overtime with an earning code", library).hits
    weights = {
        hit.candidate.passage.document_name: next(m.value for m in hit.score.multipliers if m.name == "routing")
        for hit in hits
    }
    assert weights["guide.md"] == 1.0
    assert weights["codes.csv"] == pytest.approx(1 - 0.1 * (1 - 0.3))


def test_many_questions_are_embedded_in_one_batch_and_answered_alike() -> None:
    library = payroll_library()
    requests = [
        SearchRequest(question, SearchFilters(truths=(truth.value,)))
        for question in ("overtime rate", "vacation days")
        for truth in Truth
    ]
    many = library.searcher.search_many(requests, NOW)
    assert library.embedder.batches == 1
    assert [[h.score for h in result.hits] for result in many] == [
        [h.score for h in library.searcher.search(request, NOW).hits] for request in requests
    ]
    assert library.searcher.search_many([], NOW) == []


def test_the_route_of_a_question_is_read_once_for_all_its_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def noted(question: str, *given: Any) -> Route:
        read.append(question)
        return read_route(question, *given)

    monkeypatch.setattr("core.search.pipeline.read_route", noted)
    library = payroll_library()
    of_all = [SearchRequest("overtime rate", SearchFilters(truths=(truth.value,))) for truth in Truth]
    library.searcher.search_many([*of_all, SearchRequest("overtime rate", removed_chips=("time",))], NOW)
    assert len(read) == 2


class BrokenSparse(FakeSparseIndex):
    """A BM25 index whose disk is gone."""

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        raise StoreFailed("The keyword index cannot be read.")

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        raise StoreFailed("The keyword index cannot be read.")

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        raise StoreFailed("The keyword index cannot be read.")


def test_without_the_model_keywords_still_answer_and_a_notice_says_so() -> None:
    library = payroll_library(WordEmbedder(broken=True))
    result = ask("When must employers deposit withheld income taxes?", library)
    assert result.hits[0].candidate.passage.document_name == "pub.pdf"
    assert [leg.error for leg in result.legs] == ["The weights are gone.", ""]
    assert any("The weights are gone." in notice for notice in result.notices)


def test_without_the_keyword_index_meaning_still_answers_and_a_notice_says_so() -> None:
    library = payroll_library()
    searcher = SearchPipeline(
        library.catalogue,
        library.vectors,
        BrokenSparse(),
        library.embedder,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    result = searcher.search(SearchRequest("When must employers deposit withheld income taxes?"), NOW)
    assert result.hits[0].candidate.passage.document_name == "pub.pdf"
    assert any("cannot be read" in notice for notice in result.notices)


class BrokenVectors(FakeVectorIndex):
    """A vector index whose server is gone."""

    def search(self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: object = None) -> LegHits:
        raise StoreFailed("The vector index does not answer.")

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        raise StoreFailed("The vector index does not answer.")


def test_without_the_vector_index_keywords_still_answer_and_a_notice_says_so() -> None:
    library = payroll_library()
    searcher = SearchPipeline(
        library.catalogue,
        BrokenVectors(),
        library.sparse,
        library.embedder,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    result = searcher.search(SearchRequest("When must employers deposit withheld income taxes?"), NOW)
    assert result.hits[0].candidate.passage.document_name == "pub.pdf"
    assert any("does not answer" in notice for notice in result.notices)


def test_when_no_leg_can_search_it_is_an_error_and_never_no_results() -> None:
    library = payroll_library()
    searcher = SearchPipeline(
        library.catalogue,
        library.vectors,
        BrokenSparse(),
        WordEmbedder(broken=True),
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    with pytest.raises(StoreFailed, match=r"The weights are gone.*The keyword index cannot be read"):
        searcher.search(SearchRequest("overtime"), NOW)


def test_a_passage_relabelled_meanwhile_is_dropped_as_filtered() -> None:
    library = payroll_library()

    class Lagging(type(library.vectors)):  # type: ignore[misc]
        """A vector index that has not heard of any label yet."""

        def search(
            self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: object = None
        ) -> LegHits:
            return library.vectors.search(vector, SearchFilters(), top_k)

        def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
            return library.vectors.similarities(vector, passage_ids)

    searcher = SearchPipeline(
        library.catalogue, Lagging(), library.sparse, library.embedder, terms=lambda: BUILT_IN_TERMS, timer=perf_counter
    )
    result = searcher.search(SearchRequest("overtime rate", SearchFilters(truths=("intent",))), NOW)
    assert {c.passage.truth for c in result.candidates} == {Truth.INTENT}
    assert DropReason.FILTERED in {dropped.reason for dropped in result.dropped}


def test_warming_touches_both_indexes_of_an_empty_library() -> None:
    Library().searcher.warm()
