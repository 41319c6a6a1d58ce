"""SQL: a typed statement over the tables, its result, and a chart of it."""

from datetime import UTC, datetime

import streamlit as st

from core.domain.dataset_queries import Rows
from core.domain.datasets import RealityTable, TableHistory
from core.domain.errors import FivefoldError
from core.table_qa.service import MOST_SQL_ROWS
from pages.components import notices
from pages.components.chart_view import draw_chart
from pages.components.data import charts, rows, state
from pages.components.data.rows import sql_column_labels
from pages.components.data.state import TablesView
from pages.components.wording import ago, count, plain, shorten

__all__ = ["draw"]

_MOST_HISTORY = 20  # statements listed; chosen by hand


def draw(seen: TablesView) -> None:
    """The statement with the columns to copy from beside it, then what it gave."""
    write, look = st.columns([7, 3], gap="medium")
    with write:
        _statement(seen.project)
    with look:
        _schema(seen)
    result: Rows | FivefoldError | None = st.session_state.get("data.result")
    if isinstance(result, FivefoldError):
        notices.error(result)
    elif result is not None:
        _result(result)


def _statement(project: str | None) -> None:
    with st.form("data.statement", border=False):
        st.text_area(
            "Statement",
            key="sql",
            bind="query-params",
            height=240,
            placeholder="A SELECT over the tables on the right",
            label_visibility="collapsed",
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.form_submit_button("Run", type="primary", icon=":material/play_arrow:", on_click=_run, args=(project,))
            st.caption(
                f"Ctrl+Enter runs it. One SELECT, at most 10 seconds and {MOST_SQL_ROWS:,} rows.",
                width="content",
            )
    _history()


def _run(project: str | None) -> None:
    typed = (st.session_state.get("sql") or "").strip()
    if not typed:
        st.session_state.pop("data.result", None)
        return
    try:
        st.session_state["data.result"] = state.table_service().run_sql(typed, project)
    except FivefoldError as problem:
        st.session_state["data.result"] = problem


def _history() -> None:
    past = state.table_service().history(_MOST_HISTORY)
    if not past:
        return
    with st.popover("History", icon=":material/history:", type="tertiary"):
        now = datetime.now(UTC)
        for number, entry in enumerate(past):
            _history_entry(entry, number, now)


def _history_entry(entry: TableHistory, number: int, now: datetime) -> None:
    failed = f":red[:material/error: {plain(shorten(entry.error, 90))}]"
    outcome = failed if entry.error else f"{count(entry.rows, 'row')} in {entry.milliseconds:,.0f} ms"
    with st.container(gap="xxsmall"):
        st.button(
            plain(shorten(" ".join(entry.sql.split()), 90)),
            key=f"data.past.{number}",
            type="tertiary",
            on_click=_load,
            args=(entry.sql,),
        )
        st.caption(f"{outcome} · {ago(entry.at, now)}")


def _load(sql: str) -> None:
    st.session_state["sql"] = sql
    st.session_state.pop("data.result", None)


def _schema(seen: TablesView) -> None:
    """Tables and columns as SQL names them; a click inserts one."""
    with st.container(border=True, height=330, gap="small"):
        st.caption("Tables and columns")
        st.caption("Click a name to insert it. Names may also be typed as in the file.")
        for table in seen.tables:
            with st.expander(f"{plain(table.name)} :gray[{count(table.rows, 'row')}]"):
                _names(table)


def _names(table: RealityTable) -> None:
    """The table and its columns as chips; a click adds one to the statement."""
    key = f"data.names.{table.id}"
    headers = {column.name: column.header for column in table.columns}
    types = {column.name: column.type.value for column in table.columns}
    st.pills(
        "Names",
        [table.name, *(name for name in headers if name != table.name)],
        key=key,
        format_func=lambda name: plain(f"{name} · {types[name]}" if name in types else f"{name} · table"),
        on_change=_insert,
        args=(key,),
        label_visibility="collapsed",
        wrap=True,
    )
    renamed = [f"{header} → {name}" for name, header in headers.items() if name != header]
    if renamed:
        st.caption(plain(f"In the file: {', '.join(renamed)}"))


def _insert(key: str) -> None:
    """Add the chosen name to the end of the statement."""
    name = st.session_state[key]
    st.session_state[key] = None
    if name:
        typed = str(st.session_state.get("sql") or "")
        st.session_state["sql"] = f"{typed}{'' if not typed or typed[-1:].isspace() else ' '}{name} "


def _result(result: Rows) -> None:
    labels = sql_column_labels(result)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        first = "The first " if result.truncated else ""
        more = "; there are more" if result.truncated else ""
        st.markdown(
            f"**{first}{count(len(result.rows), 'row')}**{more} :gray[in {result.milliseconds:,.0f} ms]",
            width="content",
        )
        rows.downloads([head.words for head in labels], lambda: result.rows, "result", key="data.result")
        shown = st.segmented_control(
            "Show",
            ("Table", "Chart"),
            default="Table",
            required=True,
            key="data.show",
            label_visibility="collapsed",
        )
    if not result.rows:
        st.info("No row matches.", icon=":material/filter_alt_off:")
    elif shown == "Chart":
        _chart(result)
    else:
        rows.draw_rows(result, labels, key="data.result.rows")


def _chart(result: Rows) -> None:
    """Two columns against each other."""
    names = list(dict.fromkeys(result.columns))
    numbers = [name for name in names if any(rows.is_number(cell) for cell in result.column(name))]
    if not numbers:
        st.info("A chart needs a column of numbers.", icon=":material/bar_chart_off:")
        return
    kind_at, x_at, y_at = st.columns(3)
    kind = kind_at.selectbox("Kind", charts.KINDS, key="data.chart.kind")
    across = [*(name for name in names if name not in numbers), *numbers]
    x = x_at.selectbox("Across", across, key="data.chart.x")
    up = [name for name in numbers if name != x] or numbers
    y = y_at.selectbox("Up", up, key="data.chart.y")
    dark = st.context.theme.type == "dark"
    draw_chart(
        charts.picked_chart(result, kind or charts.KINDS[0], x or names[0], y or numbers[0], dark=dark),
        key="data.chart",
    )
