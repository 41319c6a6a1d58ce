"""Library: every document, found by what it is; and one of them with its labels, its passages and its original."""

from collections import Counter
from typing import Any

import streamlit as st

from core.documents import Document, DocumentState, Passage, Truth
from core.errors import FivefoldError
from core.tables.domains import domain_title
from core.tables.jurisdictions import jurisdiction_title
from pages.parts import cards, labels, notices, session
from pages.parts.entities import draw_browser
from pages.parts.looks import STATES, truth_look
from pages.parts.urls import page_path
from pages.parts.wording import bytes_in_words, count, day, plain, shortened

_PER_PAGE = 15
_UNKNOWN = "unknown"
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
        states = Counter(each.state.value for each in found)
        wanted = st.selectbox(
            "State",
            list(states),
            index=None,
            placeholder="Any",
            format_func=lambda value: f"{STATES[DocumentState(value)].words} ({states[value]})",
        )
    found = [each for each in found if wanted in (None, each.state.value)]
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


def _table(documents: list[Document]) -> Document | None:
    """The documents as a table; the selected row is the document looked at."""
    wanted = st.session_state["library.document"]
    position = next((index for index, each in enumerate(documents) if str(each.id) == wanted), None)
    table = st.dataframe(
        [_table_row(each) for each in documents],
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [position]}} if position is not None else None,
        key=f"library.table.{hash(tuple(each.id for each in documents))}",
        height="content" if len(documents) <= _PER_PAGE else 36 + 32 * _PER_PAGE,
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    selected = documents[rows[0]] if rows else None
    st.session_state["library.document"] = str(selected.id) if selected else ""
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


def _details(document: Document) -> None:
    """One document: what it is and why, what it says, and what can be done with it."""
    with st.container(border=True):
        st.markdown(f"#### {plain(shortened(document.title or document.name, 120))}", anchors=False)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if document.state is DocumentState.READY:
                cards.truth_badge(document.labels.truth.value, probability=document.labels.truth.probability)
            else:
                cards.state_badge(document)
            facts = [document.name, count(document.pages, "page"), count(document.passages, "passage")]
            facts += [
                bytes_in_words(document.size_bytes),
                f"uploaded {day(document.uploaded_at)}",
                document.project or "no project",
            ]
            st.caption(" · ".join(plain(fact) for fact in facts), width="content")
        _actions(document)
        for warning in document.warnings:
            st.caption(f":orange[:material/warning:] {plain(warning)}")
        if document.failure:
            st.markdown(f":red[:material/error: {plain(document.failure)}] {plain(document.remedy)}")
        view = st.segmented_control(
            "Part", ("Labels", "Passages", "Text"), default="Labels", required=True, label_visibility="collapsed"
        )
        match view:
            case "Passages":
                _passages(document)
            case "Text":
                _text(document)
            case _:
                labels.editor(document)


def _actions(document: Document) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            "Download original",
            lambda: session.workbench().original(document.id),
            file_name=document.name,
            icon=":material/download:",
            on_click="ignore",
            key=f"original.{document.id}",
        )
        st.page_link(
            page_path("search"),
            label="Search in it",
            icon=":material/search:",
            query_params={"documents": str(document.id)},
        )
        if st.button("Read again", icon=":material/refresh:", type="tertiary", key=f"again.{document.id}"):
            session.workbench().retry(document.id)
            st.toast("It is read again; your corrections stay.", icon=":material/refresh:")
        if st.button("Delete", icon=":material/delete:", type="tertiary", key=f"delete.{document.id}"):
            _confirm_delete(document)


@st.dialog("Delete this document?")
def _confirm_delete(document: Document) -> None:
    st.markdown(f"**{plain(document.name)}** and its {count(document.passages, 'passage')} will no longer be found.")
    st.caption(
        "Boards and citations that rest on it lose their evidence. The original bytes stay until they are purged."
    )
    yes, no = st.columns(2)
    if yes.button(
        "Delete",
        type="primary",
        icon=":material/delete:",
        width="stretch",
        on_click=_delete,
        args=(document.id,),
    ):
        st.rerun()
    if no.button("Keep it", width="stretch"):
        st.rerun()


def _delete(document_id: int) -> None:
    session.workbench().delete(document_id)
    session.forget_answers()
    st.session_state["library.document"] = ""


def _passages(document: Document) -> None:
    """The passages in reading order; those that state another truth than their document say so."""
    passages = session.workbench().passages_of(document.id)
    pages = max(1, -(-len(passages) // _PER_PAGE))
    page = st.pagination(pages, key=f"passages.{document.id}") if pages > 1 else 1
    for passage in passages[(page - 1) * _PER_PAGE : page * _PER_PAGE]:
        _passage(passage, document)


def _passage(passage: Passage, document: Document) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.badges(passage)
            where = cards.place(passage, document)
            own = passage.truth is not None and passage.truth.value != document.labels.truth.value
            st.caption(plain(where) + (" · **its own truth**" if own else ""), width="content")
        st.markdown(plain(passage.text))
        if own:
            for evidence in passage.truth_evidence[:2]:
                st.caption(plain(f"because of “{shortened(evidence.quote, 160)}” {evidence.rule}"))


def _text(document: Document) -> None:
    if not document.pages:
        st.caption("No text was read from this file.")
        return
    number = st.pagination(document.pages, key=f"text.{document.id}") if document.pages > 1 else 1
    page = session.workbench().page(document.id, number)
    st.caption(plain(page.label) or f"Page {page.number} of {document.pages}, as it was read")
    with st.container(border=True, height=480):
        st.text(page.text)


def draw() -> None:
    documents = list(session.workbench().documents())
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
    if selected is None:
        st.caption(":material/touch_app: Select a row to see what a document is, why, and what it says.")
        return
    try:
        _details(selected)
    except FivefoldError as problem:
        notices.error(problem)


draw()
