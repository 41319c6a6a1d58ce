"""Versions of a table, and what an upload changed, row by row."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from core.tabular import RealityTable, RowChange, TableDiff
from pages.parts.data import state
from pages.parts.data.exports import rows_csv
from pages.parts.data.sizes import ROW_PIXELS, height
from pages.parts.wording import count, plain

__all__ = ["draw"]

_KINDS = {"added": "+ added", "removed": "− removed", "changed": "≠ changed"}


def draw(past: Sequence[RealityTable]) -> None:
    """Every version, newest first, and two neighbours compared."""
    st.dataframe(
        [_version(each) for each in past],
        key="data.versions",
        hide_index=True,
        placeholder="",
        column_config={"Rows": st.column_config.NumberColumn(format="localized")},
    )
    pairs = {f"{older.version}–{newer.version}": (newer, older) for newer, older in pairwise(past)}
    if not pairs:
        st.caption("A file of the same name and project becomes the next version, and is compared with this one.")
        return
    chosen = st.selectbox(
        "What changed",
        list(pairs),
        key="data.pair",
        format_func=lambda pair: f"from version {pairs[pair][1].version} to {pairs[pair][0].version}",
        width=280,
    )
    newer, older = pairs[chosen if chosen in pairs else next(iter(pairs))]
    _diff(state.remembered("diff", (newer.id, older.id), lambda: state.reality().diff(newer, older)))


def _version(table: RealityTable) -> dict[str, Any]:
    return {
        "Version": table.version,
        "State": "✓ current" if table.current else "replaced",
        "Rows": table.rows,
        "Rejected": table.rejected,
        "Columns": len(table.columns),
        "File": table.document_name,
        "Loaded": f"{table.loaded_at:%Y-%m-%d %H:%M}",
    }


def _diff(diff: TableDiff) -> None:
    with st.container(horizontal=True, gap="large"):
        st.metric("Rows", f"{diff.before:,} → {diff.after:,}", width="content")
        st.metric("Added", f"{diff.added:,}", width="content")
        st.metric("Removed", f"{diff.removed:,}", width="content")
        st.metric("Changed", f"{diff.changed:,}" if diff.by else "–", width="content")
    how = (
        f"Rows are told apart by {plain(diff.by)}."
        if diff.by
        else (
            "Neither column is a key in both, so whole rows are compared: a changed row is one removed and one added."
        )
    )
    st.caption(how)
    for words, names in (("Columns added", diff.columns_added), ("Columns removed", diff.columns_removed)):
        if names:
            st.markdown(f"**{words}:** {plain(', '.join(names))}")
    if not (diff.added or diff.removed or diff.changed):
        st.success("No row differs.", icon=":material/task_alt:")
        return
    _changes(diff)


def _changes(diff: TableDiff) -> None:
    listed = [line for change in diff.rows for line in _lines(change)]
    total = diff.added + diff.removed + diff.changed
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        first = f"the first {len(diff.rows):,} of " if len(diff.rows) < total else ""
        st.caption(f"{first}{count(total, 'row')} that differ", width="content")
        st.download_button(
            "CSV",
            lambda: rows_csv(list(listed[0]), [list(line.values()) for line in listed]),
            f"{diff.table}-changes.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key="data.diff.csv",
        )
    st.dataframe(
        listed,
        key="data.diff",
        hide_index=True,
        placeholder="",
        row_height=ROW_PIXELS,
        height=height(len(listed)),
        column_order=None if diff.by else ("What", "Before", "After"),
        column_config={
            "What": st.column_config.TextColumn(width=100),
            "Row": st.column_config.TextColumn(diff.by or "Row", width=120),
            "Column": st.column_config.TextColumn(width=150),
            "Before": st.column_config.TextColumn(width=200),
            "After": st.column_config.TextColumn(width=200),
        },
    )


def _lines(change: RowChange) -> list[dict[str, str]]:
    """One line per changed cell; one per row that is only on one side."""
    kind = _KINDS.get(change.kind, change.kind)
    if change.kind != "changed":
        before, after = _cells(change.before), _cells(change.after)
        return [{"What": kind, "Row": change.key, "Column": "", "Before": before, "After": after}]
    return [
        {
            "What": kind,
            "Row": change.key,
            "Column": name,
            "Before": change.before[name] or "",
            "After": change.after.get(name) or "",
        }
        for name in change.before
    ]


def _cells(cells: Mapping[str, str | None]) -> str:
    return " · ".join(f"{name} {value}" for name, value in cells.items() if value)
