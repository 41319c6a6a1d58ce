"""Question sets: selected, created, edited and retired."""

from collections.abc import Callable

import streamlit as st

from core.domain.evaluation import Level, QuestionSet
from pages.components import notices, urls
from pages.components.tuning import set_questions
from pages.components.tuning.judge_state import desk, did, tell
from pages.components.tuning.select import choice
from pages.components.user_name import who
from pages.components.wording import day, plain

__all__ = ["SET", "chooser", "first_set", "view"]

SET = "tuning.set"
"""Where the session keeps the id of the set that is worked with."""

_LEVELS = {Level.PASSAGE: "Passages", Level.DOCUMENT: "Documents"}

_HOURS = {0: "Never", 24: "Daily", 168: "Weekly"}


# Which set
def chooser(project: str | None) -> QuestionSet | None:
    """Choose among the sets of a project (None: of the whole library only) and of the whole library; None when there is
    none yet: then `first_set` says what to do.

    The set stands in the URL as `set`, so that a colleague opens the same one.
    """
    listed = {each.id: each for each in desk().sets(project) if project is not None or each.project is None}
    if not listed:
        return None
    state, named = st.session_state, st.query_params.get("set", "")
    if urls.asks("sets", named) and named.isdecimal() and int(named) in listed:
        state[SET] = int(named)
    if state.get(SET) not in listed:
        state[SET] = next(iter(listed))
    choice(
        "Question set",
        {number: _called(each, project) for number, each in listed.items()},
        state[SET],
        "tuning.sets",
        _choose,
        label_visibility="collapsed",
    )
    urls.says("sets", str(state[SET]))
    if named != str(state[SET]):
        st.query_params["set"] = str(state[SET])
    return listed[state[SET]]


def _choose(set_id: int) -> None:
    st.session_state[SET] = set_id


def _called(each: QuestionSet, project: str | None) -> str:
    return f"{each.name} · whole library" if project is not None and each.project is None else each.name


def first_set(project: str | None) -> None:
    """What is shown where there is no set yet: what one is for, and the form that makes it."""
    tell()
    notices.empty(
        ":material/quiz:",
        "No question set yet",
        "A set holds the questions you ask again and again, with grades for what was found. It is what profiles are"
        " measured with.",
    )
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        _new_set(project)
    _put_aside(project)


def _new_set(project: str | None) -> None:
    """The form of a new set."""
    st.text_input("Name", key="sets.new.name", max_chars=80, placeholder="Payroll questions")
    st.text_input("What it is for", key="sets.new.note", placeholder="Optional")
    st.segmented_control(
        "What is graded",
        list(_LEVELS),
        key="sets.new.level",
        default=Level.PASSAGE,
        required=True,
        format_func=_LEVELS.__getitem__,
        help="Passages tell more exactly what search does; documents are graded faster.",
    )
    if project is not None:
        st.segmented_control(
            "Belongs to", [project, ""], key="sets.new.project", default=project, required=True,
            format_func=lambda name: plain(name) if name else "Whole library",
        )  # fmt: skip
    st.button(
        "Create the set", key="sets.new.do", type="primary", icon=":material/add:", on_click=_create, args=(project,)
    )


def _create(project: str | None) -> None:
    state = st.session_state
    whose = (state.get("sets.new.project") or None) if project is not None else None

    def work() -> None:
        made = desk().add_set(
            state["sets.new.name"], whose, state["sets.new.level"], who(), state.get("sets.new.note", "")
        )
        state[SET], state["sets.new.name"] = made.id, ""

    did(work, "The set is there. Add questions to it.")


# The view
def view(questions: QuestionSet, project: str | None) -> None:
    """A set: what it is, its questions with ways to add more, files, and the sets that were put aside."""
    said, make, change = st.columns([6, 2, 2], vertical_alignment="center")
    with said:
        _line(questions)
    with make.popover("New set", icon=":material/add:", width="stretch"):
        _new_set(project)
    with change.popover("Settings", icon=":material/settings:", width="stretch"):
        _settings(questions)
    tell()
    set_questions.draw(questions)
    set_questions.out(questions)
    _put_aside(project)


def _line(questions: QuestionSet) -> None:
    """What the set is, in one line."""
    parts = [f"grades {_LEVELS[questions.level].lower()}", f"begun by {plain(questions.who)}, {day(questions.at)}"]
    if questions.every_hours:
        parts.append(f"measured {_HOURS.get(questions.every_hours, f'every {questions.every_hours} hours').lower()}")
    parts += [plain(questions.note)] if questions.note else []
    st.caption(" · ".join(parts))


def _settings(questions: QuestionSet) -> None:
    """Name, note, schedule, and the way to put it aside. Typed values belong to one version of the set."""
    key = f"sets.change.{questions.id}.{questions.version}"
    state = st.session_state
    st.text_input("Name", value=questions.name, key=f"{key}.name", max_chars=80)
    st.text_input("What it is for", value=questions.note, key=f"{key}.note")
    hours = dict.fromkeys([*_HOURS, questions.every_hours])
    st.selectbox(
        "Measured by itself",
        list(hours),
        index=list(hours).index(questions.every_hours),
        key=f"{key}.hours",
        format_func=lambda each: _HOURS.get(each, f"Every {each} hours"),
        help="With the profile that is the default then; the trend shows what came of it.",
    )

    def save() -> None:
        kept = questions
        if state[f"{key}.name"] != questions.name:
            kept = desk().rename(kept, state[f"{key}.name"])
        if state[f"{key}.note"] != questions.note:
            kept = desk().annotate(kept, state[f"{key}.note"])
        if state[f"{key}.hours"] != questions.every_hours:
            desk().schedule(kept, state[f"{key}.hours"])

    with st.container(horizontal=True):
        st.button(
            "Save", key=f"{key}.save", type="primary", icon=":material/save:", on_click=_did, args=(save, "Saved.")
        )
        st.button(
            "Retire the set", key=f"{key}.retire", icon=":material/inventory_2:",
            help="Puts it aside with all that was said in it; it can be taken up again.",
            on_click=_did, args=(lambda: desk().retire(questions), "Retired."),
        )  # fmt: skip


def _did(work: Callable[[], object], said: str) -> None:
    did(work, said)


def _put_aside(project: str | None) -> None:
    """Sets that were retired, to be taken up again."""
    retired = [each for each in desk().sets(project, retired=True) if project is not None or each.project is None]
    if not retired:
        return
    with st.expander(f"Retired sets · {len(retired)}", icon=":material/inventory_2:"):
        for each in retired:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(each.name), width="stretch")
                st.button(
                    "Take up again", key=f"sets.restore.{each.id}", type="tertiary", on_click=_restore, args=(each,)
                )


def _restore(each: QuestionSet) -> None:
    if did(lambda: desk().restore(each), "Taken up again."):
        st.session_state[SET] = each.id
