"""Parses plain XML: records as lines of "field: value", other text as paragraphs; refuses entities."""

from typing import Any

from core.domain.errors import UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.text_cleaning import clean, windows_signs

__all__ = ["read_xml"]

_MOST_DEPTH = 200  # Guards against deep recursion. Chosen by hand, not fitted.
_TITLES = frozenset({"title", "heading", "head", "h1", "h2", "h3"})
_MOST_RECORD_LETTERS = 4_000  # Chosen by hand, not fitted.


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
    _walk(root, writer, 0)
    title = next((_tidy(each.text) for each in root if _name(each) == "title"), "")
    return ExtractedDocument((writer.page(),), tuple(writer.blocks), FileKind.XML, title=title)


def _name(node: Any) -> str:
    """An element's name without namespace."""
    return str(node.tag).rpartition("}")[2]


def _walk(node: Any, writer: PageWriter, depth: int) -> None:
    children = list(node)
    own = _tidy(node.text)
    mixed = bool(children) and (own or any(_tidy(child.tail) for child in children))
    if not children or mixed or depth > _MOST_DEPTH:
        text = _tidy(" ".join(node.itertext()) if depth > _MOST_DEPTH else "".join(node.itertext()))
        kind = BlockKind.HEADING if _name(node).lower() in _TITLES and len(text) < 200 else BlockKind.PARAGRAPH
        writer.add(text, kind, level=2 if kind is BlockKind.HEADING else 0)
    elif _is_record(node):
        fields = [*node.attrib.items(), *((_name(child), "".join(child.itertext())) for child in children)]
        texts = (f"{_tidy(key.rpartition('}')[2])}: {_tidy(value)}" for key, value in fields if _tidy(value))
        writer.add("; ".join(texts), BlockKind.ROW)
    else:
        for child in children:
            _walk(child, writer, depth + 1)


def _is_record(node: Any) -> bool:
    """Whether an element is a record: two or more named values, none nested, none long."""
    letters = sum(len(child.text or "") for child in node)
    plain = not any(len(child) or _name(child).lower() in _TITLES | {"p", "para"} for child in node)
    return plain and len(node) > 1 and letters <= _MOST_RECORD_LETTERS


def _tidy(text: str | None) -> str:
    return " ".join(clean(windows_signs(text or "")).split())
