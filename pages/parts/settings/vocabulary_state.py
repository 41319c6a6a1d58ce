"""What the parts of the vocabulary share: the desk, the changes nobody has saved yet, and what became of a click."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.errors import FivefoldError
from core.library.vocabulary import VocabularyDesk
from core.library.vocabulary_edits import differences
from core.vocabulary import BUILT_IN, Vocabulary
from pages.parts import notices, session

__all__ = ["base", "change", "desk", "did", "discard", "draft", "key", "lines", "refuse", "saved", "tell", "unsaved"]

_DRAFT = "settings.vocabulary"


def desk() -> VocabularyDesk:
    """Where the vocabulary is kept."""
    kept: VocabularyDesk = session.workbench().vocabulary
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
    """The number of the version it is made of, 0 while there is none."""
    return _held()[0]


def unsaved() -> tuple[str, ...]:
    """What saving would change, in sentences."""
    return differences(_held()[1], _held()[2])


def change(vocabulary: Vocabulary) -> None:
    """Go on with this one; it is not saved yet."""
    number, words, _ = _held()
    st.session_state[_DRAFT] = (number, words, vocabulary)
    _redraw()


def discard() -> None:
    """Go on with what is saved."""
    st.session_state.pop(_DRAFT, None)
    _redraw()


def saved() -> None:
    """Go on with what has just been saved; answers were found by the words before."""
    session.forget_answers()
    discard()


def _redraw() -> None:
    """What was typed is taken over or thrown away: the fields are filled anew."""
    st.session_state["settings.round"] = st.session_state.get("settings.round", 0) + 1


def key(*names: str) -> str:
    """The key of a field that is filled from the draft."""
    return ".".join(["settings", str(st.session_state.get("settings.round", 0)), *names])


def lines(text: str) -> Sequence[str]:
    """The words of a box that holds one in each line, each as it is written, blanks as one.

    >>> lines("data subject\\n\\n  consent form \\ndata subject")
    ['data subject', 'consent form', 'data subject']
    """
    return [word for line in text.splitlines() if (word := " ".join(line.split()))]


def did(work: Callable[[], object], said: str) -> bool:
    """Do it and say so; what stands in the way is told by the view. Whether it was done."""
    try:
        work()
    except FivefoldError as problem:
        refuse(problem)
        return False
    st.session_state["settings.said"] = said
    return True


def refuse(problem: FivefoldError) -> None:
    """What a click could not do, told by the view."""
    st.session_state["settings.problem"] = problem


def tell() -> None:
    """What became of the last click."""
    problem: FivefoldError | None = st.session_state.pop("settings.problem", None)
    if problem is not None:
        notices.error(problem)
    if said := st.session_state.pop("settings.said", ""):
        st.toast(said, icon=":material/check:")
