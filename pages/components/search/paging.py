"""Pages of search results, and scrolling to the top."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from core.domain.results import Hit
from pages.components import pager

__all__ = ["MOST", "PER_PAGE", "begin_here", "draw_pager", "draw_top", "first_page", "on_page", "pages_of"]


@cache
def _component() -> Any:
    from streamlit.components.v2 import component

    script = Path(__file__).with_name("top.js").read_text("utf-8")
    return component("fivefold_results_top", js=script, isolate_styles=False)  # or its place is no element of the page


def begin_here(turned: str) -> None:
    """Scroll to where this stands. turned: what was just turned to, "" when nothing was. Shows nothing."""
    _component()(key="search.top", data=turned)


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
