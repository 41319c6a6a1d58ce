"""What of a file is not in its table: rows that could not be read, and rows of totals."""

import streamlit as st

from core.tabular import RealityTable
from pages.parts.data import state
from pages.parts.data.exports import rows_csv
from pages.parts.wording import count

__all__ = ["draw"]

_SHOWN = 1_000


def draw(table: RealityTable) -> None:
    """Both lists, each with why."""
    if not table.rejected and not table.left_out:
        st.success("Every row of the file is in the table.", icon=":material/task_alt:")
    if table.rejected:
        _rejected(table)
    if table.left_out:
        st.markdown(f"**{count(len(table.left_out), 'row')} of totals** :gray[not loaded, so that sums stay true]")
        st.dataframe(
            [{"Row": row, "Says": text} for row, text in table.left_out],
            key="data.totals",
            hide_index=True,
            column_config={"Row": st.column_config.NumberColumn(width=70)},
        )


def _rejected(table: RealityTable) -> None:
    found = state.reality().rejects(table)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = f", the first {min(_SHOWN, len(found)):,} shown" if table.rejected > min(_SHOWN, len(found)) else ""
        st.markdown(f"**{count(table.rejected, 'row')} could not be read**:gray[{shown}]", width="content")
        st.download_button(
            "CSV",
            lambda: rows_csv(
                ("row", "reason", *(column.header for column in table.columns)),
                [(each.row, each.reason, *each.cells) for each in found],
            ),
            f"{table.name}-rejected.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key="data.rejected.csv",
        )
    st.caption("They are not counted in any answer. Correct them in the file and upload it again under the same name.")
    st.dataframe(
        [{"Row": each.row, "Why": each.reason, "Cells": " · ".join(each.cells)} for each in found[:_SHOWN]],
        key="data.rejected",
        hide_index=True,
        column_config={
            "Row": st.column_config.NumberColumn(width=70),
            "Why": st.column_config.TextColumn(width=320),
            "Cells": st.column_config.TextColumn(width=600),
        },
    )
