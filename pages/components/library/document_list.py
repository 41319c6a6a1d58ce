"""The list of documents: its filters, the table, and what is ticked in it."""
# Longer than 300 lines: the URL, the filters, the table and the ticks share one state.

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.document_list import (
    ARCHIVED,
    UNKNOWN_TRUTH,
    DocumentOrder,
    DocumentPage,
    DocumentQuery,
    ListedDocument,
)
from core.domain.documents import DocumentState, Truth
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from core.text.tokenize import keywords, stem
from pages.components import rights, session
from pages.components.library.enrichment import type_and_keywords
from pages.components.library.related_documents import likeness_marks
from pages.components.library.table import TableColumn, draw_table
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.styles import STATES, truth_style
from pages.components.urls import Params, number_in
from pages.components.wording import certainty_words, count, day, parts_asked_for, shorten, shorten_middle

__all__ = [
    "PER_PAGE",
    "draw_bar",
    "draw_filters",
    "draw_list",
    "list_params",
    "list_state",
    "query_from_state",
    "table_rows",
    "tick",
]

PER_PAGE = 50
"""Documents on a page of the list: some screens of them, and quick to draw."""

_NAME_LENGTH = 52  # characters of a name: two lines of the narrowest column, so that its end is seen
_SENTENCE_LENGTH = 200  # characters of a sentence that was found: two lines
_ORDER_WORDS: Mapping[DocumentOrder, str] = {
    DocumentOrder.UPLOADED: "Last uploaded",
    DocumentOrder.NAME: "Name",
    DocumentOrder.TRUTH: "Truth",
    DocumentOrder.CERTAINTY: "Least certain first",
    DocumentOrder.DATE: "Date",
    DocumentOrder.PAGES: "Pages",
    DocumentOrder.TAGS: "Tags",
    DocumentOrder.STATE: "State",
}
_DESCENDING = {DocumentOrder.MATCH, DocumentOrder.UPLOADED, DocumentOrder.DATE, DocumentOrder.PAGES}
"""The orders that begin with the greatest."""

_ALIKE = TableColumn(
    "alike",
    "Similar",
    "middle",
    help="How much of it is also in its nearest near-duplicate, and whether it may be a version of another document",
)
_COLUMNS = (
    TableColumn("name", "Name", "name", DocumentOrder.NAME),
    TableColumn("truth", "Truth", "middle", DocumentOrder.TRUTH, term="truth"),
    TableColumn("sure", "Certainty", "number wide", DocumentOrder.CERTAINTY, "Probability of the truth"),
    TableColumn("date", "Date", "short", DocumentOrder.DATE, "The document’s own date"),
    TableColumn("pages", "Pages", "number narrowest", DocumentOrder.PAGES),
    TableColumn("tags", "Tags", "long", DocumentOrder.TAGS),
    TableColumn("state", "State", "short", DocumentOrder.STATE),
    _ALIKE,
    TableColumn("type", "Type", "long wide"),
    TableColumn("authority", "Authority", "middle wider", term="authority"),
    TableColumn("jurisdiction", "Jurisdiction", "middle wider", term="jurisdiction"),
    TableColumn("domain", "Domain", "long wider", term="domain"),
)


def list_state(params: Params) -> dict[str, Any]:
    """What a URL asks the list for, by session key; what it does not know is left out."""
    one = {name: values[0] for name, values in params.items() if values}
    order = one.get("sort", "")
    state = one.get("state", "")
    truths = {*map(str, Truth), UNKNOWN_TRUTH}
    return {
        "library.words": one.get("words", "").replace("\0", " "),
        "library.state": state if state in {ARCHIVED, *map(str, DocumentState)} else None,
        "library.project": one.get("project"),
        "library.truths": [value for value in params.get("truths", []) if value in truths],
        "library.tags": list(dict.fromkeys(value for value in params.get("tags", []) if value)),
        "library.order": next((each for each in _ORDER_WORDS if each == order.removeprefix("-")), None),
        "library.reverse": order.startswith("-"),
        "library.number": max(1, number_in(one.get("page", "")) or 1),
    }


