"""State shared by the vocabulary views: the service, unsaved changes, and the message of the last action."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.library.vocabulary.edits import differences
from core.library.vocabulary.service import VocabularyService
from pages.components import notices, session

__all__ = [
    "after_saving",
    "apply_change",
    "base_version",
    "discard",
    "draft",
    "field_key",
    "lines_of",
    "set_draft",
    "show_outcome",
    "store_problem",
    "unsaved_changes",
    "untaken_fields",
    "vocabulary_service",
    "widget_key",
]

_DRAFT, _FIELDS = "settings.vocabulary", "settings.fields"


def vocabulary_service() -> VocabularyService:
    """The vocabulary service."""
    service: VocabularyService = session.workbench().vocabulary
    return service


def _stored_draft() -> tuple[int, Vocabulary, Vocabulary]:
    """The version one works on, as it was read, and as it would be. One without changes follows what others save."""
    stored: tuple[int, Vocabulary, Vocabulary] | None = st.session_state.get(_DRAFT)
    if stored is None or stored[1] == stored[2]:
        newest = vocabulary_service().newest()
        words = newest.vocabulary if newest else BUILT_IN
        stored = (newest.number if newest else 0, words, words)
        st.session_state[_DRAFT] = stored
    return stored


def draft() -> Vocabulary:
    """The vocabulary as it would be saved."""
    return _stored_draft()[2]


def base_version() -> int:
    """The number of the version the draft is based on; 0 without one."""
    return _stored_draft()[0]


def unsaved_changes() -> tuple[str, ...]:
    """What saving would change, in sentences."""
    return differences(_stored_draft()[1], _stored_draft()[2])


def set_draft(vocabulary: Vocabulary) -> None:
    """Continue with this draft; it is not saved yet."""
    number, words, _ = _stored_draft()
    st.session_state[_DRAFT] = (number, words, vocabulary)
    _renew_fields()


def discard() -> None:
    """Discard the draft and return to the saved version."""
    st.session_state.pop(_DRAFT, None)
    _renew_fields()


def after_saving() -> None:
    """Continue with the version just saved; drops cached answers found with the old one."""
    session.forget_answers()
    discard()


def _renew_fields() -> None:
    """Fill the fields anew after a change was applied or discarded."""
    st.session_state["settings.round"] = st.session_state.get("settings.round", 0) + 1
    st.session_state.pop(_FIELDS, None)


def widget_key(*names: str) -> str:
    """The widget key of a field filled from the draft."""
    return ".".join(["settings", str(st.session_state.get("settings.round", 0)), *names])


def field_key(value: str | bool, *names: str) -> str:
    """The widget key of a field that begins with this value of the draft."""
    key = widget_key(*names)
    st.session_state.setdefault(_FIELDS, {})[key] = value
    return key


def untaken_fields() -> bool:
    """Whether a field in sight holds something else than the draft: its “Change” was not pressed yet."""
    state = st.session_state
    return any(state.get(key, value) != value for key, value in state.get(_FIELDS, {}).items())


def lines_of(text: str) -> Sequence[str]:
    """The words of a box that holds one in each line, each as it is written, blanks as one.

    >>> lines_of("data subject\\n\\n  consent form \\ndata subject")
    ['data subject', 'consent form', 'data subject']
    """
    return [word for line in text.splitlines() if (word := " ".join(line.split()))]


def apply_change(change: Callable[[], object], message: str = "") -> bool:
    """Run a change in a callback; `show_outcome` shows what came of it. Returns whether it succeeded."""
    return notices.apply_change("settings", change, message)


def store_problem(problem: FivefoldError) -> None:
    """Store why an action failed; the view shows it."""
    st.session_state["settings.problem"] = problem


def show_outcome() -> None:
    """Show the outcome of the last change."""
    notices.show_outcome("settings")
