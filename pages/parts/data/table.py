"""One table: what it is for, what its columns hold, its first rows, its links, what was left out, and its versions."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.documents import TableRole
from core.table_queries import Ref, TableQuery
from core.tabular import Column, LinkState, RealityTable
from pages.parts import session
from pages.parts.data import left_out, links, rows, state, versions
from pages.parts.data.heads import heads_of
from pages.parts.data.sizes import ROW_PIXELS, height
from pages.parts.data.state import Sight
from pages.parts.urls import page_path
from pages.parts.wording import count, day, plain

__all__ = ["draw"]

_FIRST = 50
_COMMON = 4
_TALLEST = 20
_ROLE_HELP = "Records are what happened or who there is; set-up is what has been configured, such as codes."
_USED_HELP = "Whether questions in words, the comparison *In use* and the five truths read this table."
_ROLES = {TableRole.RECORDS: "Records", TableRole.SETUP: "Set-up"}


def draw(seen: Sight, table: RealityTable) -> None:
    """What it is, what can be decided about it, and the part that is looked at."""
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
        where = {"document": str(table.document_id)}
        st.page_link(page_path("library"), label="Open document", icon=":material/library_books:", query_params=where)
        inside = {"documents": str(table.document_id)}
        st.page_link(page_path("search"), label="Find in Search", icon=":material/search:", query_params=inside)
    facts = [plain(table.document_name), *([plain(table.label)] if table.label != "Table" else [])]
    facts += [count(table.rows, "row")]
    dropped = table.rejected + len(table.left_out)
    facts += [f":orange[{count(dropped, 'row')} left out]"] if dropped else []
    facts += [f"version {table.version}, loaded {day(table.loaded_at)}", plain(table.project or "all projects")]
    st.caption(" · ".join(facts))
    for warning in table.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")


def _decisions(seen: Sight, table: RealityTable) -> None:
    """Its role, and whether questions read it; each with who decided. The widgets show what is stored."""
    role_key, used_key = f"data.role.{table.id}", f"data.used.{table.id}"
    st.session_state[role_key], st.session_state[used_key] = table.role, seen.is_asked(table)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "What it holds",
            list(_ROLES),
            key=role_key,
            required=True,
            format_func=_ROLES.__getitem__,
            on_change=_set_role,
            args=(table.name, role_key),
            label_visibility="collapsed",
        )
        by = "set by hand" if table.role_by == "analyst" else "suggested from its name and columns"
        st.caption(by, width="content", help=_ROLE_HELP)
        st.toggle("Used for questions", key=used_key, on_change=_set_used, args=(table.name, used_key))
        st.caption(plain(seen.why(table)), width="content", help=_USED_HELP)
        if table.used is not None:
            st.button(
                "Leave it to the document",
                key=f"data.unset.{table.id}",
                type="tertiary",
                on_click=_unset,
                args=(table.name,),
            )
    _called(table)


def _called(table: RealityTable) -> None:
    """What one row is called, when the file's name does not tell."""
    key = f"data.called.{table.id}"
    st.session_state[key] = ", ".join(table.called)
    st.text_input(
        "One row is called",
        key=key,
        placeholder="for instance: shipment, delivery",
        help="Words for a row, with commas between. Questions may use them: “how many shipments went to Ohio”.",
        on_change=_set_called,
        args=(table.name, key),
        width=420,
    )


def _set_called(name: str, key: str) -> None:
    words = str(st.session_state[key]).split(",")
    state.try_to(lambda: state.reality().set_called(name, words), "Questions may call its rows so now.")


def _set_role(name: str, key: str) -> None:
    role: TableRole = st.session_state[key]
    state.try_to(lambda: session.workbench().set_table_role(name, role), f"It holds {_ROLES[role].lower()} now.")


def _set_used(name: str, key: str) -> None:
    used: bool = st.session_state[key]
    said = "Questions read it now." if used else "Questions leave it out now."
    state.try_to(lambda: state.reality().set_used(name, used), said)


def _unset(name: str) -> None:
    state.try_to(lambda: state.reality().set_used(name, None), "Its document's truth decides again.")


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
    """One column's profile; what says nothing is left empty."""
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


def _rows(seen: Sight, table: RealityTable) -> None:
    found = state.looked_into(table, limit=_FIRST)
    st.caption(f"The first {min(_FIRST, table.rows):,} of {count(table.rows, 'row')}, as they were loaded")
    columns = tuple(Ref(table.name, column.name) for column in table.columns)
    rows.drawn(found, heads_of(TableQuery(table.name, columns=columns), found, seen.tables), key="data.first")


_PARTS: Mapping[str, Callable[[Sight, RealityTable], None]] = {
    "Columns": lambda _, table: _columns(table),
    "Rows": _rows,
    "Links": links.draw,
    "Left out": lambda _, table: left_out.draw(table),
    "Versions": lambda _, table: versions.draw(state.reality().versions(table.name)),
}
"""The parts, as the switch and the URL name them."""
