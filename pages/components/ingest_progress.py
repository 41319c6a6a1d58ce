"""Progress of processing files: a bar that updates itself, and a page refresh when results change."""

from collections.abc import Callable, Hashable

import streamlit as st

from core.domain.documents import DocumentState
from pages.components import session
from pages.components.wording import count

__all__ = ["draw_progress"]


def _unchanged() -> Hashable:
    return None


def draw_progress(shown: Callable[[], Hashable] = _unchanged) -> None:
    """Nothing once every file is read. shown: what the page was drawn from; it is drawn again when that is another."""
    before = shown()

    @st.fragment(run_every=1.0)
    def drawn() -> None:
        documents = session.workbench().documents
        pending, total = documents.count(DocumentState.PENDING), documents.count()
        if not pending or shown() != before:
            st.rerun()
        done = max(0, total - pending)
        st.progress(done / max(1, total), f"Reading: {done:,} of {count(total, 'document')} done")

    if session.workbench().documents.count(DocumentState.PENDING):
        drawn()
