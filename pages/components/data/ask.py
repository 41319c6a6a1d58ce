"""Ask: a question in natural language, how it was interpreted, and the rows that answer it or why no table can."""
# Over 300 lines: the question, its example questions and its answer are one flow down the page.

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.domain.dataset_queries import ColumnRef, OtherReading, Rows, TableAnswer, TableQuery
from pages.components import cards, notices
from pages.components.chart_view import draw_chart
from pages.components.data import charts, guided, rows, state
from pages.components.data.rows import column_labels
from pages.components.data.state import TablesView
from pages.components.urls import page_path
from pages.components.wording import count, plain, shorten

__all__ = ["draw"]

_MOST_TAKEN = 100_000  # rows of a download; chosen by hand
_EXAMPLES = 6  # example questions; chosen by hand
_COLUMN_WIDTH = 380  # pixels: a table of two columns fits; on a narrower page the table is below the bars
_NAMED = 6  # tables named in the summary; chosen by hand


def draw(seen: TablesView) -> None:
    """The question with examples, which tables it goes to, and the answer."""
    if not seen.in_use:
        notices.empty(":material/table_chart:", "No table enabled", "Enable one under *Tables*: “Use for questions”.")
        _table_summary(seen)
        return
    offered = _example_questions(seen)
    question = _question(offered)
    _table_summary(seen)
    if question:
        answer = state.cached(
            "answer", (seen.mark, question), lambda: state.table_service().ask(question, seen.project)
        )
        built = guided.form_answer(seen, question)
        if built is not None:
            _head(built)
            _body(seen, built)
        elif answer.answered:
            _draw_answer(seen, answer)
        else:
            _draw_refusal(seen, answer)
        guided.draw_form(seen, question, opened=built is not None or not answer.answered)
        guided.draw_proposal(seen, question)
        if not answer.answered:
            _draw_columns(seen)
    else:
        built = guided.form_answer(seen, "")
        if built is not None:
            _head(built)
            _body(seen, built)
        guided.draw_form(seen, "", opened=built is not None)


def _question(offered: Sequence[str]) -> str:
    """The box, where "/" leads, and examples below it."""
    with st.container(key="question"):
        question = st.text_input(
            "Question",
            key="q",
            bind="query-params",
            type="search",
            placeholder=f"For example: {offered[0]}" if offered else "Ask a question about your tables",
            on_change=_first_reading,
            label_visibility="collapsed",
        )
    if offered:
        st.pills(
            "Examples",
            offered,
            key="data.example",
            format_func=plain,
            on_change=_take_example,
            label_visibility="collapsed",
            wrap=True,
        )
    return (question or "").strip()


def _example_questions(seen: TablesView) -> list[str]:
    """Questions these tables do answer."""
    return state.cached("examples", seen.mark, lambda: state.table_service().examples(_EXAMPLES, seen.project))


def _take_example() -> None:
    chosen = st.session_state["data.example"]
    if chosen:
        st.session_state["q"], st.session_state["data.example"] = chosen, None
        _first_reading()


def _first_reading() -> None:
    """A new question is read in the likeliest way."""
    _choose_reading(0)


def _choose_reading(number: int) -> None:
    if number:
        st.query_params["reading"] = str(number)
    elif "reading" in st.query_params:
        del st.query_params["reading"]


def _table_summary(seen: TablesView) -> None:
    """Which tables questions read, which they do not, and why."""
    names = [table.name for table in seen.in_use]
    listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    sentences = [f"Searching {count(len(names), 'table')}: {plain(listed)}."] if names else []
    left = [table for table in seen.tables if not seen.is_in_use(table)]
    if left:
        whys = "; ".join(f"{plain(table.name)} ({plain(seen.why(table))})" for table in left[:_NAMED])
        more = f"; {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        sentences.append(f"Not searched: {whys}{more}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(" ".join(sentences), width="content")
        st.button("Choose tables", key="data.choose", type="tertiary", on_click=state.open_view, args=("Tables",))


def _draw_answer(seen: TablesView, first: TableAnswer) -> None:
    """The answer under the reading that was chosen, and the others."""
    readings = [OtherReading(first.reading, first.query), *first.others] if first.query else []
    reading_number = st.query_params.get("reading", "0")
    number = int(reading_number) if reading_number.isdecimal() and int(reading_number) < len(readings) else 0
    answer = first
    if number:
        other = readings[number].query
        mark = (seen.mark, first.question, number)
        answer = state.cached(
            "reading", mark, lambda: state.table_service().follow(first.question, other, seen.project)
        )
    _head(answer)
    _other_readings([(index, each) for index, each in enumerate(readings) if index != number])
    _body(seen, answer)


def _head(answer: TableAnswer) -> None:
    with st.container(gap="xsmall"):
        st.markdown(f"## {plain(answer.headline)}", anchors=False)
        st.markdown(f":gray[Interpreted as:] {plain(answer.reading)}")
        if answer.unused:
            listed = ", ".join(f"“{word}”" for word in answer.unused)
            st.caption(f"Not used: {plain(listed)}")
        for note in answer.notes:
            st.caption(f":orange[:material/info:] {plain(note)}")


def _other_readings(readings: Sequence[tuple[int, OtherReading]]) -> None:
    """What else the question may have meant; one click answers that."""
    if not readings:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Did you mean", width="content")
        for index, each in readings:
            st.button(
                plain(each.reading),
                key=f"data.reading.{index}",
                icon=":material/alt_route:",
                on_click=_choose_reading,
                args=(index,),
            )


