"""Question sets: selected, created and retired; their questions added and edited."""
# Longer than 300 lines: a set is edited together with its questions.

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import streamlit as st

from core.domain.errors import BadRequest, Outdated
from core.domain.evaluation import NOTHING_ANSWERS, JudgedQuestion, Level, QuestionSet
from core.evaluation.judgments.validation import DEFAULT_KIND
from core.knowledge.glossary import meaning
from pages.components import notices, rights, session, urls
from pages.components.tuning.judge_state import apply_change, judgment_service, select_by_id, show_outcome
from pages.components.tuning.question_set_files import draw_export, draw_import
from pages.components.user_name import who
from pages.components.wording import count, day, plain

__all__ = ["SET", "choose_set", "draw_first_set", "draw_questions", "view"]


_KINDS = (DEFAULT_KIND, "keyword", "paraphrase", "acronym", "filter", "multi", "trend", NOTHING_ANSWERS)
"""Kinds that are offered; a set may have others."""

_ROWS_SHOWN, _PIXELS = 12, 445
"""So many rows are shown at once, the others by scrolling."""

_EXAMPLE = "When must overtime be paid?\nHow long do we keep Form I-9?"


def draw_questions(questions: QuestionSet) -> None:
    """The table, then the ways to add more."""
    listed = judgment_service().questions(questions.id)
    if listed:
        _table(questions, listed)
    _add_form(questions, listed)


def _table(questions: QuestionSet, listed: Sequence[JudgedQuestion]) -> None:
    """Every question with its kind and filters; kind and wording are edited in place."""
    locked = rights.refusal("evaluation.judging.change_questions")
    hint = f":gray[:material/lock: {locked}]" if locked else "edit in place, select rows to archive questions"
    st.markdown(f"**{count(len(listed), 'question')}** · {hint}")
    judged: dict[int, set[str]] = {}
    for each in judgment_service().judgments(questions.id):
        judged.setdefault(each.question_id, set()).add(each.unit)
    rows = [_row(each, len(judged.get(each.id, ()))) for each in listed]
    round_ = st.session_state.setdefault("sets.round", 0)
    changed: Any = st.data_editor(
        rows,
        # What is typed belongs to a row, so another list is another table.
        key=f"sets.table.{questions.id}.{round_}.{crc32(repr([each.id for each in listed]).encode())}",
        hide_index=True,
        height="content" if len(rows) <= _ROWS_SHOWN else _PIXELS,
        column_order=_columns(listed),
        disabled=bool(locked) or ["key", "filters", "answers", "judged"],
        column_config={
            "select": st.column_config.CheckboxColumn("", width=40),
            "key": st.column_config.TextColumn("Key", width=70),
            "question": st.column_config.TextColumn("Question", width="large", required=True, max_chars=2_000),
            "kind": st.column_config.SelectboxColumn(
                "Kind",
                options=list(dict.fromkeys([*_KINDS, *(each.kind for each in listed)])),
                width=110,
                required=True,
                help="Groups questions in reports. *none*: nothing answers it, and search should say so.",
            ),
            "filters": st.column_config.TextColumn("Narrowed to", width="medium"),
            "answers": st.column_config.NumberColumn("Known answers", width=90, help="Given with the question."),
            "judged": st.column_config.NumberColumn("Judged", width=70, help="Results that somebody has judged."),
        },
    )
    _change_buttons(listed, changed)


def _change_buttons(listed: Sequence[JudgedQuestion], rows: Any) -> None:
    """Buttons that save the edited rows and retire the selected ones."""
    new = [
        replace(each, question=row["question"] or each.question, kind=row["kind"] or each.kind)
        for each, row in zip(listed, rows, strict=True)
    ]
    touched = [(before, after) for before, after in zip(listed, new, strict=True) if before != after]
    chosen = [each for each, row in zip(listed, rows, strict=True) if row["select"]]
    with st.container(horizontal=True):
        if touched:
            rights.button(
                "evaluation.judging.change_questions",
                f"Save {count(len(touched), 'change')}", key="sets.save", type="primary", icon=":material/save:",
                on_click=_apply_edit, args=(lambda: _change(touched), "Saved."),
            )  # fmt: skip
        if chosen:
            rights.button(
                "evaluation.judging.change_questions",
                f"Archive {count(len(chosen), 'question')}", key="sets.retire", icon=":material/delete:",
                help="Their judgments stay, but no longer count.",
                on_click=_apply_edit, args=(lambda: _retire(chosen), "Archived."),
            )  # fmt: skip


def _columns(listed: Sequence[JudgedQuestion]) -> list[str]:
    """The columns that have values."""
    narrowed = ["filters"] if any(each.filters.in_words() for each in listed) else []
    answers = ["answers"] if any(each.relevant for each in listed) else []
    return ["select", "key", "question", "kind", "judged", *narrowed, *answers]


