"""State shared by the vocabulary views: the service, unsaved changes, and the message of the last action."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.library.vocabulary.edits import differences
from core.library.vocabulary.service import VocabularyService
from pages.components import notices, session

__all__ = ["base", "change", "desk", "did", "discard", "draft", "key", "lines", "refuse", "saved", "tell", "unsaved"]

_DRAFT = "settings.vocabulary"


def desk() -> VocabularyService:
    """The vocabulary service."""
    kept: VocabularyService = session.workbench().vocabulary
    return kept


def _held() -> tuple[int, Vocabulary, Vocabulary]:
    """The version one works on, as it was read, and as it would be. One without changes follows what others save."""
    held: tuple[int, Vocabulary, Vocabulary] | None = st.session_state.get(_DRAFT)
    if held is None or held[1] == held[2]:
        newest = desk().newest()
        words = newest.vocabulary if newest else BUILT_IN
        held = (newest.number if newest else 0, words, words)
        st.session_state[_DRAFT] = held
    return held


def draft() -> Vocabulary:
    """The vocabulary as it would be saved."""
    return _held()[2]


def base() -> int:
    """The number of the version the draft is based on; 0 without one."""
    return _held()[0]


def unsaved() -> tuple[str, ...]:
    """What saving would change, in sentences."""
    return differences(_held()[1], _held()[2])


def change(vocabulary: Vocabulary) -> None:
    """Continue with this draft; it is not saved yet."""
    number, words, _ = _held()
    st.session_state[_DRAFT] = (number, words, vocabulary)
    _redraw()


def discard() -> None:
    """Discard the draft and return to the saved version."""
    st.session_state.pop(_DRAFT, None)
    _redraw()


def saved() -> None:
    """Continue with the version just saved; drops cached answers found with the old one."""
    session.forget_answers()
    discard()


def _redraw() -> None:
    """What was typed is taken over or thrown away: the fields are filled anew."""
    st.session_state["settings.round"] = st.session_state.get("settings.round", 0) + 1


def key(*names: str) -> str:
    """The widget key of a field filled from the draft."""
    return ".".join(["settings", str(st.session_state.get("settings.round", 0)), *names])


def lines(text: str) -> Sequence[str]:
    """The words of a box that holds one in each line, each as it is written, blanks as one.

    >>> lines("data subject\\n\\n  consent form \\ndata subject")
    ['data subject', 'consent form', 'data subject']
    """
    return [word for line in text.splitlines() if (word := " ".join(line.split()))]


def did(work: Callable[[], object], said: str) -> bool:
    """Run an action and store its message; the view shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        refuse(problem)
        return False
    st.session_state["settings.said"] = said
    return True


def refuse(problem: FivefoldError) -> None:
    """Store why an action failed; the view shows it."""
    st.session_state["settings.problem"] = problem


def tell() -> None:
    """Show the message of the last action."""
    problem: FivefoldError | None = st.session_state.pop("settings.problem", None)
    if problem is not None:
        notices.error(problem)
    if said := st.session_state.pop("settings.said", ""):
        st.toast(said, icon=":material/check:")
