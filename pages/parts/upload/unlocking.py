"""A file under a password: the field that opens it."""

import streamlit as st

from core.documents import Document
from core.errors import FivefoldError
from core.library.unlock import asks_for_password
from pages.parts import notices, session

__all__ = ["draw_unlocking"]


def draw_unlocking(document: Document, place: str = "upload") -> None:
    """The password field of a document that failed for want of one; nothing for any other. place: of the page, so that
    two pages may draw the same document."""
    if not asks_for_password(document):
        return
    key = f"unlock.{place}.{document.id}"
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
        asked = st.form_submit_button("Unlock", icon=":material/lock_open:")
    if asked:
        _unlock(document, password, f"{key}.problem")
    problem = st.session_state.get(f"{key}.problem")
    if problem is not None:
        notices.error(problem)


def _unlock(document: Document, password: str, told: str) -> None:
    """Open it; what was wrong is kept under a key of the session, because a list under way is redrawn every second."""
    try:
        with st.spinner("Unlocking …"):
            session.workbench().unlock(document.id, password)
    except FivefoldError as problem:
        st.session_state[told] = problem
        return
    st.session_state.pop(told, None)
    st.toast("Unlocked; it is being read.", icon=":material/lock_open:")
    st.rerun()
