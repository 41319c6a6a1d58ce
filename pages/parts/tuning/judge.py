"""The Judge view: one result at a time under its question, graded with a key; then how far judges agree."""

from collections.abc import Collection, Mapping

import streamlit as st

from core.errors import FivefoldError
from core.judged import JudgedQuestion, QuestionSet
from core.matching import keywords, stem
from core.search.quotable import shown_quote
from core.tuning.judged_checks import grade_words
from core.tuning.lab import request_of
from core.tuning.pools import Pool, PoolItem
from pages.parts import address, cards, notices, session
from pages.parts.person import who
from pages.parts.tuning import judge_state as state
from pages.parts.tuning import sets
from pages.parts.tuning.choice import choice
from pages.parts.tuning.judge_agreement import agreement
from pages.parts.tuning.judge_focus import leave_fields
from pages.parts.tuning.judge_keys import keys
from pages.parts.tuning.set_state import desk
from pages.parts.wording import count, marked, plain, squeezed

__all__ = ["view"]

_PART, _JUDGE, _KEEP = "judge.part", "judge", "set"
_PARTS = {_JUDGE: ":material/gavel: Results", _KEEP: ":material/quiz: Questions"}
_CARD_PIXELS = 300


def view(project: str | None) -> None:
    """Which set; then its results one by one, or its questions and files. The page asks who judges."""
    chosen, part = st.columns([8, 4], vertical_alignment="center")
    with chosen:
        questions = sets.chooser(project)
    if questions is None:
        sets.first_set(project)
        return
    with part:
        judging = _part(questions)
    if not judging:
        sets.view(questions, project)
    elif not session.ready():
        _wait_for_models()
    else:
        state.count_again()
        _desk(questions, project)


def _part(questions: QuestionSet) -> bool:
    """Whether one judges, or looks after the set: an empty one has nothing to judge."""
    named = st.query_params.get("part", "")
    if _PART not in st.session_state or address.asks("judge.part", named):
        st.session_state[_PART] = named if named in _PARTS else _JUDGE
    empty = not desk().questions(questions.id)
    if empty:
        st.session_state[_PART] = _KEEP
    part = st.segmented_control(
        "Part", list(_PARTS), key=_PART, required=True, format_func=_PARTS.__getitem__,
        label_visibility="collapsed", width="stretch", disabled=empty,
    )  # fmt: skip
    wanted = "" if part == _JUDGE else _KEEP
    address.says("judge.part", wanted)
    if wanted and named != wanted:
        st.query_params["part"] = wanted
    elif not wanted and named:
        del st.query_params["part"]
    return part == _JUDGE


@st.fragment(run_every=0.7)
def _wait_for_models() -> None:
    session.start_warming()
    if session.ready():
        st.rerun()
    st.info("The models are loading; judging begins as soon as they are ready.", icon=":material/hourglass_top:")


@st.fragment
def _desk(questions: QuestionSet, project: str | None) -> None:
    """Everything a key changes: it is drawn again by itself, and nothing is searched for again."""
    asked = state.question(questions)
    if asked is None:
        return
    found = _pool(questions, asked, project)
    _bar(questions, asked, project)
    if problem := st.session_state.pop("judge.problem", None):
        notices.error(problem)
    if said := st.session_state.pop("judge.said", ""):
        st.toast(said, icon=":material/task_alt:")
    if isinstance(found, FivefoldError):
        notices.error(found)
        return
    notices.degraded(found.notices)
    _meter(questions, found)
    item = state.at(found)
    if item is None:
        _done(found)
    else:
        _card(questions, found, item)
    keys(questions, found, item)
    leave_fields((questions.id, asked.id, found.profiles, found.blind, who()))
    agreement(questions, blind=found.blind)


def _pool(questions: QuestionSet, asked: JudgedQuestion, project: str | None) -> Pool | FivefoldError:
    """What is judged, or why that could not be found: the bar above it is drawn either way."""
    try:
        return state.pool(questions, asked, project)
    except FivefoldError as problem:
        return problem


# Above the result


def _bar(questions: QuestionSet, asked: JudgedQuestion, project: str | None) -> None:
    """Which question, whose results are put together, and whether their places are seen."""
    which, pooled, seen = st.columns([6, 3, 3], vertical_alignment="center")
    with which:
        called = _called(questions, asked)
        choice("Question", called, asked.id, "judge.questions", state.open_question, label_visibility="collapsed")
    with pooled.popover(" + ".join(map(plain, state.profiles(project))), icon=":material/merge:", width="stretch"):
        _pooled()
    seen.segmented_control(
        "Ranks and scores",
        [state.HIDDEN, state.SEEN],
        key=state.BLIND,
        default=state.HIDDEN,
        required=True,
        format_func={state.HIDDEN: ":material/visibility_off: Blind", state.SEEN: "With ranks"}.__getitem__,
        label_visibility="collapsed",
        width="stretch",
        persist_state="session",
        on_change=state.looked_away,
    )


