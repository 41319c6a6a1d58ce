"""Helpers for parsers to build a page's text and its blocks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.domain.documents import Page
from core.domain.extraction import Block, BlockKind, ExtractedDocument

if TYPE_CHECKING:
    pass

__all__ = ["PageWriter", "write_blocks", "write_rows"]

_HEADER_LETTERS = 60  # Chosen by hand, not fitted.


class PageWriter:
    """Builds a page's text block by block, for formats without page layout.

    >>> writer = PageWriter(1)
    >>> writer.add("Leave", BlockKind.HEADING, level=1)
    >>> writer.add("Ask two weeks ahead.", BlockKind.PARAGRAPH)
    >>> writer.page().text
    'Leave\\n\\nAsk two weeks ahead.'
    """

    def __init__(self, number: int, label: str = "") -> None:
        self._number, self._label = number, label
        self._parts: list[str] = []
        self._length = 0
        self._last: BlockKind | None = None
        self.blocks: list[Block] = []

    def add(self, text: str, kind: BlockKind, *, level: int = 0, row: int | None = None, columns: str = "") -> None:
        """Appends a block; skips text without visible characters."""
        text = text.strip("\n") if kind is BlockKind.CODE else text.strip()
        if not text.strip():
            return
        if self._parts:
            close = kind is self._last and kind in {BlockKind.ROW, BlockKind.ITEM}
            gap = "\n" if close else "\n\n"
            self._parts.append(gap)
            self._length += len(gap)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        self._last = kind
        self.blocks.append(Block(self._number, start, self._length, kind, level, row, columns))

    @property
    def length(self) -> int:
        """Characters written so far."""
        return self._length

    def page(self) -> Page:
        """The page as written."""
        return Page(self._number, "".join(self._parts), self._label)


def write_rows(writer: PageWriter, rows: Sequence[Sequence[str]]) -> None:
    """Writes table rows, one line each. A first row of short, filled cells (its first may be empty) is the header: the
    rows below carry it as their column names; they are numbered from 1.

    >>> writer = PageWriter(1)
    >>> write_rows(writer, [["Grade", "Days"], ["A", "20"], ["", ""], ["B", "25"]])
    >>> writer.page().text, [block.row for block in writer.blocks]
    ('Grade | Days\\nA | 20\\nB | 25', [None, 1, 2])
    """
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    lines = [line for line in lines if any(line)]
    headed = len(lines) > 1 and all(lines[0][1:] or lines[0]) and max(map(len, lines[0])) <= _HEADER_LETTERS
    columns = "; ".join(filter(None, lines[0])) if headed else ""
    for number, line in enumerate(lines, start=0 if headed else 1):
        text = " | ".join(line).rstrip(" |")
        writer.add(text, BlockKind.ROW, row=number or None, columns=columns if number else "")


def write_blocks(writer: PageWriter, extracted: ExtractedDocument) -> None:
    """Copies the blocks of another parser's result."""
    texts = {page.number: page.text for page in extracted.pages}
    for block in extracted.blocks:
        text = texts[block.page][block.start : block.end]
        writer.add(text, block.kind, level=block.level, row=block.row, columns=block.columns)