def list_params() -> dict[str, list[str]]:
    """The query parameters of the list as it is; defaults are left out."""
    state = st.session_state
    order = state["library.order"]
    params = {
        "words": [state["library.words"].strip()] if state["library.words"].strip() else [],
        "state": [state["library.state"]] if state["library.state"] else [],
        "project": [state["library.project"]] if state["library.project"] is not None else [],
        "truths": list(state["library.truths"]),
        "tags": list(state["library.tags"]),
        "sort": [f"{'-' if state['library.reverse'] else ''}{order}"] if order else [],
        "page": [str(state["library.number"])] if state["library.number"] > 1 else [],
    }
    return {name: values for name, values in params.items() if values}


def query_from_state() -> DocumentQuery:
    """What the filters ask for. The number of the page begins again when they change."""
    state = st.session_state
    words = state["library.words"].strip()
    default = DocumentOrder.MATCH if words else DocumentOrder.UPLOADED
    query = DocumentQuery(
        words=words,
        state=state["library.state"] or "",
        project=state["library.project"],
        truths=tuple(state["library.truths"]),
        tags=tuple(state["library.tags"]),
        order=DocumentOrder(state["library.order"]) if state["library.order"] else default,
        reverse=bool(state["library.order"] and state["library.reverse"]),
        limit=PER_PAGE,
    )
    if state.get("library.asked", query) != query:
        state["library.number"] = 1
    state["library.asked"] = query
    return query


# One filter after the other.
def draw_filters(page: DocumentPage) -> None:
    """The question and the filters, each value with its count under the others."""
    counts = page.counts
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Find documents",
            key="library.words",
            type="search",
            placeholder="Words of the name or of the text",
            help="Finds documents by their name, and by passages that have all the words.",
            width=340,
        )
        states = {each.value: style.words.capitalize() for each, style in STATES.items()} | {ARCHIVED: "Archived"}
        st.selectbox(
            "State",
            list(states),
            index=None,
            key="library.state",
            placeholder="All but archived",
            width=180,
            format_func=lambda value: f"{states[value]} ({counts['state'].get(value, 0):,})",
        )
        st.selectbox(
            "Project",
            _options(counts["project"], [st.session_state["library.project"]]),
            index=None,
            key="library.project",
            placeholder="Any",
            width=180,
            format_func=lambda value: f"{value or 'No project'} ({counts['project'].get(value, 0):,})",
        )
        st.multiselect(
            "Tags",
            _options(counts["tag"], st.session_state["library.tags"]),
            key="library.tags",
            placeholder="Any",
            width=200,
            format_func=lambda value: f"{value} ({counts['tag'].get(value, 0):,})",
        )
        st.selectbox(
            "Sort by",
            list(_ORDER_WORDS),
            index=None,
            key="library.order",
            placeholder="Best match" if st.session_state["library.words"].strip() else "Last uploaded",
            width=180,
            format_func=lambda each: _ORDER_WORDS[each],
            on_change=lambda: st.session_state.update({"library.reverse": False}),
        )
    st.pills(
        "Truth",
        [*(truth.value for truth in Truth), UNKNOWN_TRUTH],
        selection_mode="multi",
        key="library.truths",
        label_visibility="collapsed",
        wrap=True,
        format_func=lambda value: (
            f"{truth_style(value).icon} {truth_style(value).words.capitalize()} {counts['truth'].get(value, 0):,}"
        ),
    )


def _options(counts: Mapping[str, int], chosen: Sequence[str | None]) -> list[str]:
    """The values in their order, those chosen among them also where no document has them any more."""
    return sorted({*counts, *(value for value in chosen if value is not None)}, key=str.casefold)


def draw_list(page: DocumentPage, query: DocumentQuery) -> None:
    """The table of a page, with its foot."""
    state = st.session_state
    rows = table_rows(page.entries, query.words, session.terms())
    left_out = {
        "tags": not page.counts["tag"] and not query.tags,
        "alike": not any(row["cells"]["alike"] for row in rows),
    }
    chosen = state["library.document"]
    draw_table(
        "library.table",
        "Documents",
        [each for each in _COLUMNS if not left_out.get(each.key)],
        rows,
        on={"chosen": _choose, "sorted": _sort, "ticked": lambda event: tick(**event)},
        chosen=int(chosen) if chosen else None,
        ticked=sorted(state["library.ticked"]),
        order=query.order,
        descending=(query.order in _DESCENDING) != query.reverse,
    )
    number, pages = state["library.number"], pages_of(page.total, PER_PAGE)
    turn = lambda turned: state.update({"library.number": turned})  # noqa: E731
    draw_foot(number, pages, range_words(number, PER_PAGE, page.total, "document"), "library.pager", turn)


