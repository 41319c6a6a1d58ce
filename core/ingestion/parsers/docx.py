"""Parses Word documents: page headers, then headings, paragraphs, lists and tables in document order, notes and
comments at the end.

Walks the XML directly, because python-docx skips content controls and tracked insertions; uses python-docx for styles,
core properties and relationships. Skips deleted and hidden text and field codes.
"""
# Over 300 lines: paragraphs, tables and text boxes contain each other.

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.annotations import ABOUT_LETTERS, comment_text
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.charts import CHART, write_chart
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.damaged_parts import read_undamaged_parts
from core.ingestion.parsers.equations import MATH, equation_text
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.numbering import BULLET, Numbering
from core.ingestion.parsers.ooxml import check_package, core_metadata
from core.ingestion.parsers.package_types import as_ordinary_package
from core.ingestion.parsers.raised import LOWERED, RAISED, in_line, marked
from core.ingestion.parsers.text_cleaning import clean
from core.ingestion.parsers.word_signs import field_text, font_text, symbol_text

__all__ = ["read_docx"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MAIN_TYPE = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|kop)\s*(\d)", re.I)
_LIST_STYLE = re.compile(r"list|bullet|aufz", re.I)
_WRAPPERS = frozenset(
    {f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "smartTag", "customXml", "hyperlink", "moveTo")}
)
_SKIPPED = frozenset({f"{_W}{name}" for name in ("instrText", "delText", "pPr", "rPr", "sdtPr", "txbxContent")})
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_LEVELS = {"superscript": RAISED, "subscript": LOWERED}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b")
_PAGE_WORDS = 2  # "Page 1 of 9" holds no more
_REPEATED_LETTERS = 200  # of a cell that spans rows; a longer one is read once. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class _Formats:
    """Style names by id, the automatic numbers, and the parts that drawings show, by relationship."""

    styles: dict[str, str]
    numbering: Numbering
    parts: Mapping[str, Any]


def read_docx(name: str, data: bytes) -> ExtractedDocument:
    """Text, blocks and metadata of a .docx file. Raises EmptyFile, FileTooCostly or UnreadableFile."""
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    check_package(name, data)
    errors = damage(OpcError, LxmlError)
    try:
        return read_undamaged_parts(data, lambda package: _document(name, package), errors)
    except errors as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its document part cannot be read ({type(error).__name__}).",
            "Save it again from Word.",
        ) from error


def _document(name: str, data: bytes) -> ExtractedDocument:
    """Raises EmptyFile, and what the libraries raise for a damaged file."""
    import docx

    document = docx.Document(BytesIO(as_ordinary_package(data, _MAIN_TYPE)))
    body = _shown(document.element.body)
    described = any(each.reltype.endswith("/core-properties") for each in document.part.package.rels.values())
    metadata = core_metadata(document.core_properties) if described else {}  # python-docx makes up what is missing
    writer = PageWriter(1)
    _headers(document, writer)
    headers = len(writer.blocks)
    _body(body, writer, _formats(document))
    _notes(document, writer)
    _comments(document, body, writer)
    if len(writer.blocks) == headers:
        raise EmptyFile(
            f"'{name}' contains no text.", "If it holds pictures of pages, run text recognition (OCR) on it."
        )
    title = metadata.get("title", "") or _first_title(writer, headers, body)
    return ExtractedDocument((writer.page(),), tuple(writer.blocks), FileKind.DOCX, title=title, metadata=metadata)


def _first_title(writer: PageWriter, headers: int, body: Any) -> str:
    """The text of the first block after the page headers, without its number, if it is a top-level heading."""
    first = writer.blocks[headers]
    text = next(filter(None, (_text(each).strip() for each in body.iter(f"{_W}p"))), "")
    heading = first.kind is BlockKind.HEADING and first.level == 1
    return " ".join(text.split()) if heading and writer.page().text[: first.end].endswith(text) else ""


def _formats(document: Any) -> _Formats:
    parts = (each.target_part for each in document.part.rels.values() if each.reltype.endswith("/numbering"))
    numbering = next((_root(part) for part in parts), None)
    styles = {style.style_id: style.name or "" for style in document.styles}
    return _Formats(styles, Numbering(numbering, document.styles.element), document.part.related_parts)


def _root(part: Any) -> Any:
    from lxml.etree import XMLParser, fromstring

    return fromstring(part.blob, XMLParser(resolve_entities=False, no_network=True))


def _shown(root: Any) -> Any:
    """Removes what Word does not show: deleted and moved text, deleted rows, hidden runs, second forms of drawings."""
    unseen = [f"{_W}{name}" for name in ("del", "moveFrom", "vanish")]
    for node in list(root.iter(*unseen, _FALLBACK)):
        holder = node.getparent()
        if holder.tag == f"{_W}trPr":
            _remove(holder.getparent())
        elif holder.tag != f"{_W}rPr":  # which would be that of a paragraph's end
            _remove(node)
        elif node.tag == f"{_W}vanish" and holder.getparent().tag == f"{_W}r" and _is_on(node):
            _remove(holder.getparent())
    return root


