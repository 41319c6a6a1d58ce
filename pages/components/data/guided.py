"""The guided form: measure, by, where and period, filled with what was understood; and SQL a model proposes."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import streamlit as st

from core.domain.dataset_queries import Aggregation, Comparison, DatePart, TableAnswer
from core.domain.datasets import Column, RealityTable
from core.domain.errors import FivefoldError
from core.table_qa.guided import LISTED, MOST_CONDITIONS, GuidedCondition, GuidedForm
from core.table_qa.join_paths import flag_values
from core.table_qa.sql_proposal import SqlProposal
from pages.components import notices
from pages.components.data import rows, state
from pages.components.data.rows import sql_column_labels
from pages.components.data.state import TablesView
from pages.components.wording import plain

__all__ = ["draw_form", "draw_proposal", "form_answer"]

_MEASURES: Mapping[str, str] = {
    Aggregation.COUNT.value: "Number of rows",
    Aggregation.SUM.value: "Total",
    Aggregation.AVERAGE.value: "Average",
    Aggregation.MEDIAN.value: "Median",
    Aggregation.LEAST.value: "Lowest",
    Aggregation.MOST.value: "Highest",
    Aggregation.SHARE.value: "Share of yes",
    Aggregation.DISTINCT.value: "Different values",
    LISTED: "List of rows",
}
_TESTS: Mapping[str, str] = {
    Comparison.IS.value: "is",
    "is not": "is not",
    Comparison.MORE.value: "more than",
    Comparison.AT_LEAST.value: "at least",
    Comparison.LESS.value: "less than",
    Comparison.AT_MOST.value: "at most",
    Comparison.HOLDS.value: "contains",
    Comparison.EMPTY.value: "is empty",
}
_KEY = "data.form"


def form_answer(seen: TablesView, question: str) -> TableAnswer | None:
    """The answer to the form as it was last submitted for this question; None when it was not."""
    submitted: tuple[Any, GuidedForm] | None = st.session_state.get(f"{_KEY}.submitted")
    if submitted is None or submitted[0] != (seen.project, question):
        return None
    form = submitted[1]
    try:
        return state.cached(
            "form answer", (seen.mark, form), lambda: state.table_service().answer_form(form, seen.project)
        )
    except FivefoldError as problem:
        notices.error(problem)
        return None


def draw_form(seen: TablesView, question: str, *, opened: bool) -> None:
    """The form in an expander, filled with what was understood of the question."""
    mark = (seen.project, question)
    if st.session_state.get(f"{_KEY}.mark") != mark:
        form = state.table_service().form(question, seen.project)
        if form is None:
            return
        _fill(form)
        st.session_state[f"{_KEY}.mark"] = mark
    with st.expander("Build the question", icon=":material/tune:", expanded=opened):
        st.caption("Filled with what was understood. Change any field, then select Answer.")
        if left_out := st.session_state[f"{_KEY}.left_out"]:
            st.caption(f":orange[:material/info:] Not carried over: {plain(' · '.join(left_out))}.")
        names = [table.name for table in seen.in_use]
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            name = st.selectbox("Table", names, key=f"{_KEY}.table", on_change=_clear_fields)
            table = seen.table(name or names[0])
            if table is None:
                return
            _measure(table)
            _by(table)
        _where(table)
        _period(table)
        st.button("Answer", key=f"{_KEY}.go", type="primary", on_click=_submit, args=(mark,))


def _fill(form: GuidedForm) -> None:
    """The widgets' state for a form."""
    session = st.session_state
    session[f"{_KEY}.table"], session[f"{_KEY}.measure"] = form.table, form.measure
    session[f"{_KEY}.column"], session[f"{_KEY}.by"] = form.column or None, form.by or None
    session[f"{_KEY}.part"] = form.part or None
    session[f"{_KEY}.day"] = form.day or None
    session[f"{_KEY}.start"], session[f"{_KEY}.end"] = form.start, form.end
    session[f"{_KEY}.left_out"] = form.left_out
    for index in range(MOST_CONDITIONS):
        each = form.where[index] if index < len(form.where) else GuidedCondition()
        session[f"{_KEY}.where.{index}"] = each.column or None
        session[f"{_KEY}.test.{index}"], session[f"{_KEY}.value.{index}"] = each.test, each.value or None


def _clear_fields() -> None:
    """Another table has other columns."""
    _fill(GuidedForm(st.session_state[f"{_KEY}.table"]))


def _names(columns: Sequence[Column], key: str) -> list[str]:
    """The names of columns; one that is chosen but does not fit is dropped."""
    names = [column.name for column in columns]
    if st.session_state.get(key) not in (None, *names):
        st.session_state[key] = None
    return names


def _column_box(label: str, table: RealityTable, columns: Sequence[Column], key: str, none: str) -> str | None:
    headers = {column.name: column.header for column in table.columns}
    return st.selectbox(
        label, _names(columns, key), key=key, index=None, placeholder=none, format_func=headers.__getitem__
    )


