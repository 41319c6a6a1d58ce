"""Notices for missing, failed or degraded results. Errors of core are drawn only here."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import streamlit as st

from core.domain.errors import BadFilters, BadRequest, FivefoldError, NotFound, Outdated
from pages.components import session
from pages.components.urls import page_path
from pages.components.wording import plain

__all__ = [
    "apply_change",
    "degraded",
    "degraded_everywhere",
    "empty",
    "empty_library",
    "error",
    "show_errors",
    "show_outcome",
    "unexpected",
    "wait_for_models",
]

_log = logging.getLogger(__name__)


@contextmanager
def show_errors() -> Iterator[None]:
    """Draw an error of core instead of raising it; unexpected errors are raised."""
    try:
        yield
    except FivefoldError as problem:
        error(problem)


def error(problem: FivefoldError) -> None:
    """An error message with its hint."""
    body = f"**{plain(problem.message)}**" if not isinstance(problem, BadFilters) else _problem_list(problem.problems)
    hint = f"\n\n{plain(problem.hint)}" if problem.hint else ""
    if isinstance(problem, BadRequest | NotFound | Outdated):
        st.warning(body + hint, icon=":material/error:")
    else:
        st.error(body + hint, icon=":material/error:")


def unexpected(problem: Exception) -> bool:
    """The handler of errors that nothing else has handled: a notice with a reference number, by which the log has all
    details. Returns True: Streamlit shows nothing of its own."""
    if isinstance(problem, FivefoldError):
        error(problem)
        return True
    reference = uuid4().hex[:8].upper()
    _log.error("Unexpected error, reference %s", reference, exc_info=problem)
    with st.container(key="unexpected"):
        st.error(
            "**Something went wrong on this page.** Nothing you saved is lost. Reload the page and try again; if it"
            f" happens again, give your administrator the reference number **{reference}**: the log has the details.",
            icon=":material/error:",
        )
    return True


def _problem_list(problems: Sequence[str]) -> str:
    return "\n".join(f"- {plain(problem)}" for problem in problems)


_AT_TOP = "notices.at_top"


def degraded(notices: Sequence[str]) -> bool:
    """Notices for parts of an answer that are missing or degraded; what the top of the page says is not repeated.
    Returns whether there were any."""
    new = [notice for notice in notices if notice not in st.session_state.get(_AT_TOP, ())]
    for notice in new:
        st.warning(plain(notice), icon=":material/info:")
    return bool(new)


def degraded_everywhere(notices: Sequence[str]) -> None:
    """Notices at the top of every page."""
    st.session_state[_AT_TOP] = ()
    degraded(notices)
    st.session_state[_AT_TOP] = tuple(notices)


def empty(icon: str, what: str, next_step: str) -> None:
    """An empty list: what is missing, and what to do next."""
    with st.container(border=True, horizontal_alignment="center", gap="xsmall"):
        st.space("small")
        st.markdown(f"### {icon} {what}", text_alignment="center", anchors=False)
        st.markdown(next_step, text_alignment="center")
        st.space("small")


def empty_library(icon: str, what: str) -> None:
    """An empty library: what is missing, and the two ways to begin."""
    empty(icon, what, "Load the sample library to look around, or upload files of your own.")
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        st.page_link(page_path("home"), label="Load the sample library", icon=":material/auto_stories:")
        st.page_link(page_path("upload"), label="Upload your own files", icon=":material/upload_file:")


@st.fragment(run_every=0.7)
def wait_for_models(message: str) -> None:
    """Load the models in the background, and draw the page again once they are ready."""
    session.start_warming()
    if session.ready():
        st.rerun()
    st.info(message, icon=":material/hourglass_top:")


def apply_change(area: str, change: Callable[[], object], message: str = "") -> bool:
    """Run a change in a callback and store its outcome for `show_outcome`. Returns whether it succeeded.

    area: the part of the page, the first word of its session keys. message: safe markdown.
    """
    try:
        change()
    except FivefoldError as problem:
        st.session_state[f"{area}.problem"] = problem
        return False
    if message:
        st.session_state[f"{area}.said"] = message
    return True


def show_outcome(area: str) -> None:
    """Show the error or the message of the last change, once."""
    if problem := st.session_state.pop(f"{area}.problem", None):
        error(problem)
    if message := st.session_state.pop(f"{area}.said", ""):
        st.toast(message, icon=":material/check:")
