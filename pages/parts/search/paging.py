"""Results page by page: ten at a time, always in the same order, and the page is part of the URL."""

from collections.abc import Sequence

import streamlit as st

from core.results import Hit
from pages.parts import pager
from pages.parts.search.top import begin_here

__all__ = [
    "MOST",
    "PER_PAGE",
    "draw_pager",
    "draw_top",
    "first_page",
    "on_page",
    "pages_of",
]

PER_PAGE = 10
MOST = 100
"""So many results are asked for at once; all their pages come from one search, so none shows up twice or never."""
_KEY, _TURNED = "search.page", "search.turned"


def pages_of(total: int) -> int:
    """How many pages so many results fill, at least 1.

    >>> pages_of(0), pages_of(10), pages_of(11)
    (1, 1, 2)
    """
    return pager.pages_of(min(total, MOST), PER_PAGE)


def on_page(hits: Sequence[Hit], page: int) -> Sequence[Hit]:
    """The results of a page, in the order of the search; the last page where there are fewer."""
    start = PER_PAGE * (min(max(page, 1), pages_of(len(hits))) - 1)
    return hits[start : start + PER_PAGE]


def first_page() -> None:
    """Begin at the first page again: for a new question, filter or profile."""
    st.session_state[_KEY] = 1


def draw_pager(total: int, *, more: bool = False) -> int:
    """Which results of how many are shown, and the way to the others; gives the page, held in "search.page".

    more: whether the search found more than it may show. Nothing is drawn where one page holds all.
    """
    pages, state = pages_of(total), st.session_state
    page = state[_KEY] = min(max(state.get(_KEY) or 1, 1), pages)
    beyond = " and more: narrow the search to see them" if more else ""
    pager.draw_foot(page, pages, f"{pager.place_of(page, PER_PAGE, total, 'result')}{beyond}", "search.pager", _turned)
    return page


def _turned(page: int) -> None:
    st.session_state[_KEY] = page
    st.session_state[_TURNED] = str(page)


def draw_top() -> None:
    """Where the results begin: the reader who has just turned their page is brought here."""
    begin_here(st.session_state.pop(_TURNED, ""))
