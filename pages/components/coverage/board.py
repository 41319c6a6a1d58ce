"""The coverage board: topics × truths as a map with filters and sorting, and documents to obtain for each gap."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.coverage.board_view import (
    BoardView,
    TopicOrder,
    VisibleBoard,
    apply_view,
    board_csv,
    by_kind,
    kind_in_words,
    needs_in_words,
    unread_in_words,
    values_of,
)
from core.domain.coverage import Board, CellState, Decision, Gap, GapKind
from pages.components import cards, charts
from pages.components.coverage import state
from pages.components.coverage.cell import cell_dialog
from pages.components.pager import paged
from pages.components.styles import CELLS, SEVERITIES
from pages.components.urls import page_path
from pages.components.wording import count, plain, shorten

__all__ = ["draw"]

_ROWS = 40  # topics per page; more tiles make the chart slow to draw
_GAPS = 12  # gaps per page; chosen by hand
_FILTERS = {
    "states": "State",
    "severities": "Severity",
    "domains": "Domain",
    "owners": "Owner",
    "jurisdictions": "Jurisdiction",
}


def draw(board: Board) -> None:
    """The map with its filters, the gaps below it, and the details of the open cell beside it."""
    decisions = state.coverage_service().current_decisions(board.project)
    view = _choose_view(values_of(board, decisions))
    shown = apply_view(board, view, decisions)
    _totals(board)
    _errors(board)
    if board.unread:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":orange[:material/warning:] {plain(unread_in_words(board))}", width="content")
            st.page_link(page_path("upload"), label="Open Upload", query_params={"show": "failed"})
    if shown.topics:
        _map(board, shown)
        _gaps(board, shown)
    else:
        st.info("No topic meets these filters. Take one away to see more.", icon=":material/filter_alt_off:")
    cell = state.find_cell(board, st.session_state.get("coverage.open", ""))
    if cell is not None:
        gap = next((each for each in board.gaps if each.topic == cell.topic and each.kind is cell.kind), None)
        cell_dialog(board, cell, gap)


def _choose_view(values: Mapping[str, tuple[str, ...]]) -> BoardView:
    """The filters and order of the widgets, which are bound to the URL."""
    find, order, narrow = st.columns([4, 3, 2], vertical_alignment="bottom")
    words = find.text_input(
        "Find a topic",
        key="find",
        bind="query-params",
        placeholder="Words of its name",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    chosen: Any = order.selectbox(
        "Order", list(TopicOrder), key="order", bind="query-params", format_func=str, label_visibility="collapsed"
    )
    picked: dict[str, tuple[str, ...]] = {}
    set_now = sum(bool(st.session_state.get(name)) for name in _FILTERS)
    with narrow.popover(f"Filter{f' · {set_now}' if set_now else ''}", icon=":material/filter_alt:", width="stretch"):
        for name, label in _FILTERS.items():
            options = list(values[name])
            picked[name] = tuple(st.multiselect(label, options, key=name, bind="query-params", format_func=str))
        st.caption("OR within a filter, AND between filters.")
    return BoardView(
        states=tuple(CellState(value) for value in picked["states"]),
        severities=picked["severities"],
        domains=picked["domains"],
        owners=picked["owners"],
        jurisdictions=picked["jurisdictions"],
        find=(words or "").strip(),
        order=TopicOrder(chosen),
    )


def _totals(board: Board) -> None:
    """Cells by state, and cells to obtain evidence for by severity."""
    numbers = {cell_state: sum(1 for cell in board.cells if cell.state is cell_state) for cell_state in CellState}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for cell_state, number in numbers.items():
            if cell_state is CellState.NOT_ASSESSED:
                quiet = sum(1 for cell in board.cells if not cell.needed)
                number -= quiet
                if quiet:
                    st.badge(f"not needed {quiet:,}", color="gray")
            if number:
                words = f"{CELLS[cell_state].symbol} {CELLS[cell_state].words} {number:,}"
                st.badge(words, color=CELLS[cell_state].colour)  # type: ignore[arg-type]
        if board.gaps:
            st.caption("to obtain:", width="content")
        for severity, colour in SEVERITIES.items():
            found = sum(1 for gap in board.gaps if gap.severity == severity)
            if found:
                st.badge(f"{found:,} {severity}", color=colour)  # type: ignore[arg-type]
        st.download_button(
            "CSV",
            lambda: board_csv(board),
            "coverage.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


def _errors(board: Board) -> None:
    for problem in dict.fromkeys(cell.error for cell in board.cells if cell.error):
        st.error(f"Some cells could not be assessed; these are not gaps. {plain(problem)}", icon=":material/bolt:")


def _map(board: Board, shown: VisibleBoard) -> None:
    part = VisibleBoard(tuple(paged(shown.topics, _ROWS, "rows", in_url=True)), shown.lit)
    event = st.plotly_chart(
        charts.board_map(board, part, _column_heads(board), dark=st.context.theme.type == "dark"),
        key=f"coverage.map.{st.session_state.setdefault('coverage.round', 0)}",
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"{count(len(board.topics), 'topic')}, {needs_in_words(board)}",
    )
    points = event["selection"]["points"]
    if points:
        topic_id, kind = points[0]["customdata"]
        state.open_cell(f"{kind}:{topic_id}")
    _picker(board, part)


def _column_heads(board: Board) -> Mapping[GapKind, str]:
    """The label above each column: its name, and the share of its assessed cells that is covered."""
    shares = {share.name: share for share in by_kind(board)}
    column_labels = {}
    for kind in board.kinds:
        share = shares.get(kind.value)
        known = share is not None and share.coverage is not None
        column_labels[kind] = (
            f"{state.kind_words(kind)}<br>{f'{share.coverage:.0%} covered' if known else 'not assessed'}"  # type: ignore[union-attr]
        )
    return column_labels


def _picker(board: Board, shown: VisibleBoard) -> None:
    """The same choice without a mouse: any cell by name."""
    names = {
        f"{kind.value}:{topic.id}": f"{topic.name} · {kind_in_words(kind)}"
        for topic in shown.topics
        for kind in board.kinds
    }
    opened = st.session_state.get("coverage.open", "")
    st.session_state["coverage.cell"] = opened if opened in names else None
    st.selectbox(
        "Open a cell",
        list(names),
        index=None,
        key="coverage.cell",
        placeholder="Click a tile, or choose a cell here",
        format_func=lambda key: names.get(key, key),
        on_change=lambda: state.open_cell(st.session_state["coverage.cell"] or ""),
        label_visibility="collapsed",
    )


def _gaps(board: Board, shown: VisibleBoard) -> None:
    """The gaps among the visible cells, worst first, each with what to obtain."""
    ids = {topic.name: topic.id for topic in shown.topics}
    decisions = state.coverage_service().current_decisions(board.project)
    gaps = [gap for gap in board.gaps if (ids.get(gap.topic, 0), gap.kind.value) in shown.lit]
    st.markdown(
        f"**What to obtain** · for {count(len(gaps), 'cell')}, gaps and partial ones" if gaps else "**What to obtain**"
    )
    if not gaps:
        known = board.coverage is not None
        st.caption(":material/check: No gap among these cells." if known else "No cell was assessed: no gap is known.")
        return
    for gap in paged(gaps, _GAPS, "gaps", in_url=True):
        _gap_row(gap, decisions.get((ids[gap.topic], gap.kind.value)))


def _gap_row(gap: Gap, decision: Decision | None) -> None:
    kinds, words = st.columns([3, 11], wrap=False, gap="small")
    with kinds.container(horizontal=True, gap="small"):
        st.badge(gap.severity, color=SEVERITIES.get(gap.severity, "gray"))  # type: ignore[arg-type]
        if gap.configuration:
            st.badge("set-up", icon=":material/settings:", color="gray")
        else:
            cards.truth_badge(gap.truth)
    text = f"**{plain(shorten(gap.topic, 80))}** – {plain(gap.recommendation)}"
    if decision is not None:
        owner = f", {plain(decision.owner)}" if decision.owner else ""
        due = f", due {decision.due}" if decision.due else ""
        text += f" :gray[:material/gavel: {decision.verdict.value}{owner}{due}]"
    words.markdown(text)
