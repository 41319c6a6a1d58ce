"""An archive as a row: how many files came out of it, and how they fare."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from core.documents import Document, DocumentState
from pages.parts.wording import bytes_in_words, count, plain

__all__ = ["container_words", "draw_container", "draw_notes"]

_SHOWN = 3


def container_words(document: Document, documents: Sequence[Document]) -> str:
    """What became of the files of an archive, in words; documents: those of the library."""
    states = Counter(each.state for each in documents if each.parent == document.id)
    told = [count(sum(states.values()), "file")]
    for state, words in ((DocumentState.PENDING, "being read"), (DocumentState.FAILED, "could not be read")):
        if states[state]:
            told.append(f"{states[state]} {words}")
    return ", ".join(told)


def draw_container(document: Document, documents: Sequence[Document]) -> None:
    """The badge of an archive, and what became of its files; drawn inside a horizontal container."""
    st.badge("Archive", icon=":material/folder_zip:", color="gray")
    st.caption(
        plain(f"{container_words(document, documents)} · {bytes_in_words(document.size_bytes)}"), width="content"
    )


def draw_notes(document: Document) -> None:
    """What was left out of an archive, or is in the library already; all of it one click away."""
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
