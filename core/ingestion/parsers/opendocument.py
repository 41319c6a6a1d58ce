"""Parses OpenDocument texts and presentations: blocks in document order, footnotes and comments at the end.

Walks the XML directly, because existing parsers mix notes, comments and link targets into paragraphs. Skips deleted
and hidden text; marks tables of contents as furniture.
"""
# Over 300 lines: paragraphs, lists, tables and boxes contain each other.

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.annotations import comment_text
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.layout import PlacedShape, in_reading_order
from core.ingestion.parsers.numbering import BULLET
from core.ingestion.parsers.ooxml import check_package, clean_metadata
from core.ingestion.parsers.opendocument_lists import ListNumbering
from core.ingestion.parsers.raised import LOWERED, RAISED, in_line, marked
from core.ingestion.parsers.table_grid import GridCell, TableGrid
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_opendocument"]

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE, _DRAW = (f"{{{_OASIS}:{each}:1.0}}" for each in ("text", "table", "drawing"))
_OFFICE, _STYLE, _META = (f"{{{_OASIS}:{each}:1.0}}" for each in ("office", "style", "meta"))
_SHOW, _SVG = f"{{{_OASIS}:presentation:1.0}}", f"{{{_OASIS}:svg-compatible:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_SKIPPED = frozenset(
    {f"{_TEXT}tracked-changes", f"{_TEXT}note", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_TEXT}sequence-decls"}
)
_CONTENTS = re.compile(r"(?:table-of-content|\w+-index|bibliography)$")
_HEADER_FIELDS = frozenset({"date-time", "footer", "header", "page-number"})
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(cm|mm|in|pt|px)?$")
_POINTS = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "px": 0.75}
_MOST_REPEATED = 64  # Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class _Styles:
    """parents: the named style that a style is based on. marks: of styles that raise or lower text. hidden:
    styles of text that is not shown."""

    parents: dict[str, str]
    marks: dict[str, str]
    hidden: frozenset[str]


@dataclass(slots=True)
class _OpenDocumentReader:
    """State of a walk through a document: the writer, its styles, footnotes and comments found.
    list_style, counts: of the list that is read. label: of the list item, until it is written."""

    writer: PageWriter
    styles: "_Styles"
    notes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    numbering: ListNumbering = field(default_factory=ListNumbering)
    list_style: str = ""
    counts: dict[int, int] = field(default_factory=dict)
    label: str = ""


def read_opendocument(name: str, data: bytes, kind: FileKind) -> ExtractedDocument:
    """Text, blocks and metadata. Raises EmptyFile, EncryptedFile, FileTooCostly or UnreadableFile."""
    from lxml.etree import LxmlError, XMLParser, fromstring

    check_package(name, data)
    parser = XMLParser(resolve_entities=False, no_network=True)
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            content = fromstring(package.read("content.xml"), parser)
            names = package.namelist()
            meta = fromstring(package.read("meta.xml"), parser) if "meta.xml" in names else None
            named = [fromstring(package.read("styles.xml"), parser)] if "styles.xml" in names else []
    except damage(LxmlError) as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its text cannot be read ({type(error).__name__}).",
            "Save it again from LibreOffice.",
        ) from error
    styles, numbering = _styles(content), ListNumbering.of([*named, content])
    body = content.find(f"{_OFFICE}body")
    slides = list(body.iter(f"{_DRAW}page")) if body is not None and kind is FileKind.ODP else []
    if slides:
        writers = [_slide(slide, number, styles, numbering) for number, slide in enumerate(slides, start=1)]
    else:
        writers = [_text_body(body, styles, numbering)]
    if not any(writer.blocks for writer in writers):
        raise EmptyFile(f"'{name}' contains no text.", "If it holds pictures of pages, save it as PDF and upload that.")
    metadata = _metadata(meta)
    pages = tuple(writer.page() for writer in writers)
    blocks = tuple(block for writer in writers for block in writer.blocks)
    return ExtractedDocument(
        pages, blocks, kind, paged=bool(slides), title=metadata.get("title", ""), metadata=metadata
    )


def _styles(content: Any) -> _Styles:
    parents, marks, hidden = {}, {}, set()
    for style in content.iter(f"{_STYLE}style"):
        name = style.get(f"{_STYLE}name", "")
        parents[name] = style.get(f"{_STYLE}parent-style-name") or name
        properties = style.find(f"{_STYLE}text-properties")
        if properties is None:
            continue
        hidden |= {name} if properties.get(f"{_TEXT}display") == "none" else set()
        place = properties.get(f"{_STYLE}text-position", "").split(" ")[0]
        if place and place.strip("0%"):
            marks[name] = LOWERED if place == "sub" or place.startswith("-") else RAISED
    return _Styles(parents, marks, frozenset(hidden))