def _remove(node: Any) -> None:
    if (holder := node.getparent()) is not None:
        holder.remove(node)


def _is_on(node: Any) -> bool:
    return node.get(f"{_W}val", "1") not in {"0", "false", "off"}


def _body(node: Any, writer: PageWriter, formats: _Formats) -> None:
    for child in node.iterchildren():
        if child.tag == f"{_W}p":
            _paragraph(child, writer, formats)
        elif child.tag == f"{_W}tbl":
            _table(child, writer, formats)
        elif child.tag in _WRAPPERS:
            _body(child, writer, formats)


def _paragraph(node: Any, writer: PageWriter, formats: _Formats) -> None:
    """Writes a paragraph, then the text boxes and charts anchored in it."""
    text = _text(node).strip()
    style = formats.styles.get(_value(node, "pStyle"), "")
    label = formats.numbering.label(node) if text or node.find(f"{_W}pPr/{_W}rPr/{_W}del") is None else None
    outline = _value(node, "outlineLvl")
    heading = _HEADING_STYLE.match(style)
    if re.match(r"toc|inhaltsverzeichnis", style, re.I):
        writer.add(text, BlockKind.FURNITURE)
    elif heading:
        writer.add(_labelled(label, text), BlockKind.HEADING, level=min(int(heading.group(1)) or 1, 6))
    elif style.lower() in {"title", "titel"}:
        writer.add(_labelled(label, text), BlockKind.HEADING, level=1)
    elif outline.isdigit() and int(outline) < 6 and len(text) < 200:
        writer.add(_labelled(label, text), BlockKind.HEADING, level=int(outline) + 1)
    elif label or (label is None and _LIST_STYLE.search(style)):
        level = node.find(f".//{_W}ilvl")
        depth = level.get(f"{_W}val", "0") if level is not None else "0"
        item = f"{label or BULLET} {text}" if text else ""
        writer.add(item, BlockKind.ITEM, level=int(depth) if depth.isdigit() else 0)
    elif _all_bold(node) and len(text) <= 120 and text and text[-1] not in ".,;:":
        writer.add(text, BlockKind.HEADING, level=6)
    else:
        writer.add(text, BlockKind.PARAGRAPH)
    for box in node.iter(f"{_W}txbxContent"):
        if next(box.iterancestors(f"{_W}p")) is node:
            _body(box, writer, formats)
    for chart in node.iter(f"{CHART}chart"):
        part = formats.parts.get(chart.get(_RELATED))
        if part is not None and next(chart.iterancestors(f"{_W}p")) is node:
            write_chart(_root(part), writer)


def _labelled(label: str | None, text: str) -> str:
    """Text after its automatic number; bullets of headings and cells are left out."""
    return f"{label} {text}" if label and label != BULLET else text


def _value(node: Any, name: str) -> str:
    properties = node.find(f"{_W}pPr/{_W}{name}")
    return "" if properties is None else str(properties.get(f"{_W}val", ""))


