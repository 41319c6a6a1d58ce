"""Session state of the Judge view: the question and its pool, the current result, and the progress of the set."""

import time
from collections.abc import Callable, Mapping, Sequence

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
    "HIDDEN",
    "POOLS",
    "QUESTION",
    "REVEAL",
    "SECOND",
    "SEEN",
    "at",
    "blind",
    "count_again",
    "desk",
    "did",
    "forget",
    "go",
    "grade",
    "known_pools",
    "listed",
    "looked_away",
    "next_question",
    "open_question",
    "pool",
    "profiles",
    "progress",
    "question",
    "reveal",
    "tell",
]

FIRST, SECOND, BLIND, QUESTION = "judge.first", "judge.second", "judge.blind", "judge.question"
"""Keys of the widgets."""

SEEN, HIDDEN = "seen", "blind"

REVEAL = "judge.reveal"

_FRESH_SECONDS = 600.0  # how long a pool is judged from: the library may change under it

_KEPT = 6


# What is pooled
def profiles(project: str | None) -> tuple[str, ...]:
    """The profiles whose results are put together: the one that holds, and another."""
    state, offered = st.session_state, list(session.workbench().evaluation.profiles.choices())
    default = session.workbench().evaluation.profiles.default(project).name
    if state.get(FIRST) not in offered:
        state[FIRST] = default
    if state.get(SECOND) not in offered:
        state[SECOND] = next((each for each in offered if each != state[FIRST]), state[FIRST])
    return tuple(dict.fromkeys((state[FIRST], state[SECOND])))


def blind() -> bool:
    """Whether ranks, scores and profiles are hidden; they are unless one wants to see them."""
    return bool(st.session_state.get(BLIND, HIDDEN) != SEEN)


def reveal() -> bool:
    """Whether the other judges' grades are shown, which a blind judge does not get to see."""
    return bool(st.session_state.get(REVEAL)) and not blind()


# The question
def question(questions: QuestionSet) -> JudgedQuestion | None:
    """The question that is judged: the one the URL names, else the next with something left; None in an empty set."""
    known = {each.id: each for each in listed(questions.id)}
    if not known:
        return None
    state, named = st.session_state, st.query_params.get("question", "")
    by_key = {each.key: each.id for each in known.values()}
    if urls.asks("judge", named) and named in by_key:
        state[QUESTION] = by_key[named]
    if state.get(QUESTION) not in known:
        opened = desk().next_unjudged(questions.id, who(), pools=known_pools(questions.id))
        state[QUESTION] = next(iter(known)) if opened is None else opened.id
    chosen = known[state[QUESTION]]
    urls.says("judge", chosen.key)
    if named != chosen.key:
        st.query_params["question"] = chosen.key
    return chosen


def listed(set_id: int) -> Sequence[JudgedQuestion]:
    """The questions of a set, read once until it is counted again."""
    if st.session_state.get("judge.listed", (None,))[0] != set_id:
        st.session_state["judge.listed"] = (set_id, desk().questions(set_id))
    read: Sequence[JudgedQuestion] = st.session_state["judge.listed"][1]
    return read


def open_question(question_id: int) -> None:
    """Judge another question, from its first result with nothing said of it."""
    st.session_state[QUESTION] = question_id
    looked_away()


def looked_away() -> None:
    """Another question or pool: begin at what is open there, and count again."""
    st.session_state.pop("judge.at", None)
    count_again()


def count_again() -> None:
    """Read what all judges have said, when it is next looked at."""
    for name in ("judge.listed", "judge.progress", "judge.judges", "judge.agreement"):
        st.session_state.pop(name, None)


def next_question(set_id: int, after: int) -> None:
    """Judge the next question with something left; after the last one, it stays."""
    try:
        following = desk().next_unjudged(set_id, who(), after, known_pools(set_id))
    except FivefoldError as problem:
        st.session_state["judge.problem"] = problem
        return
    if following is not None and following.id != after:
        open_question(following.id)
    else:
        st.session_state["judge.said"] = "Nothing is left to judge in this set."