def _metadata(meta: Any) -> dict[str, str]:
    def value_of(tag: str) -> str:
        found = meta.find(f".//{tag}") if meta is not None else None
        return "" if found is None else found.text or ""

    keywords = ", ".join(each.text or "" for each in meta.iter(f"{_META}keyword")) if meta is not None else ""
    return clean_metadata(
        title=value_of(f"{_DC}title"),
        author=value_of(f"{_META}initial-creator") or value_of(f"{_DC}creator"),
        subject=value_of(f"{_DC}subject"),
        keywords=keywords,
        modified=value_of(f"{_DC}date")[:10],
    )


def _text_body(body: Any, styles: _Styles, numbering: ListNumbering) -> PageWriter:
    reading = _OpenDocumentReader(PageWriter(1), styles, numbering=numbering)
    for part in body if body is not None else ():
        _walk(part, reading)
    for note in (*reading.notes, *reading.comments):
        reading.writer.add(note, BlockKind.PARAGRAPH)
    return reading.writer


def _walk(node: Any, reading: _OpenDocumentReader, depth: int = -1) -> None:
    """Writes the blocks below a node. depth: nesting level of its list, from 0; −1 outside lists."""
    for child in node.iterchildren():
        tag = child.tag
        if not isinstance(tag, str) or _is_skipped(child, reading):
            continue
        if tag == f"{_TEXT}h":
            level = child.get(f"{_TEXT}outline-level", "1")
            depth_of_heading = int(level) if level.isdigit() else 1
            label = _taken_label(reading) if depth >= 0 else reading.numbering.heading(child, depth_of_heading)
            text = " ".join(f"{label.removeprefix(BULLET)} {_words(child, reading)}".split())
            reading.writer.add(text, BlockKind.HEADING, level=min(depth_of_heading, 6))
        elif tag == f"{_TEXT}p":
            _paragraph(child, reading, depth)
        elif tag == f"{_TEXT}list":
            _list(child, reading, depth + 1)
        elif tag == f"{_TABLE}table":
            _table(child, reading)
        elif _CONTENTS.search(tag):
            for line in child.iter(f"{_TEXT}p"):
                reading.writer.add(_words(line, reading), BlockKind.FURNITURE)
        else:
            _walk(child, reading, depth)


def _list(node: Any, reading: _OpenDocumentReader, depth: int) -> None:
    """Writes a list. depth: from 0."""
    outer = reading.list_style, reading.counts
    reading.list_style = node.get(f"{_TEXT}style-name") or (reading.list_style if depth else "")
    reading.counts = reading.counts if depth else reading.numbering.begin(node)
    for item in node.iterchildren(f"{_TEXT}list-item", f"{_TEXT}list-header"):
        is_numbered = item.tag == f"{_TEXT}list-item" and any(
            item.find(tag) is not None for tag in (f"{_TEXT}p", f"{_TEXT}h")
        )
        reading.label = reading.numbering.item(item, reading.list_style, reading.counts, depth) if is_numbered else ""
        _walk(item, reading, depth)
    reading.list_style, reading.counts = outer


def _taken_label(reading: _OpenDocumentReader) -> str:
    """The label of an item for its first paragraph, "" for the others."""
    label, reading.label = reading.label, ""
    return label


def _is_skipped(node: Any, reading: _OpenDocumentReader) -> bool:
    """Whether a node is no visible text of its own: deleted, hidden or a note."""
    hidden = node.get(f"{_TEXT}display") == "none" or node.get(f"{_TEXT}style-name", "") in reading.styles.hidden
    return hidden or node.tag in _SKIPPED


def _comment(node: Any) -> str:
    lines = (" ".join(line.itertext()) for line in node.iter(f"{_TEXT}p"))
    return comment_text(clean(node.findtext(f"{_DC}creator") or ""), clean(" ".join(lines)))


def _paragraph(node: Any, reading: _OpenDocumentReader, depth: int) -> None:
    """Writes a paragraph, then the boxes anchored in it."""
    text = _words(node, reading).strip()
    style = reading.styles.parents.get(node.get(f"{_TEXT}style-name", ""), node.get(f"{_TEXT}style-name", ""))
    if depth >= 0:
        reading.writer.add(f"{_taken_label(reading)} {text}" if text else "", BlockKind.ITEM, level=depth)
    elif style == "Title":
        reading.writer.add(" ".join(text.split()), BlockKind.HEADING, level=1)
    else:
        reading.writer.add(text, BlockKind.PARAGRAPH)
    for box in node.iter(f"{_DRAW}text-box", f"{_DRAW}custom-shape"):
        if not any(above.tag == box.tag for above in box.iterancestors() if above is not node):
            _walk(box, reading)


def _words(node: Any, reading: _OpenDocumentReader) -> str:
    """The visible text of a paragraph; collects its footnotes for the end."""
    return in_line(clean(_raw_words(node, reading)))


