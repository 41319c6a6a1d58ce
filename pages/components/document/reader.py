"""The reader of a document: a page of a PDF drawn by pdf.js, or a part of a text, with its marks."""

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit import runtime

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.library.reading.reading_parts import part_at
from core.library.reading.text_blocks import TextBlock, blocks
from core.library.reading.text_marks import Mark, MarkKind, marked_texts
from core.search.citations.page_locator import located
from pages.components import browser_scripts, notices, session
from pages.components.document.state import Opened, ReaderView, ReadingPlace, original, place_from, shown
from pages.components.urls import current_params, write_params
from pages.components.wording import count

__all__ = ["draw_reader", "moved", "page_boxes", "reader_data", "text_blocks"]

_TABLES = ("text/csv", "text/tab-separated-values", "spreadsheet", "ms-excel", "parquet")
_LINES_MATTER = ("text/plain", "message/rfc822")
_KINDS = {
    MarkKind.HIT: "Found",
    MarkKind.CITED: "Cited",
    MarkKind.NOTE: "Notes",
    MarkKind.EVIDENCE: "Coverage evidence",
}


def draw_reader(opened: Opened) -> None:
    """The document from the page the URL names on. A lost original is told, and its stored text shown."""
    url = None
    if opened.drawn_as_pages:
        try:
            url = _address(opened.document)
        except FivefoldError as problem:
            notices.error(problem)
            st.caption("The stored text is shown instead of the pages.")
    _reader(opened, url)


def _address(document: Document) -> str:
    """Where the browser loads the original, in pieces as it needs them; it ends with the session."""
    data = original(document)
    return runtime.get_instance().media_file_mgr.add(data, "application/pdf", f"document.{document.id}")


@st.fragment
def _reader(opened: Opened, url: str | None) -> None:
    """Turning a page draws this part again, and nothing else."""
    reading_place = place_from(current_params())
    if reading_place.document != opened.document.id:  # the browser went back to another document
        st.rerun()
    view = shown(opened, reading_place)
    data = reader_data(opened, reading_place, view, url)
    if data["kind"] == "pdf":
        try:
            data["boxes"], note = page_boxes(opened, view)
            data["note"] = note
        except FivefoldError as problem:
            notices.error(problem)
            data |= {"kind": "text", "blocks": text_blocks(opened, view)}
    draw = browser_scripts.browser_component("fivefold_reader", "document/reader.js")
    key = f"reader.{opened.document.id}"
    draw(key=key, data=data, on_go_change=partial(_go, key, opened))


def _go(key: str, opened: Opened) -> None:
    wish = st.session_state[key].go
    if wish:
        write_params("document", moved(opened, place_from(current_params()), wish).as_params())


def moved(opened: Opened, place: ReadingPlace, wish: dict[str, Any]) -> ReadingPlace:
    """The place a reader wishes to go to: a page, the text or page view, a mark by its number, or new words to find."""
    if "find" in wish:
        words = place_from({"find": [str(wish["find"])]}).find
        place, before = replace(place, find=words, at=0), shown(opened, place).index
        hits = shown(opened, place).steps if words else ()
        at = next((n for n, hit in enumerate(hits, 1) if part_at(opened.parts, hit.page, hit.start) >= before), 1)
        return replace(place, at=at, page=None) if hits else replace(place, page=before + 1)
    if "at" in wish:
        steps = len(shown(opened, place).steps)
        return replace(place, at=max(1, min(int(wish["at"]), steps)), page=None) if steps else place
    if "view" in wish:
        return replace(place, as_text=wish["view"] == "text")
    if "start" in wish:
        return replace(place, page=part_at(opened.parts, int(wish["page"]), int(wish["start"])) + 1)
    return replace(place, page=max(1, min(int(wish["page"]), len(opened.parts))))


