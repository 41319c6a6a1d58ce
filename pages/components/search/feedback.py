"""Feedback on a result: helpful or not, cited, and a relevance grade in a question set."""

import time
from collections.abc import Collection, Mapping
from zlib import crc32

import streamlit as st

from core.domain.documents import Origin, Passage
from core.domain.errors import FivefoldError
from core.domain.evaluation import GRADES, Level, QuestionSet
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.evaluation.judgments.units import unit_of
from core.search.store import PassageUsage, stored_question
from pages.components import notices, rights, session
from pages.components.tuning.judge_state import GRADES_SEEN, POOLS, judgment_service, select_by_id
from pages.components.user_name import name_input, who
from pages.components.wording import count, plain, shorten

__all__ = ["cite_button", "draw_grades", "feedback", "grading_switch", "opened_passages"]


_USAGE = "search.said"
_FRESH_SECONDS = 30.0  # how long feedback and grades are reused; chosen by hand
_NO_USAGE = PassageUsage()
_THUMBS = {0: False, 1: True, None: None}
_MOST_NAMES = 2  # people named; chosen by hand


def feedback(hit: Hit, result: SearchResult) -> None:
    """Thumbs up or down for a result, with this person's last vote and those of colleagues."""
    with st.container(width="content"):
        _thumbs(hit.candidate.passage, result.request.question)


@st.fragment
def _thumbs(passage: Passage, question: str) -> None:
    """The thumbs of one result; a click draws this row again, and nothing else."""
    known = _usage(question).get(passage.id, _NO_USAGE)
    mine = 1 if who() in known.helpful else 0 if who() in known.not_helpful else None
    key = _key("feedback", passage, question)
    if key not in st.session_state:
        st.session_state[key] = mine
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.feedback("thumbs", key=key, on_change=_mark, args=(passage, question, key))
        if words := _others_words(known):
            st.caption(words, width="content")
    _problem(key)


def cite_button(hit: Hit, result: SearchResult) -> None:
    """A button to record that a result was cited; copying a citation cannot be observed."""
    passage, question = hit.candidate.passage, result.request.question
    key = _key("cited", passage, question)
    if who() in _usage(question).get(passage.id, _NO_USAGE).cited:
        st.caption(":material/check: Noted: you have cited this.")
    else:
        st.button(
            "I have cited this",
            key=key,
            icon=":material/add_task:",
            help="Copying is not counted. Cited passages count as used, and some profiles rank by usage.",
            on_click=_cite,
            args=(passage, question, key),
        )
    _problem(key)


def _key(what: str, passage: Passage, question: str) -> str:
    return f"{what}.{crc32(repr((question, who())).encode())}.{passage.id}"


def _problem(key: str) -> None:
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)


def opened_passages(question: str) -> list[int]:
    """The passages that were opened under a question, as far as it is known."""
    return [passage_id for passage_id, use in _usage(question).items() if use.opened]


def _usage(question: str) -> Mapping[int, PassageUsage]:
    """Passage id → feedback under this question; read once for all results, and again after _FRESH_SECONDS.

    Empty when the store does not answer; a click then shows the error.
    """
    cache: tuple[str, float, Mapping[int, PassageUsage]] | None = st.session_state.get(_USAGE)
    text, now = stored_question(question), time.monotonic()
    if cache is None or cache[0] != text or now - cache[1] > _FRESH_SECONDS:
        try:
            known = session.workbench().usage.of_question(text)
        except FivefoldError:
            known = {}
        cache = st.session_state[_USAGE] = (text, now, known)
    return cache[2]


def _mark(passage: Passage, question: str, key: str) -> None:
    state = st.session_state
    helpful = _THUMBS[state[key]]
    try:
        session.workbench().usage.mark(passage, question, who(), helpful=helpful)
    except FivefoldError as problem:
        state[f"{key}.problem"] = problem
        del state[key]
    state.pop(_USAGE, None)


def _cite(passage: Passage, question: str, key: str) -> None:
    try:
        session.workbench().usage.cited(passage, question, who())
    except FivefoldError as problem:
        st.session_state[f"{key}.problem"] = problem
    st.session_state.pop(_USAGE, None)


def _others_words(known: PassageUsage) -> str:
    """Feedback of other people on a passage, as safe markdown."""
    groups = (("helped", known.helpful), ("did not help", known.not_helpful), ("cited by", known.cited))
    parts = [f"{words} {_names_text(people - {who()})}" for words, people in groups if people - {who()}]
    return f":material/group: {' · '.join(parts)}" if parts else ""


def _names_text(names: Collection[str]) -> str:
    """
    >>> _names_text({"Ann"}), _names_text({"Ann", "Bob", "Cleo"}), _names_text({""})
    ('Ann', 'Ann, Bob and 1 other', 'somebody')
    """
    named = sorted(name for name in names if name)
    more = len(names) - len(named[:_MOST_NAMES])
    shown = ", ".join(plain(name) for name in named[:_MOST_NAMES])
    if not shown:
        return "somebody"
    return f"{shown} and {count(more, 'other')}" if more else shown


