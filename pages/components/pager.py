"""Pagination of long lists."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import streamlit as st

from pages.components.wording import count

__all__ = ["draw_foot", "draw_pager", "page_from_params", "page_params", "paged", "pages_of", "range_words"]

T = TypeVar("T")

_WIDTH = 304
"""Pixels for the arrows and seven numbers: a pager that is as wide as what it holds leaves out the second of two."""


def pages_of(total: int, per_page: int) -> int:
    """How many pages so many fill, at least 1.

    >>> pages_of(0, 10), pages_of(10, 10), pages_of(11, 10)
    (1, 1, 2)
    """
    return max(1, -(-total // per_page))


def paged(items: Sequence[T], per_page: int, key: str, *, in_url: bool = False) -> Sequence[T]:
    """The items of the current page, below the pager."""
    page = draw_pager(pages_of(len(items), per_page), key, in_url=in_url)
    return items[per_page * (page - 1) : per_page * page]


def draw_pager(pages: int, key: str, *, in_url: bool = False) -> int:
    """The pager; returns the current page, from 1. Draws nothing for an empty list."""
    if pages <= 1:
        return 1
    number = st.session_state.get(key, 1)
    bind: Literal["query-params"] | None = "query-params" if in_url else None
    return st.pagination(pages, default=pages if number > pages else 1, width=_WIDTH, key=key, bind=bind)


def draw_foot(page: int, pages: int, range_text: str, key: str, on_turn: Callable[[int], None]) -> None:
    """The foot of a list whose page is stored elsewhere: the range shown, and a pager.

    range_text: as `range_words` returns it. on_turn: called with the new page. Draws nothing for a single page.
    """
    if pages <= 1:
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(range_text, width="content")
        own = f"{key}.{pages}.{page}"  # another widget on each page: what it shows is what it was made with
        st.pagination(pages, default=page, width=_WIDTH, key=own, on_change=_turn, args=(own, on_turn))


def _turn(key: str, on_turn: Callable[[int], None]) -> None:
    on_turn(st.session_state[key])


def range_words(page: int, per_page: int, total: int, one: str, many: str = "") -> str:
    """Which part of a list stands on a page, in words.

    >>> range_words(3, 10, 25, "result"), range_words(1, 12, 1_400, "file")
    ('21–25 of 25 results', '1–12 of 1,400 files')
    """
    return f"{per_page * (page - 1) + 1:,}–{min(per_page * page, total):,} of {count(total, one, many)}"


def page_from_params(params: Mapping[str, Sequence[str]], name: str = "page") -> int:
    """The page a URL names, from 1 on; what is no number is the first.

    >>> page_from_params({"page": ["3"]}), page_from_params({"page": ["0"]}), page_from_params({})
    (3, 1, 1)
    """
    text = next(iter(params.get(name, ())), "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 5 else 1


def page_params(page: int, name: str = "page") -> dict[str, list[str]]:
    """What a URL needs to open a page; nothing for the first."""
    return {name: [str(page)]} if page > 1 else {}
