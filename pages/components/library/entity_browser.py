"""The entities that documents of the library name, and the documents that name the chosen one."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from core.domain.document_list import ListedDocument, NamingPage
from core.domain.entities import Entity, EntityPage, EntityType, KnownEntity
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from pages.components.icon_button import icon_button
from pages.components.library.table import TableColumn, draw_table
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.styles import truth_style
from pages.components.urls import Params, page_path, params_of
from pages.components.wording import count, day, parts_asked_for, plain, shorten, shorten_middle

__all__ = ["FindDocuments", "FindEntities", "draw_entities", "entity_params", "entity_state"]

FindEntities = Callable[[str, EntityType | None, int, int], EntityPage]
"""(part of a name, type, at most so many, from this place) → a page of entities."""
FindDocuments = Callable[[Entity, int, int], NamingPage]
"""(entity, at most so many, from this place) → a page of the documents that name it."""

_PER_PAGE = 30  # rows of a page: two screens of them
_NAME_LENGTH, _SENTENCE_LENGTH = 90, 200  # characters of a name and of a sentence: two lines each

_ENTITY_COLUMNS = (
    TableColumn("name", "Name", "name"),
    TableColumn("type", "Type", "middle"),
    TableColumn("passages", "Passages", "number"),
    TableColumn("also", "Also written", "widest wide"),
)
_DOCUMENT_COLUMNS = (
    TableColumn("name", "Document", "name"),
    TableColumn("mentions", "Passages", "number", help="Passages that name it"),
    TableColumn("truth", "Truth", "middle"),
    TableColumn("date", "Date", "short"),
)


def entity_state(params: Params) -> dict[str, Any]:
    """What a URL asks the browser of entities for, by session key; what it does not know is left out."""
    one = {name: values[0].replace("\0", " ") for name, values in params.items() if values}
    types = {str(kind): kind for kind in EntityType}
    chosen = types.get(one.get("entity_type", ""))
    return {
        "entities.part": one.get("part", ""),
        "entities.kind": types.get(one.get("type", "")),
        "entities.chosen": Entity(one["entity"], chosen) if chosen and one.get("entity") else None,
    }


def entity_params() -> dict[str, list[str]]:
    """The query parameters of the browser of entities as it is; defaults are left out."""
    state = st.session_state
    chosen = state["entities.chosen"]
    params = {
        "part": state["entities.part"].strip(),
        "type": str(state["entities.kind"] or ""),
        "entity": chosen.name if chosen else "",
        "entity_type": str(chosen.type) if chosen else "",
    }
    return {name: [value] for name, value in params.items() if value}


def draw_entities(look_up: FindEntities, documents_of: FindDocuments) -> None:
    """The entities, and beside them the documents that name the chosen one."""
    part, kind = _search_fields()
    chosen = st.session_state["entities.chosen"]
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="library_panes"):
        with st.container(key="library_list", gap="xsmall"):
            _entities(look_up, part, kind)
        if chosen is not None:
            with st.container(border=True, gap="small", key="library_pane"):
                _documents(chosen, look_up, documents_of)


def _search_fields() -> tuple[str, EntityType | None]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        part = st.text_input(
            "Find entities", key="entities.part", type="search", placeholder="W-2, Labor, overtime …", width=340
        )
        kind = st.selectbox(
            "Type",
            list(EntityType),
            index=None,
            key="entities.kind",
            placeholder="Any",
            width=180,
            format_func=lambda each: str(each).capitalize(),
        )
    return part.strip(), kind


def _entities(look_up: FindEntities, part: str, kind: EntityType | None) -> None:
    state = st.session_state
    key = f"entities.page.{kind}.{part}"  # another question starts on the first page
    page = int(state.get(key, 1))
    found = look_up(part, kind, _PER_PAGE, (page - 1) * _PER_PAGE)
    pages = pages_of(found.total, _PER_PAGE)
    if page > pages:
        page = pages
        found = look_up(part, kind, _PER_PAGE, (page - 1) * _PER_PAGE)
    if not found.total:
        is_filtered = bool(part) or kind is not None
        st.caption(
            ":material/filter_alt_off: No entity matches. Remove a letter or the type."
            if is_filtered
            else "No entities yet. Names in new documents appear here."
        )
        return
    st.caption(f"**{count(found.total, 'entity', 'entities')}** · click one to see which documents name it")
    chosen = state["entities.chosen"]
    same = [
        (each.entity.name, each.entity.type) == (chosen.name, chosen.type) if chosen else False
        for each in found.entries
    ]
    draw_table(
        "entities.table",
        "Entities",
        _ENTITY_COLUMNS,
        [_entity_row(number, known) for number, known in enumerate(found.entries)],
        on={"chosen": lambda number: _choose(found.entries[int(number)].entity)},
        chosen=same.index(True) if True in same else None,
    )
    range_text = range_words(page, _PER_PAGE, found.total, "entity", "entities")
    draw_foot(page, pages, range_text, f"entities.pager.{kind}.{part}", lambda turned: state.update({key: turned}))


def _choose(entity: Entity) -> None:
    st.session_state.update({"entities.chosen": Entity(entity.name, entity.type), "entities.documents": 1})


def _entity_row(number: int, known: KnownEntity) -> dict[str, Any]:
    entity = known.entity
    return {
        "id": number,
        "name": shorten(entity.name, _NAME_LENGTH),
        "full": entity.name,
        "address": "",
        "sentence": [],
        "cells": {
            "type": str(entity.type).capitalize(),
            "passages": f"{known.passages:,}",
            "also": ", ".join(entity.aliases),
        },
    }


def _documents(chosen: Entity, look_up: FindEntities, documents_of: FindDocuments) -> None:
    """The documents that name the chosen entity, each opening where it does first."""
    state = st.session_state
    known = next(
        (
            each.entity
            for each in look_up(chosen.name, chosen.type, _PER_PAGE, 0).entries
            if each.entity.name == chosen.name
        ),
        chosen,
    )
    page = int(state.get("entities.documents", 1))
    found = documents_of(known, _PER_PAGE, (page - 1) * _PER_PAGE)
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.markdown(f"#### {plain(shorten(known.name, 120))}", anchors=False)
        st.space("stretch")
        close = lambda: state.update({"entities.chosen": None})  # noqa: E731
        icon_button(":material/close:", "Close", "entities.close", close)
    if not found.total:
        st.caption(":material/info: No document contains this name.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{str(known.type).capitalize()} · named by {count(found.total, 'document')}", width="content")
        params = params_of(SearchRequest(known.name, SearchFilters(entities=(known.name,))))
        st.page_link(page_path("search"), label="Search its passages", icon=":material/search:", query_params=params)
    draw_table(
        "entities.documents.table",
        f"Documents that name {known.name}",
        _DOCUMENT_COLUMNS,
        [_document_row(each, found.spellings.get(each.document.id, "")) for each in found.entries],
        on={"chosen": _see_details},
        keys=False,
    )
    turn = lambda turned: state.update({"entities.documents": turned})  # noqa: E731
    words = range_words(page, _PER_PAGE, found.total, "document")
    draw_foot(page, pages_of(found.total, _PER_PAGE), words, "entities.documents.pager", turn)


def _see_details(document_id: int) -> None:
    """The details of a document, in the list of documents."""
    st.session_state.update({"library.document": str(document_id), "library.page": "Documents"})


def _document_row(entry: ListedDocument, spelling: str) -> dict[str, Any]:
    document = entry.document
    style = truth_style(document.labels.truth.value)
    params = {"id": document.id, "mark": entry.passage, "find": spelling}
    return {
        "id": document.id,
        "name": shorten_middle(document.name, _NAME_LENGTH),
        "full": document.name,
        "address": f"document?{urlencode({name: value for name, value in params.items() if value})}",
        "sentence": parts_asked_for(shorten(entry.sentence, _SENTENCE_LENGTH), (), [spelling])
        if entry.sentence
        else [],
        "cells": {
            "mentions": f"{entry.mentions:,}",
            "truth": {"symbol": style.symbol, "text": style.words.capitalize(), "colour": style.colour},
            "date": day(document.date) if document.date else "",
        },
    }
