"""Progress of the current coverage run, with buttons to stop it or resume an interrupted one."""

import streamlit as st

from core.coverage.runs import interrupted
from core.domain.coverage import CoverageRun, RunState
from core.domain.errors import FivefoldError
from pages.components import notices, session
from pages.components.coverage import state
from pages.components.wording import ago, count, plain

__all__ = ["assess", "running", "under_way"]


def assess(project: str | None, *, whole: bool = False, resume: int | None = None) -> None:
    """Start a run, or resume one; the page shows any error."""
    try:
        session.assess(project, whole=whole, resume=resume)
        st.query_params["view"] = "Board"
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    state.forget()


def under_way(project: str | None) -> session.BoardRun | None:
    """The run that this process executes now. When it has ended, cached results are dropped."""
    here = session.board_run(project)
    going_on = here if here is not None and here.running else None
    if going_on is None and st.session_state.get("coverage.going_on"):
        state.forget()
    st.session_state["coverage.going_on"] = going_on is not None
    return going_on


def running(project: str | None, latest: CoverageRun | None, going_on: session.BoardRun | None) -> bool:
    """Draw the state of the latest run; returns whether it is running."""
    if going_on is not None:
        _progress(going_on)
        return True
    here = session.board_run(project)
    if here is not None and here.problem is not None:
        notices.error(here.problem)
    if latest is None or latest.state is RunState.DONE:
        return False
    if not interrupted(latest, state.now()):
        _elsewhere(latest)
        return True
    _interrupted(project, latest)
    return False


@st.fragment(run_every=0.5)
def _progress(run: session.BoardRun) -> None:
    if not run.running:
        state.forget()
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    waits = "Loading the models …" if not session.ready() else "Reading the library …"
    words = f"{run.done:,} of {count(run.total, 'cell')} assessed" if run.done else waits
    bar.progress(run.done / max(1, run.total), f"{words}{' · stopping' if run.stop else ''}")
    if stop.button("Stop", icon=":material/stop:", width="stretch", help="What is assessed so far is kept."):
        run.stop = True


@st.fragment(run_every=3.0)
def _elsewhere(run: CoverageRun) -> None:
    current = state.desk().runs.look(run.id)
    if current.state is not RunState.RUNNING:
        state.forget()
        st.rerun()
    st.progress(
        current.done / max(1, current.total), f"{current.done:,} of {count(current.total, 'cell')} assessed elsewhere"
    )


def _interrupted(project: str | None, run: CoverageRun) -> None:
    said = {
        RunState.STOPPED: "The last run was stopped",
        RunState.FAILED: f"The last run failed: {plain(run.problem)} It stands",
    }.get(run.state, "The last run was interrupted")
    words, go_on = st.columns([6, 1], vertical_alignment="center")
    words.warning(
        f"{said} at {run.done:,} of {count(run.total, 'cell')}, {ago(run.beat_at, state.now())}. Nothing is lost.",
        icon=":material/stop_circle:",
    )
    go_on.button(
        "Go on",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=assess,
        args=(project,),
        kwargs={"resume": run.id},
    )
