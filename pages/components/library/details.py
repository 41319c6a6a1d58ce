"""One document in detail: labels with their evidence, contents, usage, and actions."""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import Cure
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from core.library.versions.service import RelatedDocuments
from core.search.store import QuestionUsage
from pages.components import cards, labels, rights, session
from pages.components.icon_button import icon_button
from pages.components.library.editing import draw_editing
from pages.components.library.enrichment import draw_enrichment
from pages.components.library.history import draw_history
from pages.components.library.related_documents import draw_related
from pages.components.library.table import TableColumn, draw_table
from pages.components.library.versions import draw_versions
from pages.components.pager import paged
from pages.components.upload.remedies import (
    draw_container,
    draw_notes,
    draw_password_form,
    draw_replace_form,
    draw_replace_problem,
)
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import ago, bytes_in_words, count, day, plain, shorten, shorten_middle

__all__ = ["draw_details"]

_PER_PAGE = 15  # passages per page; chosen by hand


def draw_details(document: Document) -> None:
    """One document in detail: labels with their evidence, contents, and actions."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.markdown(f"#### {plain(shorten(document.title or document.name, 120))}", anchors=False)
        close = lambda: st.session_state.update({"library.document": ""})  # noqa: E731
        st.space("stretch")
        icon_button(":material/close:", "Close", "library.close", close)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if is_container(document):
            draw_container(document, session.workbench().upload_queue.members([document.id]).get(document.id, ()))
        elif document.state is DocumentState.READY:
            cards.truth_label_badge(document.labels.truth)
        else:
            cards.state_badge(document)
        facts = [shorten_middle(document.name, 80)]
        if not is_container(document):
            facts += [count(document.pages, "page"), count(document.passages, "passage")]
            facts += [bytes_in_words(document.size_bytes)]
        facts += [f"uploaded {day(document.uploaded_at)}", document.project or "no project"]
        facts += ["archived"] if document.archived else []
        st.caption(" · ".join(plain(fact) for fact in facts), width="content")
    _actions(document)
    if is_container(document):
        draw_notes(document)
        return
    for warning in document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
    if st.session_state.get("library.view") != "Versions":
        for related in session.workbench().versions.related([document]).values():
            draw_related(document, related)
            _suspect_line(document, related)
    if document.failure:
        st.markdown(f":red[:material/error: {plain(document.failure)}] {plain(document.remedy)}")
        draw_password_form(document, "library")
        draw_replace_problem(document, "library")
    with st.container(key="library_parts"):
        view = st.segmented_control(
            "Part", list(_VIEWS), default="Labels", required=True, key="library.view", label_visibility="collapsed"
        )
    _VIEWS[view or "Labels"](document)


def _suspect_line(document: Document, related: RelatedDocuments) -> None:
    """The number of notes and accepted cells that cite replaced text."""
    if related.replaces is None and related.replaced_by is None:
        return
    if found := session.workbench().versions.suspect_citations(document.id):
        rest = f"{count(len(found), 'citation')} {'rests' if len(found) == 1 else 'rest'} on older text"
        st.caption(f":orange[:material/gpp_maybe: {rest}]; *Versions* shows what the current one says instead.")


def _actions(document: Document) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not is_container(document):
            cards.document_link(document.id, "Open document")
        st.download_button(
            "Download",
            lambda: session.workbench().documents.uploaded(document.id),
            file_name=document.name.rpartition("/")[2],
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"original.{document.id}",
        )
        if document.passages:
            st.page_link(
                page_path("search"),
                label="Search in it",
                icon=":material/search:",
                query_params={"documents": str(document.id)},
            )
        if document.state is DocumentState.FAILED and document.cure is not Cure.AGAIN:
            draw_replace_form(document, "library", _open)
        elif rights.button(
            "documents.retry", "Read again", icon=":material/refresh:", type="tertiary", key=f"again.{document.id}"
        ):
            session.workbench().documents.retry(document.id)
            st.toast("Reprocessing. Your corrections are kept.", icon=":material/refresh:")
        if rights.button(
            "bulk_edit.delete", "Delete", icon=":material/delete:", type="tertiary", key=f"delete.{document.id}"
        ):
            _confirm_delete(document)


def _open(document_id: int) -> None:
    st.session_state["library.document"] = str(document_id)


@st.dialog("Move to the trash?")
def _confirm_delete(document: Document) -> None:
    st.markdown(f"**{plain(document.name)}** and its {count(document.passages, 'passage')} will no longer be found.")
    st.caption(
        "Coverage cells and citations that use it lose their evidence. *Library › Trash* restores it with everything"
        " that belongs to it."
    )
    yes, no = st.columns(2)
    if yes.button(
        "Move to the trash",
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
    session.workbench().bulk_edit.delete(document_id, who() or "analyst")
    session.forget_answers()
    st.session_state["library.document"] = ""


def _passages(document: Document) -> None:
    """The passages in reading order; a passage with another truth than its document is marked."""
    passages, terms = session.workbench().documents.passages(document.id), session.terms()
    for passage in paged(passages, _PER_PAGE, f"passages.{document.id}"):
        _passage(passage, document, terms)


def _passage(passage: Passage, document: Document, terms: WorkspaceTerms) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.badges(passage, terms)
            where = cards.location(passage, document)
            own = passage.truth is not None and passage.truth.value != document.labels.truth.value
            st.caption(plain(where) + (" · **its own truth**" if own else ""), width="content")
        st.markdown(plain(passage.text))
        if own:
            for evidence in [each for each in passage.truth_evidence if each.quote][:2]:
                st.caption(plain(f"because of “{shorten(evidence.quote, 160)}” {evidence.rule}"))


def _edit(document: Document) -> None:
    draw_editing([document])


def _history(document: Document) -> None:
    draw_history(document.id)


_MOST_QUESTIONS = 50
"""Questions listed, the latest ones: as many as ranking by use remembers (core.search.store.KEPT_QUESTIONS)."""
_QUESTION_LENGTH = 160  # characters of a question: two lines

_COLUMNS = (
    TableColumn("name", "Question", "name"),
    TableColumn("opened", "Opened", "number"),
    TableColumn("cited", "Cited", "number"),
    TableColumn("shown", "Shown", "number", help="Passages shown as results"),
    TableColumn("last", "Last", "short"),
)


def draw_usage(document: Document) -> None:
    """The totals of a document, then its questions."""
    usage = session.workbench().usage.of_document(document.id)
    if usage.last is None:
        st.caption("Not used yet. It is counted here when somebody opens, cites or finds it.")
        return
    opened, cited, shown = st.columns(3)
    opened.metric("Opened", f"{usage.opened:,}")
    cited.metric("Cited", f"{usage.cited:,}")
    shown.metric("Passages shown", f"{usage.shown:,}", help="As results of a search")
    st.caption(f"Last {ago(usage.last, utc_now())}. Opening it again within ten minutes counts once.")
    questions = [each for each in usage.questions if each.question]
    if not questions:
        return
    more = f", the latest {_MOST_QUESTIONS}" if len(questions) > _MOST_QUESTIONS else ""
    st.markdown(f"**For {count(len(questions), 'question')}**{more}")
    draw_table(
        f"usage.{document.id}",
        "Questions",
        _COLUMNS,
        [_row(number, each) for number, each in enumerate(questions[:_MOST_QUESTIONS])],
        on={"chosen": lambda number: None},
        keys=False,
    )


def _row(number: int, usage: QuestionUsage) -> dict[str, object]:
    return {
        "id": number,
        "name": shorten(usage.question, _QUESTION_LENGTH),
        "full": usage.question,
        "address": f"search?{urlencode({'q': usage.question})}",
        "sentence": [],
        "cells": {
            "opened": f"{usage.opened:,}" if usage.opened else "",
            "cited": f"{usage.cited:,}" if usage.cited else "",
            "shown": f"{usage.shown:,}" if usage.shown else "",
            "last": ago(usage.last, utc_now()),
        },
    }


_VIEWS: Mapping[str, Callable[[Document], None]] = {
    "Labels": labels.draw_editor,
    "Enrichment": draw_enrichment,
    "Passages": _passages,
    "Versions": draw_versions,
    "Usage": draw_usage,
    "Edit": _edit,
    "History": _history,
}
"""What can be looked at of a document, by the name people choose it by."""