def _all_bold(node: Any) -> bool:
    runs = [run for run in node.iter(f"{_W}r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(run.find(f"{_W}rPr/{_W}b") is not None for run in runs)


def _text(node: Any) -> str:
    """The visible text of a paragraph, without its text boxes."""
    return in_line(clean("".join(_parts(node)))).replace("\t", " ")


def _parts(node: Any) -> Iterator[str]:
    for child in node.iterchildren():
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag == f"{MATH}oMath":
            yield equation_text(child)
        elif child.tag == f"{_W}sym":
            yield symbol_text(child)
        elif child.tag == f"{_W}fldChar":
            yield field_text(child)
        elif child.tag == f"{_W}r" and child.find(f"{_W}rPr") is not None:
            yield _formatted(child)
        elif child.tag not in _SKIPPED and isinstance(child.tag, str):
            yield from _parts(child)


def _formatted(run: Any) -> str:
    """The text of a run, with the signs of its font; raised and lowered text marked."""
    font, level = run.find(f"{_W}rPr/{_W}rFonts"), run.find(f"{_W}rPr/{_W}vertAlign")
    text = "".join(_parts(run))
    text = text if font is None else font_text(text, font.get(f"{_W}ascii", ""))
    mark = None if level is None else _LEVELS.get(level.get(f"{_W}val", ""))
    return marked(mark, text) if mark else text


def _table(node: Any, writer: PageWriter, formats: _Formats) -> None:
    """Writes table rows; a one-column table is page layout, so its cells are written as paragraphs. A cell that spans
    rows is repeated in each; one of the first row that spans columns, above each column, if a row fills them all."""
    rows = [row for row in node.iter(f"{_W}tr") if _owner(row) is node]
    cells = [[cell for cell in row.iter(f"{_W}tc") if _owner(cell) is node] for row in rows]
    if all(len(row) <= 1 for row in cells):
        for row in cells:
            for cell in row:
                _body(cell, writer, formats)
        return
    width = max(sum(map(_columns, row)) for row in cells)
    is_regular = any(len(row) == width for row in cells)
    lines: list[list[str]] = []
    above: dict[int, str] = {}
    for row, row_cells in zip(rows, cells, strict=True):
        column = _number(row.find(f"{_W}trPr/{_W}gridBefore"), 0)
        line: list[str] = []
        for cell in row_cells:
            merge = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merge is None or merge.get(f"{_W}val") == "restart":
                text = _cell_text(cell, formats)
                above[column] = text if merge is not None and len(text) <= _REPEATED_LETTERS else ""
            else:
                text = above.get(column, "")
            columns = _columns(cell)
            again = text if not lines and len(row_cells) > 1 and len(text) <= _REPEATED_LETTERS else ""
            line += [text, *([again] * (columns - 1) if is_regular else [])]
            column += columns
        lines.append(line)
    write_rows(writer, lines)


def _columns(cell: Any) -> int:
    return max(_number(cell.find(f"{_W}tcPr/{_W}gridSpan"), 1), 1)


def _number(node: Any, otherwise: int) -> int:
    value = "" if node is None else node.get(f"{_W}val", "")
    return int(value) if value.isdigit() else otherwise


def _owner(node: Any) -> Any:
    return next(node.iterancestors(f"{_W}tbl"), None)


def _cell_text(cell: Any, formats: _Formats) -> str:
    paragraphs = cell.iter(f"{_W}p")
    return " ".join(_labelled(formats.numbering.label(each), _text(each)) for each in paragraphs)


def _headers(document: Any, writer: PageWriter) -> None:
    """Writes the lines of all page headers that Word shows, each once, if they hold letters."""
    sections = list(document.element.body.iter(f"{_W}sectPr"))
    kinds = {"default"}
    if any((first := each.find(f"{_W}titlePg")) is not None and _is_on(first) for each in sections):
        kinds.add("first")
    if document.settings.odd_and_even_pages_header_footer:
        kinds.add("even")
    lines: dict[str, None] = {}
    for section in sections:
        for reference in section.findall(f"{_W}headerReference"):
            part = document.part.related_parts.get(reference.get(_RELATED))
            if part is not None and reference.get(f"{_W}type", "default") in kinds:
                root = _shown(_root(part))
                lines |= dict.fromkeys(filter(None, _header_lines(root)))
    text = "\n".join(lines)
    writer.add(text if any(map(str.isalpha, text)) else "", BlockKind.PARAGRAPH)


def _header_lines(root: Any) -> Iterator[str]:
    for node in root.iter(f"{_W}p", f"{_W}tr"):
        if node.tag == f"{_W}tr":
            cells = (" ".join(map(_header_text, cell.iter(f"{_W}p"))).strip() for cell in node.iter(f"{_W}tc"))
            yield " | ".join(filter(None, cells))
        elif _owner(node) is None:
            yield _header_text(node)


def _header_text(paragraph: Any) -> str:
    """The text of a paragraph of a page header, "" for one that only counts pages."""
    text = " ".join(_text(paragraph).split())
    codes = (code.text or code.get(f"{_W}instr", "") for code in paragraph.iter(f"{_W}instrText", f"{_W}fldSimple"))
    words = re.findall(r"[^\W\d_]+", text)
    return "" if len(words) <= _PAGE_WORDS and any(map(_PAGE_FIELD.match, codes)) else text


def _notes(document: Any, writer: PageWriter) -> None:
    for kind in ("footnote", "endnote"):
        for relation in document.part.rels.values():
            if relation.is_external or not relation.reltype.endswith(f"/{kind}s"):
                continue
            for note in _shown(_root(relation.target_part)).iter(f"{_W}{kind}"):
                text = " ".join(_text(paragraph).strip() for paragraph in note.iter(f"{_W}p")).strip()
                writer.add(text, BlockKind.PARAGRAPH)


def _comments(document: Any, body: Any, writer: PageWriter) -> None:
    """Writes the comments, each with the words that it is about."""
    parts = [each.target_part for each in document.part.rels.values() if each.reltype.endswith("/comments")]
    found = [comment for part in parts for comment in _root(part).iter(f"{_W}comment")]
    if not found:
        return
    open_ids: set[str] = set()
    about: defaultdict[str, str] = defaultdict(str)
    for node in body.iter(f"{_W}commentRangeStart", f"{_W}commentRangeEnd", f"{_W}t"):
        if node.tag == f"{_W}t":
            for each in open_ids:
                about[each] += (node.text or "")[:ABOUT_LETTERS]
        elif node.tag == f"{_W}commentRangeStart":
            open_ids.add(node.get(f"{_W}id", ""))
        else:
            open_ids.discard(node.get(f"{_W}id", ""))
    for comment in found:
        text = " ".join(_text(paragraph).strip() for paragraph in comment.iter(f"{_W}p"))
        writer.add(
            comment_text(comment.get(f"{_W}author", ""), text, about[comment.get(f"{_W}id", "")]), BlockKind.PARAGRAPH
        )
