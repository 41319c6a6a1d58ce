"""One table: what it is for, what its columns hold, its first rows, its links, what was left out, and its versions."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.documents import TableRole
from core.table_queries import Ref, TableQuery
from core.tabular import Column, RealityTable
from pages.parts import session
from pages.parts.data import left_out, links, rows, state, versions
from pages.parts.data.heads import heads_of
from pages.parts.data.state import Sight
from pages.parts.urls import page_path
from pages.parts.wording import count, day, plain

__all__ = ["draw"]

_FIRST = 50
_COMMON = 4
_ROLES = {TableRole.RECORDS: "Records", TableRole.SETUP: "Set-up"}


def draw(seen: Sight, table: RealityTable) -> None:
    """What it is, what can be decided about it, and the part that is looked at."""
    with st.container(border=True):
        _head(table)
        _decisions(seen, table)
        past = state.reality().versions(table.name)
        dropped = table.rejected + len(table.left_out)
        parts: Mapping[str, tuple[int, Callable[[], None]]] = {
            "Columns": (len(table.columns), lambda: _columns(table)),
            "Rows": (table.rows, lambda: _rows(seen, table)),
            "Links": (len(table.links), lambda: links.draw(seen, table)),
            "Left out": (dropped, lambda: left_out.draw(table)),
            "Versions": (len(past), lambda: versions.draw(past)),
        }
        part = st.segmented_control(
            "Part",
            list(parts),
            default="Columns",
            required=True,
            key="part",
            bind="query-params",
            label_visibility="collapsed",
            format_func=lambda name: f"{name} {parts[name][0]:,}",
            wrap=True,
        )
        parts[part or "Columns"][1]()


def _head(table: RealityTable) -> None:
    st.markdown(f"#### {plain(table.name)}", anchors=False)
    facts = [plain(table.document_name), plain(table.label), count(table.rows, "row")]
    facts += [f"version {table.version}, loaded {day(table.loaded_at)}", plain(table.project or "all projects")]
    st.caption(" · ".join(facts))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        where = {"document": str(table.document_id)}
        st.page_link(page_path("library"), label="Open document", icon=":material/library_books:", query_params=where)
        inside = {"documents": str(table.document_id)}
        st.page_link(page_path("search"), label="Find in Search", icon=":material/search:", query_params=inside)
    for warning in table.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")


def _decisions(seen: Sight, table: RealityTable) -> None:
    """Its role, and whether questions read it; each with who decided. The widgets show what is stored."""
    role_key, used_key = f"data.role.{table.id}", f"data.used.{table.id}"
    st.session_state[role_key], st.session_state[used_key] = table.role, seen.is_asked(table)
    role, used = st.columns(2, gap="medium")
    with role.container(gap="xsmall"):
        st.segmented_control(
            "What it holds",
            list(_ROLES),
            key=role_key,
            required=True,
            format_func=_ROLES.__getitem__,
            on_change=_set_role,
            args=(table.name, role_key),
            help="Records are what happened or who there is; set-up is what has been configured, such as codes.",
        )
        st.caption("set by hand" if table.role_by == "analyst" else "suggested from its name and columns")
    with used.container(gap="xsmall"):
        st.markdown("Questions", help="Whether questions in words, the comparison and the five truths read this table.")
        st.toggle("Used for questions", key=used_key, on_change=_set_used, args=(table.name, used_key))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(plain(seen.why(table)), width="content")
            if table.used is not None:
                st.button(
                    "Leave it to the document",
                    key=f"data.unset.{table.id}",
                    type="tertiary",
                    on_click=_unset,
                    args=(table.name,),
                )


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
    st.dataframe(
        [_column(table, column) for column in table.columns],
        key=f"data.columns.{table.id}",
        hide_index=True,
        row_height=32,
        height="content" if len(table.columns) <= 20 else 38 + 32 * 20,
        column_config=_PROFILE,
    )


def _column(table: RealityTable, column: Column) -> dict[str, Any]:
    common = [f"{value} {number:,}" for value, number in column.top[:_COMMON]]
    link = next((each for each in table.links if each.column == column.name), None)
    return {
        "Header": column.header,
        "Name": column.name,
        "Type": column.type.value,
        "Filled": column.filled / table.rows if table.rows else None,
        "Different": column.distinct,
        "From": column.least,
        "To": column.most,
        "Commonest": "" if column.key or column.distinct == column.filled else " · ".join(common),
        "Is": " · ".join(
            words
            for words in (
                "✓ key" if column.key else "",
                f"● {column.personal}" if column.personal else "",
                f"→ {link.other_table}" if link else "",
            )
            if words
        ),
        "Note": column.note,
    }


_PROFILE = {
    "Header": st.column_config.TextColumn(width=170),
    "Name": st.column_config.TextColumn("In SQL", width=150),
    "Type": st.column_config.TextColumn(width=76),
    "Filled": st.column_config.NumberColumn(format="percent", width=70),
    "Different": st.column_config.NumberColumn(format="localized", width=76),
    "From": st.column_config.TextColumn(width=110),
    "To": st.column_config.TextColumn(width=110),
    "Commonest": st.column_config.TextColumn(width=260),
    "Is": st.column_config.TextColumn("Key, personal, link", width=150),
}


def _rows(seen: Sight, table: RealityTable) -> None:
    found = state.looked_into(seen, table, limit=_FIRST)
    if found is None:
        st.info(
            "Rows are shown of tables that questions read. Switch it on above, or open its document.",
            icon=":material/visibility_off:",
        )
        return
    st.caption(f"The first {min(_FIRST, table.rows):,} of {count(table.rows, 'row')}, as they were loaded")
    columns = tuple(Ref(table.name, column.name) for column in table.columns)
    rows.drawn(found, heads_of(TableQuery(table.name, columns=columns), found, seen.tables), key="data.first")
