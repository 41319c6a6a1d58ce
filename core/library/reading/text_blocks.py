"""The layout of an extracted text: headings, paragraphs, list items and table rows, each with its place."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from core.domain.documents import Span
from core.domain.extraction import BlockKind

__all__ = ["TextBlock", "blocks"]

_ITEM = re.compile(r"\s*(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+\S")
_FIELD = re.compile(r"(?:^|; )([^:;\n]{1,80}): ")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Characters [start, end) of a text. cells: of a table row. columns: their names, where each row repeats them."""

    kind: BlockKind
    start: int
    end: int
    cells: tuple[Span, ...] = ()
    columns: tuple[str, ...] = ()


def blocks(
    text: str, start: int, end: int, *, headings: Collection[str] = (), records: bool = False
) -> list[TextBlock]:
    """The blocks of characters [start, end). headings: lines that head a section. records: lines are rows of a table,
    written "column: value; column: value".

    >>> [block.kind.value for block in blocks("Scope\\n\\nIt holds.\\n- one\\na | b", 0, 30, headings={"Scope"})]
    ['heading', 'paragraph', 'item', 'row']
    """
    found: list[TextBlock] = []
    names = {" ".join(heading.split()) for heading in headings}
    after_blank = True
    for line in _lines(text, start, end):
        words = line.of(text)
        if not words.strip():
            after_blank = True
            continue
        block = _block(words, line, names, records=records)
        last = found[-1] if found else None
        joins = last is not None and not after_blank and block.kind is BlockKind.PARAGRAPH
        if last is not None and joins and last.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM):
            found[-1] = TextBlock(last.kind, last.start, line.end)
        else:
            found.append(block)
        after_blank = False
    return found


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield Span(start, stop)
        start = stop + 1


def _block(words: str, line: Span, headings: set[str], *, records: bool) -> TextBlock:
    if records and (row := _record(words, line)) is not None:
        return row
    if " ".join(words.split()) in headings:
        return TextBlock(BlockKind.HEADING, line.start, line.end)
    if " | " in words:
        return TextBlock(BlockKind.ROW, line.start, line.end, tuple(_cells(words, line.start)))
    kind = BlockKind.ITEM if _ITEM.match(words) else BlockKind.PARAGRAPH
    return TextBlock(kind, line.start, line.end)


def _cells(words: str, offset: int) -> Iterator[Span]:
    start = 0
    for cell in words.split(" | "):
        yield Span(offset + start, offset + start + len(cell))
        start += len(cell) + len(" | ")


def _record(words: str, line: Span) -> TextBlock | None:
    """A line "column: value; column: value" as a row; None for another line."""
    fields = list(_FIELD.finditer(words))
    if not fields or fields[0].start() > 0:
        return None
    ends = [*(field.start() for field in fields[1:]), len(words)]
    cells = tuple(Span(line.start + field.end(), line.start + end) for field, end in zip(fields, ends, strict=True))
    columns = tuple(field.group(1) for field in fields)
    return TextBlock(BlockKind.ROW, line.start, line.end, cells, columns)
