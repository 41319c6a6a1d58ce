"""A question set as files: out in four formats, and in with a preview of what a file would change."""

import re
from typing import Any

import streamlit as st

from core.errors import FivefoldError
from core.judged import JudgedQuestion, QuestionSet
from core.tuning.judged_import import Preview
from core.tuning.judged_text import FILES, SetFile
from pages.parts import notices
from pages.parts.person import who
from pages.parts.tuning.set_state import desk, forget
from pages.parts.wording import count, plain

__all__ = ["into", "out"]

_TYPES = ["jsonl", "json", "ndjson", "csv", "qrels", "trec", "txt", "tsv"]
_SHOWN = 200
_WHOLE, _PIXELS = 6, 240
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


def _preview(preview: Preview) -> None:
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


def _tables(preview: Preview) -> None:
    if preview.refused:
        st.markdown("**Not taken over**")
        _table([{"line": each.line, "why": each.reason, "it reads": each.text} for each in preview.refused[:_SHOWN]])
    if preview.changed:
        st.markdown("**Changed** :gray[· what was said of them stays]")
        _table(
            [
                {"key": before.key, "as it is": _asks(before), "as it would be": _asks(after)}
                for before, after in preview.changed[:_SHOWN]
            ]
        )
    if preview.new:
        st.markdown("**New**")
        _table([{"key": each.key, "kind": each.kind, "question": _asks(each)} for each in preview.new[:_SHOWN]])


def _asks(question: JudgedQuestion) -> str:
    narrowed = "; ".join(question.filters.in_words())
    answers = f" · {count(len(question.relevant), 'known answer')}" if question.relevant else ""
    return f"{question.question}{f' ({narrowed})' if narrowed else ''}{answers}"


def _table(rows: list[dict[str, Any]]) -> None:
    st.dataframe(rows, hide_index=True, height="content" if len(rows) <= _WHOLE else _PIXELS)


def _accept(preview: Preview) -> None:
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
