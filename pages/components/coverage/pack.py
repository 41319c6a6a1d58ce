"""The meeting pack: exports the current board in four formats, and imports decisions from the workbook."""

import json
from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from core.coverage.meeting_pack.pack import MeetingPack, pack_data, pack_html
from core.coverage.meeting_pack.xlsx import DecisionImportPreview, pack_xlsx
from core.coverage.meetings.meeting import Minutes
from core.domain.coverage import Board, RunState
from core.domain.errors import FivefoldError
from pages.components import background, notices, rights, session
from pages.components.coverage import state
from pages.components.coverage.runs import snapshot_words
from pages.components.user_name import name_input, who
from pages.components.wording import ago, count, day

__all__ = ["draw", "draw_downloads"]

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def draw(project: str | None, board: Board) -> None:
    """What goes into the meeting, and what comes back from it."""
    out, back = st.columns(2, gap="large")
    with out:
        _export(project, board)
    with back:
        _import(board)


def _export(project: str | None, board: Board) -> None:
    st.markdown("#### Export", anchors=False)
    st.caption(
        "The map, what to obtain, every decision, the evidence with its pages, conflicts, and what changed; with the"
        " profile and settings used."
    )
    runs = [run for run in state.snapshots(project) if run.state is RunState.DONE and run.id < board.run_id]
    names = {run.id: snapshot_words(run) for run in runs}
    since = st.selectbox(
        "Changes since",
        list(names),
        index=None,
        key="pack.since",
        placeholder="Choose an earlier snapshot" if runs else "There is no earlier snapshot",
        format_func=names.__getitem__,
        disabled=not runs,
    )
    name_input()

    minutes = _minutes(project)
    draw_downloads(board, minutes, since)


def _minutes(project: str | None) -> Sequence[Minutes]:
    """The minutes that go into the pack: the latest meeting's, unless others are chosen."""
    past = [each for each in session.workbench().meetings.meetings(project) if each.minutes is not None]
    if not past:
        return ()
    names = {each.id: f"{each.title} · {day(each.started_at)}" for each in past}
    chosen = st.multiselect(
        "Minutes", list(names), default=[past[0].id], key="pack.minutes", format_func=names.__getitem__,
        placeholder="Choose past meetings",
    )  # fmt: skip
    return [each.minutes for each in past if each.id in chosen and each.minutes is not None]


def draw_downloads(board: Board, minutes: Sequence[Minutes], since: int | None = None) -> None:
    """One button per format. The PDF is made in the background, the others when their button is pressed.

    since: the snapshot whose changes it tells.
    """
    service, made_by = state.coverage_service(), who()

    def packed() -> MeetingPack:
        return service.pack(board, since=since, who=made_by, minutes=minutes)

    contents = (board.project, board.run_id, since, tuple((each.title, each.started_at) for each in minutes))
    name = f"coverage-{board.taken_at:%Y-%m-%d}"
    _draw_pdf(contents, packed, f"{name}.pdf")
    columns = st.columns(3)
    formats: tuple[tuple[str, str, str, str, Callable[[], bytes | str]], ...] = (
        ("Excel", "To decide in", "xlsx", _XLSX, lambda: pack_xlsx(packed())),
        ("HTML", "To send", "html", "text/html", lambda: pack_html(packed())),
        (
            "JSON",
            "For programs",
            "json",
            "application/json",
            lambda: json.dumps(pack_data(packed()), ensure_ascii=False),
        ),
    )
    for number, (label, use, ending, kind, make) in enumerate(formats):
        columns[number].download_button(
            label,
            make,
            f"{name}.{ending}",
            kind,
            icon=":material/download:",
            key=f"pack.{ending}",
            on_click="ignore",
            width="stretch",
            help=use,
        )


def _draw_pdf(contents: Hashable, packed: Callable[[], MeetingPack], name: str) -> None:
    """Make the PDF, see it grow, download it."""
    run = background.pdf_run(contents)
    if run is not None and run.running:
        _draw_pdf_progress(run)
        return
    if run is not None and run.problem is not None:
        notices.error(run.problem)
    if run is None or run.file is None:
        st.button(
            "PDF :gray[to print]", icon=":material/print:", key="pack.pdf.make", width="stretch",
            on_click=background.make_pdf, args=(contents, packed),
        )  # fmt: skip
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            "Download PDF", run.file, name, "application/pdf", key="pack.pdf",
            icon=":material/download:", type="primary", on_click="ignore",
        )  # fmt: skip
        made = f", made {ago(run.ended_at, state.now())}" if run.ended_at else ""
        st.caption(f"{count(run.done, 'page')}{made}", width="stretch")
        st.button(
            "Make it again", icon=":material/refresh:", key="pack.pdf.again", type="tertiary",
            on_click=background.make_pdf, args=(contents, packed),
        )  # fmt: skip


@st.fragment(run_every=0.5)
def _draw_pdf_progress(run: background.BackgroundRun) -> None:
    if not run.running:
        st.rerun()
    words = f"{count(run.done, 'page')} written" if run.done else "Gathering the evidence"
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.markdown(f":material/hourglass_top: {words}{' · stopping' if run.stop else ' …'}", width="stretch")
        if st.button("Stop", icon=":material/stop:", key="pack.pdf.stop", type="tertiary", disabled=run.stop):
            run.stop = True


def _import(board: Board) -> None:
    st.markdown("#### Import decisions", anchors=False)
    st.caption("The Excel pack with decisions written into its yellow columns. You see what would change first.")
    if refusal := rights.refusal("coverage.decide_all"):
        st.caption(f":material/lock: {refusal}")
        return
    file = st.file_uploader("Edited meeting pack", type=["xlsx"], key="pack.back", label_visibility="collapsed")
    if message := st.session_state.pop("pack.said", ""):
        st.success(message, icon=":material/task_alt:")
    if problem := st.session_state.pop("pack.problem", None):
        notices.error(problem)
    if file is None:
        return
    try:
        preview = state.coverage_service().preview(board, file.getvalue(), file.name)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _preview(preview)


def _preview(preview: DecisionImportPreview) -> None:
    refused = [row for row in preview.rows if row.problem]
    st.markdown(
        f"**{count(len(preview.decisions), 'decision')}** to import · {preview.unchanged:,} unchanged"
        f" · {count(len(refused), 'problem')}"
    )
    if preview.rows:
        st.dataframe(
            [
                {
                    "topic": row.topic,
                    "column": row.kind,
                    "before": row.before,
                    "after": row.after or "–",
                    "problem": row.problem,
                    "row": row.row,
                }
                for row in preview.rows
            ],
            hide_index=True,
            height=min(360, 38 + 35 * len(preview.rows)),
        )
    st.button(
        f"Import {count(len(preview.decisions), 'decision')}",
        type="primary",
        icon=":material/gavel:",
        disabled=not preview.decisions,
        on_click=_import_decisions,
        args=(preview,),
    )


def _import_decisions(preview: DecisionImportPreview) -> None:
    try:
        decisions = state.coverage_service().decide_all(preview.decisions)
        st.session_state["pack.said"] = f"{count(len(decisions), 'decision')} imported."
    except FivefoldError as problem:
        st.session_state["pack.problem"] = problem
    state.clear_cache()
