"""Results page by page: ten at a time, always in the same order, and the page is part of the URL."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.results import Hit
from pages.parts.search.top import begin_here
from pages.parts.wording import count

__all__ = [
    "MOST",
    "PAGER_WIDTH",
    "PER_PAGE",
    "draw_pager",
    "draw_top",
    "first_page",
    "on_page",
    "page_asked",
    "page_params",
    "pages_of",
]

PER_PAGE = 10
MOST = 100
"""So many results are asked for at once; all their pages come from one search, so none shows up twice or never."""
_KEY, _TURNED = "search.page", "search.turned"
PAGER_WIDTH = 304
"""Pixels for the arrows and seven numbers: a pager that is as wide as what it holds leaves out the second of two."""


def pages_of(total: int) -> int:
    """How many pages so many results fill, at least 1.

    >>> pages_of(0), pages_of(10), pages_of(11)
    (1, 1, 2)
    """
    return max(1, -(-min(total, MOST) // PER_PAGE))


def page_asked(params: Mapping[str, Sequence[str]]) -> int:
    """The page a URL names, from 1 on; what is no number is the first.

    >>> page_asked({"page": ["3"]}), page_asked({"page": ["0"]}), page_asked({})
    (3, 1, 1)
    """
    said = next(iter(params.get("page", ())), "")
    return max(1, int(said)) if said.isascii() and said.isdecimal() and len(said) < 5 else 1


def page_params(page: int) -> dict[str, list[str]]:
    """What a URL needs to open a page; nothing for the first."""
    return {"page": [str(page)]} if page > 1 else {}


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
    if pages == 1:
        return page
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        first = PER_PAGE * (page - 1)
        last, beyond = min(first + PER_PAGE, total), " and more: narrow the search to see them" if more else ""
        st.caption(f"{first + 1}–{last} of {count(total, 'result')}{beyond}", width="content")
        key = f"search.pager.{pages}.{page}"  # another widget on each page: what it shows is what it was made with
        st.pagination(pages, default=page, width=PAGER_WIDTH, key=key, on_change=_turned, args=(key,))
    return page


def _turned(key: str) -> None:
    st.session_state[_KEY] = st.session_state[key]
    st.session_state[_TURNED] = key


def draw_top() -> None:
    """Where the results begin: the reader who has just turned their page is brought here."""
    begin_here(st.session_state.pop(_TURNED, ""))
