"""Page after page: pages together are one long list, whatever they ask for, and it goes on to the end."""

from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.documents import Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import DropReason, Hit, LegHits, SearchResult
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.pipeline import SearchPipeline
from core.search.ranking.answerability import unanswered_words
from core.search.result_data import next_offset
from core.search.retrieval.retriever import _MORE, OVERSAMPLED
from tests.fakes import FakeVectorIndex
from tests.search.library import NOW, Library

_WORDS = (
    "overtime rate pay week hour law employer record tax deposit month statement vacation day manager holiday payroll"
    " garnishment union shift location code earning deduction premium notice policy wage form latest"
).split()
_QUESTIONS = ("overtime rate", "latest vacation policy", "When must taxes be deposited?", "union garnishment notice")
_PROFILES = ("balanced", "relevance", "knowledge", "trend")


@cache
def library() -> Library:
    """Some 500 passages of few words in all, so that every question finds most of them; every sixth has a twin."""
    random, found = Random(7), Library()
    for number in range(42):
        texts = [" ".join(random.choices(_WORDS, k=random.randint(5, 14))) for _ in range(10)]
        texts += [f"{text} {random.choice(_WORDS)}" for text in texts[:2] if len(text.split()) > 8]
        found.add(
            f"document {number}.md",
            *dict.fromkeys(f"{text}." for text in texts),
            truth=random.choice((*Truth, None)),
            date=random.choice((None, datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=7 * number))),
        )
    return found


def ask(question: str, shelf: Library | None = None, **options: object) -> SearchResult:
    return (shelf or library()).searcher.search(SearchRequest(question, **options), NOW)  # type: ignore[arg-type]


def to_the_end(question: str, page: int, **options: object) -> list[SearchResult]:
    """Page after page, until there are no more."""
    pages: list[SearchResult] = []
    while not pages or pages[-1].more or pages[-1].request.offset + page < pages[-1].total:
        pages.append(ask(question, top_k=page, offset=page * len(pages), **options))
    return pages


@pytest.mark.parametrize("question", _QUESTIONS)
def test_a_page_that_ends_with_the_last_result_known_so_far_is_not_the_last(question: str) -> None:
    """Programs that went on by cursor or offset missed what only deeper legs find."""
    known = ask(question, top_k=1).total
    page = ask(question, top_k=known)
    assert page.total == known and page.more
    assert next_offset(page) == known
    assert ask(question, top_k=known, offset=known).hits
    assert next_offset(ask(question, top_k=600)) is None


# Each example asks for some 15 pages of a library of 500 passages, and every page is a whole search.
@settings(max_examples=12, deadline=None)
@given(st.sampled_from(_QUESTIONS), st.sampled_from(_PROFILES), st.integers(17, 90), st.integers(1, 600))
def test_pages_together_are_one_long_list(question: str, profile: str, page: int, long: int) -> None:
    pages = to_the_end(question, page, profile=profile)
    found: list[Hit] = [hit for each in pages for hit in each.hits]
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    assert len({hit.candidate.passage.id for hit in found}) == len(found)
    at_once = ask(question, top_k=long, profile=profile)
    assert list(at_once.hits) == found[:long]
    assert len({(each.answer_probability, each.answered, each.silence) for each in (*pages, at_once)}) == 1
    assert pages[-1].total == len(found) and not pages[-1].more


def test_they_go_on_until_every_passage_is_a_result_or_has_its_reason() -> None:
    last = to_the_end("overtime rate", 100)[-1]
    assert len(last.candidates) == library().catalogue.statistics().passages > 4 * OVERSAMPLED
    assert max(candidate.signals.band for candidate in last.candidates) >= 3
    reasons = [each.reason for each in last.dropped]
    assert last.total + reasons.count(DropReason.COLLAPSED) + reasons.count(DropReason.BELOW_FLOOR) == len(
        last.candidates
    )
    assert reasons.count(DropReason.EARLIER_PAGE) == last.request.offset


def test_an_early_page_searches_no_deeper_than_it_needs() -> None:
    first = ask("overtime rate", top_k=10)
    assert {candidate.signals.band for candidate in first.candidates} == {0}
    assert all(leg.found <= OVERSAMPLED + _MORE for leg in first.legs)
    assert first.more and 10 < first.total < len(first.candidates) + 1


def test_a_later_band_stands_behind_an_earlier_one_even_with_a_higher_score() -> None:
    result = ask("latest vacation policy", top_k=400, profile="trend")
    bands = [hit.candidate.signals.band for hit in result.hits]
    assert bands == sorted(bands) and bands[-1] > 0
    totals = [hit.score.total for hit in result.hits]
    assert totals != sorted(totals, reverse=True)


def test_a_strict_profile_ends_the_list_before_the_library_ends() -> None:
    """Nothing reaches the threshold, so nothing deeper is measured for it."""
    result = ask("overtime rate", profile="relevance", threshold=0.99)
    assert (result.total, result.more) == (0, False)
    assert {candidate.signals.band for candidate in result.candidates} == {0}


def test_beyond_the_end_there_is_nothing_and_the_total_says_so() -> None:
    end = to_the_end("overtime rate", 90)[-1]
    result = ask("overtime rate", offset=end.total + 5)
    assert (result.hits, result.total, result.more) == ((), end.total, False)
    assert result.answered == end.answered
    assert unanswered_words(result) == f"No results after the first {end.total:,}."


def test_a_small_library_is_ranked_as_a_whole() -> None:
    small = Library()
    small.add("rules.md", "Overtime is paid weekly.", "Overtime needs approval by the manager.")
    result = ask("overtime", small)
    assert (result.total, result.more, len(result.hits)) == (2, False, 2)


def test_rescoring_keeps_page_and_bands() -> None:
    page = ask("overtime rate", top_k=25, offset=75)
    again = library().searcher.rescore(page, page.profile, NOW)
    assert again.hits == page.hits and (again.total, again.more) == (page.total, page.more)


def test_filters_hold_on_every_page() -> None:
    filters = SearchFilters(truths=("intent", "reality"))
    pages = to_the_end("overtime rate", 40, filters=filters)
    assert all(filters.admits(hit.candidate.passage) for each in pages for hit in each.hits)
    assert all(each.legs[0].rows_after < each.legs[0].rows_before for each in pages)


def test_an_offset_below_0_and_a_page_of_none_are_refused() -> None:
    with pytest.raises(BadRequest, match="offset -1"):
        ask("overtime", offset=-1)
    with pytest.raises(BadRequest, match="0 results"):
        ask("overtime", top_k=0)


def test_a_leg_that_fails_only_deeper_is_told() -> None:
    class Shallow(FakeVectorIndex):
        """A vector index that does not answer when it is asked for much."""

        def search(
            self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: object = None
        ) -> LegHits:
            if top_k > OVERSAMPLED:
                raise StoreFailed("The vector index does not answer.")
            return super().search(vector, filters, top_k)

    shelf = Library()
    shelf.vectors = Shallow()
    shelf.searcher = SearchPipeline(
        shelf.catalogue, shelf.vectors, shelf.sparse, shelf.embedder, terms=lambda: BUILT_IN_TERMS, timer=perf_counter
    )
    for number in range(12):
        shelf.add(f"{number}.md", *(f"{' '.join(Random(number * 9 + row).choices(_WORDS, k=9))}." for row in range(9)))
    result = ask("overtime rate", shelf, top_k=200)
    assert any("does not answer" in notice for notice in result.notices)
    assert [bool(leg.error) for leg in result.legs] == [True, False]
