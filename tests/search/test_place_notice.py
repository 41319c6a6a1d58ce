"""What is said when a question names a place that no passage is about."""

import pytest

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.search.service import SearchService
from core.search.usage_tracker import UsageTracker
from tests.search.library import NOW, Library

QUESTION = "When must overtime be paid in California?"


def notices(filters: SearchFilters, **labels: object) -> tuple[str, ...]:
    """Those of the question in a library with a law labelled so, and a memo on no place."""
    library = Library()
    library.add("law.md", "Overtime must be paid.", truth=Truth.REGULATORY, **labels)
    library.add("memo.md", "The customer pays overtime.", truth=Truth.INTENT)
    service = SearchService(
        pipeline=library.searcher,
        catalogue=library.catalogue,
        vectors=library.vectors,
        sparse=library.sparse,
        graph=None,
        usage=UsageTracker.__new__(UsageTracker),  # not asked: the search is not remembered
        now=lambda: NOW,
    )
    return service.run(SearchRequest(QUESTION, filters), remember=False).notices


@pytest.mark.parametrize(
    ("filters", "place", "expected"),
    [
        (SearchFilters(), None, "No passage in the library is labelled California."),
        (SearchFilters(truths=("intent",)), "state:CA", "No passage that the filters admit is labelled California."),
        (SearchFilters(), "state:CA", ""),
    ],
)
def test_a_place_is_missing_only_where_it_was_searched_for(
    filters: SearchFilters, place: str | None, expected: str
) -> None:
    """Under a filter, a place that the library has was called missing in it."""
    said = " ".join(notices(filters, jurisdiction=place))
    assert said.startswith(expected) and bool(said) == bool(expected)
