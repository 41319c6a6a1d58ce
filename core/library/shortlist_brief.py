"""A shortlist as a brief, truth by truth, with numbered quotes: Word, Markdown and a workbook."""

import io
import re
from collections.abc import Iterator, Mapping

from core.domain.documents import Truth
from core.formats.spreadsheet import Sheet, workbook_bytes
from core.library.shortlists import Shortlist, ShortlistItem
from core.search.citations.cite import display_quote
from core.search.exports import markdown_line

__all__ = ["shortlist_docx", "shortlist_markdown", "shortlist_xlsx"]

_WIDTHS = (6, 14, 70, 50, 40, 40, 40)  # characters of the columns
_UNKNOWN = "No truth known"
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def shortlist_markdown(shortlist: Shortlist, changes: Mapping[int, str]) -> str:
    """The brief as Markdown. changes: as `ShortlistService.changes` gives them."""
    return "\n".join(_lines(shortlist, changes)) + "\n"


def _lines(shortlist: Shortlist, changes: Mapping[int, str]) -> Iterator[str]:
    yield f"# {markdown_line(shortlist.name)}"
    yield ""
    number = 0
    sources: list[str] = []
    for truth, indices in _by_truth(shortlist):
        yield from (f"## {truth}", "")
        question = None
        for index in indices:
            item, number = shortlist.items[index], number + 1
            if item.question != question:
                question = item.question
                yield from (f"Question: {markdown_line(question)}", "")
            yield from (f"> “{markdown_line(display_quote(item.quote))}” ({number})", "")
            if item.note:
                yield from (f"Note: {markdown_line(item.note)}", "")
            if index in changes:
                yield from (f"⚠ {changes[index]}", "")
            sources.append(f"{number}. {markdown_line(item.place)}")
    yield from ("## Sources", "", *sources)


def _by_truth(shortlist: Shortlist) -> Iterator[tuple[str, list[int]]]:
    """Title of a truth and the places of its items, in the order of the truths; empty ones are left out."""
    for truth, title in (*((each.value, each.value.capitalize()) for each in Truth), ("", _UNKNOWN)):
        if indices := [index for index, item in enumerate(shortlist.items) if item.truth == truth]:
            yield title, indices


def shortlist_docx(shortlist: Shortlist, changes: Mapping[int, str]) -> bytes:
    """The brief as a Word document, in the styles that come with Word, so that it takes the look of where it is put."""
    import docx

    brief = docx.Document()

    def add(text: str, style: str = "Normal") -> None:
        brief.add_paragraph(_NOT_IN_XML.sub(" ", text), style)

    add(shortlist.name, "Title")
    sources: list[str] = []
    for truth, places in _by_truth(shortlist):
        add(truth, "Heading 1")
        question = None
        for place in places:
            item = shortlist.items[place]
            sources.append(item.place)
            if item.question != question:
                question = item.question
                add(f"Question: {question}")
            add(f"“{display_quote(item.quote)}” ({len(sources)})", "Quote")
            if item.note:
                add(f"Note: {item.note}")
            if place in changes:
                add(f"⚠ {changes[place]}")
    add("Sources", "Heading 1")
    for number, source in enumerate(sources, 1):
        add(f"{number}. {source}")
    out = io.BytesIO()
    brief.save(out)
    return out.getvalue()


def shortlist_xlsx(shortlist: Shortlist, changes: Mapping[int, str]) -> bytes:
    """The brief as a workbook, one row per item."""
    order = [(title, index) for title, indices in _by_truth(shortlist) for index in indices]
    rows = tuple(
        _row(number, title, shortlist.items[index], changes.get(index, ""))
        for number, (title, index) in enumerate(order, 1)
    )
    columns = ("No.", "Truth", "Quote", "Place", "Question", "Note", "Changed since")
    return workbook_bytes([Sheet("Shortlist", columns, rows, _WIDTHS)])


def _row(number: int, truth: str, item: ShortlistItem, change: str) -> tuple[object, ...]:
    return number, truth, display_quote(item.quote), item.place, item.question, item.note, change
