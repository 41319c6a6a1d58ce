"""What the parts of the Profiles view share: the book, which profile is open, and what became of a click."""

from collections.abc import Callable

import streamlit as st

from core.errors import FivefoldError
from core.tuning.profile_book import ProfileBook
from pages.parts import notices, session
from pages.parts.wording import plain

__all__ = ["book", "did", "open_profile", "tell"]


def book() -> ProfileBook:
    """Where profiles are found, chosen and kept."""
    kept: ProfileBook = session.workbench().tuning.profiles
    return kept


def open_profile(ref: str) -> None:
    """Show a profile beside the list, and say so in the URL."""
    st.query_params["profile"] = ref


def did(work: Callable[[], object], said: str) -> bool:
    """Do it and say so; what stands in the way is told by the view. Whether it was done."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["tuning.profiles.problem"] = problem
        return False
    st.session_state["tuning.profiles.said"] = said
    return True


def tell() -> None:
    """What became of the last click: at the top, and in the corner for who is further down."""
    problem: FivefoldError | None = st.session_state.pop("tuning.profiles.problem", None)
    if problem is not None:
        notices.error(problem)
        st.toast(plain(str(problem)), icon=":material/error:")
    if said := st.session_state.pop("tuning.profiles.said", ""):
        st.toast(said, icon=":material/check:")
