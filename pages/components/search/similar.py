"""More like this: the passages nearest to a result, with the reason; searched only on request."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.search.citations.cite import display_quote
from core.search.retrieval.similar import SimilarPassage, as_question
from pages.components import cards, notices
from pages.components.urls import page_path, params_of
from pages.components.wording import plain, shortened, squeezed

__all__ = ["Find", "more_like_this"]

Find = Callable[[int, SearchFilters], Sequence[SimilarPassage]]
"""The passages nearest to the passage of this id that the filters admit. Raises FivefoldError."""

_WORDS = 6
_HEIGHT = 440
"""Pixels kept for the list before it is there: a box finds its place by what it holds when it opens."""


def more_like_this(hit: Hit, result: SearchResult, find: Find) -> None:
    """A box beside a result: five passages like it, each opening in Inspect, and its sentence as a question of its own.

    The filters of the search apply. Opening the box draws it alone again, not the page.
    """
    with st.container(width="content"):
        _box(hit, result, find)


@st.fragment
def _box(hit: Hit, result: SearchResult, find: Find) -> None:
    passage = hit.candidate.passage
    box = st.popover(
        "More like this", icon=":material/hub:", type="tertiary", key=f"similar.{passage.id}", on_change="rerun"
    )
    with box, st.container(width=520, height=_HEIGHT, border=False):
        if not box.open:
            return
        try:
            found = find(passage.id, result.filters)
        except FivefoldError as problem:
            notices.error(problem)
            return
        for each in found:
            _line(each, result)
        if not found:
            st.caption("Nothing else in what the filters let through is like this passage.")
        _as_search(hit, result.request)


def _line(similar: SimilarPassage, result: SearchResult) -> None:
    """One passage: where it stands, how it begins, and why it is like the result."""
    passage = similar.passage
    where = cards.place(passage, result.documents.get(passage.document_id))
    name = plain(squeezed(passage.document_name, 48))
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(passage)
            label = f"**{name}**, {plain(where)}" if where else f"**{name}**"
            _open(similar, result, label)
        st.markdown(plain(shortened(display_quote(passage.text), 180)))
        st.caption(plain(_why(similar)))


def _open(similar: SimilarPassage, result: SearchResult, label: str) -> None:
    """Inspect with this passage: under the question asked, or, where it is no candidate of it, under its own words."""
    passage, asked = similar.passage, result.request
    if passage.id not in {candidate.passage.id for candidate in result.candidates}:
        asked = SearchRequest(as_question(display_quote(passage.text)), asked.filters, profile=asked.profile)
    cards.inspect_link(asked, passage.id, label, icon=":material/troubleshoot:")


def _why(similar: SimilarPassage) -> str:
    """
    >>> from core.domain.documents import Passage
    >>> _why(Similar(Passage("", 1, 0, 0, ()), 0.812, ("fsbid", "form"), 0.5))
    'nearness 0.72 · cosine 0.81 · shares fsbid, form'
    """
    meaning = "no vector, found by words" if similar.cosine is None else f"cosine {similar.cosine:.2f}"
    named = ", ".join(similar.shared[:_WORDS])
    more = f" and {len(similar.shared) - _WORDS} more" if len(similar.shared) > _WORDS else ""
    shares = f"shares {named}{more}" if named else "shares no rare word"
    return f"nearness {similar.nearness:.2f} · {meaning} · {shares}"


def _as_search(hit: Hit, request: SearchRequest) -> None:
    sentence = hit.citations[0].quote if hit.citations else hit.candidate.passage.text
    asked = SearchRequest(as_question(display_quote(sentence)), request.filters, profile=request.profile)
    st.page_link(
        page_path("search"),
        label="Search for its sentence",
        icon=":material/search:",
        query_params=params_of(asked),
        help="A search of its own, with the same filters: what else says this?",
    )
