"""What the reading room shows: the place in the URL, the document's texts, and its marks."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.domain.documents import Document, Origin
from core.domain.errors import FivefoldError, NotFound
from core.library.reading.reading_parts import OutlineEntry, Part, outline, part_at, parts
from core.library.reading.text_marks import Mark, cited_mark, evidence_marks, hit_marks, note_marks
from pages.components import session
from pages.components.urls import Params, number_in

__all__ = ["Opened", "ReaderView", "ReadingPlace", "mark_ids", "open_document", "original", "place_from", "shown"]

_MOST_LETTERS = 200  # of what is looked for: longer than any sentence one types


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """What the URL asks for. document, page: None when they are no numbers. at: a mark's number from 1; 0: none.
    question: the one whose result was opened."""

    document: int | None
    page: int | None = None
    mark: str = ""
    find: str = ""
    at: int = 0
    as_text: bool = False
    question: str = ""

    def as_params(self) -> dict[str, list[str]]:
        """The query parameters of this place."""
        params = {
            "id": str(self.document) if self.document is not None else "",
            "page": str(self.page) if self.page is not None else "",
            "mark": self.mark,
            "find": self.find,
            "at": str(self.at) if self.at else "",
            "view": "text" if self.as_text else "",
            "q": self.question,
        }
        return {name: [value] for name, value in params.items() if value}


def place_from(params: Params) -> ReadingPlace:
    """The place a URL names.

    >>> place_from({"id": ["12"], "page": ["4"], "mark": ["42.3"]})
    ReadingPlace(document=12, page=4, mark='42.3', find='', at=0, as_text=False, question='')
    """
    one = {name: values[0] for name, values in params.items() if values}
    return ReadingPlace(
        number_in(one.get("id", "")),
        number_in(one.get("page", "")),
        one.get("mark", ""),
        one.get("find", "").replace("\0", " ").strip()[:_MOST_LETTERS],
        number_in(one.get("at", "")) or 0,
        one.get("view") == "text",
        one.get("q", "").replace("\0", " ").strip(),
    )


def mark_ids(mark: str) -> tuple[int, int | None]:
    """Passage id and sentence index of a mark; None for a whole passage. Raises NotFound for what is neither.

    >>> mark_ids("42.3"), mark_ids("42")
    ((42, 3), (42, None))
    """
    passage, dot, sentence = mark.partition(".")
    passage_id, index = number_in(passage), number_in(sentence)
    if passage_id is None or (dot and index is None):
        raise NotFound("The address names no citation of this document.", "The document is shown from its beginning.")
    return passage_id, index


@dataclass(frozen=True, slots=True)
class Opened:
    """A document with all its text. cited: the mark the URL names. others: notes and evidence. problem: why the mark
    of the URL cannot be shown."""

    document: Document
    texts: Mapping[int, str]
    parts: tuple[Part, ...]
    outline: tuple[OutlineEntry, ...]
    cited: Mark | None
    others: tuple[Mark, ...]
    problem: FivefoldError | None = None

    @property
    def drawn_as_pages(self) -> bool:
        """Whether the original is a PDF, whose pages can be drawn."""
        return self.document.paged and self.document.media_type == "application/pdf"


_ORIGINAL = "document.original"
"""Session key: the number and the bytes of the file that is open."""


def original(document: Document) -> bytes:
    """The file of the open document, read once however often its pages are drawn: each reading is an entry in the audit
    log. Raises NotFound, StoreFailed."""
    file: tuple[tuple[int, str], bytes] | None = st.session_state.get(_ORIGINAL)
    about = (document.id, document.sha256)
    if file is None or file[0] != about:
        file = st.session_state[_ORIGINAL] = (about, session.workbench().documents.original(document.id))
    return file[1]


def open_document(place: ReadingPlace) -> Opened:
    """Read a document and its marks. Raises NotFound."""
    library = session.workbench()
    if place.document is None:
        raise NotFound("The address names no document.", "Open one from the library or from a search result.")
    document = library.documents.get(place.document)
    if document.origin is not Origin.DOCUMENT:
        raise NotFound("This is a note, not a document.", "Open it on *Insights*.")
    texts = library.documents.texts(document)
    cited, problem = None, None
    if place.mark:
        try:
            cited = _cited(document, place.mark)
        except FivefoldError as error:
            problem = error
    notes = note_marks(document.id, library.insights.about([document.id]), texts)
    board = library.coverage.board(document.project)
    evidence = evidence_marks(document.id, board.cells if board else (), texts)
    return Opened(
        document,
        texts,
        tuple(parts(texts, paged=document.paged)),
        tuple(outline(library.documents.passages(document.id))),
        cited,
        tuple(dict.fromkeys([*notes, *evidence])),
        problem,
    )


def _cited(document: Document, mark: str) -> Mark:
    passage_id, sentence = mark_ids(mark)
    passage = session.workbench().documents.passage(passage_id)
    if passage.document_id != document.id:
        raise NotFound("The cited sentence is in another document.", "This document is shown from its beginning.")
    return cited_mark(passage, sentence)


@dataclass(frozen=True, slots=True)
class ReaderView:
    """What is in sight. index: of the part. marks: all, in reading order. steps: those that next and previous go
    through – the hits while something is looked for. current: the one moved to, None for none. at: its number from 1.
    """

    index: int
    marks: tuple[Mark, ...]
    steps: tuple[Mark, ...]
    current: Mark | None
    at: int


def shown(opened: Opened, place: ReadingPlace) -> ReaderView:
    """The part and marks a place asks for. A page out of range is the nearest one."""
    hits = hit_marks(opened.texts, place.find)
    cited = [opened.cited] if opened.cited is not None else []
    marks = sorted([*hits, *cited, *opened.others], key=lambda mark: (mark.page, mark.start, mark.end))
    steps = tuple(hits) if place.find else tuple(marks)
    at = min(place.at, len(steps))
    current = steps[at - 1] if at else None
    if current is None and not place.find and opened.cited is not None and place.page is None:
        current, at = opened.cited, steps.index(opened.cited) + 1
    if place.page is not None:
        index = max(0, min(place.page, len(opened.parts)) - 1)
    elif (goal := current or opened.cited) is not None:
        index = part_at(opened.parts, goal.page, goal.start)
    elif hits:
        index, current, at = part_at(opened.parts, hits[0].page, hits[0].start), hits[0], 1
    else:
        index = 0
    return ReaderView(index, tuple(marks), steps, current, at)
