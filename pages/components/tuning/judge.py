"""The Judge view: one result at a time, graded by keyboard or button; then the agreement between judges."""
# Longer than 300 lines: one view with its keys and the agreement of judges below it.

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.evaluation import GRADES, JudgedQuestion, QuestionSet
from core.evaluation.experiments import request_of
from core.evaluation.judgments.agreement import DisputedResult, JudgeAgreement, strength
from core.evaluation.judgments.pools import Pool, PoolItem
from core.evaluation.judgments.units import UnitIndex
from core.evaluation.judgments.validation import grade_words
from core.knowledge.glossary import meaning
from core.search.citations.cite import display_quote
from core.text.tokenize import keywords, stem
from pages.components import browser_scripts, cards, notices, rights, session, urls
from pages.components.notices import wait_for_models
from pages.components.tuning import judge_state as state
from pages.components.tuning import question_sets
from pages.components.tuning.judge_state import judgment_service, select_by_id
from pages.components.tuning.passage_labels import passage_title, place_and_section
from pages.components.user_name import who
from pages.components.wording import count, highlight, plain, shorten, shorten_middle

__all__ = ["AGREEMENT_OPEN", "draw_agreement", "grade_buttons", "view"]


_LABELS = {0: "Irrelevant", 1: "Related", 2: "Answers in part", 3: "Answers"}


