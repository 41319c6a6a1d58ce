"""Other wordings of what a question says: they find passages, count for them, and are named."""

from itertools import compress
from time import perf_counter

import pytest

from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.pipeline import SearchPipeline
from core.search.query.expansion import SynonymFinder, wordings_in, wordings_of
from tests.fakes import FakeWordVectorStore
from tests.search.library import NOW, Library


def searched(library: Library, question: str, filters: SearchFilters | None = None) -> SearchResult:
    """What a search gives that knows near words."""
    near = SynonymFinder(FakeWordVectorStore(), library.embedder)
    searcher = SearchPipeline(
        library.catalogue,
        library.vectors,
        library.sparse,
        library.embedder,
        near=near,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    return searcher.search(SearchRequest(question, filters or SearchFilters()), NOW)


def wording_of(hit: Hit) -> list[tuple[str, str]]:
    """What a hit says for what was asked."""
    return [(each.query_word, each.word) for each in hit.candidate.signals.near_words if each.cosine is None]


@pytest.fixture
def library() -> Library:
    """One document that answers in official words, and others that share a word with the question."""
    library = Library()
    library.add("leave.md", "Annual leave is granted after ninety days of service.")
    library.add("lunch.md", "The canteen is open at noon.")
    for number in range(3):
        library.add(f"carry {number}.md", f"Boxes are carried to room {number} by the porters.")
    return library


def test_a_passage_that_says_it_in_other_words_is_found_and_says_by_which(library: Library) -> None:
    result = searched(library, "PTO")
    (first, *_) = [hit for hit in result.hits if hit.candidate.passage.document_name == "leave.md"]
    assert wording_of(first) == [("PTO", "annual leave")]
    assert first.candidate.signals.bm25 == 0
    assert first.candidate.signals.synonym_match == pytest.approx(0.85)
    (nearness,) = [factor for factor in first.score.factors if factor.name == "synonym_match"]
    assert "'annual leave' for 'PTO'" in nearness.reason


def test_without_near_words_other_wordings_and_words_in_a_row_are_measured_all_the_same(library: Library) -> None:
    library.add("policy.md", "The annual leave form is kept upstairs.")
    result = library.searcher.search(SearchRequest("annual leave form"), NOW)
    signals = {each.passage.document_name: each.signals for each in result.candidates}
    assert signals["policy.md"].synonym_match is None
    assert signals["policy.md"].phrase_match == 1.0
    other = library.searcher.search(SearchRequest("PTO"), NOW)
    assert {c.passage.document_name for c in other.candidates if c.signals.wordings > 0} == {"leave.md", "policy.md"}


def test_its_own_words_come_first_among_those_found_by_word(library: Library) -> None:
    library.add("policy.md", "PTO is paid out when somebody leaves.")
    ranks = {c.passage.document_name: c.signals.ranks.get("sparse") for c in searched(library, "PTO").candidates}
    assert ranks["policy.md"] == 1 and ranks["leave.md"] == 2 and ranks["lunch.md"] is None


def test_what_the_filters_leave_out_stays_out(library: Library) -> None:
    result = searched(library, "PTO", SearchFilters(truths=("reality",)))
    assert result.candidates == ()


def test_a_wider_word_answers_a_special_one_but_not_the_other_way_round() -> None:
    assert "parent" in wordings_of("my mother is ill").all
    assert "mother" not in wordings_of("a parent is ill").all


def contained_wordings(text: str, wordings: tuple[str, ...]) -> frozenset[str]:
    found, again = wordings_in([("", text, False), ("", text, True)], wordings)
    assert found.tolist() == again.tolist()
    return frozenset(compress(wordings, found))


def test_a_wording_of_several_words_must_stand_in_a_row() -> None:
    assert contained_wordings("Leave of any kind is annual.", ("annual leave",)) == frozenset()
    assert contained_wordings("ANNUAL\nLEAVES", ("annual leave",)) == {"annual leave"}
    assert contained_wordings("annually leaving", ("annual leave",)) == {"annual leave"}
    assert contained_wordings("biannual leave", ("annual leave",)) == frozenset()


def test_words_that_only_begin_alike_are_others() -> None:
    assert contained_wordings("Wages, 401 of them, in the capital.", ("W-4", "cap", "wage")) == {"wage"}
    assert contained_wordings("Form W-4 and W 4s", ("W-4",)) == {"W-4"}
    assert contained_wordings("capital caps", ("cap",)) == {"cap"}


def test_an_acronym_is_told_from_a_word() -> None:
    assert contained_wordings("There is some ot here, and pto.", ("OT", "PTO")) == frozenset()
    assert contained_wordings("OT is paid.", ("OT", "PTO")) == {"OT"}


def test_a_question_of_plain_words_has_none() -> None:
    nothing = wordings_of("zebra quagga")
    assert (nothing.all, nothing.terms, dict(nothing.by_term)) == ((), (), {})


def test_a_wording_is_found_also_behind_a_letter_that_small_letters_write_with_two_signs() -> None:
    assert contained_wordings("İİİ: pay, then Annual Leaves.", ("annual leave", "pay then", "annual pay")) == {
        "annual leave",
        "pay then",
    }


def test_a_wording_is_found_behind_one_that_begins_alike() -> None:
    assert contained_wordings("The leaven leaver's leave pay", ("leave pay",)) == {"leave pay"}
