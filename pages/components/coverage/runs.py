"""Coverage runs: progress of the current one, all stored snapshots, coverage over time, and changes between two."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.coverage.board_view import CoverageShare, by_domain, by_kind, kind_in_words
from core.coverage.runs import interrupted
from core.domain.coverage import Board, BoardChanges, CellChange, CoverageRun, GapKind, RunState
from core.domain.errors import FivefoldError
from pages.components import background, notices, rights, session
from pages.components.chart_view import draw_chart
from pages.components.coverage import state
from pages.components.icon_button import KEY as ICON_ALONE
from pages.components.styles import CELLS
from pages.components.wording import ago, chart_text, count, plain, shorten

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["coverage_line", "current_run", "draw_run_progress", "draw_snapshots", "snapshot_words", "start_run"]


def start_run(project: str | None, *, whole: bool = False, resume: int | None = None) -> None:
    """Start a run, or resume one; the page shows any error."""
    try:
        background.assess(project, whole=whole, resume=resume)
        st.query_params["view"] = "Board"
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    state.clear_cache()


def current_run(project: str | None) -> background.BackgroundRun | None:
    """The run that this process executes now. When it has ended, cached results are dropped."""
    here = background.board_run(project)
    going_on = here if here is not None and here.running else None
    if going_on is None and st.session_state.get("coverage.going_on"):
        state.clear_cache()
    st.session_state["coverage.going_on"] = going_on is not None
    return going_on


def draw_run_progress(
    project: str | None, latest: CoverageRun | None, going_on: background.BackgroundRun | None
) -> bool:
    """Draw the state of the latest run; returns whether it is running."""
    if going_on is not None:
        _progress(going_on)
        return True
    here = background.board_run(project)
    if here is not None and here.problem is not None:
        notices.error(here.problem)
    if latest is None or latest.state is RunState.DONE:
        return False
    if not interrupted(latest, state.now()):
        _progress_elsewhere(latest)
        return True
    _interrupted(project, latest)
    return False


@st.fragment(run_every=0.5)
def _progress(run: background.BackgroundRun) -> None:
    if not run.running:
        state.clear_cache()
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    waits = "Loading the models …" if not session.ready() else "Reading the library …"
    words = f"{run.done:,} of {count(run.total, 'cell')} assessed" if run.done else waits
    bar.progress(run.done / max(1, run.total), f"{words}{' · stopping' if run.stop else ''}")
    if _stopped(run.id, stop):
        run.stop = True


def _stopped(run_id: int, on: DeltaGenerator) -> bool:
    """The button that stops a run; whether it was pressed by somebody who may."""
    if rights.button(
        "coverage.runs.stop",
        "Stop",
        icon=":material/stop:",
        width="stretch",
        help="What is assessed so far is kept.",
        on=on,
    ):
        with notices.show_errors():
            state.coverage_service().runs.stop(run_id)
            return True
    return False


@st.fragment(run_every=3.0)
def _progress_elsewhere(run: CoverageRun) -> None:
    current = state.coverage_service().runs.progress(run.id)
    if current.state is not RunState.RUNNING:
        state.clear_cache()
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    bar.progress(
        current.done / max(1, current.total), f"{current.done:,} of {count(current.total, 'cell')} assessed elsewhere"
    )
    if _stopped(current.id, stop):
        state.clear_cache()
        st.rerun()


def _interrupted(project: str | None, run: CoverageRun) -> None:
    what_happened = {
        RunState.STOPPED: "The last run was stopped",
        RunState.FAILED: f"The last run failed: {plain(run.problem)} It stopped",
    }.get(run.state, "The last run was interrupted")
    words, go_on = st.columns([6, 1], vertical_alignment="center")
    words.warning(
        f"{what_happened} at {run.done:,} of {count(run.total, 'cell')}, {ago(run.beat_at, state.now())}."
        " Nothing is lost.",
        icon=":material/stop_circle:",
    )
    rights.button(
        "coverage.runs.start",
        "Go on",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=start_run,
        args=(project,),
        kwargs={"resume": run.id},
        on=go_on,
    )


_MOST_POINTS = 30  # more points would touch each other


def coverage_line(runs: Sequence[CoverageRun], *, dark: bool = False) -> "Figure":
    """The share covered at each finished snapshot, oldest left, at most the last thirty. runs: newest first."""
    from plotly.graph_objects import Figure, Scatter

    shown = [run for run in reversed(runs[:_MOST_POINTS]) if run.coverage is not None]
    ink, line = ("#e4e8ee", "#8fb2ea") if dark else ("#1f2733", "#34558b")
    names = [f"{run.name or 'Snapshot'}<br>{run.finished_at or run.started_at:%Y-%m-%d %H:%M}" for run in shown]
    figure = Figure(
        Scatter(
            x=list(range(len(shown))),
            y=[run.coverage for run in shown],
            mode="lines+markers+text",
            text=[f"{run.coverage:.0%}" for run in shown],
            textposition="top center",
            textfont={"color": ink},
            line={"color": line, "width": 2},
            marker={"size": 8},
            hovertext=[chart_text(name).replace("&lt;br&gt;", "<br>") for name in names],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    ticks = [f"{run.finished_at or run.started_at:%b %d}<br>{run.finished_at or run.started_at:%H:%M}" for run in shown]
    figure.update_layout(height=230, margin={"l": 8, "r": 8, "t": 12, "b": 8}, paper_bgcolor="rgba(0,0,0,0)")
    figure.update_layout(plot_bgcolor="rgba(0,0,0,0)", showlegend=False, font={"color": ink})
    figure.update_yaxes(range=[0, 1.12], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], fixedrange=True)
    figure.update_xaxes(
        tickvals=list(range(len(shown))), ticktext=ticks, range=[-0.4, max(0.4, len(shown) - 0.6)], fixedrange=True
    )
    return figure


_MOST_CHANGES = 60  # changed cells listed; chosen by hand


def draw_snapshots(project: str | None, board: Board | None) -> None:
    """The list, the trend, the shares by column and domain, and the comparison."""
    runs = state.snapshots(project)
    finished = [run for run in runs if run.state is RunState.DONE]
    if not finished:
        st.info("There is no snapshot yet. Every *Assess* keeps one.", icon=":material/history:")
        return
    dark = st.context.theme.type == "dark"
    line, columns = st.columns([3, 2], gap="large")
    with line:
        st.markdown("**Coverage over time** :gray[· as found, before decisions]")
        draw_chart(coverage_line(finished, dark=dark), key="snapshots.trend")
        _compare(project, finished)
    with columns:
        if board is not None:
            domains = session.terms().domains
            _shares("By column", by_kind(board), lambda name: state.kind_words(GapKind(name)))
            _shares("By domain, without set-up", by_domain(board), lambda name: domains.title(name).capitalize())
    _list(runs)


def _shares(title: str, shares: Sequence[CoverageShare], named: Callable[[str], str]) -> None:
    """A bar per part of the board: how many of its assessed cells are covered."""
    st.markdown(f"**{title}**")
    for share in shares:
        known = share.coverage is not None
        share_words = f"{share.coverage:.0%} of {count(share.assessed, 'cell')} covered" if known else "not assessed"
        st.progress(share.coverage or 0.0, f"{plain(named(share.name))} · {share_words}")


def snapshot_words(run: CoverageRun) -> str:
    """A snapshot as it is chosen from a list."""
    when = run.finished_at or run.started_at
    share = "–" if run.coverage is None else f"{run.coverage:.0%}"
    return f"{run.name or 'Snapshot'} · {when:%Y-%m-%d %H:%M} · {share}"


def _compare(project: str | None, finished: Sequence[CoverageRun]) -> None:
    """The differences between two snapshots."""
    st.markdown("**What changed**")
    if len(finished) < 2:
        st.caption("After the second snapshot, the changes between them are shown here.")
        return
    names = {run.id: snapshot_words(run) for run in finished}
    first, second = st.columns(2)
    since = first.selectbox("Since", [run.id for run in finished[1:]], key="since", format_func=names.__getitem__)
    later = [run.id for run in finished if run.id > since]
    until = second.selectbox("Until", later, key="until", format_func=names.__getitem__)
    _board_changes(state.coverage_service().changes(project, since, until))


def _board_changes(changes: BoardChanges) -> None:
    shares = ["–" if each is None else f"{each:.0%}" for each in (changes.coverage_before, changes.coverage_after)]
    parts = [f"{shares[0]} → {shares[1]} covered", count(len(changes.cells), "cell") + " changed"]
    parts += [f"new: {plain(', '.join(changes.topics_added))}"] if changes.topics_added else []
    parts += [f"gone: {plain(', '.join(changes.topics_gone))}"] if changes.topics_gone else []
    st.caption(" · ".join(parts))
    for change in changes.cells[:_MOST_CHANGES]:
        _cell_change(change)
    if len(changes.cells) > _MOST_CHANGES:
        st.caption(
            f"… and {count(len(changes.cells) - _MOST_CHANGES, 'more cell')}; all of them are in the meeting pack."
        )


def _cell_change(change: CellChange) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"**{plain(shorten(change.topic, 60))}** · {kind_in_words(change.kind)}", width="content")
        for number, each in enumerate((change.before, change.after)):
            if each is not None:
                if number:
                    st.markdown(":material/arrow_forward:", width="content")
                style = CELLS[each]
                st.badge(f"{style.symbol} {style.words}", color=style.colour)  # type: ignore[arg-type]
    st.caption(plain(shorten(change.why, 240)))


def _list(runs: Sequence[CoverageRun]) -> None:
    st.markdown("**All snapshots**")
    for run in runs:
        words, name, look, delete = st.columns([6, 4, 2, 1], vertical_alignment="center")
        ended = "" if run.state is RunState.DONE else f" · {run.state.value} at {run.done:,} of {run.total:,}"
        carried = f" · {run.carried:,} carried over" if run.carried else ""
        words.markdown(f"{plain(snapshot_words(run))} · {count(len(run.topics), 'topic')}{carried}{ended}")
        name.text_input(
            "Name",
            value=run.name,
            key=f"snapshot.name.{run.id}",
            placeholder="Give it a name",
            label_visibility="collapsed",
            max_chars=80,
            on_change=_rename,
            args=(run.id,),
        )
        if run.state is RunState.DONE:
            look.button("Open", key=f"snapshot.open.{run.id}", on_click=_open, args=(run.id,), width="stretch")
        with delete.popover("Delete snapshot", icon=":material/delete:", key=f"{ICON_ALONE}snapshot.menu.{run.id}"):
            st.markdown("Delete this snapshot? Decisions stay in the log.")
            rights.button(
                "coverage.delete_snapshot",
                "Delete",
                type="primary",
                key=f"snapshot.delete.{run.id}",
                on_click=_delete,
                args=(run.id,),
            )


def _rename(run_id: int) -> None:
    state.coverage_service().name_snapshot(run_id, st.session_state[f"snapshot.name.{run_id}"])
    state.clear_cache()


def _open(run_id: int) -> None:
    st.query_params["snapshot"] = str(run_id)
    st.query_params["view"] = "Board"


def _delete(run_id: int) -> None:
    state.coverage_service().delete_snapshot(run_id)
    state.clear_cache()
