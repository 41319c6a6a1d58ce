"""The questions of a set: listed, edited in place, retired, added, imported from files and exported."""
# Longer than 300 lines: questions are listed, edited, imported and exported in one table.

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.domain.errors import BadRequest, FivefoldError
from core.domain.evaluation import NOTHING_ANSWERS, JudgedQuestion, QuestionSet
from core.evaluation.judgments.files import FILES, SetFile
from core.evaluation.judgments.imports import JudgmentImportPreview
from core.evaluation.judgments.validation import DEFAULT_KIND
from pages.components import notices, session
from pages.components.tuning.judge_state import desk, did, forget
from pages.components.user_name import who
from pages.components.wording import count, plain

__all__ = ["draw", "into", "out"]

_KINDS = (DEFAULT_KIND, "keyword", "paraphrase", "acronym", "filter", "multi", "trend", NOTHING_ANSWERS)
"""Kinds that are offered; a set may have others."""

_WHOLE, _PIXELS = 12, 445
"""So many rows are shown at once, the others by scrolling."""

_EXAMPLE = "When must overtime be paid?\nHow long do we keep Form I-9?"


def draw(questions: QuestionSet) -> None:
    """The table, then the ways to add more."""
    listed = desk().questions(questions.id)
    if listed:
        _table(questions, listed)
    _adding(questions, listed)