def _row(each: JudgedQuestion, judged: int) -> dict[str, Any]:
    return {
        "select": False,
        "key": each.key,
        "question": each.question,
        "kind": each.kind,
        "filters": "; ".join(session.filters_in_words(each.filters)),
        "answers": len(each.relevant),
        "judged": judged,
    }


def _apply_edit(work: Callable[[], object], message: str) -> None:
    apply_change(work, message)
    st.session_state["sets.round"] = st.session_state.get("sets.round", 0) + 1


def _change(touched: Sequence[tuple[JudgedQuestion, JudgedQuestion]]) -> None:
    _check_unchanged([before for before, _ in touched])
    judgment_service().change_questions([after for _, after in touched])


def _retire(chosen: Sequence[JudgedQuestion]) -> None:
    _check_unchanged(chosen)
    for each in chosen:
        judgment_service().retire_question(each.id)


def _check_unchanged(shown: Sequence[JudgedQuestion]) -> None:
    """Raises Outdated when somebody else has changed or archived one of these questions since they were shown."""
    now = {each.id: each for each in judgment_service().questions(shown[0].set_id)}
    for each in shown:
        if now.get(each.id) != each:
            problem = f"'{each.key}' was changed or archived by someone else meanwhile; nothing was stored."
            raise Outdated(problem, "Look at the questions as they are now.")


def _add_form(questions: QuestionSet, listed: Sequence[JudgedQuestion]) -> None:
    st.markdown("**Add questions**" if listed else "**Where questions come from**")
    typed, searched, file = st.tabs(
        [":material/edit: Typed", ":material/history: Last searches", ":material/upload_file: File"]
    )
    with typed:
        st.text_area("Questions, one per line", key="sets.typed", height=100, placeholder=_EXAMPLE)
        kind, add = st.columns([2, 6], vertical_alignment="bottom")
        kind.selectbox("Kind", _KINDS, key="sets.typed.kind", help="*none*: nothing in the library answers them.")
        rights.button(
            "evaluation.judging.add_question", "Add questions", key="sets.typed.do", type="primary",
            icon=":material/add:", on_click=_add_typed, args=(questions,), on=add,
        )  # fmt: skip
    with searched:
        known = {" ".join(each.question.casefold().split()) for each in listed}
        recent = [one for one, _, _ in session.workbench().search.recent(20)]
        fresh = [one for one in recent if " ".join(one.casefold().split()) not in known]
        if fresh:
            st.multiselect(
                "Last searches that are not in the set", fresh, key="sets.searched", placeholder="Choose some or all"
            )
            rights.button(
                "evaluation.judging.add_question", "Add these", key="sets.searched.do", type="primary",
                icon=":material/add:", on_click=_add_searched, args=(questions,),
            )  # fmt: skip
        else:
            st.caption("Every last search is in the set." if recent else "Nothing was searched yet.")
    with file:
        draw_import(questions)


def _add_typed(questions: QuestionSet) -> None:
    state = st.session_state

    def work() -> None:
        lines = [line.strip() for line in state["sets.typed"].splitlines() if line.strip()]
        if not lines:
            raise BadRequest("There is no question.", "Write one question per line.")
        _add(questions, lines, state["sets.typed.kind"])
        state["sets.typed"] = ""

    apply_change(work)


def _add_searched(questions: QuestionSet) -> None:
    apply_change(lambda: _add(questions, st.session_state["sets.searched"], DEFAULT_KIND))


def _add(questions: QuestionSet, texts: Sequence[str], kind: str) -> None:
    before = len(judgment_service().questions(questions.id))
    for text in texts:
        judgment_service().add_question(questions.id, text, kind)
    added = len(judgment_service().questions(questions.id)) - before
    st.session_state["sets.said"] = f"{count(added, 'question')} added."
    st.session_state["sets.round"] = st.session_state.get("sets.round", 0) + 1


SET = "tuning.set"
"""Where the session keeps the id of the set that is worked with."""

_LEVELS = {Level.PASSAGE: "Passages", Level.DOCUMENT: "Documents"}

_HOURS = {0: "Never", 24: "Daily", 168: "Weekly"}


# Which set
def choose_set(project: str | None) -> QuestionSet | None:
    """Choose among the question sets of a project and of the whole library; None if there is none: `draw_first_set`
    then says what to do.

    The URL parameter `set` holds the choice, so that a link opens the same set.
    """
    listed = {each.id: each for each in judgment_service().sets(project) if project is not None or each.project is None}
    if not listed:
        return None
    state, named = st.session_state, st.query_params.get("set", "")
    if urls.is_new_request("sets", named) and named.isdecimal() and int(named) in listed:
        state[SET] = int(named)
    if state.get(SET) not in listed:
        state[SET] = next(iter(listed))
    select_by_id(
        "Question set",
        {number: _set_title(each, project) for number, each in listed.items()},
        state[SET],
        "tuning.sets",
        _set_chosen,
        label_visibility="collapsed",
    )
    urls.record("sets", str(state[SET]))
    if named != str(state[SET]):
        st.query_params["set"] = str(state[SET])
    return listed[state[SET]]


