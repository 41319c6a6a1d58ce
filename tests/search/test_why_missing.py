"""Why a document is not among the results – also one that no leg ever saw."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import DocumentState, Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.search.explanation import MissingExplanation
from core.search.retrieval.retriever import OVERSAMPLED
from tests.search.library import NOW, Library


@pytest.fixture(scope="module")
def library() -> Library:
    """A law and a policy on overtime, and 130 papers that share more words with the questions than the picnic does."""
    library = Library()
    library.add("law.md", "An employer shall pay overtime.", truth=Truth.REGULATORY, jurisdiction="federal")
    library.add("policy.md", "Overtime is approved by a manager.", truth=Truth.COMPLIANCE, date=None)
    library.add("picnic.md", "The picnic has music and a raffle.", truth=Truth.INTENT)
    for number in range(130):
        library.add(f"paper{number}.md", f"Overtime and pay, paper{number}.", truth=Truth.REFERENCE)
    return library


def reasons(library: Library, name: str, question: str = "overtime pay", **filters: object) -> MissingExplanation:
    request = SearchRequest(question, SearchFilters(**filters), top_k=5)  # type: ignore[arg-type]
    result = library.searcher.search(request, NOW)
    document = next(each for each in library.catalogue.documents(archived=None) if each.name == name)
    return library.searcher.why_not(result, document)


def test_a_filter_that_leaves_a_document_out_is_named_with_what_it_holds_instead(library: Library) -> None:
    why = reasons(library, "policy.md", truths=("regulatory",), exclude_authorities=("vendor",))
    assert why.admitted == 0 and why.best is None
    assert why.reasons == ("The filter “truth is regulatory” leaves out its only passage (compliance).",)


def test_a_filter_on_certain_labels_is_named_too() -> None:
    """It left out a document without a word."""
    library = Library()
    library.add("memo.md", "Overtime is paid.", truth=Truth.INTENT, possible_labels=("truth:regulatory",))
    assert not reasons(library, "memo.md", truths=("regulatory",)).reasons[0].startswith("The filter")
    why = reasons(library, "memo.md", truths=("regulatory",), strict_labels=True)
    assert why.admitted == 0
    assert why.reasons == (
        "The filter “truth is regulatory; certain labels only” leaves out its only passage (intent).",
    )


def test_every_filter_that_leaves_it_out_is_named(library: Library) -> None:
    why = reasons(library, "policy.md", jurisdictions=("federal",), date_from=datetime(2024, 1, 1, tzinfo=UTC))
    assert len(why.reasons) == 2
    assert "jurisdiction is federal" in why.reasons[0] and "(unknown)" in why.reasons[0]
    assert "dated on or after 2024-01-01" in why.reasons[1]


def test_a_quoted_phrase_and_a_left_out_word_are_told(library: Library) -> None:
    for question in ('"pay overtime"', "overtime -manager"):
        why = reasons(library, "policy.md", question)
        assert why.reasons == ("A quoted phrase or a left-out word keeps out its only passage.",)


def test_what_no_leg_found_is_told_by_how_far_it_is_from_what_was_found(library: Library) -> None:
    why = reasons(library, "picnic.md")
    assert (why.admitted, why.found) == (1, 0) and why.best is not None
    meaning, words = why.reasons
    assert meaning.startswith(f"By meaning its nearest passage has similarity 0.00; the {OVERSAMPLED} nearest")
    assert words == "By keyword it shares none of: overtime, pay."


def test_what_was_found_is_said_to_be_found(library: Library) -> None:
    why = reasons(library, "law.md", "employer shall pay overtime")
    assert why.found == 1 and "Found: its only passage" in why.reasons[0]


def test_a_document_that_was_never_read_says_why(library: Library) -> None:
    result = library.searcher.search(SearchRequest("overtime"), NOW)
    law = next(each for each in library.catalogue.documents() if each.name == "law.md")
    for state, words in ((DocumentState.PENDING, "still being read"), (DocumentState.FAILED, "It is damaged.")):
        missing = replace(law, id=99_999, state=state, failure="It is damaged." if state == "failed" else "")
        [reason] = library.searcher.why_not(result, missing).reasons
        assert words in reason


@given(st.sampled_from(list(Truth)), st.booleans())
def test_a_document_is_left_out_by_filters_exactly_when_they_admit_none_of_its_passages(
    library: Library, truth: Truth, undated: bool
) -> None:
    filters = {"truths": (truth,), "date_from": datetime(2020, 1, 1, tzinfo=UTC), "include_undated": undated}
    why = reasons(library, "policy.md", **filters)
    [passage] = library.catalogue.passages_of(why.document.id)
    assert (why.admitted == 0) == (not SearchFilters(**filters).admits(passage))  # type: ignore[arg-type]
    assert bool(why.reasons)
