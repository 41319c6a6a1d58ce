"""What the parts of question sets share: the desk, and what became of a click."""

from collections.abc import Callable

import streamlit as st

from core.errors import FivefoldError
from core.tuning.judging import JudgingDesk
from pages.parts import notices, session

__all__ = ["GRADES_SEEN", "POOLS", "desk", "did", "forget", "tell"]

POOLS, GRADES_SEEN = "judge.pools", "grading.mine"
"""Where the session keeps what it has read of judgments, for the Judge view and for Search."""


def desk() -> JudgingDesk:
    """Where sets, questions and judgments are kept."""
    return session.workbench().tuning.judging


def did(work: Callable[[], object], said: str = "") -> bool:
    """Do it and say so; what stands in the way is told by the view. Whether it was done."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["sets.problem"] = problem
        return False
    if said:
        st.session_state["sets.said"] = said
    return True


def forget() -> None:
    """Judgments were added past what the session has read: look again."""
    for name in (POOLS, GRADES_SEEN):
        st.session_state.pop(name, None)


def tell() -> None:
    """What became of the last click."""
    if problem := st.session_state.pop("sets.problem", None):
        notices.error(problem)
    if said := st.session_state.pop("sets.said", ""):
        st.toast(said, icon=":material/check:")
