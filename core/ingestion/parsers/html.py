"""Parses web pages: visible text in blocks, without scripts, styles and navigation."""

# Over 300 lines: inline text, lists and tables are read by one walk that calls itself.

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.equations import term
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.layout import ITEM_START
from core.ingestion.parsers.numbering import letters, roman
from core.ingestion.parsers.raised import lowered_text, raised_text
from core.ingestion.parsers.table_grid import GridCell, TableGrid
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_html", "write_html"]

_UNSEEN = frozenset(
    "script style noscript template svg head nav iframe object embed audio video canvas select button".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre search section summary table tbody td"
    " tfoot th thead tr ul".split()
)
_LISTS = ("ul", "ol", "menu", "dir")
_NESTED = frozenset((*_LISTS, "table", "pre", "dl", "blockquote"))
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_DATES = ("article:published_time", "datepublished", "dc.date", "dcterms.issued", "dcterms.created", "date", "pubdate")
_DELETED = ("del", "s", "strike")
_LEVELS = {"sup": raised_text, "sub": lowered_text}
_EQUATIONS = {"mfrac": "{}/{}", "msup": "{}^{}", "msub": "{}_{}", "msubsup": "{}_{}^{}", "mroot": "{1}√{0}"}
_LIST_STYLE = re.compile(r"list-style(?:-type)?:[^;]*?(lower|upper)-(alpha|latin|roman)", re.I)
_MOST_DEPTH = 400  # Guards against deep recursion. Chosen by hand, not fitted.
_TABLE_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?$")


def read_html(name: str, text: str) -> ExtractedDocument:
    """Headings, paragraphs, items and table rows in document order; accepts broken markup."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "lxml")
    metadata = _metadata(soup)
    title = clean(soup.title.get_text(" ", strip=True)) if soup.title else ""
    writer = PageWriter(1)
    write_html(soup, writer)
    return ExtractedDocument(
        (writer.page(),), tuple(writer.blocks), FileKind.HTML, title=" ".join(title.split()), metadata=metadata
    )


def write_html(soup: Any, writer: PageWriter) -> None:
    """Writes the visible text of a parsed page; what nobody sees and what an insertion replaces is removed from `soup`
    first, pictures become their alternative text, boxes of a filled form or a task list ☒ or ☐."""
    for tag in soup.find_all(lambda tag: tag.name in _UNSEEN or _hidden(tag)):
        if not tag.decomposed:
            tag.decompose()
    for tag in soup.find_all(_DELETED):
        if not tag.decomposed and (_begins_inserted(tag.next_siblings) or _begins_inserted(tag.previous_siblings)):
            tag.decompose()
    for opportunity in soup.find_all("wbr"):
        opportunity.unwrap()
    for box in soup.find_all("input", type=("checkbox", "radio")):
        if box.has_attr("disabled") or (
            box.find_parent("form") and box.find_parent("form").find("input", checked=True)
        ):
            box.replace_with("☒ " if box.has_attr("checked") else "☐ ")
    for picture in soup.find_all(["img", "area"]):
        picture.replace_with(str(picture.get("alt") or ""))
    _number_items(soup)
    _walk(soup.body or soup, writer, 0)


def _begins_inserted(siblings: Iterable[Any]) -> bool:
    """Whether the first of some neighbours is inserted text; blanks and further deleted text do not count."""
    near = (each for each in islice(siblings, 20) if each.name not in _DELETED and (each.name or each.strip()))
    return getattr(next(near, None), "name", None) == "ins"


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


def _hidden(tag: Any) -> bool:
    style = str(tag.get("style") or "").replace(" ", "").lower()
    return tag.has_attr("hidden") or "display:none" in style or tag.get("aria-hidden") == "true"


def _walk(node: Any, writer: PageWriter, depth: int) -> None:
    """Writes a node's blocks, and the inline text between two of them as a paragraph."""
    run: list[str] = []
    for child in node.children:
        name = getattr(child, "name", None)
        nested = name in _BLOCKS or (name is not None and child.contents and child.find(_is_block) is not None)
        if not nested or depth >= _MOST_DEPTH:
            run.append(_inline(child, depth))
            continue
        _paragraph("".join(run), writer)
        run.clear()
        if name in _BLOCKS:
            _block(child, writer, depth)
        else:
            _walk(child, writer, depth + 1)
    _paragraph("".join(run), writer)