def grade_buttons(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """The grades, then the navigation. item: the current result; None when all are judged."""
    _grade_keys(questions, pool, item)
    _navigation(questions, pool, item)


def _grade_keys(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """One button per grade; the keys 0 to 3 and X press them."""
    mine = item.mine if item else None
    for column, given in zip(st.columns(5, gap="small"), [*GRADES, None], strict=True):
        chosen = mine is not None and mine.grade == given
        rights.button(
            "evaluation.judging.judge",
            _LABELS.get(given, "Can't judge") if given is not None else "Can't judge",
            key=f"judge.grade.{given}",
            type="primary" if chosen else "secondary",
            shortcut="X" if given is None else str(given),
            width="stretch",
            disabled=item is None or not who(),
            on_click=state.store_grade,
            args=(pool, questions.id, item.unit if item else "", given),
            on=column,
        )
    if not who():
        st.caption(
            ":material/person: Enter your name above, then grade with the keys 0, 1, 2, 3, or X for “can't judge”."
        )


def _navigation(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """To the result before and after, and to the next question."""
    units: Sequence[str] = pool.units
    here = units.index(item.unit) if item else len(units)
    before, title, after, following = st.columns([2, 4, 2, 3], vertical_alignment="center")
    before.button(
        "Previous", key="judge.before", icon=":material/arrow_back:", shortcut="Left", width="stretch",
        disabled=here == 0, on_click=state.open_unit, args=(units[here - 1] if here else "",),
    )  # fmt: skip
    title.markdown(_grade_strip(pool, item), text_alignment="center")
    after.button(
        "Next",
        key="judge.after",
        icon=":material/arrow_forward:",
        shortcut="Right",
        width="stretch",
        disabled=here + 1 >= len(units),
        on_click=state.open_unit,
        args=(units[here + 1] if here + 1 < len(units) else "",),
    )
    following.button(
        "Next question", key="judge.next", icon=":material/skip_next:", shortcut="N", width="stretch",
        type="primary" if item is None else "secondary", on_click=state.next_question,
        args=(questions.id, pool.question.id),
    )  # fmt: skip


def _grade_strip(pool: Pool, item: PoolItem | None) -> str:
    """The judge's own grades so far, one sign per result, the current one in bold."""
    signs = []
    for each in pool.items:
        sign = "○" if each.mine is None else "×" if each.mine.grade is None else str(each.mine.grade)
        signs.append(f":primary-background[**{sign}**]" if item and each.unit == item.unit else f":gray[{sign}]")
    return " ".join(signs)


AGREEMENT_OPEN = "judge.agreement.open"
"""Whether the agreement is looked at; to reckon it takes a moment, the first time some seconds."""

_LISTED = 12  # disputed results listed; chosen by hand

_MOST_NAMES = 3  # judges named; chosen by hand


def draw_agreement(questions: QuestionSet, *, blind: bool) -> None:
    """The judges; when opened, their agreement beyond chance and disputed results. A blind judge sees only disputes
    they took part in."""
    judges = _judges(questions)
    if len(judges) < 2:
        st.caption(":material/group: With a second judge, your agreement is shown here.")
        return
    label = f"Agreement of {count(len(judges), 'judge')}: {', '.join(map(plain, judges[:_MOST_NAMES]))}"
    more = f" and {len(judges) - _MOST_NAMES} more" if len(judges) > _MOST_NAMES else ""
    box = st.expander(label + more, icon=":material/group:", key=AGREEMENT_OPEN, on_change="rerun")
    if box.open:
        with box:
            _agreement_detail(questions, blind=blind)


def _agreement_detail(questions: QuestionSet, *, blind: bool) -> None:
    found, far, index = _cached_agreement(questions)
    _agreement_summary(found)
    mine = [each for each in far if not blind or who() in dict(each.grades)]
    _disputed_results(questions, mine, index)
    if len(mine) < len(far):
        st.caption(f"{count(len(far) - len(mine), 'more disputed result')} you have not judged yet.")


def _judges(questions: QuestionSet) -> Sequence[str]:
    """Who has graded something, by name; read once per question that is opened."""
    state = st.session_state
    if state.get("judge.judges", (None,))[0] != questions.id:
        judgments = judgment_service().judgments(questions.id)
        state["judge.judges"] = (questions.id, sorted({each.who for each in judgments if each.grade is not None}))
    judges: Sequence[str] = state["judge.judges"][1]
    return judges


def _cached_agreement(questions: QuestionSet) -> tuple[JudgeAgreement, Sequence[DisputedResult], UnitIndex]:
    """All of it, once per question that is opened: it is drawn again with every key."""
    state = st.session_state
    if state.get("judge.agreement", (None,))[0] != questions.id:
        fresh = (
            judgment_service().agreement(questions.id),
            judgment_service().disputed(questions.id),
            judgment_service().index(),
        )
        state["judge.agreement"] = (questions.id, fresh)
    read: tuple[JudgeAgreement, Sequence[DisputedResult], UnitIndex] = state["judge.agreement"][1]
    return read


def _agreement_summary(found: JudgeAgreement) -> None:
    if found.alpha is None:
        st.markdown(plain(found.words))
    else:
        shared = count(found.units, "result")
        st.markdown(f"**{strength(found.alpha).capitalize()}**, α {found.alpha:.2f}")
        st.caption(
            f"Krippendorff’s α over {shared} graded by two judges or more; 1 is full agreement, 0 is chance.",
            help=meaning("agreement"),
        )
    pairs = [pair for pair in found.pairs if pair.units]
    if pairs:
        st.dataframe(
            [
                {
                    "judges": f"{pair.first} and {pair.second}",
                    "graded by both": pair.units,
                    "κ": "–" if pair.kappa is None else f"{pair.kappa:.2f}",
                    "in words": pair.words,
                }
                for pair in pairs
            ],
            hide_index=True,
            height="content" if len(pairs) <= _LISTED else 430,
            column_config={
                "judges": st.column_config.TextColumn(width="medium"),
                "graded by both": st.column_config.NumberColumn(width="small"),
                "κ": st.column_config.TextColumn(width="small", help="Cohen's kappa with quadratic weights."),
                "in words": st.column_config.TextColumn(width="large"),
            },
        )


def _disputed_results(questions: QuestionSet, far: Sequence[DisputedResult], index: UnitIndex) -> None:
    """Results whose grades differ by two or more, each with a button to open it."""
    if not far:
        return
    st.markdown(f"**{count(len(far), 'disputed result')}** :gray[· two grades apart or more]")
    keys = {each.id: each for each in state.cached_questions(questions.id)}
    for each in far[:_LISTED]:
        question, passage, document = keys.get(each.question_id), index.passage(each.unit), index.document(each.unit)
        if question is None:
            continue
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                grades = " · ".join(f"{plain(judge)} **{grade_words(grade)}**" for judge, grade in each.grades)
                st.markdown(grades, width="stretch")
                st.button(
                    "Look again", key=f"judge.disputed.{each.question_id}.{each.unit}", type="tertiary",
                    icon=":material/replay:", on_click=_open_disputed, args=(each,),
                )  # fmt: skip
            name = document.name if document else "a document that is no longer here"
            called = passage_title(passage, document) if passage else name
            st.caption(f"{plain(question.key)} {plain(shorten(question.question, 90))}  \n{plain(called)}")
    if len(far) > _LISTED:
        st.caption(f"… and {count(len(far) - _LISTED, 'more')}.")


def _open_disputed(each: DisputedResult) -> None:
    state.open_question(each.question_id)
    state.open_unit(each.unit)


_PART, _JUDGE, _QUESTIONS = "judge.part", "judge", "set"

_PARTS = {_JUDGE: ":material/gavel: Results", _QUESTIONS: ":material/quiz: Questions"}

_CARD_PIXELS = 300  # the buttons below stay in place for every result


def view(project: str | None) -> None:
    """Which set; then its results one by one, or its questions and files. The page asks who judges."""
    chosen, part = st.columns([8, 4], vertical_alignment="center")
    with chosen:
        questions = question_sets.choose_set(project)
    if questions is None:
        question_sets.draw_first_set(project)
        return
    with part:
        judging = _part(questions)
    if not judging:
        question_sets.view(questions, project)
    elif not session.ready():
        wait_for_models("The models are loading; judging begins as soon as they are ready.")
    else:
        state.clear_counts()
        _judging_form(questions, project)


def _part(questions: QuestionSet) -> bool:
    """Whether one judges, or looks after the set: an empty one has nothing to judge."""
    named = st.query_params.get("part", "")
    if _PART not in st.session_state or urls.is_new_request("judge.part", named):
        st.session_state[_PART] = named if named in _PARTS else _JUDGE
    empty = not judgment_service().questions(questions.id)
    if empty:
        st.session_state[_PART] = _QUESTIONS
    part = st.segmented_control(
        "Part", list(_PARTS), key=_PART, required=True, format_func=_PARTS.__getitem__,
        label_visibility="collapsed", width="stretch", disabled=empty,
    )  # fmt: skip
    view = "" if part == _JUDGE else _QUESTIONS
    urls.record("judge.part", view)
    if view and named != view:
        st.query_params["part"] = view
    elif not view and named:
        del st.query_params["part"]
    return part == _JUDGE


@st.fragment
def _judging_form(questions: QuestionSet, project: str | None) -> None:
    """Everything a key changes: it is drawn again by itself, and nothing is searched for again."""
    question = state.current_question(questions)
    if question is None:
        return
    found = _pool(questions, question, project)
    _bar(questions, question, project)
    if problem := st.session_state.pop("judge.problem", None):
        notices.error(problem)
    if message := st.session_state.pop("judge.said", ""):
        st.toast(message, icon=":material/task_alt:")
    if isinstance(found, FivefoldError):
        notices.error(found)
        return
    notices.degraded(found.notices)
    _progress_bar(questions, found)
    item = state.current_item(found)
    if item is None:
        _all_judged(found)
    else:
        _card(questions, found, item)
    grade_buttons(questions, found, item)
    browser_scripts.leave_fields((questions.id, question.id, found.profiles, found.blind, who()))
    draw_agreement(questions, blind=found.blind)


def _pool(questions: QuestionSet, question: JudgedQuestion, project: str | None) -> Pool | FivefoldError:
    """The pool of results, or the error that prevented it: the bar above is drawn either way."""
    try:
        return state.current_pool(questions, question, project)
    except FivefoldError as problem:
        return problem


# Above the result
def _bar(questions: QuestionSet, question: JudgedQuestion, project: str | None) -> None:
    """The question, the pooled profiles, and whether ranks are visible."""
    which, pooled, seen = st.columns([6, 3, 3], vertical_alignment="center")
    with which:
        called = _question_titles(questions, question)
        select_by_id(
            "Question", called, question.id, "judge.questions", state.open_question, label_visibility="collapsed"
        )
    with pooled.popover(
        " + ".join(map(plain, state.pooled_profiles(project))), icon=":material/merge:", width="stretch"
    ):
        _pool_settings()
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
        on_change=state.reset_position,
    )


def _question_titles(questions: QuestionSet, question: JudgedQuestion) -> Mapping[int, str]:
    """Question id → its title in the list, unfinished questions first."""
    ordered = sorted(state.cached_progress(questions).questions, key=lambda each: not each.open)
    called = {
        each.question.id: f"{each.question.key} · {each.question.question}{_progress_words(each.mine, each.pooled)}"
        for each in ordered
    }
    return called if question.id in called else {question.id: f"{question.key} · {question.question}", **called}


def _progress_words(mine: int, pooled: int | None) -> str:
    """The progress of a question, for its title."""
    if pooled is None:
        return f" ({mine} judged)" if mine else ""
    if not pooled:
        return " (nothing shown)"
    return " ✓" if mine >= pooled else f" ({mine} of {pooled})"


def _pool_settings() -> None:
    """The profiles whose first ten results are pooled."""
    offered = list(session.workbench().evaluation.profiles.choices())
    st.caption(
        "The first ten results of both profiles are put together, so that a change of profile finds them judged."
    )
    for label, key in (("One profile", state.FIRST), ("Another", state.SECOND)):
        st.selectbox(label, offered, key=key, persist_state="session", on_change=state.reset_position)
    st.toggle(
        "Show what others said",
        key=state.REVEAL,
        disabled=state.is_blind(),
        help="Judge first: what others said makes it hard to disagree. A blind judge is not shown it.",
        on_change=state.reset_position,
    )


def _progress_bar(questions: QuestionSet, pool: Pool) -> None:
    """How much of the question, and of the set, is judged."""
    total = len(pool.items)
    counted = state.cached_progress(questions)
    words = [f"**{pool.judged} of {total}** judged by you" if total else "Nothing to judge"]
    if counted.graded is not None:
        looked_at = sum(each.pooled is not None for each in counted.questions)
        whole = looked_at == len(counted.questions)
        part = "the set" if whole else f"in the {count(looked_at, 'question')} seen so far"
        words.append(f"{part} {counted.graded:.0%} graded by anyone")
    left = sum(each.open for each in counted.questions)
    words.append(f"{count(left, 'question')} left" if left else "no other question left")
    st.progress(pool.judged / total if total else 1.0, " · ".join(words))


# The result
def _card(questions: QuestionSet, pool: Pool, item: PoolItem) -> None:
    """The question, what the result is, and its text with the sentence that answers best."""
    question = pool.question
    with st.container(border=True, height=_CARD_PIXELS, gap="small"):
        st.markdown(f"### {plain(question.question)}", anchors=False)
        if narrowed := session.filters_in_words(question.filters):
            st.caption(":material/filter_alt: " + plain("; ".join(narrowed)))
        if pool.nearest:
            st.caption(":material/info: No profile shows a result. This came nearest: does it answer after all?")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(item.passage)
            where = place_and_section(item.passage, item.document)
            name = f"**{plain(shorten_middle(item.document.name, 70))}**"
            st.markdown(f"{name}, {plain(where)}" if where else name, width="content")
            st.caption(cards.facts(item.passage, session.terms()), width="content")
            if not pool.blind:
                request = request_of(question, questions, pool.profiles[0])
                cards.inspect_link(request, item.passage.id, "Inspect", icon=":material/troubleshoot:")
        _text(item, {stem(word) for word in keywords(question.question)})
        if not pool.blind:
            _ranks_line(item)


def _text(item: PoolItem, stems: Collection[str]) -> None:
    """The passage, its best sentence dark and the rest of it gray."""
    text = item.passage.text
    sentence = item.citation.quote if item.citation else text
    at = text.find(sentence)
    if at < 0:
        st.markdown(highlight(display_quote(sentence), stems))
        return
    before, after = text[:at], text[at + len(sentence) :]
    parts = [
        f":gray[{plain(display_quote(before))}]" if before.strip() else "",
        highlight(display_quote(sentence), stems),
    ]
    parts.append(f":gray[{plain(display_quote(after))}]" if after.strip() else "")
    st.markdown(" ".join(part for part in parts if part))


def _ranks_line(item: PoolItem) -> None:
    """The rank under each profile, and other known grades."""
    parts = [f"rank {rank} under {plain(profile)}" for profile, rank in item.ranks.items()]
    parts += [f"score {item.score:.3f}"] if item.score is not None else []
    parts += [f"known answer: {grade_words(item.known)}"] if item.known is not None else []
    parts += [f"{plain(each.who)}: {grade_words(each.grade)}" for each in item.others]
    st.caption(" · ".join(parts))


def _all_judged(pool: Pool) -> None:
    """Every result of the question is judged, or there is none."""
    with st.container(border=True, height=_CARD_PIXELS, gap="small", vertical_alignment="center"):
        what = "Every result is judged" if pool.items else "No passage is close to this question"
        st.markdown(f"### :material/task_alt: {what}", text_alignment="center", anchors=False)
        st.markdown(plain(pool.question.question), text_alignment="center")
        st.caption("Press N for the next question, or ← to look at your grades again.", text_alignment="center")
