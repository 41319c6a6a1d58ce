"""Library: all documents with filters; one in detail, several edited together; and the history of edits."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.domain.documents import Document, Truth
from pages.components import ingest_progress, notices, session, urls
from pages.components.library.details import draw_details
from pages.components.library.editing import draw_editing, draw_spreadsheet, draw_undo_offer
from pages.components.library.enrichment import draw_enrichment_state
from pages.components.library.history import draw_history
from pages.components.library.listing import ARCHIVED, UNKNOWN, document_table, draw_entities, filter_documents
from pages.components.library.versions import draw_duplicates
from pages.components.wording import count

_FIRST = "Documents"


def _read_url() -> None:
    """Take over view, truths, words and document from the URL unless this page wrote it; and state that Streamlit
    forgets because no widget shows it."""
    state, params = st.session_state, urls.current_params()
    known = {*Truth, UNKNOWN}
    asked = params.get("view", [""])[0].casefold()
    wanted_state = {
        "library.truths": [value for value in params.get("truths", []) if value in known],
        "library.words": params.get("words", [""])[0],
        "library.document": params.get("document", [""])[0],
        "library.page": next((view for view in _VIEWS if view.casefold() == asked), _FIRST),
    }
    fresh = urls.is_new_request("library", params)
    for key, value in wanted_state.items():
        if fresh or key not in state:
            state[key] = value


def _write_url() -> None:
    state = st.session_state
    params: dict[str, list[str]] = {"truths": list(state["library.truths"])}
    params |= {"words": [state["library.words"]] if state["library.words"] else []}
    params |= {"document": [state["library.document"]] if state["library.document"] else []}
    params |= {"view": [state["library.page"].lower()] if state["library.page"] != _FIRST else []}
    params = {name: values for name, values in params.items() if values}
    urls.write_params("library", params)


def _reveal(documents: Sequence[Document]) -> None:
    """Show a document that was just requested, archived or not."""
    state = st.session_state
    wanted = state["library.document"]
    if wanted != state.get("library.revealed"):
        state["library.revealed"] = wanted
        asked = next((each for each in documents if str(each.id) == wanted), None)
        if asked is not None and asked.archived != (state.get("library.state") == ARCHIVED):
            state["library.state"] = ARCHIVED if asked.archived else None


def _documents(documents: Sequence[Document]) -> None:
    """The list; one selected document in detail, or several to edit."""
    found = _filtered(documents)
    if not found:
        return
    selected = document_table(found)
    _write_url()
    if len(selected) == 1:
        draw_details(selected[0])
    elif selected:
        draw_editing(selected)
    else:
        st.caption(":material/touch_app: Select a row to see what a document is and why; several to edit them.")


def _filtered(documents: Sequence[Document]) -> list[Document]:
    found = filter_documents(documents)
    if found:
        st.caption(f"{count(len(found), 'document')} of {len(documents):,}")
    else:
        _write_url()
        notices.empty(":material/filter_alt_off:", "No document matches", "Remove a filter.")
    return found


def _spreadsheet(documents: Sequence[Document]) -> None:
    found = _filtered(documents)
    if found:
        draw_spreadsheet(found)


def _names(documents: Sequence[Document]) -> None:
    draw_entities(session.workbench().search.entities)


def _duplicates(documents: Sequence[Document]) -> None:
    draw_duplicates()


def _history(documents: Sequence[Document]) -> None:
    draw_history()


def _enrichment(documents: Sequence[Document]) -> None:
    draw_enrichment_state()


_VIEWS: Mapping[str, Callable[[Sequence[Document]], None]] = {
    _FIRST: _documents,
    "Duplicates": _duplicates,
    "Names": _names,
    "Spreadsheet": _spreadsheet,
    "Enrichment": _enrichment,
    "History": _history,
}
"""What can be looked at of the library, by the name people choose it by; each is given all documents."""


def draw() -> None:
    documents = session.workbench().documents.list(archived=None)
    if not documents:
        notices.empty_library(":material/library_books:", "The library is empty")
        return
    _read_url()
    _reveal(documents)
    view = st.segmented_control(
        "View", list(_VIEWS), required=True, key="library.page", label_visibility="collapsed", width="content"
    )
    ingest_progress.draw_progress()
    draw_undo_offer()
    with notices.show_errors():
        _VIEWS[view or _FIRST](documents)
    _write_url()


draw()
