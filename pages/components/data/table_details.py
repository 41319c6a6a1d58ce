"""Parts of a table view: links, rows that were not loaded, and versions."""
# Over 300 lines: the three parts are drawn alike, from one view of the tables.

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Join,
    TableQuery,
)
from core.domain.datasets import LinkState, RealityTable, RowChange, TableDiff, TableLink
from core.domain.errors import BadRequest
from core.table_qa.join_paths import is_key
from pages.components import rights
from pages.components.data import state
from pages.components.data.rows import ROW_PIXELS, height, rows_csv
from pages.components.data.state import TablesView
from pages.components.wording import count, plain

__all__ = ["draw_left_out", "draw_links", "draw_versions"]

_LOOKS = {
    LinkState.SUGGESTED: (":material/lightbulb:", "gray"),
    LinkState.CONFIRMED: (":material/check_circle:", "blue"),
    LinkState.DISMISSED: (":material/link_off:", "gray"),
}
_COLUMN, _OTHER = "data.link.column", "data.link.other"


def draw_links(seen: TablesView, table: RealityTable) -> None:
    """The table's links with their decisions, the links that lead to it, and a form for a new one."""
    st.caption(
        "A link says that values of a column are keys of another table. Questions follow it unless it is dismissed"
        " or a warning says why not."
    )
    for link in sorted(table.links, key=lambda each: (each.state is LinkState.DISMISSED, each.column)):
        _link(seen, table, link)
    if not table.links:
        st.markdown("No links found.")
    leading = [
        f"{plain(each.name)}.{plain(link.column)}" + (" (not followed)" if _why_not_followed(seen, link) else "")
        for each in seen.tables
        for link in each.links
        if link.other_table == table.name and link.state is not LinkState.DISMISSED
    ]
    if leading:
        st.caption(f":material/subdirectory_arrow_left: Leading here: {', '.join(leading)}")
    _add_form(seen, table)


def _why_not_followed(seen: TablesView, link: TableLink) -> str:
    """Why questions do not follow a link that is not dismissed; "" when they do."""
    other = seen.table(link.other_table)
    if other is None or link.state is LinkState.DISMISSED:
        return ""
    if not seen.is_in_use(other):
        return f"{other.name} is not asked: {seen.why(other)}."
    key = is_key(other, link.other_column)
    return "" if key else "values there repeat or are missing, so that a row would count several times."


def _link(seen: TablesView, table: RealityTable, link: TableLink) -> None:
    icon, colour = _LOOKS[link.state]
    text_column, badge, yes, no = st.columns([6, 2, 1.6, 1.6], vertical_alignment="center")
    there = f"{link.other_table}.{link.other_column}"
    found = f"{link.share:.0%} of its different values are found there" if link.share else "share not measured"
    text_column.markdown(f"**{plain(link.column)}** → **{plain(there)}** :gray[{found}]")
    if why := _why_not_followed(seen, link):
        text_column.caption(f":orange[:material/link_off: Not followed: {plain(why)}]")
    with badge:
        st.badge(link.state.value, icon=icon, color=colour)  # type: ignore[arg-type]
    for column, label, new_state in ((yes, "Confirm", LinkState.CONFIRMED), (no, "Dismiss", LinkState.DISMISSED)):
        rights.button(
            "tables.set_link",
            label,
            key=f"data.link.{table.id}.{link.column}.{new_state}",
            on_click=_decide,
            args=(table.name, link, new_state),
            disabled=link.state is new_state,
            width="stretch",
            on=column,
        )


def _decide(name: str, link: TableLink, new_state: LinkState) -> None:
    state.apply_change(lambda: state.table_service().set_link(name, link, new_state), f"Link {new_state.value}.")


def _add_form(seen: TablesView, table: RealityTable) -> None:
    """A link nobody suggested: from any column to a key."""
    keys = [f"{other.name}.{key.name}" for other in seen.tables if other.id != table.id and (key := other.key)]
    with st.expander("Add a link", icon=":material/add_link:"):
        if not keys:
            st.caption("No other table has a key: a column that is filled and different in every row.")
            return
        here, there, go = st.columns([3, 3, 1.4], vertical_alignment="bottom")
        linked = {link.column for link in table.links}
        here.selectbox("Column", [column.name for column in table.columns if column.name not in linked], key=_COLUMN)
        there.selectbox("refers to", keys, key=_OTHER)
        rights.button(
            "tables.set_link",
            "Add",
            key="data.link.add",
            icon=":material/add:",
            on_click=_add,
            args=(seen, table),
            width="stretch",
            on=go,
        )


def _add(seen: TablesView, table: RealityTable) -> None:
    def work() -> None:
        column, key = st.session_state.get(_COLUMN), st.session_state.get(_OTHER)
        if not column or not key:
            raise BadRequest("A link needs two columns.", "Choose both from the lists.")
        other, _, other_column = key.rpartition(".")
        link = TableLink(column, other, other_column, _share(seen, table, column, other, other_column))
        state.table_service().set_link(table.name, link, LinkState.CONFIRMED)

    state.apply_change(work, "Link added.")


def _share(seen: TablesView, table: RealityTable, column: str, other: str, other_column: str) -> float:
    """How many of the column's different values the key holds, in [0, 1]; 0 when one of the tables is not asked."""
    there, here = seen.table(other), table.column(column)
    if there is None or here is None or not here.distinct or not (seen.is_in_use(table) and seen.is_in_use(there)):
        return 0.0
    start, end = ColumnRef(table.name, column), ColumnRef(other, other_column)
    query = TableQuery(
        table.name,
        joins=(Join(other, other, start, other_column),),
        where=(AnyOf((Condition(end, Comparison.EMPTY, negated=True),)),),
        measures=(AggregateMeasure(Aggregation.DISTINCT, start),),
    )
    rows = state.table_service().follow("", query, seen.project).rows
    return int(str(rows.value)) / here.distinct if rows is not None else 0.0


_SHOWN = 1_000  # rejected rows listed; the download has all


def draw_left_out(table: RealityTable) -> None:
    """Both lists, each with why."""
    if not table.rejected and not table.left_out:
        st.success("No rows were rejected.", icon=":material/task_alt:")
    if table.rejected:
        _rejected(table)
    if table.left_out:
        st.markdown(
            f"**{count(len(table.left_out), 'totals row')}** :gray[not loaded, so that they are not counted twice]"
        )
        st.dataframe(
            [{"Row": row, "Text": text} for row, text in table.left_out],
            key="data.totals",
            hide_index=True,
            column_config={"Row": st.column_config.NumberColumn(width=70)},
        )


def _rejected(table: RealityTable) -> None:
    found = state.table_service().rejects(table)
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


_KINDS = {"added": "+ added", "removed": "− removed", "changed": "≠ changed"}


def draw_versions(past: Sequence[RealityTable]) -> None:
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
    _diff(state.cached("diff", (newer.id, older.id), lambda: state.table_service().diff(newer, older)))


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
        f"Rows are matched by {plain(diff.by)}."
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
        st.success("No differences.", icon=":material/task_alt:")
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
