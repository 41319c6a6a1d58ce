"""Parses Word documents: headings, paragraphs, lists and tables in document order, footnotes at the end.

Walks the XML directly, because python-docx skips content controls and tracked insertions; uses python-docx for styles,
core properties and relationships. Skips deleted text and field codes.
"""

import re
from io import BytesIO
from typing import Any

from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.ooxml import check_package, core_metadata
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_docx"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|kop)\s*(\d)", re.I)
_LIST_STYLE = re.compile(r"list|bullet|aufz", re.I)
_WRAPPERS = frozenset(
    {f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "smartTag", "customXml", "hyperlink", "moveTo")}
)
_SKIPPED = frozenset({f"{_W}{name}" for name in ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "sdtPr")})
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read_docx(name: str, data: bytes) -> ExtractedDocument:
    """Text, blocks and metadata of a .docx file. Raises EmptyFile, FileTooCostly or UnreadableFile."""
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    check_package(name, data)
    try:
        document = docx.Document(BytesIO(data))
        styles = {style.style_id: style.name or "" for style in document.styles}
        metadata = core_metadata(document.core_properties)
        writer = PageWriter(1)
        _body(document.element.body, writer, styles)
        _footnotes(document, writer)
    except damage(OpcError, LxmlError) as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its document part cannot be read ({type(error).__name__}).",
            "Save it again from Word.",
        ) from error
    if not writer.blocks:
        raise EmptyFile(
            f"'{name}' contains no text.", "If it holds pictures of pages, run text recognition (OCR) on it."
        )
    title = metadata.get("title", "") or _first_title(writer)
    return ExtractedDocument((writer.page(),), tuple(writer.blocks), FileKind.DOCX, title=title, metadata=metadata)


def _first_title(writer: PageWriter) -> str:
    """The text of the first block if it is a top-level heading."""
    first = writer.blocks[0]
    text = writer.page().text[first.start : first.end]
    return " ".join(text.split()) if first.kind is BlockKind.HEADING and first.level == 1 else ""


def _body(node: Any, writer: PageWriter, styles: dict[str, str]) -> None:
    for child in node.iterchildren():
        if child.tag == f"{_W}p":
            _paragraph(child, writer, styles)
        elif child.tag == f"{_W}tbl":
            _table(child, writer, styles)
        elif child.tag in _WRAPPERS:
            _body(child, writer, styles)


def _paragraph(node: Any, writer: PageWriter, styles: dict[str, str]) -> None:
    text = _text(node).strip()
    style = styles.get(_value(node, "pStyle"), "")
    outline = _value(node, "outlineLvl")
    heading = _HEADING_STYLE.match(style)
    if re.match(r"toc|inhaltsverzeichnis", style, re.I):
        writer.add(text, BlockKind.FURNITURE)
    elif heading:
        writer.add(text, BlockKind.HEADING, level=min(int(heading.group(1)) or 1, 6))
    elif style.lower() in {"title", "titel"}:
        writer.add(text, BlockKind.HEADING, level=1)
    elif outline.isdigit() and int(outline) < 6 and len(text) < 200:
        writer.add(text, BlockKind.HEADING, level=int(outline) + 1)
    elif node.find(f".//{_W}numPr") is not None or _LIST_STYLE.search(style):
        level = node.find(f".//{_W}ilvl")
        depth = level.get(f"{_W}val", "0") if level is not None else "0"
        writer.add(f"• {text}" if text else "", BlockKind.ITEM, level=int(depth) if depth.isdigit() else 0)
    elif _all_bold(node) and len(text) <= 120 and text and text[-1] not in ".,;:":
        writer.add(text, BlockKind.HEADING, level=6)
    else:
        writer.add(text, BlockKind.PARAGRAPH)


def _value(node: Any, name: str) -> str:
    properties = node.find(f"{_W}pPr/{_W}{name}")
    return "" if properties is None else str(properties.get(f"{_W}val", ""))


def _all_bold(node: Any) -> bool:
    runs = [run for run in node.iter(f"{_W}r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(run.find(f"{_W}rPr/{_W}b") is not None for run in runs)


def _text(node: Any) -> str:
    """The visible text of a paragraph."""
    parts: list[str] = []
    for child in node.iterchildren():
        if child.tag == f"{_W}t":
            parts.append(child.text or "")
        elif child.tag in _BREAKS:
            parts.append(_BREAKS[child.tag])
        elif child.tag not in _SKIPPED and isinstance(child.tag, str) and not child.tag.endswith("}Fallback"):
            parts.append(_text(child))
    return clean("".join(parts)).replace("\t", " ")


def _table(node: Any, writer: PageWriter, styles: dict[str, str]) -> None:
    """Writes table rows; a one-column table is page layout, so its cells are written as paragraphs."""
    rows = [row for row in node.iter(f"{_W}tr") if _owner(row) is node]
    cells = [[cell for cell in row.iter(f"{_W}tc") if _owner(cell) is node] for row in rows]
    if all(len(row) <= 1 for row in cells):
        for row in cells:
            for cell in row:
                _body(cell, writer, styles)
        return
    write_rows(writer, [[_cell_text(cell) for cell in row] for row in cells])


def _owner(node: Any) -> Any:
    return next(node.iterancestors(f"{_W}tbl"), None)


def _cell_text(cell: Any) -> str:
    return " ".join(_text(paragraph) for paragraph in cell.iter(f"{_W}p"))


def _footnotes(document: Any, writer: PageWriter) -> None:
    from lxml.etree import XMLParser, fromstring

    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/footnotes"):
            continue
        parser = XMLParser(resolve_entities=False, no_network=True)
        for note in fromstring(relation.target_part.blob, parser).iter(f"{_W}footnote"):
            text = " ".join(_text(paragraph).strip() for paragraph in note.iter(f"{_W}p")).strip()
            writer.add(text, BlockKind.PARAGRAPH)