def _table(questions: QuestionSet, listed: Sequence[JudgedQuestion]) -> None:
    """Every question with its kind and filters; kind and wording are edited in place."""
    st.markdown(f"**{count(len(listed), 'question')}** · edit in place, select rows to retire questions")
    judged: dict[int, set[str]] = {}
    for each in desk().judgments(questions.id):
        judged.setdefault(each.question_id, set()).add(each.unit)
    rows = [_row(each, len(judged.get(each.id, ()))) for each in listed]
    round_ = st.session_state.setdefault("sets.round", 0)
    changed: Any = st.data_editor(
        rows,
        key=f"sets.table.{questions.id}.{round_}",
        hide_index=True,
        height="content" if len(rows) <= _WHOLE else _PIXELS,
        column_order=_columns(listed),
        disabled=["key", "filters", "answers", "judged"],
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
    _changes(listed, changed)


def _changes(listed: Sequence[JudgedQuestion], rows: Any) -> None:
    """What the table's rows say otherwise than the set, to be saved; and what is selected in it."""
    new = [
        replace(each, question=row["question"] or each.question, kind=row["kind"] or each.kind)
        for each, row in zip(listed, rows, strict=True)
    ]
    touched = [after for before, after in zip(listed, new, strict=True) if before != after]
    chosen = [each for each, row in zip(listed, rows, strict=True) if row["select"]]
    with st.container(horizontal=True):
        if touched:
            st.button(
                f"Save {count(len(touched), 'change')}", key="sets.save", type="primary", icon=":material/save:",
                on_click=_edit, args=(lambda: desk().change_questions(touched), "Saved."),
            )  # fmt: skip
        if chosen:
            st.button(
                f"Retire {count(len(chosen), 'question')}", key="sets.retire", icon=":material/delete:",
                help="What was said of them stays, and is counted no more.",
                on_click=_edit, args=(lambda: _retire(chosen), "Retired."),
            )  # fmt: skip


def _columns(listed: Sequence[JudgedQuestion]) -> list[str]:
    """The columns that say something."""
    narrowed = ["filters"] if any(each.filters.in_words() for each in listed) else []
    answers = ["answers"] if any(each.relevant for each in listed) else []
    return ["select", "key", "question", "kind", "judged", *narrowed, *answers]


def _row(each: JudgedQuestion, judged: int) -> dict[str, Any]:
    return {
        "select": False,
        "key": each.key,
        "question": each.question,
        "kind": each.kind,
        "filters": "; ".join(each.filters.in_words()),
        "answers": len(each.relevant),
        "judged": judged,
    }


def _edit(work: Callable[[], object], said: str) -> None:
    did(work, said)
    st.session_state["sets.round"] = st.session_state.get("sets.round", 0) + 1


def _retire(chosen: Sequence[JudgedQuestion]) -> None:
    for each in chosen:
        desk().retire_question(each.id)


def _adding(questions: QuestionSet, listed: Sequence[JudgedQuestion]) -> None:
    st.markdown("**Add questions**" if listed else "**Where questions come from**")
    typed, searched, file = st.tabs(
        [":material/edit: Typed", ":material/history: Last searches", ":material/upload_file: File"]
    )
    with typed:
        st.text_area("Questions, one per line", key="sets.typed", height=100, placeholder=_EXAMPLE)
        kind, add = st.columns([2, 6], vertical_alignment="bottom")
        kind.selectbox("Kind", _KINDS, key="sets.typed.kind", help="*none*: nothing in the library answers them.")
        add.button(
            "Add questions",
            key="sets.typed.do",
            type="primary",
            icon=":material/add:",
            on_click=_add_typed,
            args=(questions,),
        )
    with searched:
        known = {" ".join(each.question.casefold().split()) for each in listed}
        asked = [one for one, _, _ in session.workbench().search.recent(20)]
        fresh = [one for one in asked if " ".join(one.casefold().split()) not in known]
        if fresh:
            st.multiselect(
                "Last searches that are not in the set", fresh, key="sets.searched", placeholder="Choose some or all"
            )
            st.button(
                "Add these",
                key="sets.searched.do",
                type="primary",
                icon=":material/add:",
                on_click=_add_searched,
                args=(questions,),
            )
        else:
            st.caption("Every last search is in the set." if asked else "Nothing was searched yet.")
    with file:
        into(questions)


def _add_typed(questions: QuestionSet) -> None:
    state = st.session_state

    def work() -> None:
        lines = [line.strip() for line in state["sets.typed"].splitlines() if line.strip()]
        if not lines:
            raise BadRequest("There is no question.", "Write one question per line.")
        _add(questions, lines, state["sets.typed.kind"])
        state["sets.typed"] = ""

    did(work)


def _add_searched(questions: QuestionSet) -> None:
    did(lambda: _add(questions, st.session_state["sets.searched"], DEFAULT_KIND))


def _add(questions: QuestionSet, texts: Sequence[str], kind: str) -> None:
    before = len(desk().questions(questions.id))
    for text in texts:
        desk().add_question(questions.id, text, kind)
    added = len(desk().questions(questions.id)) - before
    st.session_state["sets.said"] = f"{count(added, 'question')} added."
    st.session_state["sets.round"] = st.session_state.get("sets.round", 0) + 1


_TYPES = ["jsonl", "json", "ndjson", "csv", "qrels", "trec", "txt", "tsv"]

_SHOWN = 200

_PREVIEW_ROWS, _PREVIEW_PIXELS = 6, 240
"""So many rows of a table are shown at once, the others by scrolling."""

_UNSAFE = re.compile(r"[^\w-]+")


def out(questions: QuestionSet) -> None:
    """One button per format; nothing is written before it is asked for."""
    st.markdown("**Take it out**")
    with st.container(horizontal=True, gap="small"):
        for file in FILES:
            st.download_button(
                f"{file.name} :gray[{file.words}]",
                _written(questions, file),
                f"{_UNSAFE.sub('-', questions.name).strip('-') or 'questions'}{file.ending}",
                file.media_type,
                key=f"sets.out.{file.name}",
                icon=":material/download:",
                on_click="ignore",
            )


def _written(questions: QuestionSet, file: SetFile) -> Any:
    return lambda: desk().written(questions.id, file)


def into(questions: QuestionSet) -> None:
    """A file, what it would change, and the button that takes it over."""
    state = st.session_state
    st.caption(
        "JSONL as it is taken out here, or as judged corpora come; CSV with the columns *question* and, if you like,"
        " key, kind, unit or document, page, passage, grade, judge; TREC qrels. You see what would change first."
    )
    round_ = state.setdefault("sets.in.round", 0)
    file = st.file_uploader(
        "Judged questions", type=_TYPES, key=f"sets.in.{round_}", label_visibility="collapsed", max_upload_size=50
    )
    if file is None:
        return
    seen = (questions.id, file.file_id, who())
    if state.get("sets.in.seen", (None, None))[0] != seen:
        try:
            preview = desk().preview(questions.id, file.getvalue(), file.name, who())
        except FivefoldError as problem:
            notices.error(problem)
            return
        state["sets.in.seen"] = (seen, preview)
    _preview(state["sets.in.seen"][1])


def _preview(preview: JudgmentImportPreview) -> None:
    """What would be taken over, and what would not."""
    parts = [
        f"**{count(len(preview.new), 'new question')}**",
        f"**{len(preview.changed):,}** changed",
        f"**{count(len(preview.judgments), 'judgment')}**",
    ]
    known = preview.unchanged + preview.known
    parts += [f"{known:,} already here"] if known else []
    parts += [f":red[**{count(len(preview.refused), 'refusal')}**]"] if preview.refused else []
    st.markdown(f"{plain(preview.name)}: {' · '.join(parts)}")
    if preview.judgments and not who():
        st.caption(":material/info: Grades whose judge is not named would be nobody's: say who you are first.")
    if preview.unheld:
        named = count(preview.unheld, "question names", "questions name")
        words = f"{named} an answer in a document this library does not hold: it counts as missed."
        st.warning(words, icon=":material/info:")
    _tables(preview)
    st.button(
        "Take it over", key="sets.in.do", type="primary", icon=":material/check:", disabled=preview.empty,
        on_click=_accept, args=(preview,),
    )  # fmt: skip


def _tables(preview: JudgmentImportPreview) -> None:
    if preview.refused:
        st.markdown("**Not taken over**")
        _preview_table(
            [{"line": each.line, "why": each.reason, "it reads": each.text} for each in preview.refused[:_SHOWN]]
        )
    if preview.changed:
        st.markdown("**Changed** :gray[· what was said of them stays]")
        _preview_table(
            [
                {"key": before.key, "as it is": _asks(before), "as it would be": _asks(after)}
                for before, after in preview.changed[:_SHOWN]
            ]
        )
    if preview.new:
        st.markdown("**New**")
        _preview_table([{"key": each.key, "kind": each.kind, "question": _asks(each)} for each in preview.new[:_SHOWN]])


def _asks(question: JudgedQuestion) -> str:
    narrowed = "; ".join(question.filters.in_words())
    answers = f" · {count(len(question.relevant), 'known answer')}" if question.relevant else ""
    return f"{question.question}{f' ({narrowed})' if narrowed else ''}{answers}"


def _preview_table(rows: list[dict[str, Any]]) -> None:
    st.dataframe(rows, hide_index=True, height="content" if len(rows) <= _PREVIEW_ROWS else _PREVIEW_PIXELS)


def _accept(preview: JudgmentImportPreview) -> None:
    state = st.session_state
    try:
        added = desk().accept(preview)
    except FivefoldError as problem:
        state["sets.problem"] = problem
        state.pop("sets.in.seen", None)
        return
    forget()
    questions = count(len(preview.new) + len(preview.changed), "question")
    state["sets.said"] = f"{questions} and {count(len(added), 'judgment')} taken over."
    state["sets.in.round"] += 1
    state["sets.round"] = state.get("sets.round", 0) + 1