def reader_data(opened: Opened, place: ReadingPlace, view: ReaderView, url: str | None) -> dict[str, Any]:
    """What the reader draws: the part in sight, and the numbers of its tools."""
    counts = Counter(mark.kind for mark in view.marks)
    as_pages = url is not None and not place.as_text
    return {
        "kind": "pdf" if as_pages else "text",
        "url": url,
        "both": url is not None,
        "name": opened.document.name,
        "page": view.index + 1,
        "pages": len(opened.parts),
        "unit": "Page" if opened.document.paged else "Part",
        "label": _label(opened, view),
        "find": place.find,
        "at": view.at,
        "steps": len(view.steps),
        "tally": _tally(place, view),
        "legend": [[kind.value, words, counts[kind]] for kind, words in _KINDS.items() if counts[kind]],
        "outline": [[each.title, each.level, each.page, each.start] for each in opened.outline],
        "lines": opened.document.media_type in _LINES_MATTER or opened.document.paged,
        "blocks": [] if as_pages else text_blocks(opened, view),
        "boxes": [],
        "note": "",
    }


def _label(opened: Opened, view: ReaderView) -> str:
    """The name of the sheet or part in sight; "" where it has none."""
    if opened.document.paged or not opened.parts:
        return ""
    return session.workbench().documents.page(opened.document.id, opened.parts[view.index].page).label


def _tally(place: ReadingPlace, view: ReaderView) -> str:
    """Where one is among the hits or marks."""
    if place.find and not view.steps:
        return "Not found"
    number = f"{view.at:,} of " if view.at else ""
    return f"{number}{count(len(view.steps), 'hit' if place.find else 'mark')}" if view.steps else ""


def page_boxes(opened: Opened, view: ReaderView) -> tuple[list[dict[str, Any]], str]:
    """The boxes of the marks on the page in sight, in points, and what could not be located. Raises UnreadableFile."""
    page = opened.parts[view.index].page
    marks = [mark for mark in view.marks if mark.page == page]
    if not marks:
        return [], ""
    data = original(opened.document)
    found = located(data, page, opened.texts[page], [(mark.start, mark.end) for mark in marks])
    boxes = [
        {
            "kind": mark.kind.value,
            "label": mark.label,
            "current": mark == view.current,
            "box": [box.left, box.top, box.right, box.bottom],
        }
        for mark, page_rectangles in zip(marks, found, strict=True)
        for box in page_rectangles
    ]
    lost = sum(not page_rectangles for page_rectangles in found)
    note = f"{count(lost, 'mark')} of this page could not be located exactly; the text view shows them."
    return boxes, note if lost else ""


def text_blocks(opened: Opened, view: ReaderView) -> list[dict[str, Any]]:
    """The blocks of the part in sight, each cut into runs of text and marks."""
    if not opened.parts:
        return []
    part = opened.parts[view.index]
    text, marks = opened.texts[part.page], [mark for mark in view.marks if mark.page == part.page]
    headings = {each.title for each in opened.outline} | {opened.document.title}
    records = any(word in opened.document.media_type for word in _TABLES)
    found = blocks(text, part.start, part.end, headings=headings, records=records)
    return [_block(block, text, marks, view.current) for block in found]


def _block(block: TextBlock, text: str, marks: list[Mark], current: Mark | None) -> dict[str, Any]:
    def runs(start: int, end: int) -> list[list[Any]]:
        cut = marked_texts(text, start, end, marks, current)
        return [
            [run.text, run.mark.kind.value if run.mark else "", run.mark.label if run.mark else "", run.current]
            for run in cut
        ]

    if not block.cells:
        return {"kind": block.kind.value, "runs": runs(block.start, block.end)}
    over = [mark for mark in marks if mark.start < block.end and mark.end > block.start]
    return {
        "kind": block.kind.value,
        "columns": list(block.columns),
        "cells": [runs(cell.start, cell.end) for cell in block.cells],
        "marked": any(mark.kind is not MarkKind.HIT for mark in over),
        "current": current in over,
    }