def _called(questions: QuestionSet, asked: JudgedQuestion) -> Mapping[int, str]:
    """Question id → how it stands in the list, those with something left first."""
    ordered = sorted(state.progress(questions).questions, key=lambda each: not each.open)
    called = {
        each.question.id: f"{each.question.key} · {each.question.question}{_so_far(each.mine, each.pooled)}"
        for each in ordered
    }
    return called if asked.id in called else {asked.id: f"{asked.key} · {asked.question}", **called}


def _so_far(mine: int, pooled: int | None) -> str:
    """How much of a question is judged, as its entry in the list says it."""
    if pooled is None:
        return f" ({mine} judged)" if mine else ""
    if not pooled:
        return " (nothing shown)"
    return " ✓" if mine >= pooled else f" ({mine} of {pooled})"


def _pooled() -> None:
    """Whose first ten results are put together."""
    offered = list(session.workbench().profiles())
    st.caption(
        "The first ten results of both profiles are put together, so that a change of profile finds them judged."
    )
    for label, key in (("One profile", state.FIRST), ("Another", state.SECOND)):
        st.selectbox(label, offered, key=key, persist_state="session", on_change=state.looked_away)
    st.toggle(
        "Show what others said",
        key=state.REVEAL,
        disabled=state.blind(),
        help="Judge first: what others said makes it hard to disagree. A blind judge is not shown it.",
        on_change=state.looked_away,
    )


def _meter(questions: QuestionSet, pool: Pool) -> None:
    """How much of the question, and of the set, is judged."""
    total = len(pool.items)
    counted = state.progress(questions)
    words = [f"**{pool.judged} of {total}** judged by you" if total else "Nothing to judge"]
    if counted.graded is not None:
        words.append(f"the set {counted.graded:.0%} graded by anyone")
    left = sum(each.open for each in counted.questions)
    words.append(f"{count(left, 'question')} left" if left else "no other question left")
    st.progress(pool.judged / total if total else 1.0, " · ".join(words))


# The result


def _card(questions: QuestionSet, pool: Pool, item: PoolItem) -> None:
    """The question, what the result is, and its text with the sentence that answers best."""
    asked = pool.question
    with st.container(border=True, height=_CARD_PIXELS, gap="small"):
        st.markdown(f"### {plain(asked.question)}", anchors=False)
        if asked.filters.in_words():
            st.caption(":material/filter_alt: " + plain("; ".join(asked.filters.in_words())))
        if pool.nearest:
            st.caption(":material/info: No profile shows a result. This came nearest: does it answer after all?")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(item.passage)
            where = cards.place(item.passage, item.document)
            name = f"**{plain(squeezed(item.document.name, 70))}**"
            st.markdown(f"{name}, {plain(where)}" if where else name, width="content")
            st.caption(cards.facts(item.passage), width="content")
            if not pool.blind:
                request = request_of(asked, questions, pool.profiles[0])
                cards.inspect_link(request, item.passage.id, "Inspect", icon=":material/troubleshoot:")
        _text(item, {stem(word) for word in keywords(asked.question)})
        if not pool.blind:
            _standing(item)


def _text(item: PoolItem, stems: Collection[str]) -> None:
    """The passage, its best sentence dark and the rest of it gray."""
    text = item.passage.text
    sentence = item.citation.quote if item.citation else text
    at = text.find(sentence)
    if at < 0:
        st.markdown(marked(shown_quote(sentence), stems))
        return
    before, after = text[:at], text[at + len(sentence) :]
    parts = [f":gray[{plain(shown_quote(before))}]" if before.strip() else "", marked(shown_quote(sentence), stems)]
    parts.append(f":gray[{plain(shown_quote(after))}]" if after.strip() else "")
    st.markdown(" ".join(part for part in parts if part))


def _standing(item: PoolItem) -> None:
    """Where it stands under each profile, and what else is known of it."""
    parts = [f"rank {rank} under {plain(profile)}" for profile, rank in item.places.items()]
    parts += [f"score {item.score:.3f}"] if item.score is not None else []
    parts += [f"known beforehand as {grade_words(item.known)}"] if item.known is not None else []
    parts += [f"{plain(each.who)}: {grade_words(each.grade)}" for each in item.others]
    st.caption(" · ".join(parts))


def _done(pool: Pool) -> None:
    """Every result of the question is judged, or there is none."""
    with st.container(border=True, height=_CARD_PIXELS, gap="small", vertical_alignment="center"):
        what = "Every result is judged" if pool.items else "Nothing came near this question"
        st.markdown(f"### :material/task_alt: {what}", text_alignment="center", anchors=False)
        st.markdown(plain(pool.question.question), text_alignment="center")
        st.caption("Press N for the next question, or ← to look at your grades again.", text_alignment="center")
