"""Traceability: each requirement with its evidence, and evidence without a requirement."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.coverage.board_view import with_distinct_names
from core.coverage.gaps import score_beside_state, score_in_words
from core.coverage.traceability import TRACED, TraceRow, orphans_csv, trace_csv
from core.domain.coverage import Board, GapKind, Modality, Orphan
from core.search.citations.cite import display_quote
from pages.components import cards, notices
from pages.components.citation_places import cited_place
from pages.components.coverage import state
from pages.components.styles import CELLS
from pages.components.wording import count, plain, shorten

__all__ = ["draw"]


def draw(project: str | None, board: Board) -> None:
    """The matrix of requirements, and the orphans."""
    rows = state.coverage_service().trace(with_distinct_names(board))
    if not rows:
        notices.empty(
            ":material/account_tree:",
            "No requirements yet",
            "Find them in the contract and the requirements documents under *Topics › Requirements*, then assess.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.button("Open Topics", icon=":material/list:", key="trace.topics", on_click=_open_topics)
        return
    matrix, other_way = st.tabs([f"Requirements · {len(rows):,}", "Not required by anything"])
    with matrix:
        _matrix(rows)
    with other_way:
        _orphans(project, board)


def _open_topics() -> None:
    st.query_params["view"] = "Topics"


def _matrix(rows: Sequence[TraceRow]) -> None:
    holes, missing, modality, export = st.columns([2, 4, 3, 1], vertical_alignment="bottom")
    only = holes.toggle("Only holes", key="holes", bind="query-params")
    kinds = missing.multiselect(
        "Nothing behind it in", list(TRACED), key="missing", bind="query-params", format_func=str
    )
    modalities = modality.multiselect("Modality", list(Modality), key="modality", bind="query-params", format_func=str)
    shown = [
        row
        for row in rows
        if (not only or row.holes)
        and (not kinds or set(kinds) & set(row.holes))
        and (not modalities or row.topic.modality in modalities)
    ]
    export.download_button(
        "CSV", lambda: trace_csv(shown), "traceability.csv", "text/csv", icon=":material/download:", type="tertiary"
    )
    with_holes = sum(bool(row.holes) for row in rows)
    st.caption(
        f"{count(len(shown), 'requirement')} shown · {with_holes:,} of {len(rows):,} have gaps · select one to read"
    )
    if not shown:
        st.success("No requirement meets these filters.", icon=":material/task_alt:")
        return
    event: Any = st.dataframe(
        [_cells(row) for row in shown],
        key="trace.table",
        hide_index=True,
        height=min(520, 38 + 35 * len(shown)),
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "requirement": st.column_config.TextColumn("Requirement", width="large"),
            "says": st.column_config.TextColumn("Modality", width=80),
        },
    )
    chosen = event["selection"]["rows"]
    if chosen and chosen[0] < len(shown):
        _requirement(shown[chosen[0]])


def _cells(row: TraceRow) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "requirement": row.topic.name,
        "says": row.topic.modality.value if row.topic.modality else "",
    }
    for cell in row.cells:
        cells[state.kind_words(cell.kind)] = (
            f"{CELLS[cell.state].symbol} {cell.state.value}{score_beside_state(cell.state, cell.evidence_score)}"
        )
    return cells


def _requirement(row: TraceRow) -> None:
    """One requirement: its sentence, and the best sentence behind it under each truth."""
    with st.container(border=True):
        source = row.topic.source
        st.markdown(f"**{plain(row.topic.name)}**")
        if source is not None:
            location = ", ".join(filter(None, (source.document_name, cited_place(source))))
            st.markdown(f"“{plain(display_quote(source.quote))}” :gray[{plain(location)}]")
        for cell in row.cells:
            style, best = CELLS[cell.state], next(iter(cell.evidence or cell.near_misses), None)
            head, words, button = st.columns([2, 8, 1.4], vertical_alignment="center")
            head.markdown(f"{style.icon} {state.kind_words(cell.kind)}")
            if best is None:
                words.markdown(f":gray[{plain(cell.error or cell.reason)}]")
            else:
                near = "" if cell.evidence else "near miss: "
                where = ", ".join(filter(None, (best.document_name, cited_place(best))))
                quote = plain(shorten(display_quote(best.quote), 260))
                words.markdown(f"{near}“{quote}” :gray[{plain(where)}]")
                if cell.request is not None:
                    with words:
                        cards.inspect_link(cell.request, best.passage_id, "Inspect", icon=":material/troubleshoot:")
                        cards.document_link(best.document_id, "Open document", mark=best.citation_id)
            key = state.cell_key(cell)
            button.button("Open", key=f"trace.{key}", on_click=_to_board, args=(key,), width="stretch")


def _to_board(key: str) -> None:
    """Show a cell on the board."""
    st.query_params["view"] = "Board"
    state.open_cell(key)


def _orphans(project: str | None, board: Board) -> None:
    st.caption("Policy sections that state a rule, and rows of set-up tables, that come near no requirement.")
    cache = st.session_state.get("trace.orphans")
    if cache is None or cache[0] != (project, board.run_id):
        if st.button("Find policies and set-up without a requirement", icon=":material/search:", key="trace.look"):
            with st.spinner("Comparing policies and set-up with the requirements …"):
                st.session_state["trace.orphans"] = ((project, board.run_id), state.coverage_service().orphans(project))
            st.rerun()
        return
    found: Sequence[Orphan] = cache[1]
    if not found:
        st.success("Every policy rule and set-up row comes near a requirement.", icon=":material/task_alt:")
        return
    head, export = st.columns([8, 1], vertical_alignment="center")
    head.markdown(f"**{count(len(found), 'section')}** not required by anything")
    export.download_button(
        "CSV", lambda: orphans_csv(found), "orphans.csv", "text/csv", icon=":material/download:", type="tertiary"
    )
    st.dataframe(
        [_orphan(each) for each in found],
        hide_index=True,
        height=min(520, 38 + 35 * len(found)),
        column_config={"sentence": st.column_config.TextColumn("Sentence", width="large")},
    )


def _orphan(each: Orphan) -> dict[str, Any]:
    return {
        "kind": "set-up" if each.kind is GapKind.CONFIGURATION else "policy",
        "sentence": display_quote(each.citation.quote),
        "section": each.section,
        "document": ", ".join(filter(None, (each.citation.document_name, cited_place(each.citation)))),
        "nearest requirement": each.nearest.name if each.nearest else "",
        "evidence": score_in_words(each.score),
    }
