"""Another file in place of one that cannot be read."""

from collections.abc import Callable

import streamlit as st

from core.documents import Document
from core.errors import FivefoldError
from pages.parts import notices, session
from pages.parts.wording import plain, squeezed

__all__ = ["draw_not_replaced", "draw_replacing"]


def draw_replacing(
    document: Document, place: str = "upload", then: Callable[[int], None] = lambda document_id: None
) -> None:
    """The way to give another file. place: of the page, so that two pages may draw the same document. then: told the id
    of the document that takes its place."""
    key = f"replace.{place}.{document.id}"
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


def draw_not_replaced(document: Document, place: str = "upload") -> None:
    """Why the file given last could not take its place."""
    problem = st.session_state.get(f"replace.{place}.{document.id}.problem")
    if problem is not None:
        notices.error(problem)


def _replace(document: Document, name: str, data: bytes, told: str, then: Callable[[int], None]) -> None:
    try:
        receipt = session.workbench().replace(document.id, name, data)
    except FivefoldError as problem:
        st.session_state[told] = problem
    else:
        st.session_state.pop(told, None)
        then(receipt.document_id)
        same = receipt.document_id == document.id
        said = "is the very same file; it is tried again." if same else "takes its place."
        st.toast(f"“{plain(squeezed(name, 60))}” {said}", icon=":material/swap_horiz:")
    st.rerun()
