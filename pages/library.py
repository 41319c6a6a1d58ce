"""Library: the list beside the chosen document or those edited together; entities, duplicates, history, trash."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from core.domain.document_list import DocumentPage, DocumentQuery
from pages.components import ingest_progress, notices, session, urls
from pages.components.library.details import draw_details
from pages.components.library.document_list import (
    PER_PAGE,
    draw_bar,
    draw_filters,
    draw_list,
    list_params,
    list_state,
    query_from_state,
)
from pages.components.library.editing import draw_editing, draw_spreadsheet, draw_undo_offer
from pages.components.library.enrichment import draw_enrichment_state
from pages.components.library.entity_browser import draw_entities, entity_params, entity_state
from pages.components.library.history import draw_history
from pages.components.library.trash import draw_trash
from pages.components.library.versions import draw_duplicates
from pages.components.pager import pages_of

_FIRST = "Documents"
_OLD_VIEWS = {"names": "entities"}
"""Views of earlier addresses by what they are called now."""


def _read_url() -> None:
    """Apply the view, the filters and the document of the URL unless this page wrote it; restore what Streamlit forgets
    because no widget shows it."""
    state, params = st.session_state, urls.current_params()
    requested = params.get("view", [""])[0].casefold()
    requested = _OLD_VIEWS.get(requested, requested)
    label_state = (
        list_state(params)
        | entity_state(params)
        | {
            "library.document": params.get("document", [""])[0],
            "library.page": next((view for view in _VIEWS if view.casefold() == requested), _FIRST),
        }
    )
    fresh = urls.is_new_request("library", params)
    for key, value in label_state.items():
        if fresh or key not in state:
            state[key] = value
    if fresh:
        state["library.editing"] = False
        state.pop("library.asked", None)
    state.setdefault("library.ticked", frozenset())
    state.setdefault("library.editing", False)


def _write_url() -> None:
    state = st.session_state
    params = list_params() | entity_params()
    params |= {"document": [state["library.document"]]} if state["library.document"] else {}
    params |= {"view": [state["library.page"].lower()]} if state["library.page"] != _FIRST else {}
    urls.write_params("library", params)


def _page(query: DocumentQuery) -> DocumentPage:
    """The page of the list that is turned to, or the last one."""
    service, state = session.workbench().document_list, st.session_state
    page = service.page(replace(query, offset=PER_PAGE * (state["library.number"] - 1)))
    if page.total and not page.entries:
        state["library.number"] = pages_of(page.total, PER_PAGE)
        page = service.page(replace(query, offset=PER_PAGE * (state["library.number"] - 1)))
    return page


def _documents() -> None:
    """The list, and beside it the document that is chosen or those that are edited."""
    query = query_from_state()
    page = _page(query)
    if not page.total and _is_empty():
        notices.empty_library(":material/library_books:", "The library is empty")
        return
    draw_filters(page)
    _write_url()
    beside = _pane()
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="library_panes"):
        with st.container(key="library_list", gap="xsmall"):
            draw_bar(page, query)
            if page.entries:
                draw_list(page, query)
            else:
                notices.empty(":material/filter_alt_off:", "No document matches", "Remove a filter or a word.")
        if beside is not None:
            with st.container(border=True, gap="small", key="library_pane"):
                beside()


def _is_empty() -> bool:
    return not any(_page(DocumentQuery(limit=0)).counts["state"].values())


def _enrichment() -> None:
    if _is_empty():
        notices.empty_library(":material/library_books:", "The library is empty")
    else:
        draw_enrichment_state()


def _pane() -> Callable[[], None] | None:
    """What is drawn beside the list; None: nothing."""
    service, state = session.workbench().document_list, st.session_state
    if state["library.editing"]:
        ticked = service.by_id(sorted(state["library.ticked"]))
        state["library.ticked"] = frozenset(each.id for each in ticked)
        if ticked:
            return lambda: draw_editing(ticked)
    number = urls.number_in(state["library.document"])
    if not state["library.document"]:
        return None
    found = service.by_id([number]) if number is not None else ()
    if found:
        return lambda: draw_details(found[0])
    state["library.document"] = ""
    st.caption(":material/info: The document of this address is not in the library. It may be in the trash.")
    return None


def _spreadsheet() -> None:
    query = query_from_state()
    page = _page(query)
    draw_filters(page)
    draw_spreadsheet(page.total, lambda: session.workbench().document_list.documents(query))


def _entities() -> None:
    library = session.workbench()
    draw_entities(
        library.search.entities,
        lambda entity, limit, offset: library.document_list.naming(entity, limit=limit, offset=offset),
    )


_VIEWS: Mapping[str, Callable[[], None]] = {
    _FIRST: _documents,
    "Duplicates": draw_duplicates,
    "Entities": _entities,
    "Spreadsheet": _spreadsheet,
    "Enrichment": _enrichment,
    "History": draw_history,
    "Trash": draw_trash,
}
"""What can be looked at of the library, by the name people choose it by."""


def draw() -> None:
    _read_url()
    view = st.segmented_control(
        "View", list(_VIEWS), required=True, key="library.page", label_visibility="collapsed", width="content"
    )
    ingest_progress.draw_progress()
    draw_undo_offer()
    with notices.show_errors():
        _VIEWS[view or _FIRST]()
    _write_url()


draw()