def _body(seen: TablesView, answer: TableAnswer) -> None:
    """The rows as a chart and a table, their source, and their SQL."""
    found, query = answer.rows, answer.query
    if found is None or query is None:
        return
    labels = column_labels(query, found, seen.tables)
    listed = not query.measures or bool(query.groups)
    if charts.has_bars(query, found):
        grid = st.grid(2, min_column_width=_COLUMN_WIDTH, gap="medium")
        with grid.cell():
            _bars(query, found)
        with grid.cell():
            rows.draw_rows(found, labels, key="data.rows")
    elif listed and found.rows:
        rows.draw_rows(found, labels, key="data.rows")
    elif listed:
        st.info("No row matches.", icon=":material/filter_alt_off:")
    _result_line(seen, answer, [head.words for head in labels] if listed else [])
    if query.measures:
        _source_rows(seen, query)
    with st.expander("SQL", icon=":material/code:"):
        st.code(found.sql, language="sql", wrap_lines=True)
        st.button(
            "Open in SQL",
            key="data.to_sql",
            icon=":material/arrow_forward:",
            on_click=state.open_view,
            args=("SQL",),
            kwargs={"sql": found.sql},
        )


def _bars(query: TableQuery, found: Rows) -> None:
    dark = st.context.theme.type == "dark"
    draw_chart(charts.group_bars(query, found, dark=dark), key="data.bars")
    if len(found.rows) > charts.MOST_BARS:
        which = "latest" if query.groups[0].part else "first"
        total = count(found.total, "group")
        st.caption(f"The {which} {charts.MOST_BARS} of {total}; the table goes on.")


def _result_line(seen: TablesView, answer: TableAnswer, labels: Sequence[str], *, key: str = "data.answer") -> None:
    """How much is shown, its citation, and the downloads."""
    found = answer.rows
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if found.truncated:
            st.caption(f"showing {len(found.rows):,} of {found.total:,}", width="content")
        _citation(seen, answer)
        st.caption(f"{found.milliseconds:,.0f} ms", width="content")
        if labels and found.rows:
            rows.downloads(labels, lambda: _all_rows(answer), "answer", key=key)
    if labels and found.total > _MOST_TAKEN:
        st.caption(f"Downloads are limited to the first {_MOST_TAKEN:,} rows. Narrow the question to get all of them.")


def _all_rows(answer: TableAnswer) -> Sequence[Sequence[object]]:
    """What a file takes along: all rows, not only those shown."""
    if answer.query is None or answer.rows is None or not answer.rows.truncated:
        return answer.rows.rows if answer.rows else ()
    return state.table_service().rows(answer.query, _MOST_TAKEN).rows


def _citation(seen: TablesView, answer: TableAnswer) -> None:
    """The source of the rows, as a link to the document."""
    table = seen.table(answer.tables[0]) if answer.tables else None
    if table is not None:
        icon = ":material/format_quote:"
        cards.document_link(table.document_id, plain(answer.citation), icon=icon, help="Open the document")


def _source_rows(seen: TablesView, query: TableQuery) -> None:
    """The rows behind a number, one by one."""
    if not st.toggle("Show source rows", key="behind", bind="query-params"):
        return
    table = seen.table(query.table)
    if table is None:
        return
    columns = tuple(ColumnRef(table.name, column.name) for column in table.columns)
    source_query = replace(
        query, columns=columns, measures=(), groups=(), having=(), order=None, limit=None, counted=False
    )
    behind = state.cached(
        "behind", (seen.mark, repr(source_query)), lambda: state.table_service().follow("", source_query, seen.project)
    )
    if behind.rows is not None and behind.query is not None:
        labels = column_labels(behind.query, behind.rows, seen.tables)
        rows.draw_rows(behind.rows, labels, key="data.behind.rows")
        _result_line(seen, behind, [head.words for head in labels], key="data.behind")


def _draw_refusal(seen: TablesView, answer: TableAnswer) -> None:
    """Why there is no answer, the readings to choose from, and what to do next."""
    reading_number = st.query_params.get("reading", "")
    if reading_number.isdecimal() and 0 < int(reading_number) <= len(answer.others):
        chosen = answer.others[int(reading_number) - 1]
        mark = (seen.mark, answer.question, reading_number)
        reading = state.cached(
            "reading", mark, lambda: state.table_service().follow(answer.question, chosen.query, seen.project)
        )
        _head(reading)
        _choices(answer, int(reading_number))
        _body(seen, reading)
        return
    with st.container(border=True):
        title = "What did you mean?" if answer.others else "No answer from the tables"
        icon = "help" if answer.others else "do_not_disturb_on"
        st.markdown(f"#### :material/{icon}: {title}", anchors=False)
        st.markdown(plain(answer.refusal))
        _choices(answer, 0)
        st.caption("A question that is not understood completely is not guessed. Rephrase it, or use the form below.")
        st.page_link(
            page_path("search"),
            label="Ask the documents on Search",
            icon=":material/search:",
            query_params={"q": answer.question},
        )


def _choices(answer: TableAnswer, chosen: int) -> None:
    """The readings of a question that fits several; one click answers it."""
    for index, each in enumerate(answer.others, start=1):
        if index != chosen:
            st.button(
                plain(each.reading),
                key=f"data.reading.{index}",
                icon=":material/alt_route:",
                on_click=_choose_reading,
                args=(index,),
            )


def _draw_columns(seen: TablesView) -> None:
    """What can be asked about."""
    with st.expander("Tables and columns you can ask about", icon=":material/table_chart:"):
        for table in seen.in_use:
            columns = ", ".join(column.header for column in table.columns)
            st.markdown(f"**{plain(table.name)}** :gray[{plain(shorten(columns, 600))}]")
