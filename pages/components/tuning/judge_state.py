"""Session state of the Judge view: the question and its pool, the current result, and the progress of the set."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.evaluation import JudgedQuestion, Judgment, QuestionSet
from core.evaluation.judgments.pools import JudgingProgress, Pool, PoolItem
from core.evaluation.judgments.service import JudgmentService
from pages.components import notices, session, urls
from pages.components.user_name import who

__all__ = [
    "BLIND",
    "FIRST",
    "GRADES_SEEN",
    "GROUND",
    "HIDDEN",
    "POOLS",
    "QUESTION",
    "REVEAL",
    "SECOND",
    "SEEN",
    "apply_change",
    "cached_progress",
    "cached_questions",
    "clear_cache",
    "clear_counts",
    "current_item",
    "current_pool",
    "current_question",
    "is_blind",
    "judgment_service",
    "known_pools",
    "next_question",
    "open_question",
    "open_unit",
    "pooled_profiles",
    "reset_position",
    "select_by_id",
    "show_outcome",
    "shows_others",
    "store_grade",
]


def select_by_id(
    label: str, called: Mapping[int, str], chosen: int, key: str, on_choose: Callable[[int], None], **how: Any
) -> None:
    """A selectbox of ids by their titles, with `chosen` selected. on_choose: called with another id; how: passed on.

    The browser identifies a choice by its title: with other titles under the same key it would fall back to the first
    one. So the key changes with the titles and the choice.
    """
    name = f"{key}.{crc32(repr((chosen, sorted(called.items()))).encode())}"
    st.selectbox(
        label,
        list(called),
        index=list(called).index(chosen),
        key=name,
        format_func=lambda each: called.get(each, ""),
        on_change=lambda: on_choose(st.session_state[name]),
        **how,
    )


FIRST, SECOND, BLIND, QUESTION = "judge.first", "judge.second", "judge.blind", "judge.question"
"""Keys of the widgets."""

SEEN, HIDDEN = "seen", "blind"

REVEAL = "judge.reveal"

_FRESH_SECONDS = 600.0  # how long a pool is judged from: the library may change under it

_MOST_CACHED = 6  # pools kept in the session; chosen by hand


# What is pooled
def pooled_profiles(project: str | None) -> tuple[str, ...]:
    """The profiles whose results are pooled: the default one, and another."""
    state, offered = st.session_state, list(session.workbench().evaluation.profiles.choices())
    default = session.workbench().evaluation.profiles.default(project).name
    if state.get(FIRST) not in offered:
        state[FIRST] = default
    if state.get(SECOND) not in offered:
        state[SECOND] = next((each for each in offered if each != state[FIRST]), state[FIRST])
    return tuple(dict.fromkeys((state[FIRST], state[SECOND])))


def is_blind() -> bool:
    """Whether ranks, scores and profiles are hidden; they are unless one wants to see them."""
    return bool(st.session_state.get(BLIND, HIDDEN) != SEEN)


def shows_others() -> bool:
    """Whether the other judges' grades are shown, which a blind judge does not get to see."""
    return bool(st.session_state.get(REVEAL)) and not is_blind()


# The question
def current_question(questions: QuestionSet) -> JudgedQuestion | None:
    """The question that is judged: the one the URL names, else the next with something left; None in an empty set."""
    known = {each.id: each for each in cached_questions(questions.id)}
    if not known:
        return None
    state, named = st.session_state, st.query_params.get("question", "")
    by_key = {each.key: each.id for each in known.values()}
    if urls.is_new_request("judge", named) and named in by_key:
        state[QUESTION] = by_key[named]
    if state.get(QUESTION) not in known:
        opened = judgment_service().next_unjudged(questions.id, who(), pools=known_pools(questions.id))
        state[QUESTION] = next(iter(known)) if opened is None else opened.id
    chosen = known[state[QUESTION]]
    urls.record("judge", chosen.key)
    if named != chosen.key:
        st.query_params["question"] = chosen.key
    return chosen


def cached_questions(set_id: int) -> Sequence[JudgedQuestion]:
    """The questions of a set, read once until it is counted again."""
    if st.session_state.get("judge.listed", (None,))[0] != set_id:
        st.session_state["judge.listed"] = (set_id, judgment_service().questions(set_id))
    read: Sequence[JudgedQuestion] = st.session_state["judge.listed"][1]
    return read


def open_question(question_id: int) -> None:
    """Judge another question, from its first ungraded result."""
    st.session_state[QUESTION] = question_id
    reset_position()


def reset_position() -> None:
    """Start at the first ungraded result again, and count again."""
    st.session_state.pop("judge.at", None)
    clear_counts()


