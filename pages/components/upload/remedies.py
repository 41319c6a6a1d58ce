"""Actions on an uploaded file: view its members, enter its password, replace it."""

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.documents import Document, DocumentState
from core.domain.errors import FivefoldError
from core.library.documents import asks_for_password
from pages.components import notices, session
from pages.components.wording import bytes_in_words, count, plain, shorten_middle

__all__ = [
    "container_words",
    "draw_container",
    "draw_notes",
    "draw_password_form",
    "draw_replace_form",
    "draw_replace_problem",
]

_SHOWN = 3  # notes shown at once; chosen by hand


def container_words(document: Document, documents: Sequence[Document]) -> str:
    """The states of an archive's files, in words. documents: those of the library."""
    states = Counter(each.state for each in documents if each.parent == document.id)
    parts = [count(sum(states.values()), "file")]
    for state, words in ((DocumentState.PENDING, "being read"), (DocumentState.FAILED, "could not be read")):
        if states[state]:
            parts.append(f"{states[state]} {words}")
    return ", ".join(parts)


def draw_container(document: Document, documents: Sequence[Document]) -> None:
    """The badge of an archive and the states of its files; drawn inside a horizontal container."""
    st.badge("Archive", icon=":material/folder_zip:", color="gray")
    st.caption(
        plain(f"{container_words(document, documents)} · {bytes_in_words(document.size_bytes)}"), width="content"
    )


def draw_notes(document: Document) -> None:
    """What was left out of an archive, or was in the library already."""
    notes = document.warnings
    if not notes:
        st.caption("Every file in it is a document of its own.")
        return
    for note in notes[:_SHOWN]:
        st.caption(f":material/info: {plain(note)}")
    if len(notes) > _SHOWN:
        with st.popover(f"{len(notes) - _SHOWN} more", type="tertiary"):
            for note in notes[_SHOWN:]:
                st.caption(plain(note))


def draw_password_form(document: Document, area: str = "upload") -> None:
    """The password field of a document that needs one. place: the page, so that two pages may draw the same
    document."""
    if not asks_for_password(document):
        return
    key = f"unlock.{area}.{document.id}"
    form = st.form(key, border=False, clear_on_submit=True)
    with form.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        password = st.text_input(
            "Password of the file",
            type="password",
            key=f"{key}.password",
            autocomplete="off",
            width=280,
            help="It opens the file once and is not kept. An unlocked copy is stored beside the original,"
            " and is what Fivefold reads.",
        )
        submitted = st.form_submit_button("Unlock", icon=":material/lock_open:")
    if submitted:
        _unlock(document, password, f"{key}.problem")
    problem = st.session_state.get(f"{key}.problem")
    if problem is not None:
        notices.error(problem)


def _unlock(document: Document, password: str, problem_key: str) -> None:
    """Unlock a document; an error is stored in the session, because a running list is redrawn every second."""
    try:
        with st.spinner("Unlocking …"):
            session.workbench().decryption.unlock(document.id, password)
    except FivefoldError as problem:
        st.session_state[problem_key] = problem
        return
    st.session_state.pop(problem_key, None)
    st.toast("Unlocked; it is being read.", icon=":material/lock_open:")
    st.rerun()


def draw_replace_form(
    document: Document, area: str = "upload", then: Callable[[int], None] = lambda document_id: None
) -> None:
    """Upload another file in place of this one. place: the page, so that two pages may draw the same document. then:
    called with the id of the new document."""
    key = f"replace.{area}.{document.id}"
    with st.popover("Replace", icon=":material/swap_horiz:", type="tertiary", key=f"{key}.way"):
        turn = st.session_state.setdefault(f"{key}.turn", 0)
        file = st.file_uploader(
            "File that takes its place",
            key=f"{key}.file.{turn}",
            help="Project and tags stay as they are; the file that cannot be read is removed.",
        )
        if file is not None:
            st.session_state[f"{key}.turn"] += 1  # what was given is dealt with once
            _replace(document, file.name, file.getvalue(), f"{key}.problem", then)


def draw_replace_problem(document: Document, area: str = "upload") -> None:
    """Why the file given last could not take its place."""
    problem = st.session_state.get(f"replace.{area}.{document.id}.problem")
    if problem is not None:
        notices.error(problem)


def _replace(document: Document, name: str, data: bytes, problem_key: str, then: Callable[[int], None]) -> None:
    try:
        receipt = session.workbench().documents.replace(document.id, name, data)
    except FivefoldError as problem:
        st.session_state[problem_key] = problem
    else:
        st.session_state.pop(problem_key, None)
        then(receipt.document_id)
        same = receipt.document_id == document.id
        message = "is the very same file; it is tried again." if same else "takes its place."
        st.toast(f"“{plain(shorten_middle(name, 60))}” {message}", icon=":material/swap_horiz:")
    st.rerun()
