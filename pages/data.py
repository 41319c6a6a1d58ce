"""Data: Reality tables, queried in natural language or SQL, and compared with the configuration."""

import streamlit as st

from pages.components import cards, ingest_progress, notices, session
from pages.components.data import ask, configured_vs_used, sql, state, tables
from pages.components.data.state import TablesView
from pages.components.project_choice import project_choice
from pages.components.urls import page_path
from pages.components.view_switch import view_switch

_VIEWS = {"Ask": ask.draw, "Tables": tables.draw, "In use": configured_vs_used.draw, "SQL": sql.draw}
"""The views, as the URL names them."""
_WORDS = {"In use": "Code check"}
"""What the switch calls a view that the URL names otherwise, so that old links still open it."""


def draw() -> None:
    """The page: the project, and the chosen view of its tables."""
    if not state.table_service().tables():
        ingest_progress.draw_progress(lambda: state.tables_view(None).mark)
        _empty()
        return
    seen = _project()
    ingest_progress.draw_progress(lambda: state.tables_view(seen.project).mark)
    state.show_outcome()
    view = view_switch({each: _WORDS.get(each, each) for each in _VIEWS}, "data.view", "view")
    if not seen.tables:
        notices.empty(
            ":material/table_chart:", "This project has no tables", "Choose another one, or upload its tables."
        )
        return
    _VIEWS[view](seen)


def _project() -> TablesView:
    """The choice of a project, and the link to upload more tables."""
    whose, _, more = st.columns([4, 4, 2], vertical_alignment="center")
    project = project_choice(whose, (each.project for each in state.table_service().tables()))
    with more.container(horizontal=True, horizontal_alignment="right"):
        st.page_link(page_path("upload"), label="Upload tables", icon=":material/upload_file:")
    return state.tables_view(project)


def _empty() -> None:
    """No table yet: where tables come from."""
    pending = session.workbench().upload_queue.counts(cards.SURE).running
    notices.empty(
        ":material/table_chart:",
        "No tables yet",
        "Files are still being read; tables appear when that is done."
        if pending
        else "Upload a CSV file, a workbook, Parquet or JSON, or load the sample library on *Home*.",
    )
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        st.page_link(page_path("upload"), label="Upload tables", icon=":material/upload_file:")
        st.page_link(page_path("home"), label="Load the sample library", icon=":material/auto_stories:")


draw()
