"""The coverage board: topics × truths with filters and sorting, as a map or as a table."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.coverage.board_view import (
    STATES_IN_WORDS,
    BoardView,
    TopicOrder,
    VisibleBoard,
    apply_view,
    board_csv,
    kind_in_words,
    needs_in_words,
    share_in_words,
    unread_in_words,
    values_of,
    waiting_in_words,
    with_distinct_names,
)
from core.coverage.gaps import score_beside_state
from core.domain.coverage import Board, Cell, GapKind
from core.knowledge.glossary import explanation, meaning
from pages.components import browser_scripts, charts
from pages.components.chart_view import draw_chart
from pages.components.coverage import state
from pages.components.coverage.cell import cell_dialog
from pages.components.pager import paged
from pages.components.styles import CELLS
from pages.components.urls import page_path
from pages.components.view_switch import view_switch
from pages.components.wording import count, plain

__all__ = ["choose_view", "draw", "draw_unread", "table_data"]

_ROWS = 40  # topics per page; more tiles make the chart slow to draw
_FILTERS = {
    "states": "State",
    "severities": "Severity",
    "domains": "Domain",
    "owners": "Owner",
    "jurisdictions": "Jurisdiction",
}


def draw(board: Board) -> None:
    """The filters, the board as a map or as a table, and the details of the open cell beside it."""
    decisions = state.coverage_service().current_decisions(board.project)
    named = with_distinct_names(board)
    view = choose_view(values_of(board, decisions))
    shown = apply_view(named, view, decisions)
    shape = _totals(named)
    _errors(board)
    draw_unread(board)
    if shown.topics:
        if shape == "Table":
            _table(named, shown)
        else:
            _map(named, shown)
    else:
        st.info("No topic matches these filters. Remove one to see more.", icon=":material/filter_alt_off:")
    cell = state.find_cell(board, st.session_state.get("coverage.open", ""))
    if cell is not None:
        cell_dialog(board, cell, board.gap_of(cell))


def draw_unread(board: Board) -> None:
    """A line on the documents that could not be read and one on those not read yet, each with the way to them."""
    for words, listed in ((unread_in_words(board), "failed"), (waiting_in_words(board), "running")):
        if words:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f":orange[:material/warning:] {plain(words)}", width="content")
                st.page_link(page_path("upload"), label="Open Upload", query_params={"show": listed})


def choose_view(values: Mapping[str, tuple[str, ...]], *, ordered: bool = True) -> BoardView:
    """The filters of the widgets, which are bound to the URL, and if wanted their order."""
    find, order, narrow = st.columns([4, 3, 2], vertical_alignment="bottom")
    words = find.text_input(
        "Find a topic",
        key="find",
        bind="query-params",
        placeholder="Words of its name",
        icon=":material/search:",
    )
    chosen: Any = TopicOrder.ADDED
    if ordered:
        chosen = order.selectbox("Sort by", list(TopicOrder), key="order", bind="query-params", format_func=str)
    picked: dict[str, tuple[str, ...]] = {}
    set_now = sum(bool(st.session_state.get(name)) for name in _FILTERS)
    with narrow.popover(f"Filter{f' · {set_now}' if set_now else ''}", icon=":material/filter_alt:", width="stretch"):
        for name, label in _FILTERS.items():
            options = list(values[name])
            picked[name] = tuple(st.multiselect(label, options, key=name, bind="query-params", format_func=str))
        st.caption("OR within a filter, AND between filters.")
    return BoardView(
        states=picked["states"],
        severities=picked["severities"],
        domains=picked["domains"],
        owners=picked["owners"],
        jurisdictions=picked["jurisdictions"],
        find=(words or "").strip(),
        order=TopicOrder(chosen),
    )


def _totals(board: Board) -> str:
    """Cells by state, a way to what is missing, and how the board is shown: "Map" or "Table"."""
    numbers = Counter(cell.state_in_words for cell in board.cells)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for words, cell_state in STATES_IN_WORDS.items():
            if numbers[words]:
                style = CELLS[cell_state]
                about = meaning(cell_state.name.lower())
                st.badge(f"{style.symbol} {words} {numbers[words]:,}", color=style.colour, help=about)  # type: ignore[arg-type]
        if board.gaps:
            st.button("What to obtain", icon=":material/assignment_ind:", type="tertiary", on_click=_open_to_obtain)
        st.space("stretch")
        st.download_button(
            "CSV",
            lambda: board_csv(board),
            "coverage.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
        shapes = {"Map": ":material/grid_on: Map", "Table": ":material/table_rows: Table"}
        return view_switch(shapes, "coverage.shape", "as")


def _open_to_obtain() -> None:
    st.query_params["view"] = "To obtain"


def _errors(board: Board) -> None:
    for problem, number in Counter(cell.error for cell in board.cells if cell.error).items():
        not_gaps = "it is not a gap" if number == 1 else "they are not gaps"
        words = f"{count(number, 'cell')} could not be assessed; {not_gaps}. {plain(problem)} *Assess* tries again."
        st.error(words, icon=":material/bolt:")


def _map(board: Board, shown: VisibleBoard) -> None:
    part = VisibleBoard(tuple(paged(shown.topics, _ROWS, "rows", in_url=True)), shown.lit)
    event = draw_chart(
        charts.board_map(board, part, _column_heads(board), dark=st.context.theme.type == "dark"),
        key=f"coverage.map.{st.session_state.setdefault('coverage.round', 0)}",
        on_select="rerun",
        selection_mode="points",
        alt=f"{count(len(board.topics), 'topic')}, {needs_in_words(board)}",
    )
    points = event["selection"]["points"]
    if points:
        topic_id, kind = points[0]["customdata"]
        state.open_cell(f"{kind}:{topic_id}")
    _picker(board, part)


def _column_heads(board: Board) -> Mapping[GapKind, str]:
    """The label above each column: its name, and the share of its assessed cells that is covered."""
    return {kind: f"{state.kind_words(kind)}<br>{share_in_words(board, kind)}" for kind in board.kinds}


def _table(board: Board, shown: VisibleBoard) -> None:
    """The same cells as a table of words, for screen readers and for people who prefer it."""
    key = "coverage.table"
    draw_table = browser_scripts.browser_component("fivefold_board_table", "coverage/board_table.js")
    sorted_by = getattr(st.session_state.get(key), "sorted", None) or [-1, False]
    draw_table(
        key=key,
        data=table_data(board, shown) | {"sorted": sorted_by},
        on_opened_change=lambda: state.open_cell(st.session_state[key].opened or ""),
        on_sorted_change=lambda: None,
    )


def table_data(board: Board, shown: VisibleBoard) -> dict[str, Any]:
    """What the table draws: columns with their shares, and per topic its cells in words."""
    order = {words: index for index, words in enumerate(STATES_IN_WORDS)}
    return {
        "label": f"{count(len(shown.topics), 'topic')} by truth, {needs_in_words(board)}",
        "columns": ["Topic", *map(kind_in_words, board.kinds)],
        "means": [meaning("topic"), *(explanation(kind.value) for kind in board.kinds)],
        "shares": ["", *(share_in_words(board, kind) for kind in board.kinds)],
        "rows": [
            {
                "topic": topic.name,
                "place": index,
                "cells": [_table_cell(board.cell(topic, kind), shown, order) for kind in board.kinds],
            }
            for index, topic in enumerate(shown.topics)
        ],
    }


def _table_cell(cell: Cell, shown: VisibleBoard, order: Mapping[str, int]) -> dict[str, Any]:
    """order: covered first, and within a state the strongest evidence first."""
    style, words = CELLS[cell.state], cell.state_in_words
    score = score_beside_state(cell.state, cell.evidence_score)
    doubt = ", doubtful" if cell.risks else ""
    return {
        "id": state.cell_key(cell),
        "kind": kind_in_words(cell.kind),
        "words": f"{style.symbol} {words}{score}{' ⚠' if cell.risks else ''}",
        "spoken": f"{words}{score}{doubt}",
        "colour": style.colour,
        "order": order[words] + 1 - cell.evidence_score,
        "lit": (cell.topic_id, cell.kind.value) in shown.lit,
    }


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
