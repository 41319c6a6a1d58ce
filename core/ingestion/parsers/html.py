"""Parses web pages: visible text in blocks, without scripts, styles and navigation."""

import re
from typing import Any

from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_html"]

_UNSEEN = frozenset("script style noscript template svg head nav iframe object select button".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form"
    " h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_DATES = ("article:published_time", "datepublished", "dc.date", "dcterms.issued", "dcterms.created", "date", "pubdate")
_MOST_DEPTH = 400  # Guards against deep recursion. Chosen by hand, not fitted.


def read_html(name: str, text: str) -> ExtractedDocument:
    """Headings, paragraphs, items and table rows in document order; accepts broken markup."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "lxml")
    metadata = _metadata(soup)
    writer = PageWriter(1)
    _walk(soup.body or soup, writer, [], 0)
    title = clean(soup.title.get_text(" ", strip=True)) if soup.title else ""
    page = writer.page()
    return ExtractedDocument((page,), tuple(writer.blocks), FileKind.HTML, title=title, metadata=metadata)


def _metadata(soup: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for tag in soup.find_all("meta"):
        key = str(tag.get("name") or tag.get("property") or tag.get("itemprop") or "").lower()
        value = clean(str(tag.get("content") or "")).strip()
        if key and value:
            found.setdefault(key, value[:500])
    for key in _DATES:
        if key in found:
            found.setdefault("published", found[key])
    return found


def _walk(node: Any, writer: PageWriter, run: list[str], depth: int) -> None:
    """Writes a node's blocks; `run` collects the inline text between two blocks."""
    from bs4.element import Comment, Declaration, Doctype, NavigableString, ProcessingInstruction

    own: list[str] = []
    for child in node.children:
        if isinstance(child, NavigableString):
            if not isinstance(child, (Comment, Doctype, Declaration, ProcessingInstruction)):
                own.append(str(child))
        elif child.name in _UNSEEN or _hidden(child):
            continue
        elif child.name == "br":
            own.append("\n")
        elif child.name in _BLOCKS and depth < _MOST_DEPTH:
            _flush(own, writer)
            _block(child, writer, depth)
        elif depth < _MOST_DEPTH and child.find(lambda tag: tag.name in _BLOCKS):
            _flush(own, writer)
            _walk(child, writer, run, depth + 1)
        else:
            own.append(child.get_text())
    _flush(own, writer)


def _hidden(tag: Any) -> bool:
    style = str(tag.get("style") or "").replace(" ", "").lower()
    return tag.has_attr("hidden") or "display:none" in style or tag.get("aria-hidden") == "true"


def _flush(run: list[str], writer: PageWriter, kind: BlockKind = BlockKind.PARAGRAPH, level: int = 0) -> None:
    writer.add(_tidy("".join(run)), kind, level=level)
    run.clear()


def _tidy(text: str) -> str:
    """Collapses whitespace as browsers do; keeps forced line breaks."""
    return (
        re.sub(r" ?\n ?", "\n", re.sub(r"[ \t\f]+", " ", clean(text).replace("\n", " \n "))).replace("\n", " ").strip()
    )


def _block(tag: Any, writer: PageWriter, depth: int) -> None:
    name = tag.name
    if name in {"h1", "h2", "h3", "h4", "h5", "h6"}:
        writer.add(_tidy(tag.get_text(" ")), BlockKind.HEADING, level=int(name[1]))
    elif name == "pre":
        writer.add(clean(tag.get_text()), BlockKind.CODE)
    elif name == "table":
        _table(tag, writer, depth)
    elif name == "li" and not tag.find(["ul", "ol", "table", "p", "div"]):
        text = _tidy(tag.get_text(" "))
        writer.add(f"• {text}" if text else "", BlockKind.ITEM, level=len(tag.find_parents(["ul", "ol"])) - 1)
    elif name == "li":
        _item(tag, writer, depth)
    else:
        _walk(tag, writer, [], depth + 1)


def _item(tag: Any, writer: PageWriter, depth: int) -> None:
    """Writes a list item with nested blocks: its leading text is the item, nested blocks follow."""
    lead: list[str] = []
    rest: list[Any] = []
    for child in tag.children:
        if not rest and getattr(child, "name", None) not in {"ul", "ol", "table", "pre"}:
            lead.append(child.get_text(" ") if getattr(child, "name", None) else str(child))
        else:
            rest.append(child)
    text = _tidy(" ".join(lead))
    writer.add(f"• {text}" if text else "", BlockKind.ITEM, level=len(tag.find_parents(["ul", "ol"])) - 1)
    for child in rest:
        if getattr(child, "name", None):
            _block(child, writer, depth + 1)
        else:
            writer.add(_tidy(str(child)), BlockKind.PARAGRAPH)


def _table(tag: Any, writer: PageWriter, depth: int) -> None:
    """Writes a data table as rows; a layout table as the blocks it contains."""
    if tag.find("table") or depth >= _MOST_DEPTH:
        for cell in tag.find_all(["td", "th"], recursive=True):
            if cell.find_parent("table") is tag:
                _walk(cell, writer, [], depth + 1)
        return
    caption = tag.find("caption")
    if caption:
        writer.add(_tidy(caption.get_text(" ")), BlockKind.PARAGRAPH)
    columns, row = "", 0
    for line in tag.find_all("tr"):
        cells = line.find_all(["td", "th"])
        text = " | ".join(_tidy(cell.get_text(" ")) for cell in cells)
        if not text.strip(" |"):
            continue
        if not columns and cells and all(cell.name == "th" for cell in cells):
            columns = "; ".join(_tidy(cell.get_text(" ")) for cell in cells)
            writer.add(text, BlockKind.ROW)
            continue
        row += 1
        writer.add(text, BlockKind.ROW, row=row, columns=columns)
