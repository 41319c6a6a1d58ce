"""Parses Markdown line by line; leaves the text unchanged, so that quotes match it verbatim.

Lenient: a numbered title over a rule ("1. Scope" / "-----") is a heading, tables need no outer bars.
"""

import re
from collections.abc import Iterator, Mapping

from core.domain.documents import Page
from core.domain.extraction import Block, BlockKind, ExtractedDocument
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["markdown_blocks", "read_markdown"]

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_ITEM = re.compile(r"(\s*)(?:>\s*)?(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][.)]|\([a-zA-Z\d]{1,4}\))\s+\S")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_FRONT_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$")
_COMMENT = re.compile(r"\s*<!--.*-->\s*$|\s*\{%.*%\}\s*$|\s*\[TOC\]\s*$", re.I)
_CONTENTS_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s*\[[^\]]+\]\(#[^)]*\)\s*$")
_DATE_KEYS = ("date", "published", "published_at", "last_modified", "updated", "effective", "effective_date")


def read_markdown(name: str, text: str) -> ExtractedDocument:
    """Blocks, title and date of a Markdown text. Never raises: any text is valid Markdown."""
    text = clean(text).strip("\n")
    metadata, front_end = _front_matter(text)
    blocks = list(markdown_blocks(text, front_end))
    if front_end:
        blocks.insert(0, Block(1, 0, front_end, BlockKind.FURNITURE))
    title = metadata.get("title", "")
    first = next((block for block in blocks if block.kind is BlockKind.HEADING), None)
    if not title and first is not None and first.level == 1:
        title = heading_text(text[first.start : first.end])
    return ExtractedDocument((Page(1, text),), tuple(blocks), FileKind.MARKDOWN, title=title, metadata=metadata)


def heading_text(raw: str) -> str:
    """A heading without its Markdown marks.

    >>> heading_text("## *Paid* leave ##"), heading_text("Scope\\n-----")
    ('Paid leave', 'Scope')
    """
    line = raw.split("\n")[0].strip().lstrip("#").rstrip("#")
    return " ".join(re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}", "", line).split())


def _front_matter(text: str) -> tuple[Mapping[str, str], int]:
    """Simple keys of a leading '---' block, and its end position (0 = none)."""
    if not text.startswith("---\n"):
        return {}, 0
    close = re.search(r"^(?:---|\.\.\.)\s*$", text[4:], re.M)
    if close is None:
        return {}, 0
    found: dict[str, str] = {}
    for line in text[4 : 4 + close.start()].split("\n"):
        key = _FRONT_KEY.match(line)
        if key and key.group(2).strip():
            found[key.group(1).lower()] = key.group(2).strip().strip("'\"")
    if not found:
        return {}, 0
    for key_name in _DATE_KEYS:
        if key_name in found:
            found.setdefault("published", found[key_name])
    return found, 4 + close.end()


def markdown_blocks(text: str, begin: int = 0) -> Iterator[Block]:
    """The blocks of a Markdown text in order, from position `begin`."""
    lines = list(_lines(text, begin))
    position = 0
    while position < len(lines):
        line = lines[position][1]
        block, position = _block(text, lines, position) if line.strip() else (None, position + 1)
        if block is not None:
            yield from block


def _lines(text: str, begin: int) -> Iterator[tuple[int, str]]:
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield begin, text[begin:end]
        begin = end + 1


_Lines = list[tuple[int, str]]


def _block(text: str, lines: _Lines, position: int) -> tuple[list[Block], int]:
    """The block or table that starts at a line, and the index of the next line."""
    start, line = lines[position]
    following = lines[position + 1][1] if position + 1 < len(lines) else ""
    if heading := _HEADING.match(line):
        return [_of(text, start, line, BlockKind.HEADING, len(heading.group(1)))], position + 1
    if _FENCE.match(line):
        return _fence(text, lines, position)
    if "|" in line and _TABLE_RULE.match(following) and "-" in following:
        return _table(text, lines, position)
    if following.strip() and _UNDERLINE.match(following) and not _RULE.match(line):
        level = 1 if following.strip()[0] == "=" else 2
        end = lines[position + 1][0] + len(following)
        return [Block(1, _first(start, line), end, BlockKind.HEADING, level)], position + 2
    if _RULE.match(line) or _COMMENT.match(line) or _CONTENTS_ITEM.match(line):
        return [_of(text, start, line, BlockKind.FURNITURE)], position + 1
    return _flow(text, lines, position)


def _of(text: str, start: int, line: str, kind: BlockKind, level: int = 0) -> Block:
    begin = _first(start, line)
    return Block(1, begin, max(begin + 1, start + len(line.rstrip())), kind, level)


def _first(start: int, line: str) -> int:
    return start + len(line) - len(line.lstrip())


def _fence(text: str, lines: _Lines, position: int) -> tuple[list[Block], int]:
    start, line = lines[position]
    mark = _FENCE.match(line)
    close = position + 1
    while close < len(lines) and mark and not lines[close][1].strip().startswith(mark.group(1)):
        close += 1
    last_start, last = lines[min(close, len(lines) - 1)]
    return [Block(1, _first(start, line), last_start + len(last.rstrip()), BlockKind.CODE)], close + 1


def _table(text: str, lines: _Lines, position: int) -> tuple[list[Block], int]:
    """One ROW block per line below the header; the header gives their column names."""
    start, header = lines[position]
    columns = "; ".join(cell.strip() for cell in header.strip().strip("|").split("|") if cell.strip())
    blocks = [_of(text, start, header, BlockKind.ROW)]
    row = 0
    position += 2
    while position < len(lines) and "|" in lines[position][1]:
        row += 1
        found = _of(text, *lines[position], BlockKind.ROW)
        blocks.append(Block(1, found.start, found.end, BlockKind.ROW, row=row, columns=columns))
        position += 1
    return blocks, position


def _flow(text: str, lines: _Lines, position: int) -> tuple[list[Block], int]:
    """A paragraph, or a list item with continuation lines, up to a blank line or another block."""
    start, line = lines[position]
    item = _ITEM.match(line)
    last = position
    while last + 1 < len(lines) and not _interrupts(lines, last + 1):
        last += 1
    last_start, last_line = lines[last]
    end = last_start + len(last_line.rstrip())
    if item:
        depth = len(item.group(1).expandtabs(4)) // 2
        return [Block(1, _first(start, line), end, BlockKind.ITEM, depth)], last + 1
    return [Block(1, _first(start, line), end, BlockKind.PARAGRAPH)], last + 1


def _interrupts(lines: _Lines, position: int) -> bool:
    line = lines[position][1]
    following = lines[position + 1][1] if position + 1 < len(lines) else ""
    if not line.strip() or _HEADING.match(line) or _FENCE.match(line) or _ITEM.match(line) or _RULE.match(line):
        return True
    return "|" in line and bool(_TABLE_RULE.match(following)) and "-" in following
