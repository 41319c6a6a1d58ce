"""Tables: the list of loaded tables, and one table in detail."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.domain.dataset_queries import ColumnRef, TableQuery
from core.domain.datasets import Column, LinkState, RealityTable
from core.domain.documents import TableRole
from core.knowledge.glossary import meaning
from pages.components import cards, notices, rights, session
from pages.components.data import rows, state, table_details
from pages.components.data.rows import ROW_PIXELS, column_labels, height
from pages.components.data.state import TablesView
from pages.components.urls import page_path
from pages.components.wording import count, day, plain

__all__ = ["draw"]

_PER_PAGE = 12
"""Tables of the list that are seen without scrolling."""
_FIRST = 50
"""Rows shown of a table, so that the page stays quick."""
_COMMON = 4
"""Commonest values named for a column, as many as fit its cell."""
_TALLEST = 20
"""Columns of a table that are seen without scrolling."""
_ROLE_HELP = "Records are events or people; set-up is what is configured, such as codes."
_USED_HELP = "Whether questions, the *Code check* and the five truths use this table."
_ROLES = {TableRole.RECORDS: "Records", TableRole.SETUP: "Set-up"}


def draw(seen: TablesView) -> None:
    """The list, then the table the URL names."""
    table_name = st.query_params.get("table", "")
    chosen = seen.table(table_name)
    rows, rejected = sum(each.rows for each in seen.tables), sum(each.rejected for each in seen.tables)
    facts = [count(len(seen.tables), "table"), count(rows, "row")]
    facts += [f":orange[{count(rejected, 'row')} could not be read]"] if rejected else []
    st.caption(" · ".join(facts) + " · select one to see its columns, rows, links and versions")
    _list(seen, chosen)
    if chosen is not None:
        _draw_table(seen, chosen)
    elif table_name:
        notices.empty(
            ":material/table_chart:", "Table not found", "It was deleted, replaced, or belongs to another project."
        )


def _list(seen: TablesView, chosen: RealityTable | None) -> None:
    """One row per table; the URL names the selected one."""
    session_state = st.session_state
    name = chosen.name if chosen else ""
    if session_state.get("data.chosen") != name:
        session_state["data.chosen"], session_state["data.round"] = name, session_state.get("data.round", 0) + 1
    key = f"data.tables.{hash(seen.mark)}.{session_state.get('data.round', 0)}"
    names = [each.name for each in seen.tables]

    def select() -> None:
        rows: list[int] = session_state[key]["selection"]["rows"]
        session_state["data.chosen"] = names[rows[0]] if rows else ""
        state.open_table(session_state["data.chosen"])

    lines = [_list_row(seen, each) for each in seen.tables]
    st.dataframe(
        lines,
        key=key,
        hide_index=True,
        on_select=select,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(name)]}} if chosen else None,
        row_height=ROW_PIXELS,
        height=height(len(names), _PER_PAGE),
        column_order=[each for each in lines[0] if any(line[each] != _USUAL.get(each, "") for line in lines)],
        column_config=_list_columns(),
    )


_USUAL = {"Rejected": 0, "Version": 1}
"""What most tables have; a column that says nothing else is left out."""


def _list_row(seen: TablesView, each: RealityTable) -> dict[str, Any]:
    return {
        "Table": each.name,
        "Used": "✓ used" if seen.is_in_use(each) else "– not used",
        "Holds": "set-up" if each.role is TableRole.SETUP else "records",
        "Rows": each.rows,
        "Rejected": each.rejected,
        "Version": each.version,
        "File": each.document_name,
        "Columns": len(each.columns),
        "Part": each.label if each.label != "Table" else "",
        "Project": each.project or "",
        "Loaded": day(each.loaded_at),
    }


def _list_columns() -> dict[str, Any]:
    """How wide each column is, and what its head means."""
    return {
        "Table": st.column_config.TextColumn(width=220),
        "Used": st.column_config.TextColumn("For questions", width=94),
        "Holds": st.column_config.TextColumn(width=66, help=meaning("table_role")),
        "Rows": st.column_config.NumberColumn(width=66, format="localized"),
        "Rejected": st.column_config.NumberColumn(width=70, format="localized", help=meaning("rejected_rows")),
        "Columns": st.column_config.NumberColumn(width=70),
        "Version": st.column_config.NumberColumn(width=66),
        "File": st.column_config.TextColumn(width=220),
        "Part": st.column_config.TextColumn(width=130),
        "Loaded": st.column_config.TextColumn(width=90),
    }


def _draw_table(seen: TablesView, table: RealityTable) -> None:
    """Facts about a table, its settings, and the chosen part."""
    with st.container(border=True):
        _head(table)
        _decisions(seen, table)
        part = st.segmented_control(
            "Part",
            list(_PARTS),
            default="Columns",
            required=True,
            key="part",
            bind="query-params",
            label_visibility="collapsed",
            wrap=True,
        )
        _PARTS[part or "Columns"](seen, table)


def _head(table: RealityTable) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"#### {plain(table.name)}", anchors=False, width="content")
        st.space("stretch")
        cards.document_link(table.document_id, "Open document")
        inside = {"documents": str(table.document_id)}
        st.page_link(page_path("search"), label="Find in Search", icon=":material/search:", query_params=inside)
    facts = [plain(table.document_name), *([plain(table.label)] if table.label != "Table" else [])]
    facts += [count(table.rows, "row")]
    dropped = table.rejected + len(table.left_out)
    facts += [f":orange[{count(dropped, 'row')} rejected]"] if dropped else []
    facts += [f"version {table.version}, loaded {day(table.loaded_at)}", plain(table.project or "all projects")]
    st.caption(" · ".join(facts))
    for warning in table.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")


def _decisions(seen: TablesView, table: RealityTable) -> None:
    """The role of a table and whether questions read it, each with who decided. The widgets show the stored values."""
    role_key, used_key = f"data.role.{table.id}", f"data.used.{table.id}"
    st.session_state[role_key], st.session_state[used_key] = table.role, seen.is_in_use(table)
    refusal = rights.refusal("tables.set_used")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "What it holds",
            list(_ROLES),
            key=role_key,
            required=True,
            format_func=_ROLES.__getitem__,
            on_change=_set_role,
            args=(table.name, role_key),
            disabled=bool(refusal),
            help=refusal or None,
            label_visibility="collapsed",
        )
        by = "set by hand" if table.role_by == "analyst" else "suggested from its name and columns"
        st.caption(by, width="content", help=_ROLE_HELP)
        st.toggle(
            "Use for questions",
            key=used_key,
            on_change=_set_used,
            args=(table.name, used_key),
            disabled=bool(refusal),
            help=refusal or None,
        )
        st.caption(plain(seen.why(table)), width="content", help=_USED_HELP)
        if table.used is not None:
            rights.button(
                "tables.set_used",
                "Reset to default",
                key=f"data.unset.{table.id}",
                type="tertiary",
                on_click=_unset,
                args=(table.name,),
            )
    _row_names(table)


def _row_names(table: RealityTable) -> None:
    """The names of one row, for questions that do not use the file's name."""
    key = f"data.called.{table.id}"
    st.session_state[key] = ", ".join(table.called)
    st.text_input(
        "Row name",
        key=key,
        disabled=not rights.may("tables.set_row_names"),
        placeholder="for instance: shipment, delivery",
        help="Words for a row, with commas between. Questions may use them: “how many shipments went to Ohio”.",
        on_change=_set_called,
        args=(table.name, key),
        width=420,
    )


