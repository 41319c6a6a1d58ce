"""Batch search: upload of a CSV of questions, its errors, and the run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.search.batch.files import MOST_BYTES, TEMPLATE, read_batch
from core.search.batch.questions import Ask, Batch, BatchQuestion
from pages.components import notices, session
from pages.components.search.batch_run import BatchRun, batch_runs, draw_run, refused, start_batch, table
from pages.components.wording import ago, count, plain

__all__ = ["draw_batch"]

_FIRST_ROWS = 8


def draw_batch(filters: SearchFilters, profile: str, ask: Ask, *, only_routed: bool = False, rerank: str = "") -> None:
    """Upload, preview, run and outcome. filters, profile, only_routed, rerank: of the page; they hold for every row.
    ask: answers requests, in their order."""
    taken = _intake(SearchRequest("", filters, profile, only_routed=only_routed, rerank=rerank), ask)
    runs = batch_runs()
    if taken and not runs:
        return
    if not runs:
        notices.empty(
            ":material/playlist_add_check:",
            "No batch has been run yet",
            "Upload a CSV above. You get hits per truth, the best sentence with its citation, and the list of questions"
            " nothing answers.",
        )
        return
    st.divider()
    run = _chosen(runs)
    draw_run(run, ask)


def _intake(page: SearchRequest, ask: Ask) -> bool:
    """A file, how it was read, and the button that asks its questions. Whether there is a file."""
    said, template = st.columns([4, 1], vertical_alignment="center")
    said.caption(
        "A CSV with the column *question*, and if you like *id*, *profile*, *top* and any filter (*truths*, *domains*,"
        " *tags*, *exclude_documents*, *date_from* …), several values parted by |. The filters of this page hold for"
        " every row; a row narrows further."
    )
    template.download_button(
        "Template",
        TEMPLATE,
        "questions.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key="batch.template",
    )
    state = st.session_state
    file = st.file_uploader(
        "Questions",
        type=["csv", "tsv", "txt"],
        key=f"batch.file.{state.setdefault('batch.round', 0)}",
        label_visibility="collapsed",
        max_upload_size=MOST_BYTES // 1_000_000,
    )
    if file is None:
        return False
    seen = (file.file_id, page.filters, page.profile, page.only_routed, page.rerank)
    if state.get("batch.seen", (None, None))[0] != seen:
        try:
            state["batch.seen"] = (seen, _read(file.getvalue(), file.name, page))
        except BadRequest as problem:
            notices.error(problem)
            return True
    _preview(state["batch.seen"][1], page, ask)
    return True


def _read(data: bytes, name: str, page: SearchRequest) -> Batch:
    library = session.workbench()
    documents: dict[str, list[int]] = {}
    for each in library.documents.list():
        documents.setdefault(each.name, []).append(each.id)
    known = {name for ref in library.evaluation.profiles.every() for name in (ref, ref.partition("@")[0])}
    batch = read_batch(
        data,
        name,
        terms=session.terms(),
        filters=page.filters,
        profile=page.profile,
        profiles=known,
        documents=documents,
    )
    asked = [replace(each, only_routed=page.only_routed, rerank=page.rerank) for each in batch.questions]
    return replace(batch, questions=tuple(asked))


def _preview(batch: Batch, page: SearchRequest, ask: Ask) -> None:
    """What was read: how many, the first rows, and every row that cannot be asked."""
    parts = [f"**{count(len(batch.questions), 'question')}**"]
    parts += [f":red[**{count(len(batch.problems), 'row')}** refused]"] if batch.problems else []
    parts += [f"not read: {plain(', '.join(batch.ignored))}"] if batch.ignored else []
    st.markdown(f"{plain(batch.name)}: {' · '.join(parts)}")
    narrowed = [*page.filters.in_words(), *(["only routed truths"] if page.only_routed else [])]
    if narrowed:
        st.caption(f":material/filter_alt: Every row: {plain('; '.join(narrowed))}")
    for notice in batch.notices:
        st.warning(plain(notice), icon=":material/help:")
    if batch.questions:
        table([_first_row(each) for each in batch.questions[:_FIRST_ROWS]], key="batch.first")
        more = len(batch.questions) - _FIRST_ROWS
        st.caption(f"and {count(more, 'more question')}" if more > 0 else "")
    refused(batch.problems)
    st.button(
        f"Ask {count(len(batch.questions), 'question')}",
        key="batch.run",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not batch.questions,
        on_click=_start,
        args=(batch, ask),
    )


def _first_row(asked: BatchQuestion) -> dict[str, Any]:
    return {
        "Row": asked.row,
        "Id": asked.key,
        "Question": asked.question,
        "Narrowed to": "; ".join(asked.filters.in_words()),
        "Profile": asked.profile or "default",
        "Top": asked.top_k,
    }


def _start(batch: Batch, ask: Ask) -> None:
    state = st.session_state
    state["batch.chosen"] = start_batch(batch, ask).number
    state["batch.round"] += 1
    state.pop("batch.seen", None)


def _chosen(runs: Sequence[BatchRun]) -> BatchRun:
    """The run looked at: the newest, unless another is chosen."""
    listed = {run.number: run for run in runs}
    state = st.session_state
    if state.get("batch.chosen") not in listed:
        state["batch.chosen"] = runs[0].number
    if len(runs) > 1:
        st.selectbox("Batch", list(listed), key="batch.chosen", format_func=lambda number: _called(listed[number]))
    return listed[state["batch.chosen"]]


def _called(run: BatchRun) -> str:
    return f"{run.batch.name}, {count(len(run.batch.questions), 'question')}, {ago(run.started, utc_now())}"