def _set_chosen(set_id: int) -> None:
    st.session_state[SET] = set_id


def _set_title(each: QuestionSet, project: str | None) -> str:
    return f"{each.name} · whole library" if project is not None and each.project is None else each.name


def draw_first_set(project: str | None) -> None:
    """What a question set is for, and a form that creates the first one."""
    show_outcome()
    notices.empty(
        ":material/quiz:",
        "No question set yet",
        f"{meaning('question_set')} Create one below.",
    )
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        _new_set(project)
    _retired_sets(project)


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
    rights.button(
        "evaluation.judging.add_set", "Create the set", key="sets.new.do", type="primary", icon=":material/add:",
        on_click=_create, args=(project,),
    )  # fmt: skip


def _create(project: str | None) -> None:
    state = st.session_state
    whose = (state.get("sets.new.project") or None) if project is not None else None

    def work() -> None:
        made = judgment_service().add_set(
            state["sets.new.name"], whose, state["sets.new.level"], who(), state.get("sets.new.note", "")
        )
        state[SET], state["sets.new.name"] = made.id, ""

    apply_change(work, "The set is there. Add questions to it.")


# The view
def view(questions: QuestionSet, project: str | None) -> None:
    """A question set: facts, its questions, ways to add more, files, and retired sets."""
    text_column, make, change = st.columns([6, 2, 2], vertical_alignment="center")
    with text_column:
        _set_line(questions)
    with make.popover("New set", icon=":material/add:", width="stretch"):
        _new_set(project)
    with change.popover("Settings", icon=":material/settings:", width="stretch"):
        _set_settings(questions)
    show_outcome()
    draw_questions(questions)
    draw_export(questions)
    _retired_sets(project)


def _set_line(questions: QuestionSet) -> None:
    """What the set is, in one line."""
    parts = [f"grades {_LEVELS[questions.level].lower()}", f"begun by {plain(questions.who)}, {day(questions.at)}"]
    if questions.every_hours:
        parts.append(f"measured {_HOURS.get(questions.every_hours, f'every {questions.every_hours} hours').lower()}")
    parts += [plain(questions.note)] if questions.note else []
    st.caption(" · ".join(parts))


def _set_settings(questions: QuestionSet) -> None:
    """Name, note, schedule, and a button to retire it. Typed values belong to one version of the set."""
    key = f"sets.change.{questions.id}.{questions.version}"
    state = st.session_state
    st.text_input("Name", value=questions.name, key=f"{key}.name", max_chars=80)
    st.text_input("What it is for", value=questions.note, key=f"{key}.note")
    hours = dict.fromkeys([*_HOURS, questions.every_hours])
    st.selectbox(
        "Measured automatically",
        list(hours),
        index=list(hours).index(questions.every_hours),
        key=f"{key}.hours",
        format_func=lambda each: _HOURS.get(each, f"Every {each} hours"),
        help="With the default profile at that time; the trend shows the results.",
    )

    def save() -> None:
        changed = questions
        if state[f"{key}.name"] != questions.name:
            changed = judgment_service().rename(changed, state[f"{key}.name"])
        if state[f"{key}.note"] != questions.note:
            changed = judgment_service().annotate(changed, state[f"{key}.note"])
        if state[f"{key}.hours"] != questions.every_hours:
            judgment_service().schedule(changed, state[f"{key}.hours"])

    with st.container(horizontal=True):
        rights.button(
            "evaluation.judging.rename", "Save", key=f"{key}.save", type="primary", icon=":material/save:",
            on_click=_apply, args=(save, "Saved."),
        )  # fmt: skip
        rights.button("evaluation.judging.retire", "Archive set", key=f"{key}.retire", icon=":material/inventory_2:",
            help="Hides the set with its judgments; it can be restored.",
            on_click=_apply, args=(lambda: judgment_service().retire(questions), "Archived."),
        )  # fmt: skip


def _retired_sets(project: str | None) -> None:
    """Archived sets, to be restored."""
    retired = [
        each for each in judgment_service().sets(project, retired=True) if project is not None or each.project is None
    ]
    if not retired:
        return
    with st.expander(f"Archived sets · {len(retired)}", icon=":material/inventory_2:"):
        for each in retired:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(each.name), width="stretch")
                rights.button(
                    "evaluation.judging.restore", "Restore", key=f"sets.restore.{each.id}", type="tertiary",
                    on_click=_restore, args=(each,),
                )  # fmt: skip


def _restore(each: QuestionSet) -> None:
    if apply_change(lambda: judgment_service().restore(each), "Restored."):
        st.session_state[SET] = each.id


def _apply(change: Callable[[], object], message: str) -> None:
    """`apply_change` as a callback, which returns nothing."""
    apply_change(change, message)
