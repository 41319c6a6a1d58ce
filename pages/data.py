"""Data: the tables that say what is – asked in words or in SQL, and held against what has been configured."""

import streamlit as st

from core.documents import DocumentState
from pages.parts import notices, reading, session
from pages.parts.data import ask, in_use, sql, state, tables
from pages.parts.data.state import Sight
from pages.parts.urls import page_path
from pages.parts.view_switch import view_switch

_ROOMS = {"Ask": ask.draw, "Tables": tables.draw, "In use": in_use.draw, "SQL": sql.draw}
"""The rooms, as the switch and the URL name them."""


def draw() -> None:
    """The page: whose tables, and the room one is in."""
    if not state.reality().tables():
        reading.progress(lambda: state.sight(None).mark)
        _empty()
        return
    seen = _project()
    reading.progress(lambda: state.sight(seen.project).mark)
    state.told()
    view = view_switch({each: each for each in _ROOMS}, "data.view", "view")
    if not seen.tables:
        notices.empty(
            ":material/table_chart:", "This project has no tables", "Choose another one, or upload its tables."
        )
        return
    _ROOMS[view](seen)


def _project() -> Sight:
    """Whose tables are looked at, and the way to more of them."""
    whose, _, more = st.columns([4, 4, 2], vertical_alignment="center")
    documents = session.workbench().documents()
    projects = {each.project for each in documents} | {each.project for each in state.reality().tables()}
    project = whose.selectbox(
        "Project",
        sorted(each for each in projects if each),
        index=None,
        key="project",
        bind="query-params",
        placeholder="The whole library",
        icon=":material/folder:",
        label_visibility="collapsed",
    )
    with more.container(horizontal=True, horizontal_alignment="right"):
        st.page_link(page_path("upload"), label="Upload tables", icon=":material/upload_file:")
    return state.sight(project)


def _empty() -> None:
    """No table yet: where tables come from."""
    pending = any(each.state is DocumentState.PENDING for each in session.workbench().documents())
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
