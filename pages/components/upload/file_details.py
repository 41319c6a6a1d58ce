"""The open file that has no labels to check: how far it is or why it failed, and what can be done about it."""

import streamlit as st

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure, NotFound
from core.library.archive_members import is_container
from core.ports.job_queue import STOPPED
from pages.components import cards, notices, session
from pages.components.upload import state
from pages.components.upload.file_rows import share_done, step_words
from pages.components.upload.remedies import (
    draw_container,
    draw_notes,
    draw_password_form,
    draw_replace_form,
    draw_replace_problem,
)
from pages.components.user_name import who
from pages.components.wording import bytes_in_words, count, plain, shorten_middle

__all__ = ["draw_file"]


def draw_file() -> None:
    """The file opened from the list, above it; draws nothing when none is open."""
    document_id = state.opened()
    if document_id is None:
        return
    try:
        document = session.workbench().documents.get(document_id)
    except NotFound:
        notices.error(NotFound("This file is no longer in the library.", "It was deleted, or another took its place."))
        state.close()
        return
    if state.checkable(document):  # it was read meanwhile
        st.rerun()
    with st.container(border=True, gap="xsmall", key=f"upload.file.{document.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shorten_middle(document.name, 120))}**", width="stretch")
            st.button(":material/close:", key="upload.close", help="Close", type="tertiary", on_click=state.close)
        _details(document)


def _details(document: Document) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if is_container(document) and document.state is DocumentState.READY:
            members = session.workbench().upload_queue.members([document.id])
            draw_container(document, members.get(document.id, ()))
        elif document.state is DocumentState.FAILED and document.step == STOPPED:
            st.badge("stopped", icon=":material/stop_circle:", color="gray")
        else:
            cards.state_badge(document)
        if not is_container(document):
            pages = f"{count(document.pages, 'page')} · " if document.pages else ""
            st.caption(f"{pages}{bytes_in_words(document.size_bytes)}", width="content")
    match document.state:
        case DocumentState.PENDING:
            st.progress(share_done(document))
            st.caption("Its labels can be checked as soon as it is read.")
            st.button(
                "Stop",
                key=f"stop.{document.id}",
                icon=":material/stop_circle:",
                type="tertiary",
                on_click=_stop,
                args=(document.id,),
            )
        case DocumentState.FAILED:
            _failure(document)
        case DocumentState.READY:
            draw_notes(document)


def _failure(document: Document) -> None:
    if document.step == STOPPED:
        st.caption(plain(f"{document.failure} {document.remedy}"))
    else:
        at = f" :gray[(at the step “{plain(step_words(document))}”)]" if document.step else ""
        st.markdown(f":red[{plain(document.failure)}] {plain(document.remedy)}{at}")
    draw_password_form(document)
    with st.container(horizontal=True, gap="small"):
        if document.cure is Cure.AGAIN:
            st.button(
                "Try again",
                key=f"retry.{document.id}",
                icon=":material/refresh:",
                type="tertiary",
                on_click=_try_again,
                args=(document.id,),
            )
        else:
            draw_replace_form(document, then=lambda new_id: state.close())
        st.button(
            "Remove",
            key=f"remove.{document.id}",
            icon=":material/delete:",
            type="tertiary",
            help="*Trash* in the library restores it.",
            on_click=_remove,
            args=(document.id,),
        )
    draw_replace_problem(document)


def _stop(document_id: int) -> None:
    session.workbench().upload_queue.stop([document_id])


def _try_again(document_id: int) -> None:
    session.workbench().upload_queue.try_again([document_id])


def _remove(document_id: int) -> None:
    def remove() -> None:
        change = session.workbench().bulk_edit.delete(document_id, who() or "analyst")
        state.note_saved(change, f"{plain(shorten_middle(change.changes[0].name, 60))} removed.", None)

    if notices.apply_change("upload", remove):
        state.close()
