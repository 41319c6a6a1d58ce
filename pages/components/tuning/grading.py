"""Grading on the Search page: a switch in the sidebar, and a row of grades below every result."""

import time
from collections.abc import Callable
from zlib import crc32

import streamlit as st

from core.domain.documents import Origin
from core.domain.errors import FivefoldError
from core.domain.evaluation import GRADES, Level, QuestionSet
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.evaluation.judgments.units import unit_of
from pages.components import notices
from pages.components.tuning.judge_state import GRADES_SEEN, POOLS, desk
from pages.components.tuning.select import choice
from pages.components.user_name import name_input, who
from pages.components.wording import plain, shortened

__all__ = ["row", "switch"]

_ON, _SET = "grading.on", "grading.set"
_CANNOT = "x"
_LABELS = {**{str(grade): f"{grade} {words}" for grade, words in GRADES.items()}, _CANNOT: "can't judge"}
_FRESH_SECONDS = 30.0
_FIRST = "My judgments"
_HELP = "The question is added to it with the first grade."


def switch(project: str | None) -> None:
    """Whether results are graded, into which set, and by whom."""
    st.toggle(
        "Judge the results",
        key=_ON,
        persist_state="session",
        help="Grades below every result, kept in a question set. Tuning measures profiles with them.",
    )
    if not st.session_state[_ON]:
        return
    with notices.told():
        _into(project)
    name_input("Written into every judgment")


def _into(project: str | None) -> None:
    listed = {each.id: each for each in desk().sets(project) if project is not None or each.project is None}
    if st.session_state.get(_SET) not in listed:
        st.session_state[_SET] = next(iter(listed), None)
    if listed:
        called = {number: each.name for number, each in listed.items()}
        choice("Into the set", called, st.session_state[_SET], "grading.sets", _choose, help=_HELP)
    else:
        st.button(
            f"Begin the set “{_FIRST}”", key="grading.begin", icon=":material/add:", on_click=_begin, args=(project,)
        )
        if problem := st.session_state.pop("grading.problem", None):
            notices.error(problem)


def _choose(set_id: int) -> None:
    st.session_state[_SET] = set_id


def _begin(project: str | None) -> None:
    try:
        st.session_state[_SET] = desk().add_set(_FIRST, project, Level.PASSAGE, who()).id
    except FivefoldError as problem:
        st.session_state["grading.problem"] = problem


def row(result: SearchResult) -> Callable[[Hit], None] | None:
    """What is drawn below each result of an answer: its grades; None while nothing is judged."""
    set_id = st.session_state.get(_SET)
    if not st.session_state.get(_ON) or set_id is None:
        return None
    try:
        questions = desk().question_set(set_id)
        mine = _mine(questions, result.request)
    except FivefoldError as problem:
        notices.error(problem)
        return None
    if not who():
        st.caption(":material/person: Say who you are, at the left below the filters; then you can grade.")
    seen: set[str] = set()

    def drawn(hit: Hit) -> None:
        if hit.candidate.passage.origin is not Origin.DOCUMENT:
            return  # a note is nobody's source: only documents are graded
        unit = unit_of(result, hit, questions.level)
        if unit in seen:
            st.caption(":material/arrow_upward: graded above, with the first passage of its document")
        else:
            seen.add(unit)
            _row(questions, result.request, unit, mine)

    return drawn


def _mine(questions: QuestionSet, request: SearchRequest) -> dict[str, int | None]:
    """Unit → the grade this person has given it under this question, None for "can't judge"."""
    kept: dict[str, tuple[object, float, dict[str, int | None]]] = st.session_state.setdefault(GRADES_SEEN, {})
    about = (questions.id, request.question, request.filters, who())
    known = kept.get("mine")
    if known is None or known[0] != about or time.monotonic() - known[1] > _FRESH_SECONDS:
        asked = desk().find_question(questions.id, request.question, request.filters)
        said = desk().judgments(questions.id) if asked is not None else ()
        mine = {each.unit: each.grade for each in said if asked and each.question_id == asked.id and each.who == who()}
        known = kept["mine"] = (about, time.monotonic(), mine)
    return known[2]


@st.fragment
def _row(questions: QuestionSet, request: SearchRequest, unit: str, mine: dict[str, int | None]) -> None:
    """The grades of one result; a click draws this row again, and nothing else."""
    key = f"grade.{questions.id}.{crc32(repr((request.question, request.filters, who())).encode())}.{unit}"
    if key not in st.session_state and unit in mine:
        st.session_state[key] = _CANNOT if mine[unit] is None else str(mine[unit])
    st.segmented_control(
        "Your grade",
        list(_LABELS),
        key=key,
        required=True,
        format_func=_LABELS.__getitem__,
        label_visibility="collapsed",
        disabled=not who(),
        on_change=_grade,
        args=(questions, request, unit, key, mine),
    )
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)


def _grade(questions: QuestionSet, request: SearchRequest, unit: str, key: str, mine: dict[str, int | None]) -> None:
    """Keep the grade, with the question when the set does not have it yet."""
    state = st.session_state
    given = state[key]
    if given is None:
        return
    try:
        known = desk().find_question(questions.id, request.question, request.filters)
        asked = known or desk().add_question(questions.id, request.question, filters=request.filters)
        (said,) = desk().judge(questions.id, asked.id, unit, None if given == _CANNOT else int(given), who())
    except FivefoldError as problem:
        state[f"{key}.problem"] = problem
        del state[key]
        return
    state.pop(POOLS, None)
    mine[unit] = said.grade
    if known is None:
        st.toast(
            f"“{plain(shortened(asked.question, 60))}” is now {asked.key} of {plain(questions.name)}.",
            icon=":material/add:",
        )