def _choose(document_id: int) -> None:
    st.session_state.update({"library.document": str(document_id), "library.editing": False})


def _sort(order: str) -> None:
    """Sort by a column; once more, the other way round."""
    state = st.session_state
    again = state["library.order"] == order
    state.update({"library.order": DocumentOrder(order), "library.reverse": again and not state["library.reverse"]})


def tick(ids: Sequence[int], on: bool) -> None:
    """Tick documents, or take the ticks from them; ticked ones are edited together."""
    state = st.session_state
    ticked = state["library.ticked"]
    state["library.ticked"] = ticked | {*ids} if on else ticked - {*ids}
    state["library.editing"] = bool(state["library.ticked"])


def draw_bar(page: DocumentPage, query: DocumentQuery) -> None:
    """How many documents there are, and how many of them are ticked."""
    state = st.session_state
    ticked = state["library.ticked"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="library_bar"):
        if not ticked:
            found = count(page.total, "document")
            hint = " · click a row for details, a name to read, a box to edit several" if page.total else ""
            st.caption(f"**{found}**{hint}", width="content")
        else:
            st.markdown(f"**{len(ticked):,} selected**", width="content")
            rights.button(
                "bulk_edit.apply",
                "Edit",
                icon=":material/edit:",
                type="tertiary",
                key="library.edit",
                disabled=state["library.editing"],
                on_click=lambda: state.update({"library.editing": True}),
            )
            if page.total > len(ticked):
                st.button(
                    f"Select all {page.total:,}",
                    icon=":material/select_all:",
                    type="tertiary",
                    key="library.tick.all",
                    on_click=_tick_all,
                    args=(query,),
                )
            clear = lambda: tick(list(state["library.ticked"]), False)  # noqa: E731
            st.button("Clear", icon=":material/close:", type="tertiary", key="library.tick.none", on_click=clear)
    if page.partly:
        st.caption(":material/info: No passage has all these words; the documents have some of them.")


def _tick_all(query: DocumentQuery) -> None:
    tick([each.id for each in session.workbench().document_list.documents(query)], True)


def table_rows(entries: Sequence[ListedDocument], query: str, terms: WorkspaceTerms) -> list[dict[str, Any]]:
    """What the table draws of each document. asked: the words to mark in the sentences."""
    if not entries:
        return []
    alike, drawn = likeness_marks(), type_and_keywords([each.document for each in entries])
    stems = {stem(word) for word in keywords(query)}
    return [_row(each, terms, alike.get(each.document.id, ""), drawn[each.document.id][0], stems) for each in entries]


def _row(entry: ListedDocument, terms: WorkspaceTerms, alike: str, kind: str, stems: set[str]) -> dict[str, Any]:
    document, labels = entry.document, entry.document.labels
    labelled = document.state is DocumentState.READY and not is_container(document)
    style = truth_style(labels.truth.value)
    state = STATES[document.state]
    address = f"document?id={document.id}" + (f"&mark={entry.passage}" if entry.passage is not None else "")
    return {
        "id": document.id,
        "name": shorten_middle(document.name, _NAME_LENGTH),
        "full": document.name,
        "address": address,
        "sentence": parts_asked_for(shorten(entry.sentence, _SENTENCE_LENGTH), stems) if entry.sentence else [],
        "cells": {
            "truth": {"symbol": style.symbol, "text": style.words.capitalize(), "colour": style.colour}
            if labelled
            else "Archive file"
            if is_container(document)
            else "",
            "sure": certainty_words(labels.truth.probability, confirmed=labels.truth.confirmed) if labelled else "",
            "date": day(document.date) if document.date else "",
            "pages": f"{document.pages:,}" if document.pages else "",
            "tags": list(document.tags),
            "state": {"symbol": "▣", "text": "Archived", "colour": "gray"}
            if document.archived
            else {"symbol": state.symbol, "text": state.words.capitalize(), "colour": state.colour},
            "alike": alike,
            "type": kind,
            "authority": (labels.authority.value or UNKNOWN_TRUTH).capitalize() if labelled else "",
            "jurisdiction": terms.jurisdictions.title(labels.jurisdiction.value) if labels.jurisdiction.value else "",
            "domain": terms.domains.title(labels.domain.value) if labels.domain.value else "",
        },
    }