_ON, _SET = "grading.on", "grading.set"
_CANNOT = "x"
_GRADE_LABELS = {**{str(grade): f"{grade} {words}" for grade, words in GRADES.items()}, _CANNOT: "can't judge"}
_FIRST_SET = "My judgments"
_SET_HELP = "The question is added to it with the first grade."


def grading_switch(project: str | None) -> None:
    """A switch for grading results, the set to grade into, and the judge's name."""
    refusal = rights.refusal("evaluation.judging.judge")
    st.toggle(
        "Judge the results",
        key=_ON,
        persist_state="session",
        help=refusal or "Grades below the chosen result, kept in a question set. Tuning measures profiles with them.",
        disabled=bool(refusal),
    )
    if not st.session_state[_ON]:
        return
    with notices.show_errors():
        _set_chooser(project)
    name_input("Written into every judgment")


def _set_chooser(project: str | None) -> None:
    listed = {each.id: each for each in judgment_service().sets(project) if project is not None or each.project is None}
    if st.session_state.get(_SET) not in listed:
        st.session_state[_SET] = next(iter(listed), None)
    if listed:
        called = {number: each.name for number, each in listed.items()}
        select_by_id("Into the set", called, st.session_state[_SET], "grading.sets", _choose_set, help=_SET_HELP)
    else:
        rights.button(
            "evaluation.judging.add_set",
            f"Begin the set “{_FIRST_SET}”",
            key="grading.begin",
            icon=":material/add:",
            on_click=_begin_set,
            args=(project,),
        )
        if problem := st.session_state.pop("grading.problem", None):
            notices.error(problem)


def _choose_set(set_id: int) -> None:
    st.session_state[_SET] = set_id


def _begin_set(project: str | None) -> None:
    try:
        st.session_state[_SET] = judgment_service().add_set(_FIRST_SET, project, Level.PASSAGE, who()).id
    except FivefoldError as problem:
        st.session_state["grading.problem"] = problem


def draw_grades(hit: Hit, result: SearchResult) -> None:
    """The grades of a result, while judging is on; only documents are graded, because a note is nobody's source."""
    set_id = st.session_state.get(_SET)
    if not st.session_state.get(_ON) or set_id is None or hit.candidate.passage.origin is not Origin.DOCUMENT:
        return
    try:
        questions = judgment_service().question_set(set_id)
        mine = _own_grades(questions, result.request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    if not who():
        st.caption(":material/person: Enter your name below the filters to grade.")
    _grade_buttons(questions, result.request, unit_of(result, hit, questions.level), mine)


def _own_grades(questions: QuestionSet, request: SearchRequest) -> dict[str, int | None]:
    """Unit → the grade this person has given it under this question, None for "can't judge"."""
    cache: dict[str, tuple[object, float, dict[str, int | None]]] = st.session_state.setdefault(GRADES_SEEN, {})
    about = (questions.id, request.question, request.filters, who())
    known = cache.get("mine")
    if known is None or known[0] != about or time.monotonic() - known[1] > _FRESH_SECONDS:
        judged = judgment_service().find_question(questions.id, request.question, request.filters)
        judgments = judgment_service().judgments(questions.id) if judged is not None else ()
        mine = {
            each.unit: each.grade
            for each in judgments
            if judged and each.question_id == judged.id and each.who == who()
        }
        known = cache["mine"] = (about, time.monotonic(), mine)
    return known[2]


@st.fragment
def _grade_buttons(questions: QuestionSet, request: SearchRequest, unit: str, mine: dict[str, int | None]) -> None:
    """The grades of one result; a click draws this row again, and nothing else."""
    key = f"grade.{questions.id}.{crc32(repr((request.question, request.filters, who())).encode())}.{unit}"
    if key not in st.session_state and unit in mine:
        st.session_state[key] = _CANNOT if mine[unit] is None else str(mine[unit])
    st.segmented_control(
        "Your grade",
        list(_GRADE_LABELS),
        key=key,
        required=True,
        format_func=_GRADE_LABELS.__getitem__,
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
        known = judgment_service().find_question(questions.id, request.question, request.filters)
        judged = known or judgment_service().add_question(questions.id, request.question, filters=request.filters)
        (judgment,) = judgment_service().judge(
            questions.id, judged.id, unit, None if given == _CANNOT else int(given), who()
        )
    except FivefoldError as problem:
        state[f"{key}.problem"] = problem
        del state[key]
        return
    state.pop(POOLS, None)
    mine[unit] = judgment.grade
    if known is None:
        st.toast(
            f"“{plain(shorten(judged.question, 60))}” is now {judged.key} of {plain(questions.name)}.",
            icon=":material/add:",
        )
