"""Library: every document, found by what it is; and one of them with its labels, its passages and its original."""

from collections import Counter
from typing import Any

import streamlit as st

from core.documents import Document, DocumentState, Truth
from core.tables.domains import domain_title
from core.tables.jurisdictions import jurisdiction_title
from pages.parts import notices, session
from pages.parts.entities import draw_browser
from pages.parts.library.details import draw_details
from pages.parts.library.editing import draw_editing
from pages.parts.library.history import draw_history
from pages.parts.library.sheet import draw_sheet
from pages.parts.looks import STATES, truth_look
from pages.parts.wording import count, day

_PER_PAGE = 15
_UNKNOWN, _ARCHIVED = "unknown", "archived"
_ORDERS = {
    "Newest first": lambda each: -each.id,
    "Name": lambda each: each.name.casefold(),
    "Least sure first": lambda each: (each.state is DocumentState.READY, each.labels.truth.probability),
    "Own date, latest first": lambda each: -(each.date.timestamp() if each.date else float("-inf")),
}


def _adopt() -> None:
    """Take over truth, words and document from the URL, when it was not this page that wrote them."""
    state, params = st.session_state, {name: st.query_params.get_all(name) for name in st.query_params}
    if "library.truths" in state and params == state.get("library.url"):
        return
    known = {*Truth, _UNKNOWN}
    state["library.truths"] = [value for value in params.get("truths", []) if value in known]
    state["library.words"] = params.get("words", [""])[0]
    state["library.document"] = params.get("document", [""])[0]


def _remember() -> None:
    state = st.session_state
    params: dict[str, list[str]] = {"truths": list(state["library.truths"])}
    params |= {"words": [state["library.words"]] if state["library.words"] else []}
    params |= {"document": [state["library.document"]] if state["library.document"] else []}
    params = {name: values for name, values in params.items() if values}
    if params != state.get("library.url"):
        st.query_params.from_dict(params)
    state["library.url"] = params


def _narrowed(documents: list[Document]) -> list[Document]:
    """The filters, each value with its count under the others."""
    words, state, project, order = st.columns([4, 2, 2, 2], vertical_alignment="bottom")
    with words:
        asked = st.text_input("Name or title", key="library.words", type="search", placeholder="Part of a name")
    folded = asked.casefold().strip()
    found = [each for each in documents if folded in f"{each.name} {each.title}".casefold()]
    with state:
        states = Counter(_ARCHIVED if each.archived else each.state.value for each in found)
        wanted = st.selectbox(
            "State",
            list(states),
            index=None,
            key="library.state",
            placeholder="All but archived",
            format_func=lambda value: (
                f"{'Archived' if value == _ARCHIVED else STATES[DocumentState(value)].words} ({states[value]})"
            ),
        )
    found = [each for each in found if each.archived == (wanted == _ARCHIVED)]
    found = [each for each in found if wanted in (None, _ARCHIVED, each.state.value)]
    with project:
        projects = Counter(each.project or "no project" for each in found)
        chosen = st.selectbox(
            "Project", sorted(projects), index=None, placeholder="Any", format_func=lambda p: f"{p} ({projects[p]})"
        )
    found = [each for each in found if chosen in (None, each.project or "no project")]
    held = Counter(each.labels.truth.value or _UNKNOWN for each in found if each.state is DocumentState.READY)
    picked = st.pills(
        "Truth",
        [*(truth.value for truth in Truth), _UNKNOWN],
        selection_mode="multi",
        key="library.truths",
        label_visibility="collapsed",
        wrap=True,
        format_func=lambda value: (
            f"{truth_look(value).icon} {truth_look(value).words.capitalize()} {held.get(value, 0)}"
        ),
    )
    with order:
        by = st.selectbox("Order", list(_ORDERS))
    found = [each for each in found if not picked or (each.labels.truth.value or _UNKNOWN) in picked]
    return sorted(found, key=_ORDERS[by or "Newest first"])


def _table(documents: list[Document]) -> list[Document]:
    """The documents as a table: one selected row is the document looked at, several are edited together."""
    wanted = st.session_state["library.document"]
    position = next((index for index, each in enumerate(documents) if str(each.id) == wanted), None)
    table = st.dataframe(
        [_table_row(each) for each in documents],
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [position]}} if position is not None else None,
        key=f"library.table.{hash(tuple(each.id for each in documents))}",
        height="content" if len(documents) <= _PER_PAGE else 36 + 32 * _PER_PAGE,
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    selected = [documents[row] for row in rows if row < len(documents)]
    st.session_state["library.document"] = str(selected[0].id) if len(selected) == 1 else ""
    return selected


def _table_row(document: Document) -> dict[str, Any]:
    told = document.labels
    ready = document.state is DocumentState.READY
    look = truth_look(told.truth.value)
    return {
        "Truth": f"{look.symbol} {look.words}"
        if ready
        else f"{STATES[document.state].symbol} {STATES[document.state].words}",
        "Sure": told.truth.probability if ready else None,
        "Document": document.name,
        "Authority": (told.authority.value or _UNKNOWN) if ready else "",
        "Jurisdiction": jurisdiction_title(told.jurisdiction.value) if told.jurisdiction.value else "",
        "Domain": domain_title(told.domain.value) if told.domain.value else "",
        "Date": day(document.date) if document.date else "",
        "Pages": document.pages,
        "Passages": document.passages,
        "Project": document.project or "",
    }


_COLUMNS = {
    "Truth": st.column_config.TextColumn(width=120),
    "Sure": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f", width=90),
    "Document": st.column_config.TextColumn(width=300),
    "Authority": st.column_config.TextColumn(width=92),
    "Pages": st.column_config.NumberColumn(width=60),
    "Passages": st.column_config.NumberColumn(width=76),
}


def draw() -> None:
    documents = list(session.workbench().documents(archived=None))
    if not documents:
        notices.empty(
            ":material/library_books:",
            "The library is empty",
            "Load the sample library on *Home*, or drop files on *Upload*.",
        )
        return
    _adopt()
    found = _narrowed(documents)
    if not found:
        _remember()
        notices.empty(":material/filter_alt_off:", "No document matches", "Take away a filter above.")
        return
    st.caption(f"{count(len(found), 'document')} of {len(documents):,}")
    selected = _table(found)
    _remember()
    names = st.expander("What the documents name", icon=":material/hub:", key="library.entities", on_change="rerun")
    if names.open:
        with names:
            draw_browser(session.workbench().entities)
    sheet = st.expander("Edit as a spreadsheet", icon=":material/table_edit:", key="library.sheet", on_change="rerun")
    if sheet.open:
        with sheet:
            draw_sheet(found)
    past = st.expander("What was changed by hand", icon=":material/history:", key="library.past", on_change="rerun")
    if past.open:
        with past:
            draw_history()
    with notices.told():
        if len(selected) == 1:
            draw_details(selected[0])
        elif selected:
            draw_editing(selected)
        else:
            st.caption(":material/touch_app: Select a row to see what a document is and why; several to edit them.")


draw()
