"""What came of a question: its outcome and what to remember of it, kept as an episode."""

from collections.abc import Sequence

import streamlit as st

from core.errors import FivefoldError
from core.memories import Episode
from core.results import SearchResult
from pages.parts import notices, session
from pages.parts.insights.looks import OUTCOMES
from pages.parts.insights.note import tag_choice
from pages.parts.insights.state import desk, link_to
from pages.parts.person import who
from pages.parts.wording import count, plain, shortened, squeezed

__all__ = ["keep_episode"]

_KEY = "episode"
_FIELDS = ("reward", "reflection", "tags")
_HEIGHT = 480
"""Pixels kept for the form before it is there: a box finds its place by what it holds when it opens."""


def keep_episode(result: SearchResult, opened: Sequence[int]) -> None:
    """A button that keeps what came of the question asked.

    opened: ids of the passages that were opened, in their order.
    """
    with st.container(width="content"):
        _box(result, result.request.question.strip(), opened)


@st.fragment
def _box(result: SearchResult, question: str, opened: Sequence[int]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        box = st.popover(
            "Keep what came of it",
            key=_KEY,
            icon=":material/history:",
            type="tertiary",
            on_change="rerun",
            width="content",
        )
        with box, st.container(width=440, height=_HEIGHT, border=False):
            if box.open:
                _form(result, question, opened)
        asked, saved = st.session_state.get(f"{_KEY}.saved", ("", None))
        if saved is not None and asked == question:
            link_to(saved, f"Kept as episode {saved.id}")
        if said := st.session_state.pop(f"{_KEY}.said", ""):
            st.toast(said, icon=":material/check:")


def _form(result: SearchResult, question: str, opened: Sequence[int]) -> None:
    st.markdown(f"“{plain(shortened(question, 200))}”")
    _opened(result, opened)
    st.session_state.setdefault(f"{_KEY}.reward", 0.5 if opened else 0.0)
    st.select_slider("Outcome", list(OUTCOMES), key=f"{_KEY}.reward", format_func=OUTCOMES.__getitem__)
    st.text_area(
        "Reflection", key=f"{_KEY}.reflection", height=110, placeholder="What should the next one who asks this know?"
    )
    with notices.told():
        tag_choice(f"{_KEY}.tags", list(desk().counts(Episode).tags))
    st.caption(f"In the name of {plain(who())}." if who() else "Without a name; say who you are on *Insights*.")
    if problem := st.session_state.pop(f"{_KEY}.problem", None):
        notices.error(problem)
    st.button("Keep", key=f"{_KEY}.save", type="primary", icon=":material/save:", on_click=_save, args=(result, opened))


def _opened(result: SearchResult, opened: Sequence[int]) -> None:
    """The documents that were opened for this question."""
    names = {each.passage.id: each.passage.document_name for each in result.candidates}
    seen = list(dict.fromkeys(names[each] for each in opened if each in names))
    if seen:
        st.caption(
            f"{count(len(seen), 'document')} opened: {plain(', '.join(squeezed(name, 40) for name in seen[:6]))}"
        )
    else:
        st.caption("Nothing was opened for it.")


def _save(result: SearchResult, opened: Sequence[int]) -> None:
    typed = st.session_state
    try:
        saved = desk().finish_episode(
            result.request.question,
            opened=opened,
            reward=typed.get(f"{_KEY}.reward") or 0.0,
            reflection=typed.get(f"{_KEY}.reflection") or "",
            tags=typed.get(f"{_KEY}.tags") or (),
            project=result.filters.project,
            who=who(),
        )
    except FivefoldError as problem:
        typed[f"{_KEY}.problem"] = problem
        return
    for field in _FIELDS:
        typed.pop(f"{_KEY}.{field}", None)
    typed[f"{_KEY}.saved"], typed[_KEY] = (result.request.question.strip(), saved), False
    typed[f"{_KEY}.said"] = f"Kept as episode {saved.id}; the next search finds it."
    session.forget_answers()
