"""Feedback on a result: helpful or not, and cited."""

import time
from collections.abc import Collection, Mapping
from zlib import crc32

import streamlit as st

from core.domain.documents import Passage
from core.domain.errors import FivefoldError
from core.domain.results import Hit, SearchResult
from core.search.store import PassageUsage, kept_question
from pages.components import notices, session
from pages.components.user_name import who
from pages.components.wording import count, plain

__all__ = ["cited", "feedback", "opened"]

_SAID = "search.said"
_FRESH_SECONDS = 30.0
_NOTHING = PassageUsage()
_THUMBS = {0: False, 1: True, None: None}
_NAMED = 2


def feedback(hit: Hit, result: SearchResult) -> None:
    """Thumbs up or down for a result, with this person's last vote and those of colleagues."""
    with st.container(width="content"):
        _row(hit.candidate.passage, result.request.question)


@st.fragment
def _row(passage: Passage, question: str) -> None:
    """The thumbs of one result; a click draws this row again, and nothing else."""
    known = _said(question).get(passage.id, _NOTHING)
    mine = 1 if who() in known.helpful else 0 if who() in known.not_helpful else None
    key = _key("feedback", passage, question)
    if key not in st.session_state:
        st.session_state[key] = mine
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.feedback("thumbs", key=key, on_change=_mark, args=(passage, question, key))
        if words := _others(known):
            st.caption(words, width="content")
    _problem(key)


def cited(hit: Hit, result: SearchResult) -> None:
    """A button to record that a result was cited; copying a citation cannot be observed."""
    passage, question = hit.candidate.passage, result.request.question
    key = _key("cited", passage, question)
    if who() in _said(question).get(passage.id, _NOTHING).cited:
        st.caption(":material/check: Noted: you have cited this.")
    else:
        st.button(
            "I have cited this",
            key=key,
            icon=":material/add_task:",
            help="Copying alone is not counted. What is cited counts as used, and some profiles rank by use.",
            on_click=_cite,
            args=(passage, question, key),
        )
    _problem(key)


def _key(what: str, passage: Passage, question: str) -> str:
    return f"{what}.{crc32(repr((question, who())).encode())}.{passage.id}"


def _problem(key: str) -> None:
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)


def opened(question: str) -> list[int]:
    """The passages that were opened under a question, as far as it is known."""
    return [passage_id for passage_id, use in _said(question).items() if use.opened]


def _said(question: str) -> Mapping[int, PassageUsage]:
    """Passage id → who said what of it under this question; read once for all results, and again when that is old.

    Where the store does not answer, nothing is known: what a click then says is told there.
    """
    kept: tuple[str, float, Mapping[int, PassageUsage]] | None = st.session_state.get(_SAID)
    asked, now = kept_question(question), time.monotonic()
    if kept is None or kept[0] != asked or now - kept[1] > _FRESH_SECONDS:
        try:
            known = session.workbench().usage.of_question(asked)
        except FivefoldError:
            known = {}
        kept = st.session_state[_SAID] = (asked, now, known)
    return kept[2]


def _mark(passage: Passage, question: str, key: str) -> None:
    state = st.session_state
    helpful = _THUMBS[state[key]]
    try:
        session.workbench().usage.mark(passage, question, who(), helpful=helpful)
    except FivefoldError as problem:
        state[f"{key}.problem"] = problem
        del state[key]
    state.pop(_SAID, None)


def _cite(passage: Passage, question: str, key: str) -> None:
    try:
        session.workbench().usage.cited(passage, question, who())
    except FivefoldError as problem:
        st.session_state[f"{key}.problem"] = problem
    st.session_state.pop(_SAID, None)


def _others(known: PassageUsage) -> str:
    """What other people said of a passage, as safe markdown; "" for nothing."""
    said = (("helped", known.helpful), ("did not help", known.not_helpful), ("cited by", known.cited))
    parts = [f"{words} {_people(people - {who()})}" for words, people in said if people - {who()}]
    return f":material/group: {' · '.join(parts)}" if parts else ""


def _people(names: Collection[str]) -> str:
    """
    >>> _people({"Ann"}), _people({"Ann", "Bob", "Cleo"}), _people({""})
    ('Ann', 'Ann, Bob and 1 other', 'somebody')
    """
    named = sorted(name for name in names if name)
    more = len(names) - len(named[:_NAMED])
    shown = ", ".join(plain(name) for name in named[:_NAMED])
    if not shown:
        return "somebody"
    return f"{shown} and {count(more, 'other')}" if more else shown