def _set_called(name: str, key: str) -> None:
    words = str(st.session_state[key]).split(",")
    state.apply_change(lambda: state.table_service().set_row_names(name, words), "Row name saved.")


def _set_role(name: str, key: str) -> None:
    role: TableRole = st.session_state[key]
    state.apply_change(
        lambda: session.workbench().documents.set_table_role(name, role), f"Content set to {_ROLES[role].lower()}."
    )


def _set_used(name: str, key: str) -> None:
    used: bool = st.session_state[key]
    message = "Included in questions." if used else "Excluded from questions."
    state.apply_change(lambda: state.table_service().set_used(name, used), message)


def _unset(name: str) -> None:
    state.apply_change(lambda: state.table_service().set_used(name, None), "Reset to default.")


def _columns(table: RealityTable) -> None:
    personal = [column for column in table.columns if column.personal]
    if personal:
        listed = "; ".join(f"{column.header} ({column.personal})" for column in personal)
        st.markdown(f":orange[:material/person_alert:] **Personal data:** {plain(listed)}")
    lines = [_column(table, column) for column in table.columns]
    shown = [name for name in lines[0] if name in _ALWAYS or any(line[name] for line in lines)]
    st.dataframe(
        lines,
        key=f"data.columns.{table.id}",
        hide_index=True,
        row_height=ROW_PIXELS,
        height=height(len(lines), _TALLEST),
        column_order=shown,
        column_config=_PROFILE,
    )


def _column(table: RealityTable, column: Column) -> dict[str, Any]:
    """The profile of one column; unknown values stay empty."""
    link = next((each for each in table.links if each.column == column.name), None)
    roles = [
        "✓ key" if column.key else "",
        f"● {column.personal}" if column.personal else "",
        f"→ {link.other_table}" if link and link.state is not LinkState.DISMISSED else "",
    ]
    repeats = not column.key and column.distinct < column.filled
    common = [f"{value} ({number:,})" for value, number in column.top[:_COMMON]] if repeats else []
    return {
        "Header": column.header,
        "Name": column.name if column.name != column.header else "",
        "Type": column.type.value,
        "Is": " · ".join(role for role in roles if role),
        "Filled": column.filled / table.rows if table.rows else None,
        "Different": column.distinct,
        "Range": column.least if column.least == column.most else f"{column.least} – {column.most}",
        "Commonest": " · ".join(common),
        "Note": column.note,
    }


_ALWAYS = {"Header", "Type", "Filled", "Different"}
_PROFILE = {
    "Header": st.column_config.TextColumn(width=150),
    "Name": st.column_config.TextColumn("In SQL", width=150),
    "Type": st.column_config.TextColumn(width=72),
    "Is": st.column_config.TextColumn("Key, personal, link", width=140),
    "Filled": st.column_config.NumberColumn(format="percent", width=64),
    "Different": st.column_config.NumberColumn(format="localized", width=76),
    "Range": st.column_config.TextColumn(width=190),
    "Commonest": st.column_config.TextColumn(width=300),
}


def _first_rows(seen: TablesView, table: RealityTable) -> None:
    found = state.first_rows(table, limit=_FIRST)
    st.caption(f"First {min(_FIRST, table.rows):,} of {count(table.rows, 'row')}")
    columns = tuple(ColumnRef(table.name, column.name) for column in table.columns)
    rows.draw_rows(found, column_labels(TableQuery(table.name, columns=columns), found, seen.tables), key="data.first")


_PARTS: Mapping[str, Callable[[TablesView, RealityTable], None]] = {
    "Columns": lambda _, table: _columns(table),
    "Rows": _first_rows,
    "Links": table_details.draw_links,
    "Rejected rows": lambda _, table: table_details.draw_left_out(table),
    "Versions": lambda _, table: table_details.draw_versions(state.table_service().versions(table.name)),
}
"""The parts, as the switch and the URL name them."""
