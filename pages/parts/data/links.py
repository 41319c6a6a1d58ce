"""Links: which column names rows of another table. A question goes from table to table along them."""

import streamlit as st

from core.errors import BadRequest
from core.table_queries import AnyOf, Condition, Fold, Join, Measure, Ref, TableQuery, Test
from core.tabular import Link, LinkState, RealityTable
from pages.parts.data import state
from pages.parts.data.state import Sight
from pages.parts.wording import plain

__all__ = ["draw"]

_LOOKS = {
    LinkState.SUGGESTED: (":material/lightbulb:", "gray"),
    LinkState.CONFIRMED: (":material/check_circle:", "blue"),
    LinkState.DISMISSED: (":material/link_off:", "gray"),
}
_COLUMN, _OTHER = "data.link.column", "data.link.other"


def draw(seen: Sight, table: RealityTable) -> None:
    """The table's links with what can be decided, those that lead here, and a new one."""
    st.caption(
        "A link says that values of a column are keys of another table. Questions follow links that are not dismissed."
    )
    for link in sorted(table.links, key=lambda each: (each.state is LinkState.DISMISSED, each.column)):
        _link(table, link)
    if not table.links:
        st.markdown("No column of this table was found to name rows of another.")
    leading = [
        f"{plain(each.name)}.{plain(link.column)}"
        for each in seen.tables
        for link in each.links
        if link.other_table == table.name and link.state is not LinkState.DISMISSED
    ]
    if leading:
        st.caption(f":material/subdirectory_arrow_left: Leading here: {', '.join(leading)}")
    _adding(seen, table)


def _link(table: RealityTable, link: Link) -> None:
    icon, colour = _LOOKS[link.state]
    said, badge, yes, no = st.columns([6, 2, 1.6, 1.6], vertical_alignment="center")
    there = f"{link.other_table}.{link.other_column}"
    found = f"{link.share:.0%} of its different values are found there" if link.share else "share not measured"
    said.markdown(f"**{plain(link.column)}** → **{plain(there)}** :gray[{found}]")
    with badge:
        st.badge(link.state.value, icon=icon, color=colour)  # type: ignore[arg-type]
    for column, label, wanted in ((yes, "Confirm", LinkState.CONFIRMED), (no, "Dismiss", LinkState.DISMISSED)):
        column.button(
            label,
            key=f"data.link.{table.id}.{link.column}.{wanted}",
            on_click=_decide,
            args=(table.name, link, wanted),
            disabled=link.state is wanted,
            width="stretch",
        )


def _decide(name: str, link: Link, wanted: LinkState) -> None:
    state.try_to(lambda: state.reality().set_link(name, link, wanted), f"The link is {wanted.value}.")


def _adding(seen: Sight, table: RealityTable) -> None:
    """A link nobody suggested: from any column to a key."""
    keys = [f"{other.name}.{key.name}" for other in seen.tables if other.id != table.id and (key := other.key)]
    with st.expander("Add a link", icon=":material/add_link:"):
        if not keys:
            st.caption("No other table has a key: a column that is filled and different in every row.")
            return
        here, there, go = st.columns([3, 3, 1.4], vertical_alignment="bottom")
        linked = {link.column for link in table.links}
        here.selectbox("Column", [column.name for column in table.columns if column.name not in linked], key=_COLUMN)
        there.selectbox("names rows by", keys, key=_OTHER)
        go.button("Add", key="data.link.add", icon=":material/add:", on_click=_add, args=(seen, table), width="stretch")


def _add(seen: Sight, table: RealityTable) -> None:
    def work() -> None:
        column, key = st.session_state.get(_COLUMN), st.session_state.get(_OTHER)
        if not column or not key:
            raise BadRequest("A link needs two columns.", "Choose both from the lists.")
        other, _, other_column = key.rpartition(".")
        link = Link(column, other, other_column, _share(seen, table, column, other, other_column))
        state.reality().set_link(table.name, link, LinkState.CONFIRMED)

    state.try_to(work, "The link is added.")


def _share(seen: Sight, table: RealityTable, column: str, other: str, other_column: str) -> float:
    """How many of the column's different values the key holds, in [0, 1]; 0 when one of the tables is not asked."""
    there, here = seen.table(other), table.column(column)
    if there is None or here is None or not here.distinct or not (seen.is_asked(table) and seen.is_asked(there)):
        return 0.0
    start, end = Ref(table.name, column), Ref(other, other_column)
    query = TableQuery(
        table.name,
        joins=(Join(other, other, start, other_column),),
        where=(AnyOf((Condition(end, Test.EMPTY, negated=True),)),),
        measures=(Measure(Fold.DISTINCT, start),),
    )
    rows = state.reality().follow("", query, seen.project).rows
    return int(str(rows.value)) / here.distinct if rows is not None else 0.0
