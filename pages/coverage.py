"""Coverage: which topics each truth supports, the decisions about them, and the meeting pack."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.board_view import needs_in_words
from core.coverage.runs import unassessed
from core.domain.coverage import Board, CellState, CoverageRun, RunState, Topic
from pages.components import cards, ingest_progress, notices, rights, session
from pages.components.coverage import board as board_view
from pages.components.coverage import (
    conflicts,
    decision_form,
    meeting_room,
    pack,
    review,
    runs,
    state,
    to_obtain,
    topics,
    traceability,
)
from pages.components.coverage.runs import current_run, draw_run_progress, start_run
from pages.components.project_choice import project_choice
from pages.components.view_switch import view_switch
from pages.components.wording import ago, count, plain

_VIEWS = ("Board", "Review", "To obtain", "Topics", "Requirements", "Conflicts", "Snapshots", "Meeting pack")
"""The views, as the switch and the URL name them."""


def draw() -> None:
    """The page: project, latest assessment, and the chosen view."""
    if not session.workbench().documents.has_passages():
        if session.workbench().upload_queue.counts(cards.SURE).all:
            ingest_progress.draw_progress()
            words = "No uploaded file has text yet; *Upload* shows the state of each file."
            notices.empty(":material/grid_off:", "Nothing to cover yet", words)
        else:
            notices.empty_library(":material/grid_off:", "Nothing to cover yet")
        return
    _read_url()
    meeting_id = decision_form.current_meeting()
    if meeting_id is not None:
        meeting_room.draw_room(meeting_id)
        return
    project = _project()
    going_on = current_run(project)
    runs = state.snapshots(project)
    shown = _shown_run(runs)
    _snapshot_line(project, runs, shown)
    if problem := st.session_state.pop("coverage.problem", None):
        notices.error(problem)
    busy = draw_run_progress(project, next(iter(runs), None), going_on)
    board = state.board(project, None if shown is None else shown.id)
    line = st.container()
    _draw_view(project, board, busy=busy)
    if shown is not None and not busy:
        with line:  # filled last: comparing a large library takes longer than drawing the board
            _changed_line(project, runs, shown)


def _read_url() -> None:
    """Open the cell the URL names, when it was not this page that wrote it there."""
    st.session_state["coverage.open"] = st.query_params.get("cell", "")


def _project() -> str | None:
    """The choice of a project, and the button that assesses its board."""
    whose, _, run = st.columns([6, 2, 2], vertical_alignment="bottom")
    project = project_choice(whose, (each.project for each in state.topics(None)), on_change=state.clear_cache)
    rights.button(
        "coverage.runs.start",
        "Assess",
        type="primary",
        icon=":material/grid_on:",
        on_click=start_run,
        args=(project,),
        help="Judges every topic. Cells whose evidence cannot have changed are carried over from the last run.",
        disabled=not state.topics(project),
        width="stretch",
        on=run,
    )
    return project


def _shown_run(runs: Sequence[CoverageRun]) -> CoverageRun | None:
    """The snapshot the URL names, else the latest finished one."""
    named = st.query_params.get("snapshot", "")
    finished = [run for run in runs if run.state is RunState.DONE]
    return next((run for run in finished if str(run.id) == named), finished[0] if finished else None)


def _snapshot_line(project: str | None, runs: Sequence[CoverageRun], shown: CoverageRun | None) -> None:
    """The snapshot shown below, and its summary in one line."""
    if shown is None:
        return
    board = state.board(project, shown.id)
    share = "nothing could be assessed" if board is None or board.coverage is None else f"{board.coverage:.0%} covered"
    parts = [
        f"**{share}**",
        count(len(board.topics) if board else 0, "topic"),
        needs_in_words(board) if board else "no cell needs evidence",
    ]
    if failed := sum(cell.state is CellState.ERROR for cell in board.cells) if board else 0:
        parts.append(f":red[{count(failed, 'cell')} could not be assessed]")
    parts += [plain(shown.name)] if shown.name else []
    parts += [f"assessed {ago(shown.finished_at or shown.started_at, state.now())}", f"profile {plain(shown.profile)}"]
    parts += [f"{count(shown.carried, 'cell')} carried over"] if shown.carried else []
    st.markdown(" · ".join(parts))
    if shown.id != _latest_finished(runs).id:
        st.info("This is an older snapshot under today's decisions.", icon=":material/history:")
        st.button("Show the latest", on_click=_latest, type="tertiary")


def _latest_finished(runs: Sequence[CoverageRun]) -> CoverageRun:
    return next(run for run in runs if run.state is RunState.DONE)


def _changed_line(project: str | None, runs: Sequence[CoverageRun], shown: CoverageRun) -> None:
    """What was added or changed since the latest snapshot, with a button that assesses again."""
    if shown.id != _latest_finished(runs).id:
        return
    numbers = [(unassessed(shown, state.topics(project)), "topic"), (state.changed_documents(shown.id), "document")]
    changed = " and ".join(count(number, noun) for number, noun in numbers if number)
    if not changed:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/info: {changed} added, changed or removed since.", width="content")
        rights.button(
            "coverage.runs.start",
            "Assess again",
            key="coverage.again",
            type="tertiary",
            icon=":material/refresh:",
            on_click=start_run,
            args=(project,),
        )


def _latest() -> None:
    del st.query_params["snapshot"]


def _draw_view(project: str | None, board: Board | None, *, busy: bool) -> None:
    """The view switch, and the view. Without a board only topics and snapshots have content."""
    listed = state.topics(project)
    first = "Topics" if not listed or (board is None and not busy) else "Board"
    view = view_switch({each: each for each in _VIEWS}, "coverage.view", "view", first)
    if view == "Topics":
        topics.draw(project)
    elif view == "Snapshots":
        runs.draw_snapshots(project, board)
    elif board is not None:
        _draw_board_view(project, board, view)
    elif busy:
        st.caption("The board appears here when every cell is assessed.")
    else:
        _first_time(listed)


def _draw_board_view(project: str | None, board: Board, view: str) -> None:
    if view == "Review":
        review.draw_review(board)
    elif view == "To obtain":
        to_obtain.draw(board)
    elif view == "Requirements":
        traceability.draw(project, board)
    elif view == "Conflicts":
        conflicts.draw_conflicts(board)
    elif view == "Meeting pack":
        pack.draw(project, board)
    else:
        board_view.draw(board)


def _open_topics() -> None:
    st.query_params["view"] = "Topics"


def _first_time(listed: Sequence[Topic]) -> None:
    """Nothing has been assessed: what to do first."""
    if listed:
        words = f"{count(len(listed), 'topic')} waiting. Press *Assess*: each is searched separately under each truth."
        notices.empty(":material/grid_on:", "Nothing is assessed yet", words)
    else:
        words = "Topics are what the project must answer: write them down, or take them from its requirements."
        notices.empty(":material/list:", "No topics yet", words)
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.button("Add topics", icon=":material/add:", type="primary", key="coverage.first", on_click=_open_topics)
    st.caption("A truth that was not searched is *not assessed*, a failed search is an *error*; neither is a gap.")


draw()
