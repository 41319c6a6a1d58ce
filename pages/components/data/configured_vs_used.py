"""Configured against used: compares the configured codes with those in the records."""

from collections.abc import Sequence

import streamlit as st

from core.domain.documents import TableRole
from core.table_qa.configured_vs_used import CodeUse, ConfiguredVersusUsed
from pages.components import notices
from pages.components.data import state
from pages.components.data.rows import ROW_PIXELS, height, rows_csv
from pages.components.data.state import TablesView
from pages.components.wording import count, plain

__all__ = ["draw"]

_STATES = {
    "used, not configured": ("⚠", ":material/warning:", "Used, not configured"),
    "unused": ("–", ":material/remove:", "Unused"),
    "in use": ("✓", ":material/check:", "In use"),
}
_CSV_COLUMNS = ("code", "says", "state", "records")
_ROWS_SHOWN = 12  # rows visible without scrolling; chosen by hand


def draw(seen: TablesView) -> None:
    """One comparison after the other, those with codes nobody configured first."""
    found = state.comparisons(seen)
    if not found:
        _nothing(seen)
        return
    st.caption(
        "Codes of a set-up table against the records that carry them. *Used, not configured*: records carry a code the"
        " set-up does not know. *Unused*: configured, but on no record."
    )
    ordered = sorted(found, key=lambda each: (-each.count("used, not configured"), each.setup, each.records))
    for number, each in enumerate(ordered):
        _comparison(each, number)


def _comparison(use: ConfiguredVersusUsed, number: int) -> None:
    key = f"data.use.{number}"
    with st.container(border=True):
        st.markdown(f"#### {plain(use.setup)} ← {plain(use.records)}.{plain(use.column)}", anchors=False)
        st.caption(
            f"Configured in {plain(use.setup_document)}, used in {plain(use.records_document)}"
            + (f" · {count(use.empty, 'record')} without a code" if use.empty else "")
        )
        configured = sum(code.configured for code in use.codes)
        with st.container(horizontal=True, gap="large"):
            st.metric("Configured", f"{configured:,}", width="content")
            for name in ("in use", "unused", "used, not configured"):
                symbol, _, words = _STATES[name]
                st.metric(f"{symbol} {words}", f"{use.count(name):,}", width="content")
        _codes(use, key)


def _codes(use: ConfiguredVersusUsed, key: str) -> None:
    """The codes, narrowed to a state, and the same as CSV."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        picked = st.pills(
            "State",
            [name for name in _STATES if use.count(name)],
            selection_mode="multi",
            key=f"{key}.states",
            format_func=lambda name: f"{_STATES[name][1]} {_STATES[name][2]} {use.count(name):,}",
            label_visibility="collapsed",
        )
        shown = [code for code in use.codes if not picked or code.state in picked]
        st.download_button(
            "CSV",
            lambda: rows_csv(_CSV_COLUMNS, [(each.code, each.says, each.state, each.rows) for each in shown]),
            f"{use.setup}-in-use.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"{key}.csv",
        )
    _code_table(shown, key)


def _code_table(shown: Sequence[CodeUse], key: str) -> None:
    st.dataframe(
        [
            {
                "Code": each.code,
                "State": f"{_STATES[each.state][0]} {each.state}",
                "Records": each.rows,
                "Name": each.says,
            }
            for each in shown
        ],
        key=f"{key}.codes",
        hide_index=True,
        row_height=ROW_PIXELS,
        height=height(len(shown), _ROWS_SHOWN),
        column_config={
            "Code": st.column_config.TextColumn(width=120),
            "Name": st.column_config.TextColumn(width=420),
            "State": st.column_config.TextColumn(width=190),
            "Records": st.column_config.NumberColumn(format="localized", width=90),
        },
    )


def _nothing(seen: TablesView) -> None:
    """Why there is nothing to compare, and what to do about it."""
    records = [table.name for table in seen.in_use if table.role is TableRole.RECORDS]
    setup = [table.name for table in seen.in_use if table.role is TableRole.SETUP]
    notices.empty(
        ":material/rule:",
        "Nothing to compare yet",
        "It takes a table of *set-up* (codes), a table of *records* that carry them, and a *link* between the two.",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        has = f"Now: {count(len(setup), 'table')} of set-up and {len(records):,} of records are enabled, none linked."
        st.caption(has, width="content")
        st.button(
            "Set roles and links under Tables",
            type="tertiary",
            on_click=state.open_view,
            args=("Tables",),
            key="data.roles",
        )