def _raw_words(node: Any, reading: _OpenDocumentReader) -> str:
    parts = [node.text or ""]
    for child in node.iterchildren():
        tag = child.tag
        if tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdigit() else 1, _MOST_REPEATED))
        elif tag == f"{_TEXT}tab":
            parts.append(" ")
        elif tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif tag == f"{_TEXT}note":
            body = child.find(f"{_TEXT}note-body")
            if body is not None:
                reading.notes.append(" ".join(" ".join(body.itertext()).split()))
        elif tag == f"{_OFFICE}annotation":
            reading.comments.append(_comment(child))
        elif isinstance(tag, str) and not _is_skipped(child, reading) and not tag.startswith(_DRAW):
            text, mark = _raw_words(child, reading), reading.styles.marks.get(child.get(f"{_TEXT}style-name", ""))
            parts.append(marked(mark, text) if mark else text)
        parts.append(child.tail or "")
    return "".join(parts)


def _table(node: Any, reading: _OpenDocumentReader) -> None:
    """Writes table rows; a one-column table is page layout, so its cells are written as paragraphs. A cell that spans
    rows is repeated in each, as are cells and rows that the file holds once for several."""
    rows = [row for row in node.iter(f"{_TABLE}table-row") if next(row.iterancestors(f"{_TABLE}table")) is node]
    cells = [list(row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")) for row in rows]
    if all(sum(_number(cell, "columns-repeated") for cell in row) <= 1 for row in cells):
        for row in cells:
            for cell in row:
                _walk(cell, reading)
        return
    grid, lines = TableGrid(), list[list[str]]()
    for row, inside in zip(rows, cells, strict=True):
        is_header = not lines or row.getparent().tag == f"{_TABLE}table-header-rows"
        own = [cell for cell in inside if cell.tag == f"{_TABLE}table-cell"]
        placed = [each for cell in own for each in _grid_cells(cell, reading, is_header)]
        lines += [grid.place(placed) for _ in range(_number(row, "rows-repeated"))]
    write_rows(reading.writer, lines)


def _grid_cells(cell: Any, reading: _OpenDocumentReader, is_header: bool) -> list[GridCell]:
    spans = _number(cell, "columns-spanned"), _number(cell, "rows-spanned")
    return [GridCell(_cell(cell, reading), *spans, is_header)] * _number(cell, "columns-repeated")


def _number(node: Any, name: str) -> int:
    """How often a row or cell is repeated, or how much it spans; at most 64."""
    value = node.get(f"{_TABLE}number-{name}", "1")
    return min(int(value), _MOST_REPEATED) if value.isdecimal() else 1


def _cell(cell: Any, reading: _OpenDocumentReader) -> str:
    return " ".join(_words(line, reading) for line in cell.iter(f"{_TEXT}p", f"{_TEXT}h"))


def _slide(slide: Any, number: int, styles: _Styles, numbering: ListNumbering) -> PageWriter:
    """A slide's title, then its contents in reading order, then its notes."""
    reading = _OpenDocumentReader(PageWriter(number, f"Slide {number}"), styles, numbering=numbering)
    shapes = [shape for shape in slide if isinstance(shape.tag, str) and shape.tag.startswith(_DRAW)]
    shapes = [shape for shape in shapes if shape.get(f"{_SHOW}class") not in _HEADER_FIELDS]
    title = next((shape for shape in shapes if shape.get(f"{_SHOW}class") == "title"), None)
    if title is not None:
        words = " ".join(_words(line, reading) for line in title.iter(f"{_TEXT}p"))
        reading.writer.add(" ".join(words.split()), BlockKind.HEADING, level=2)
    for shape in _ordered([shape for shape in shapes if shape is not title]):
        _walk(shape, reading)
    notes = slide.find(f"{_SHOW}notes")
    boxes = [box for box in (notes if notes is not None else ()) if box.get(f"{_SHOW}class") == "notes"]
    paragraphs = [_words(line, reading) for box in boxes for line in box.iter(f"{_TEXT}p")]
    if any(line.strip() for line in paragraphs):
        reading.writer.add("Notes", BlockKind.HEADING, level=3)
        for line in paragraphs:
            reading.writer.add(line, BlockKind.PARAGRAPH)
    for comment in (*reading.comments, *map(_comment, slide.iterchildren(f"{_OFFICE}annotation"))):
        reading.writer.add(comment, BlockKind.PARAGRAPH)
    return reading.writer


def _ordered(shapes: Sequence[Any]) -> list[Any]:
    return [shapes[index] for index in in_reading_order([_placed(shape) for shape in shapes])]


def _placed(shape: Any) -> PlacedShape:
    left, top, width, height = (_points(shape.get(f"{_SVG}{side}", "")) for side in ("x", "y", "width", "height"))
    return PlacedShape(left, top, left + width, top + height)


def _points(length: str) -> float:
    """
    >>> _points("2.54cm") == _points("1.0001in") == 0, round(_points("2.54cm")), _points("")
    (False, 72, 0.0)
    """
    read = _LENGTH.match(length)
    return float(read[1]) * _POINTS[read[2] or "pt"] if read else 0.0
