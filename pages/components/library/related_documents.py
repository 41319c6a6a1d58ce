"""Relations of a document, one line each: near-duplicates, suggested versions, successors."""

from collections.abc import Mapping

import streamlit as st

from core.domain.documents import Document
from core.library.duplicates.minhash import percent
from core.library.versions.service import RelatedDocuments
from pages.components import session
from pages.components.urls import page_path
from pages.components.wording import plain, squeezed

__all__ = ["alike_words", "draw_kin", "library_link", "likeness"]


def library_link(document: Document, label: str, icon: str | None = None) -> None:
    """A link that opens a document in the library. label: safe markdown."""
    st.page_link(page_path("library"), label=label, icon=icon, query_params={"document": str(document.id)})


def likeness(same: float) -> str:
    """How much of two documents is the same, in words. same: Jaccard share, in [0, 1].

    >>> likeness(0.942), likeness(1.0)
    ('94 % the same', 'the same text')
    """
    return "the same text" if same == 1.0 else f"{percent(same)} the same"


def alike_words() -> Mapping[int, str]:
    """Document → what a list says of its likenesses; those alone are absent."""
    return {
        each: " · ".join(filter(None, (f"≈ {percent(same)}" if same else "", "version?" if suggested else "")))
        for each, (same, suggested) in session.workbench().versions.marks().items()
    }


def draw_kin(document: Document, kin: RelatedDocuments, most: int = 4) -> None:
    """The facts, at most so many, each with a link to the other document; nothing for a document that is alone."""
    lines = _lines(document, kin)
    for what, other, why in lines[:most]:
        _line(what, other, why)
    if more := len(lines[most:]):
        st.caption(f"and {more:,} more like it")


def _lines(document: Document, kin: RelatedDocuments) -> list[tuple[str, Document, str]]:
    """What it is, the other document, and why: what replaced it, the same text, suggested versions, near-duplicates."""
    replaced = [(":material/history: Replaced by", kin.replaced_by, "")] if kin.replaced_by is not None else []
    same = {other.id: share for other, share in kin.near}
    suggested = []
    for suggestion in kin.suggestions:
        newer = suggestion.newer.id == document.id
        other = suggestion.older if newer else suggestion.newer
        what = "May be a new version of" if newer else "May have a new version:"
        near = f" (near-duplicate, {likeness(same.pop(other.id))})" if other.id in same else ""
        suggested.append((f":material/update: {what}", other, f"{suggestion.because}{near}"))
    alike = []
    for other, share in kin.near:
        if other.id in same:
            where = f", project {other.project}" if other.project and other.project != document.project else ""
            alike.append((":material/content_copy: Near-duplicate of", other, f"{likeness(share)}{where}"))
    twins = sum(share == 1.0 for share in same.values())
    return [*replaced, *alike[:twins], *suggested, *alike[twins:]]


def _line(what: str, other: Document, why: str) -> None:
    """What it is, the other document, and why; it wraps where it is narrow."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(what, width="content")
        library_link(other, plain(squeezed(other.name, 60)))
        if why:
            st.caption(plain(why), width="content")