def _is_block(tag: Any) -> bool:
    return tag.name in _BLOCKS


def _inline(node: Any, depth: int = 0) -> str:
    """The text of a node as browsers show it: white space collapsed, a line end only for <br>, words of neighbouring
    blocks apart, a raised number behind "^" ("10^6"), fractions with "/"."""
    from bs4.element import NavigableString, PreformattedString

    if isinstance(node, NavigableString):
        # Comments, declarations and processing instructions are preformatted strings.
        return "" if isinstance(node, PreformattedString) else re.sub(r"\s+", " ", clean(str(node)))
    if node.name == "br":
        return "\n"
    if depth >= _MOST_DEPTH:
        return re.sub(r"\s+", " ", clean(node.get_text(" ")))
    if node.name in _EQUATIONS:
        parts = [term(_inline(part, depth + 1)) for part in node.find_all(True, recursive=False)]
        if len(parts) == _EQUATIONS[node.name].count("{"):
            return _apart(node, _EQUATIONS[node.name].format(*parts))
    text = "".join(_inline(child, depth + 1) for child in node.children)
    if node.name == "msqrt":
        return _apart(node, f"√{term(text)}")
    if node.name in _DELETED:
        return _apart(node, text)
    if node.name in _LEVELS:
        return _LEVELS[node.name](text, *_neighbours(node))
    return f" {text} " if node.name in _BLOCKS or _runs_together(node, text) else text


def _apart(node: Any, text: str) -> str:
    """The text of a node with a blank where it meets letters or digits."""
    before, after = _neighbours(node)
    left = " " if before[-1:].isalnum() and text[:1].isalnum() else ""
    right = " " if after[:1].isalnum() and text[-1:].isalnum() else ""
    return f"{left}{text}{right}"


def _neighbours(node: Any) -> tuple[str, str]:
    """The texts beside a node."""
    before, after = ("" if each is None else each.get_text() for each in (node.previous_sibling, node.next_sibling))
    return before, after


def _runs_together(node: Any, text: str) -> bool:
    """Whether several words in an inline element have no blank before or after them ("in<i>section 4</i>"), while
    part of a word has none on purpose ("un<i>believ</i>able")."""
    if len(text.split()) < 2:
        return False
    before, after = str(node.previous_sibling or ""), str(node.next_sibling or "")
    return (before[-1:].isalnum() and text[0].isalnum()) or (after[:1].isalnum() and text[-1].isalnum())


