"""Parses plain XML: records and attributes as lines of "field: value", other text as paragraphs; refuses entities.

In XML that marks up running text, attributes say how to show it, and only those of empty elements are read.
"""

from typing import Any

from core.domain.errors import UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.text_cleaning import clean, windows_signs

__all__ = ["read_xml"]

_MOST_DEPTH = 200  # Guards against deep recursion. Chosen by hand, not fitted.
_TITLES = frozenset({"title", "heading", "head", "h1", "h2", "h3"})
_MOST_RECORD_LETTERS = 4_000  # Chosen by hand, not fitted.
_MOST_FIELD_LETTERS = 200  # Chosen by hand, not fitted.
_SHEETS = "{urn:schemas-microsoft-com:office:spreadsheet}"
_MOST_COLUMNS = 16_384  # Excel's limit
_MARKUP = "{http://www.w3.org/"  # SVG, XHTML, XLink, types of values: names in these namespaces hold no data


def read_xml(name: str, text: str) -> ExtractedDocument:
    """Text and blocks of an XML file. Raises UnreadableFile if it is malformed or declares entities."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(text)
    except DefusedXmlException as error:
        raise UnreadableFile(
            f"'{name}' declares XML entities, which are not expanded.", "Save it without a document type of its own."
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableFile(f"'{name}' is not well-formed XML ({error}).", "Export or download it again.") from error
    writer = PageWriter(1)
    if root.tag == f"{_SHEETS}Workbook":
        _write_workbook(root, writer)
    else:
        _walk(root, writer, 0, data=not any(map(_is_mixed, root.iter())))
    title = next((_tidy(each.text) for each in root if _name(each) == "title"), "")
    return ExtractedDocument((writer.page(),), tuple(writer.blocks), FileKind.XML, title=title)


def _write_workbook(root: Any, writer: PageWriter) -> None:
    """The sheets of an XML Spreadsheet 2003, each as a heading and its rows."""
    for sheet in root.iter(f"{_SHEETS}Worksheet"):
        writer.add(_tidy(sheet.get(f"{_SHEETS}Name")), BlockKind.HEADING, level=2)
        write_rows(writer, [_cells(row) for row in sheet.iter(f"{_SHEETS}Row")])


def _cells(row: Any) -> list[str]:
    """The values of a row; a cell may state its column, from 1, and how many more columns it spans."""
    cells: list[str] = []
    for cell in row.iter(f"{_SHEETS}Cell"):
        cells += [""] * (_number(cell, "Index") - 1 - len(cells))
        cells.append(" ".join(_tidy("".join(part.itertext())) for part in cell))
        cells += [""] * _number(cell, "MergeAcross")
    return cells


def _number(cell: Any, attribute: str) -> int:
    stated = cell.get(f"{_SHEETS}{attribute}", "")
    return min(int(stated), _MOST_COLUMNS) if stated.isdecimal() and len(stated) < 9 else 0


def _name(node: Any) -> str:
    """An element's name without namespace."""
    return str(node.tag).rpartition("}")[2]


def _walk(node: Any, writer: PageWriter, depth: int, *, data: bool) -> None:
    """data: whether no element mixes text and elements."""
    children = list(node)
    if not children or _is_mixed(node) or depth > _MOST_DEPTH:
        text = _tidy(" ".join(node.itertext()) if depth > _MOST_DEPTH else "".join(node.itertext()))
        is_title = _name(node).lower() in _TITLES and len(text) < 200
        fields = _attributes(node) if data or not (children or text) else []
        if fields and text and not is_title and len(text) <= _MOST_FIELD_LETTERS:
            fields, text = [*fields, f"{_name(node)}: {text}"], ""
        writer.add("; ".join(fields), BlockKind.ROW)
        writer.add(text, BlockKind.HEADING if is_title else BlockKind.PARAGRAPH, level=2 if is_title else 0)
    elif _is_record(node):
        fields = _attributes(node)
        for child in children:
            text = _tidy("".join(child.itertext()))
            fields += [*(_attributes(child) if data else []), *([f"{_name(child)}: {text}"] if text else [])]
        writer.add("; ".join(fields), BlockKind.ROW)
    else:
        writer.add("; ".join(_attributes(node) if data else []), BlockKind.ROW)
        for child in children:
            _walk(child, writer, depth + 1, data=data)


def _attributes(node: Any) -> list[str]:
    """Attributes as "name: value"."""
    if str(node.tag).startswith(_MARKUP):
        return []
    named = (
        (key.rpartition("}")[2], _tidy(value)) for key, value in node.attrib.items() if not key.startswith(_MARKUP)
    )
    return [f"{key}: {value}" for key, value in named if value]


def _is_mixed(node: Any) -> bool:
    return len(node) > 0 and bool(_tidy(node.text) or any(_tidy(child.tail) for child in node))


def _is_record(node: Any) -> bool:
    """Whether an element is a record: two or more named values, none nested, none long, not all empty."""
    letters = sum(len(child.text or "") for child in node)
    plain = not any(len(child) or _name(child).lower() in _TITLES | {"p", "para"} for child in node)
    return plain and len(node) > 1 and 0 < letters <= _MOST_RECORD_LETTERS


def _tidy(text: str | None) -> str:
    return " ".join(clean(windows_signs(text or "")).split())