def clear_counts() -> None:
    """Drop the cached counts, so that judgments of all judges are read again."""
    for name in ("judge.listed", "judge.progress", "judge.judges", "judge.agreement"):
        st.session_state.pop(name, None)


def next_question(set_id: int, after: int) -> None:
    """Judge the next question with something left; after the last one, it stays."""
    try:
        following = judgment_service().next_unjudged(set_id, who(), after, known_pools(set_id))
    except FivefoldError as problem:
        st.session_state["judge.problem"] = problem
        return
    if following is not None and following.id != after:
        open_question(following.id)
    else:
        st.session_state["judge.said"] = "Nothing is left to judge in this set."


def cached_progress(questions: QuestionSet) -> JudgingProgress:
    """The progress of the set, read again after each grade."""
    state, about = st.session_state, (questions.id, who())
    if state.get("judge.progress", (None,))[0] != about:
        state["judge.progress"] = (about, judgment_service().progress(questions.id, who(), known_pools(questions.id)))
    counted: JudgingProgress = state["judge.progress"][1]
    return counted


def known_pools(set_id: int) -> Mapping[int, Sequence[str]]:
    """Question id → units of the pools this session has seen in a set."""
    pools: dict[int, Sequence[str]] = st.session_state.setdefault("judge.pooled", {}).setdefault(set_id, {})
    return pools


# The pool and the place in it
def current_pool(questions: QuestionSet, question: JudgedQuestion, project: str | None) -> Pool:
    """The results to judge: searched once per question, then cached with the judgments."""
    cache: dict[object, tuple[float, Pool]] = st.session_state.setdefault(POOLS, {})
    key, now = (questions.id, question, pooled_profiles(project), who(), is_blind(), shows_others()), time.monotonic()
    if key not in cache or now - cache[key][0] > _FRESH_SECONDS:
        found = judgment_service().pool(
            questions.id, question.id, pooled_profiles(project), who=who(), blind=is_blind(), reveal=shows_others()
        )
        cache[key] = (now, found)
        if not found.nearest:
            st.session_state.setdefault("judge.pooled", {}).setdefault(questions.id, {})[question.id] = found.units
    for old in list(cache)[: max(0, len(cache) - _MOST_CACHED)]:
        del cache[old]
    return cache[key][1]


def current_item(shown: Pool) -> PoolItem | None:
    """The current result; None when all are judged and none is chosen."""
    unit = st.session_state.get("judge.at", "")
    return shown.item(unit) or shown.next_open()


def open_unit(unit: str) -> None:
    """Look at another result of the pool."""
    st.session_state["judge.at"] = unit


def store_grade(shown: Pool, set_id: int, unit: str, given: int | None) -> None:
    """Store a grade and go to the next ungraded result. A key pressed before that is drawn was meant for the previous
    result and is ignored."""
    looked_at = current_item(shown)
    if looked_at is None or looked_at.unit != unit:
        return
    try:
        judgments = judgment_service().judge(set_id, shown.question.id, unit, given, shown.who, blind=shown.blind)
    except FivefoldError as problem:
        st.session_state["judge.problem"] = problem
        return
    _update_pools(judgments)
    for name in ("judge.progress", "judge.judges", "judge.agreement"):
        st.session_state.pop(name, None)
    following = shown.with_judgments(judgments).next_open(unit)
    st.session_state["judge.at"] = following.unit if following else ""


def _update_pools(judgments: Sequence[Judgment]) -> None:
    """Add judgments to every cached pool of their set: the same question under other profiles too."""
    for name in (GRADES_SEEN, GROUND):
        st.session_state.pop(name, None)
    cache: dict[object, tuple[float, Pool]] = st.session_state.get(POOLS, {})
    for key, (since, pool) in cache.items():
        cache[key] = (since, pool.with_judgments(each for each in judgments if each.set_id == pool.question.set_id))


POOLS, GRADES_SEEN = "judge.pools", "grading.mine"
"""Where the session keeps what it has read of judgments, for the Judge view and for Search."""
GROUND = "lab.ground"
"""Where the session keeps what a measurement would stand on now, for Measure, Optimise and Threshold."""


def judgment_service() -> JudgmentService:
    """The service for sets, questions and judgments."""
    return session.workbench().evaluation.judging


def apply_change(change: Callable[[], object], message: str = "") -> bool:
    """Run a change in a callback; `show_outcome` shows what came of it. Returns whether it succeeded."""
    return notices.apply_change("sets", change, message)


def clear_cache() -> None:
    """Drop cached judgments after some were added elsewhere."""
    for name in (POOLS, GRADES_SEEN, GROUND):
        st.session_state.pop(name, None)


def show_outcome() -> None:
    """Show the outcome of the last change."""
    notices.show_outcome("sets")
