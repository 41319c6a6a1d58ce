"""Tables: what is loaded, and one of them in depth."""

from typing import Any

import streamlit as st

from core.documents import TableRole
from core.tabular import RealityTable
from pages.parts import notices
from pages.parts.data import state, table
from pages.parts.data.sizes import ROW_PIXELS, height
from pages.parts.data.state import Sight
from pages.parts.wording import count, day

__all__ = ["draw"]

_PER_PAGE = 12


def draw(seen: Sight) -> None:
    """The list, then the table the URL names."""
    wanted = st.query_params.get("table", "")
    chosen = seen.table(wanted)
    rows, rejected = sum(each.rows for each in seen.tables), sum(each.rejected for each in seen.tables)
    told = [count(len(seen.tables), "table"), count(rows, "row")]
    told += [f":orange[{count(rejected, 'row')} could not be read]"] if rejected else []
    st.caption(" · ".join(told) + " · select one to see its columns, rows, links and versions")
    _list(seen, chosen)
    if chosen is not None:
        table.draw(seen, chosen)
    elif wanted:
        notices.empty(
            ":material/table_chart:", "This table is not here", "It was deleted or replaced, or is another project's."
        )


def _list(seen: Sight, chosen: RealityTable | None) -> None:
    """One row per table; the selected one stands in the URL. What the URL names otherwise is selected anew."""
    kept = st.session_state
    name = chosen.name if chosen else ""
    if kept.get("data.chosen") != name:
        kept["data.chosen"], kept["data.round"] = name, kept.get("data.round", 0) + 1
    key = f"data.tables.{hash(seen.mark)}.{kept.get('data.round', 0)}"
    names = [each.name for each in seen.tables]

    def select() -> None:
        rows: list[int] = kept[key]["selection"]["rows"]
        kept["data.chosen"] = names[rows[0]] if rows else ""
        state.open_table(kept["data.chosen"])

    lines = [_row(seen, each) for each in seen.tables]
    st.dataframe(
        lines,
        key=key,
        hide_index=True,
        on_select=select,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(name)]}} if chosen else None,
        row_height=ROW_PIXELS,
        height=height(len(names), _PER_PAGE),
        column_order=[each for each in lines[0] if any(line[each] != "" for line in lines)],
        column_config=_COLUMNS,
    )


def _row(seen: Sight, each: RealityTable) -> dict[str, Any]:
    return {
        "Table": each.name,
        "Used": "✓ asked" if seen.is_asked(each) else "– not asked",
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


_COLUMNS = {
    "Table": st.column_config.TextColumn(width=150),
    "Used": st.column_config.TextColumn("For questions", width=94),
    "Holds": st.column_config.TextColumn(width=66),
    "Rows": st.column_config.NumberColumn(width=66, format="localized"),
    "Rejected": st.column_config.NumberColumn(width=70, format="localized"),
    "Columns": st.column_config.NumberColumn(width=70),
    "Version": st.column_config.NumberColumn(width=66),
    "File": st.column_config.TextColumn(width=160),
    "Loaded": st.column_config.TextColumn(width=90),
}