def _tidy(text: str) -> str:
    """Lines without surrounding or repeated blanks."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def _line(node: Any) -> str:
    """The text of a heading, an item or a cell."""
    return " ".join(_inline(node).split())


def _paragraph(text: str, writer: PageWriter) -> None:
    """Writes inline text; its lines that are list items or table rows become blocks of their own."""
    lines = _tidy(text).split("\n")
    if any(_TABLE_RULE.match(line) and "|" in line for line in lines):
        lines = _without_table(lines, writer)
    start = 0
    for position in range(1, len(lines) + 1):
        if position == len(lines) or ITEM_START.match(lines[position]):
            kind = BlockKind.ITEM if ITEM_START.match(lines[start]) else BlockKind.PARAGRAPH
            writer.add("\n".join(lines[start:position]), kind)
            start = position


def _without_table(lines: Sequence[str], writer: PageWriter) -> list[str]:
    """Writes a table drawn with bars whose rule does not fit its header; returns the lines after it."""
    rule = next(at for at, line in enumerate(lines) if _TABLE_RULE.match(line) and "|" in line)
    first = next((at for at in range(rule, 0, -1) if "|" not in lines[at - 1]), 0)
    last = next((at for at in range(rule, len(lines)) if "|" not in lines[at]), len(lines))
    writer.add("\n".join(lines[:first]), BlockKind.PARAGRAPH)
    rows = [line for line in lines[first:last] if not _TABLE_RULE.match(line)]
    write_rows(writer, [line.strip().strip("|").split("|") for line in rows])
    return list(lines[last:]) or [""]


def _block(tag: Any, writer: PageWriter, depth: int) -> None:
    name = tag.name
    if name in _HEADINGS:
        writer.add(_line(tag), BlockKind.HEADING, level=int(name[1]))
    elif name == "pre":
        writer.add(clean(tag.get_text()), BlockKind.CODE)
    elif name == "table":
        _table(tag, writer, depth)
    elif name == "li":
        _item(tag, writer, depth)
    else:
        _walk(tag, writer, depth + 1)


def _item(tag: Any, writer: PageWriter, depth: int) -> None:
    """Writes a list item: its leading text, then the blocks nested in it."""
    lead: list[str] = []
    children = list(tag.children)
    rest = next((at for at, child in enumerate(children) if getattr(child, "name", None) in _NESTED), len(children))
    for position, child in enumerate(children[:rest]):
        if lead and "".join(lead).strip() and getattr(child, "name", None) in {"p", "div", *_HEADINGS}:
            rest = position  # a second paragraph of the item
            break
        if getattr(child, "find", None) and getattr(child, "name", None) and child.find(list(_NESTED)):
            rest = position
            break
        lead.append(_inline(child, depth))
    text = " ".join("".join(lead).split())
    level = len(tag.find_parents(list(_LISTS))) - 1
    if text:
        kind = BlockKind.FURNITURE if _is_contents_entry(tag, text) else BlockKind.ITEM
        writer.add(f"{_marker(tag)} {text}", kind, level=max(level, 0))
    for child in children[rest:]:
        if getattr(child, "name", None) in _BLOCKS and depth < _MOST_DEPTH:
            _block(child, writer, depth + 1)
        elif getattr(child, "name", None) and depth < _MOST_DEPTH and child.find(_is_block):
            _walk(child, writer, depth + 1)
        else:
            _paragraph(_inline(child, depth), writer)


def _is_contents_entry(item: Any, text: str) -> bool:
    """Whether an item is a line of a table of contents: nothing but a link into the same page."""
    links = item.find_all("a", href=re.compile("^#"), limit=1)
    return bool(links) and _line(links[0]) == text


def _marker(item: Any) -> str:
    """The mark before an item: "•", or its number in an ordered list ("1.", "b.", "iv.")."""
    number = item.get("value", "")
    if item.parent is None or item.parent.name != "ol" or not number:
        return "•"
    count, kind = int(number), str(item.parent.get("type") or "")
    if style := _LIST_STYLE.search(str(item.parent.get("style") or "")):
        kind = "i" if style[2].lower() == "roman" else "a"
        kind = kind.upper() if style[1].lower() == "upper" else kind
    if kind.lower() not in {"a", "i"} or not 0 < count < 4000:  # Roman numerals end at 3999
        return f"{number}."
    mark = roman(count) if kind.lower() == "i" else letters(count)
    return f"{mark.upper() if kind.isupper() else mark}."


def _number_items(soup: Any) -> None:
    """Sets the `value` of every item of an ordered list, as browsers count them."""
    for ordered in soup.find_all("ol"):
        items = ordered.find_all("li", recursive=False)
        step = -1 if ordered.has_attr("reversed") else 1
        number = _as_int(ordered.get("start"), len(items) if step < 0 else 1) - step
        for item in items:
            number = _as_int(item.get("value"), number + step)
            item["value"] = str(number)


def _as_int(text: object, otherwise: int) -> int:
    return int(str(text)) if re.fullmatch(r"[0-9]{1,9}", str(text)) else otherwise


def _table(tag: Any, writer: PageWriter, depth: int) -> None:
    """Writes a data table as rows; a layout table as the blocks it contains."""
    if tag.find("table") or depth >= _MOST_DEPTH:
        for cell in tag.find_all(["td", "th"], recursive=True):
            if cell.find_parent("table") is tag:
                _walk(cell, writer, depth + 1)
        return
    caption = tag.find("caption")
    if caption:
        writer.add(_line(caption), BlockKind.PARAGRAPH)
    columns, row, group, grid = "", 0, None, TableGrid()
    for line in tag.find_all("tr"):
        if line.parent is not group:
            grid.end_group()
            group = line.parent
        cells = line.find_all(["td", "th"])
        texts = grid.place(list(map(_grid_cell, cells)))
        text = " | ".join(texts)
        if not text.strip(" |"):
            continue
        if not columns and cells and all(cell.name == "th" for cell in cells):
            columns = "; ".join(texts)
            writer.add(text, BlockKind.ROW)
            continue
        row += 1
        writer.add(text, BlockKind.ROW, row=row, columns=columns)


def _grid_cell(cell: Any) -> GridCell:
    columns, rows = _as_int(cell.get("colspan"), 1), _as_int(cell.get("rowspan"), 1)
    return GridCell(_line(cell), columns, rows, cell.name == "th")
