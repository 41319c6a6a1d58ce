"""Results of documents that a newer version replaced say so, with a link to what replaced them."""

import streamlit as st

from core.results import Hit, SearchResult
from pages.parts import session
from pages.parts.cards import Drawn
from pages.parts.library.kin import library_link
from pages.parts.wording import plain, squeezed

__all__ = ["marker"]


def marker(result: SearchResult) -> Drawn:
    """Draws the mark of a result, nothing for documents in the library. One look-up for all results."""
    ids = {hit.candidate.passage.document_id for hit in result.hits if hit.candidate.passage.archived}
    newest = session.workbench().versions.newest(sorted(ids)) if ids else {}

    def mark(hit: Hit) -> None:
        passage = hit.candidate.passage
        if not passage.archived:
            return
        newer = newest.get(passage.document_id)
        if newer is None:
            st.badge("Archived", icon=":material/archive:", color="gray")
            return
        st.badge("Old version", icon=":material/history:", color="orange", help="A newer version replaced it.")
        library_link(newer, f"replaced by {plain(squeezed(newer.name, 40))}", ":material/arrow_forward:")

    return mark