def progress(questions: QuestionSet) -> JudgingProgress:
    """How far the set is, counted when the question was opened; what is said since is in its pool."""
    state, about = st.session_state, (questions.id, who())
    if state.get("judge.progress", (None,))[0] != about:
        state["judge.progress"] = (about, desk().progress(questions.id, who(), known_pools(questions.id)))
    counted: JudgingProgress = state["judge.progress"][1]
    return counted


def known_pools(set_id: int) -> Mapping[int, Sequence[str]]:
    """Question id → units of the pools this session has looked at in a set."""
    pools: dict[int, Sequence[str]] = st.session_state.setdefault("judge.pooled", {}).setdefault(set_id, {})
    return pools


# The pool and the place in it
def pool(questions: QuestionSet, asked: JudgedQuestion, project: str | None) -> Pool:
    """The results to judge: searched once per question, then cached with the judgments."""
    kept: dict[object, tuple[float, Pool]] = st.session_state.setdefault(POOLS, {})
    key, now = (questions.id, asked, profiles(project), who(), blind(), reveal()), time.monotonic()
    if key not in kept or now - kept[key][0] > _FRESH_SECONDS:
        found = desk().pool(questions.id, asked.id, profiles(project), who=who(), blind=blind(), reveal=reveal())
        kept[key] = (now, found)
        if not found.nearest:
            st.session_state.setdefault("judge.pooled", {}).setdefault(questions.id, {})[asked.id] = found.units
    for old in list(kept)[: max(0, len(kept) - _KEPT)]:
        del kept[old]
    return kept[key][1]


def at(shown: Pool) -> PoolItem | None:
    """The result that is looked at; None when all are judged and none is chosen."""
    wanted = st.session_state.get("judge.at", "")
    return shown.item(wanted) or shown.next_open()


def go(unit: str) -> None:
    """Look at another result of the pool."""
    st.session_state["judge.at"] = unit


def grade(shown: Pool, set_id: int, unit: str, given: int | None) -> None:
    """Keep a grade, and go on to the next result with nothing said of it. A second key pressed before that is drawn
    was meant for what nobody has seen, and counts for nothing."""
    looked_at = at(shown)
    if looked_at is None or looked_at.unit != unit:
        return
    try:
        said = desk().judge(set_id, shown.question.id, unit, given, shown.who, blind=shown.blind)
    except FivefoldError as problem:
        st.session_state["judge.problem"] = problem
        return
    _tell(said)
    following = shown.told(said).next_open(unit)
    st.session_state["judge.at"] = following.unit if following else ""


def _tell(said: Sequence[Judgment]) -> None:
    """What was said, to every pool that is kept of its set: the same question under other profiles too."""
    st.session_state.pop(GRADES_SEEN, None)
    kept: dict[object, tuple[float, Pool]] = st.session_state.get(POOLS, {})
    for key, (since, held) in kept.items():
        kept[key] = (since, held.told(each for each in said if each.set_id == held.question.set_id))


POOLS, GRADES_SEEN = "judge.pools", "grading.mine"
"""Where the session keeps what it has read of judgments, for the Judge view and for Search."""


def desk() -> JudgmentService:
    """The service for sets, questions and judgments."""
    return session.workbench().evaluation.judging


def did(work: Callable[[], object], said: str = "") -> bool:
    """Run an action and store its message; the view shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["sets.problem"] = problem
        return False
    if said:
        st.session_state["sets.said"] = said
    return True


def forget() -> None:
    """Drop cached judgments after some were added elsewhere."""
    for name in (POOLS, GRADES_SEEN):
        st.session_state.pop(name, None)


def tell() -> None:
    """Show the message of the last action."""
    if problem := st.session_state.pop("sets.problem", None):
        notices.error(problem)
    if said := st.session_state.pop("sets.said", ""):
        st.toast(said, icon=":material/check:")
