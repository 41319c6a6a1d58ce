"""The list as a spreadsheet: downloaded, changed, and read back – looked at before anything changes."""

from collections.abc import Sequence

import streamlit as st

from core.documents import Document
from core.errors import FivefoldError
from core.library.edit_csv import documents_csv, read_edits
from pages.parts import notices, session
from pages.parts.library.editing import draw_plan, keep_plan
from pages.parts.wording import count

__all__ = ["draw_sheet"]


def draw_sheet(documents: Sequence[Document]) -> None:
    """documents: those listed, which the download holds; what is uploaded may speak of any document."""
    if draw_plan():
        return
    out, back = st.columns(2, gap="large")
    with out:
        st.markdown("**1 Download, and change it in a spreadsheet**")
        st.caption("One row per document with its project, tags, source, owner, address and every label.")
        st.download_button(
            f"Download {count(len(documents), 'row')} (CSV)",
            lambda: documents_csv(documents),
            file_name="documents.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="library.csv.out",
        )
    with back:
        st.markdown("**2 Read it back**")
        st.caption("You see every change before it is made. A blank label stays as it is; other blank cells clear.")
        turn = st.session_state.setdefault("library.csv.round", 0)
        file = st.file_uploader("Changed CSV", type=["csv"], key=f"library.csv.{turn}", label_visibility="collapsed")
        if file is not None:
            try:
                read = read_edits(file.getvalue(), file.name, session.workbench().documents(archived=None))
            except FivefoldError as problem:
                notices.error(problem)
                return
            keep_plan(read.edits, f"Read from {file.name}", read.problems)
            st.rerun()
