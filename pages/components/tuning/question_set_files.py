"""Files of a question set: exported in four formats; imported after a look at what they would change."""

import re
from typing import Any

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.evaluation import JudgedQuestion, QuestionSet
from core.evaluation.judgments.files import FILES, SetFile
from core.evaluation.judgments.imports import JudgmentImportPreview
from pages.components import notices, rights, session
from pages.components.tuning.judge_state import clear_cache, judgment_service
from pages.components.user_name import who
from pages.components.wording import count, plain

__all__ = ["draw_export", "draw_import"]


_TYPES = ["jsonl", "json", "ndjson", "csv", "qrels", "trec", "txt", "tsv"]

_SHOWN = 200  # rows of a preview; chosen by hand

_PREVIEW_ROWS, _PREVIEW_PIXELS = 6, 240
"""So many rows of a table are shown at once, the others by scrolling."""

_UNSAFE = re.compile(r"[^\w-]+")


def draw_export(questions: QuestionSet) -> None:
    """One button per format; a file is written when its button is pressed."""
    st.markdown("**Export**")
    with st.container(horizontal=True, gap="small"):
        for file in FILES:
            st.download_button(
                f"{file.name} :gray[{file.words}]",
                _file_maker(questions, file),
                f"{_UNSAFE.sub('-', questions.name).strip('-') or 'questions'}{file.ending}",
                file.media_type,
                key=f"sets.out.{file.name}",
                icon=":material/download:",
                on_click="ignore",
            )


def _file_maker(questions: QuestionSet, file: SetFile) -> Any:
    return lambda: judgment_service().written(questions.id, file)


def draw_import(questions: QuestionSet) -> None:
    """A file, what it would change, and the button that imports it."""
    if refusal := rights.refusal("evaluation.judging.accept"):
        st.caption(f":material/lock: {refusal}")
        return
    state = st.session_state
    st.caption(
        "JSONL as exported here; CSV with the column *question* and, optionally,"
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
            preview = judgment_service().preview(questions.id, file.getvalue(), file.name, who())
        except FivefoldError as problem:
            notices.error(problem)
            return
        state["sets.in.seen"] = (seen, preview)
    _preview(state["sets.in.seen"][1])


def _preview(preview: JudgmentImportPreview) -> None:
    """What an import would change, and what it refuses."""
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
        st.caption(":material/info: Some grades have no judge: enter your name first, and they become yours.")
    if preview.unheld:
        named = count(preview.unheld, "question names", "questions name")
        words = f"{named} an answer in a document this library does not hold: it counts as missed."
        st.warning(words, icon=":material/info:")
    _tables(preview)
    rights.button(
        "evaluation.judging.accept",
        "Import", key="sets.in.do", type="primary", icon=":material/check:", disabled=preview.empty,
        on_click=_accept, args=(preview,),
    )  # fmt: skip


def _tables(preview: JudgmentImportPreview) -> None:
    if preview.refused:
        st.markdown("**Not imported**")
        _preview_table(
            [{"line": each.line, "why": each.reason, "content": each.text} for each in preview.refused[:_SHOWN]]
        )
    if preview.changed:
        st.markdown("**Changed** :gray[· judgments stay]")
        _preview_table(
            [
                {"key": before.key, "now": _question_text(before), "after import": _question_text(after)}
                for before, after in preview.changed[:_SHOWN]
            ]
        )
    if preview.new:
        st.markdown("**New**")
        _preview_table(
            [{"key": each.key, "kind": each.kind, "question": _question_text(each)} for each in preview.new[:_SHOWN]]
        )


def _question_text(question: JudgedQuestion) -> str:
    narrowed = "; ".join(session.filters_in_words(question.filters))
    answers = f" · {count(len(question.relevant), 'known answer')}" if question.relevant else ""
    return f"{question.question}{f' ({narrowed})' if narrowed else ''}{answers}"


def _preview_table(rows: list[dict[str, Any]]) -> None:
    st.dataframe(rows, hide_index=True, height="content" if len(rows) <= _PREVIEW_ROWS else _PREVIEW_PIXELS)


def _accept(preview: JudgmentImportPreview) -> None:
    state = st.session_state
    try:
        added = judgment_service().accept(preview)
    except FivefoldError as problem:
        state["sets.problem"] = problem
        state.pop("sets.in.seen", None)
        return
    clear_cache()
    questions = count(len(preview.new) + len(preview.changed), "question")
    state["sets.said"] = f"{questions} and {count(len(added), 'judgment')} imported."
    state["sets.in.round"] += 1
    state["sets.round"] = state.get("sets.round", 0) + 1