def _measure(table: RealityTable) -> None:
    measure = st.selectbox("Measure", list(_MEASURES), key=f"{_KEY}.measure", format_func=_MEASURES.__getitem__)
    if measure in (Aggregation.COUNT.value, LISTED):
        return
    if measure == Aggregation.SHARE.value:
        fitting = [column for column in table.columns if flag_values(column)]
    elif measure == Aggregation.DISTINCT.value:
        fitting = list(table.columns)
    else:
        fitting = [column for column in table.columns if column.type.numeric]
    _column_box("of", table, fitting, f"{_KEY}.column", "Choose a column")


def _by(table: RealityTable) -> None:
    if st.session_state[f"{_KEY}.measure"] == LISTED:
        return
    name = _column_box("By", table, table.columns, f"{_KEY}.by", "No groups")
    column = table.column(name) if name else None
    if column is not None and column.type.dated:
        parts = [part.value for part in DatePart]
        st.selectbox("each", parts, key=f"{_KEY}.part", index=None, placeholder="day", width=110)


def _where(table: RealityTable) -> None:
    """Up to three conditions; the next line appears when the one before is filled."""
    for index in range(MOST_CONDITIONS):
        column_at, test_at, value_at = st.columns([3, 2, 4], vertical_alignment="bottom")
        label = "Where" if index == 0 else "and"
        with column_at:
            name = _column_box(label, table, table.columns, f"{_KEY}.where.{index}", "No condition")
        column = table.column(name) if name else None
        if column is None:
            return
        test = test_at.selectbox(
            f"Test {index + 1}", list(_TESTS), key=f"{_KEY}.test.{index}", format_func=_TESTS.__getitem__
        )
        if test != Comparison.EMPTY.value:
            known = ["yes", "no"] if column.type.value == "boolean" else sorted(column.values)
            key = f"{_KEY}.value.{index}"
            chosen = st.session_state.get(key)
            options = list(dict.fromkeys([*known, *([chosen] if chosen else [])]))
            value_at.selectbox(
                f"Value {index + 1}", options, key=key, index=None, placeholder="Type a value", accept_new_options=True
            )


def _period(table: RealityTable) -> None:
    dated = [column for column in table.columns if column.type.dated]
    if not dated:
        st.session_state[f"{_KEY}.day"] = None
        return
    day_at, start_at, end_at = st.columns([3, 2, 4], vertical_alignment="bottom")
    with day_at:
        chosen = _column_box("Period", table, dated, f"{_KEY}.day", "All dates")
    if chosen:
        first, last = date(1600, 1, 1), date(2200, 12, 31)
        start_at.date_input("From", None, first, last, key=f"{_KEY}.start", format="YYYY-MM-DD")
        end_at.date_input("To", None, first, last, key=f"{_KEY}.end", format="YYYY-MM-DD", width=180)


def _submit(mark: object) -> None:
    """Remember the form for the question it was filled for."""

    def get(field: str) -> Any:
        return st.session_state.get(field)

    where = [
        GuidedCondition(get(f"{_KEY}.where.{index}"), get(f"{_KEY}.test.{index}"), get(f"{_KEY}.value.{index}") or "")
        for index in range(MOST_CONDITIONS)
        if get(f"{_KEY}.where.{index}")
    ]
    form = GuidedForm(
        get(f"{_KEY}.table"),
        get(f"{_KEY}.measure"),
        get(f"{_KEY}.column") or "",
        get(f"{_KEY}.by") or "",
        get(f"{_KEY}.part") or "",
        tuple(where),
        get(f"{_KEY}.day") or "",
        get(f"{_KEY}.start"),
        get(f"{_KEY}.end"),
    )
    st.session_state[f"{_KEY}.submitted"] = (mark, form)


# A statement proposed by a language model


def draw_proposal(seen: TablesView, question: str) -> None:
    """The button that asks the language model, where one is configured, and what came of it."""
    model = state.table_service().language_model
    if not model or not question:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Propose SQL",
            key="data.propose",
            icon=":material/smart_toy:",
            on_click=_propose,
            args=(seen.project, question),
        )
        st.caption(
            f"Sends the question and the names of tables and columns to {plain(model)}, no rows.", width="content"
        )
    proposed: tuple[Any, SqlProposal | FivefoldError] | None = st.session_state.get("data.proposal")
    if proposed is None or proposed[0] != (seen.project, question):
        return
    outcome = proposed[1]
    if isinstance(outcome, FivefoldError):
        notices.error(outcome)
        return
    st.markdown(f":gray[Interpreted by {plain(outcome.model)} as:] {plain(outcome.reading)}")
    st.caption(":orange[:material/info:] Proposed by a language model. Check the SQL before you rely on the result.")
    st.code(outcome.sql, language="sql", wrap_lines=True)
    rows.draw_rows(outcome.rows, sql_column_labels(outcome.rows), key="data.proposal.rows")
    st.button(
        "Open in SQL",
        key="data.proposal.to_sql",
        icon=":material/arrow_forward:",
        on_click=state.open_view,
        args=("SQL",),
        kwargs={"sql": outcome.sql},
    )


def _propose(project: str | None, question: str) -> None:
    try:
        outcome: SqlProposal | FivefoldError = state.table_service().propose_sql(question, project)
    except FivefoldError as problem:
        outcome = problem
    st.session_state["data.proposal"] = ((project, question), outcome)
