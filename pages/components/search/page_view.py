"""A passage in its page: the text with the cited sentences marked, and for a PDF the picture of the page."""

from collections.abc import Sequence

import streamlit as st

from core.domain.documents import Document, Page, Span
from core.domain.errors import FivefoldError
from core.domain.results import Candidate, Citation
from core.search.citations.page_locator import PagePicture, page_picture
from pages.components import notices, session
from pages.components.wording import highlight_spans, plain, shorten

__all__ = ["draw_page", "draw_passage", "draw_picture", "has_picture"]

_AROUND, _BESIDE_PICTURE = 4000, 120
"""Characters of a page shown before and after a passage: alone, and where a picture shows all of the page."""

_PANE_AROUND = 400
"""The same beside the list of results: the box is as high as its text, so nothing scrolls within what scrolls."""


def has_picture(document: Document) -> bool:
    """Whether pictures of the pages can be drawn."""
    return document.paged and document.media_type == "application/pdf"


def draw_passage(candidate: Candidate, document: Document, citations: Sequence[Citation]) -> None:
    """The passage with some text around it in a box, the cited sentences marked."""
    page = session.workbench().documents.page(document.id, candidate.passage.page)
    with st.container(border=True):
        st.markdown(_page_text(page, candidate, _spans_on(page, citations), _PANE_AROUND))


def draw_picture(candidate: Candidate, document: Document, citations: Sequence[Citation]) -> None:
    """The picture of the passage's page, the cited sentences marked."""
    page = session.workbench().documents.page(document.id, candidate.passage.page)
    _picture(document, page, _spans_on(page, citations))


def _spans_on(page: Page, citations: Sequence[Citation]) -> list[Span]:
    return [Span(each.start, each.end) for each in citations if each.page_number == page.number]


def draw_page(candidate: Candidate, document: Document, citations: Sequence[Citation]) -> None:
    """The passage in its page: the text with the cited sentences marked and, for a PDF, its picture."""
    passage, library = candidate.passage, session.workbench()
    page = library.documents.page(passage.document_id, passage.page)
    spans, drawn = _spans_on(page, citations), has_picture(document)
    grid = st.grid(2 if drawn else 1, min_column_width=440, gap="medium")
    with grid.cell():
        label = plain(page.label) or f"Page {page.number} of {document.pages}"
        st.markdown(f"**{label}** :gray[– the passage runs from character {passage.start:,} to {passage.end:,}]")
        with st.container(border=True):
            st.markdown(_page_text(page, candidate, spans, _BESIDE_PICTURE if drawn else _AROUND))
    if drawn:
        with grid.cell():
            _picture(document, page, spans)
    _neighbours(candidate)


def _page_text(page: Page, candidate: Candidate, spans: Sequence[Span], around: int) -> str:
    """The passage with the cited sentences marked, and so many characters of its page before and after it, to a word's
    border."""
    start, end = max(0, candidate.passage.start - around), min(len(page.text), candidate.passage.end + around)
    while 0 < start < candidate.passage.start and not page.text[start - 1].isspace():
        start += 1
    while candidate.passage.end < end < len(page.text) and not page.text[end].isspace():
        end -= 1
    inside = [Span(span.start - start, span.end - start) for span in spans if span.start >= start and span.end <= end]
    shown = highlight_spans(page.text[start:end], inside, "yellow")
    return f"{':gray[…] ' if start else ''}{shown}{' :gray[…]' if end < len(page.text) else ''}"


def _picture(document: Document, page: Page, spans: Sequence[Span]) -> None:
    st.markdown("**Picture of the page** :gray[– the cited sentences are marked]")
    try:
        drawn = _page_picture(
            document.sha256, page.number, page.text, tuple((span.start, span.end) for span in spans), document.id
        )
    except FivefoldError as problem:
        notices.error(problem)
        return
    if drawn.note:
        st.caption(f":material/info: {drawn.note}")
    with st.container(border=True):
        st.image(drawn.png, width="stretch", alt=f"Page {page.number} of {document.name}")


@st.cache_data(max_entries=24, show_spinner="Drawing the page …")
def _page_picture(
    sha256: str, number: int, text: str, spans: tuple[tuple[int, int], ...], _document_id: int
) -> PagePicture:
    return page_picture(session.workbench().documents.original(_document_id), number, text=text, spans=spans)


def _neighbours(candidate: Candidate) -> None:
    """The passages before and after, in reading order."""
    passage = candidate.passage
    near = [
        p
        for p in session.workbench().documents.passages(passage.document_id)
        if abs(p.position - passage.position) == 1
    ]
    for each in near:
        before = each.position < passage.position
        with st.expander(f"{'Before' if before else 'After'}: {plain(shorten(each.text, 90))}"):
            st.markdown(plain(each.text))
