"""Labels checked beside the text of their document, one document after the other."""

import streamlit as st

from core.domain.documents import Document
from core.domain.errors import NotFound
from pages.components import browser_scripts, cards, notices, session
from pages.components.library.related_documents import draw_related
from pages.components.upload import state
from pages.components.upload.evidence import draw_quotes, draw_text, quotes_of
from pages.components.upload.label_form import draw_form
from pages.components.wording import count, plain, shorten_middle

__all__ = ["draw_check", "is_checking"]

_NAME = 56  # letters of the heading: one line with the buttons at 1280 pixels
_KEYS = """| key | does |
|---|---|
| `j` `k` | next, previous document |
| `1` … `5` | choose the truth |
| `a` | confirm the truth as proposed |
| `s` | save the correction |
| `u` | undo what was saved last |"""


def is_checking() -> bool:
    """Whether labels are checked now: a document is open that has some, or all of the queue are done."""
    document_id = state.opened()
    if document_id is None:
        return False
    if document_id == state.FINISHED:
        return True
    try:
        return state.checkable(session.workbench().documents.get(document_id))
    except NotFound:
        return False


def draw_check() -> None:
    """The open document: its text at the left, its labels at the right."""
    state.write_url()
    document_id = state.opened()
    if document_id is None or document_id == state.FINISHED:
        _finished()
        return
    document = session.workbench().documents.get(document_id)
    queue = state.queue_with(document)
    _head(document, queue)
    state.draw_saved(shortcut=True)
    texts = session.workbench().documents.texts(document)
    quotes = quotes_of(document, texts)
    text, form = st.columns([1, 1], gap="medium")
    with text:
        if any(words.strip() for words in texts.values()):
            draw_text(document, texts, quotes)
        else:
            what, step = "No text was found in this file", "Open the document to look at it, then choose its truth."
            notices.empty(":material/article:", what, step)
        _notes(document)
    with form:
        draw_form(document, _next)
        draw_quotes(document, quotes, session.terms())
    browser_scripts.leave_fields(document.id)  # its keys act at once, and a held one only once


def _next(document: Document) -> None:
    """The document after this one comes."""
    state.go_to(state.queue_with(document).after(document.id))


def _head(document: Document, queue: state.CheckQueue) -> None:
    """The name of the document, its place in the queue, and the ways to the others and back."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _back_button()
        st.markdown(f"**{plain(shorten_middle(document.name, _NAME))}**", width="content")
        cards.document_link(document.id, "Open the document")
        st.space("stretch")
        number, total = queue.document_ids.index(document.id) + 1, len(queue.document_ids)
        st.caption(f"{number:,} of {total:,} {queue.what}", width="content")
        for label, icon, key, target in (
            ("Previous", "arrow_back", "K", queue.before(document.id)),
            ("Next", "arrow_forward", "J", queue.after(document.id)),
        ):
            st.button(
                label,
                key=f"check.{icon}",
                icon=f":material/{icon}:",
                shortcut=key,
                disabled=target is None,
                on_click=state.go_to,
                args=(target,),
            )
        with st.popover(":material/keyboard:", type="tertiary", help="Keys"):
            st.markdown(_KEYS)


def _back_button() -> None:
    st.button(
        "All files", key="check.close", icon=":material/arrow_back_ios_new:", type="tertiary", on_click=state.close
    )


def _notes(document: Document) -> None:
    """Warnings of the document, and those it resembles."""
    for warning in document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
    for related in session.workbench().versions.related([document]).values():
        draw_related(document, related)


def _finished() -> None:
    """All documents of the queue were gone through."""
    state.draw_saved(shortcut=True)
    left = session.workbench().upload_queue.counts(cards.SURE).doubtful
    words = f"{count(left, 'label is', 'labels are')} still uncertain." if left else "No label is uncertain any more."
    notices.empty(":material/task_alt:", "You went through all of them", words)
    with st.container(horizontal=True, horizontal_alignment="center"):
        _back_button()
