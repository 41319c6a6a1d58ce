"""What a page says when something is missing, wrong or weaker than it should be. Errors of core are drawn here only."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from core.errors import BadFilters, BadRequest, FivefoldError, NotFound, Outdated
from pages.parts.urls import page_path
from pages.parts.wording import plain

__all__ = ["degraded", "empty", "empty_library", "error", "told"]


@contextmanager
def told() -> Iterator[None]:
    """Draw an error of core instead of raising it; errors nobody expected stay errors."""
    try:
        yield
    except FivefoldError as problem:
        error(problem)


def error(problem: FivefoldError) -> None:
    """What happened, and what to do."""
    body = f"**{plain(problem.message)}**" if not isinstance(problem, BadFilters) else _listed(problem.problems)
    hint = f"\n\n{plain(problem.hint)}" if problem.hint else ""
    if isinstance(problem, BadRequest | NotFound | Outdated):
        st.warning(body + hint, icon=":material/error:")
    else:
        st.error(body + hint, icon=":material/error:")


def _listed(problems: Sequence[str]) -> str:
    return "\n".join(f"- {plain(problem)}" for problem in problems)


def degraded(notices: Sequence[str]) -> None:
    """Parts of an answer that are missing or weaker than they should be."""
    for notice in notices:
        st.warning(plain(notice), icon=":material/info:")


def empty(icon: str, what: str, next_step: str) -> None:
    """An empty list: what is not here, and what to do next."""
    with st.container(border=True, horizontal_alignment="center", gap="xsmall"):
        st.space("small")
        st.markdown(f"### {icon} {what}", text_alignment="center", anchors=False)
        st.markdown(next_step, text_alignment="center")
        st.space("small")


def empty_library(icon: str, what: str) -> None:
    """Nothing has been read yet: what is not here, and the two ways to begin."""
    empty(icon, what, "Load the sample library to look around, or upload files of your own.")
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        st.page_link(page_path("home"), label="Load the sample library", icon=":material/auto_stories:")
        st.page_link(page_path("upload"), label="Upload your own files", icon=":material/upload_file:")
