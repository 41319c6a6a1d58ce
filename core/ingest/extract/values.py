"""What a reader gives: pages of text, and the blocks that stand on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from core.documents import Page
from core.tabular import ReadTable

if TYPE_CHECKING:
    from core.ingest.extract.tables import Table

__all__ = ["Block", "BlockKind", "Extracted", "Member", "PageWriter", "write_blocks", "write_rows"]

_HEADER_LETTERS = 60


class BlockKind(StrEnum):
    """What a stretch of a page is. Only FURNITURE is never part of a passage."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    FURNITURE = "furniture"


@dataclass(frozen=True, slots=True)
class Block:
    """Characters [start, end) of a page's text.

    level: of a heading, 1 (title) … 6; of an item, its depth from 0. row: the 1-based number of a table row.
    columns: of a row without names of its own, the header line of its table.
    FURNITURE is what repeats or only leads elsewhere: running headers, page numbers, contents lines, front matter.
    """

    page: int
    start: int
    end: int
    kind: BlockKind
    level: int = 0
    row: int | None = None
    columns: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A file found in another one (an archive's entry, a mail's attachment), written to disk.

    name: its path inside, with "/" and without "..", as a user would call it. path: where its bytes lie, below the
    folder the reader was given. note: what a user should know of it, or "".
    """

    name: str
    path: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """One file's text. `pages` are numbered from 1; `blocks` stand in reading order, each on one page.

    paged: whether the file itself has pages. title: the document's own, or "". metadata: lower-case keys
    ("author", "created" …). warnings: sentences for the reader. setup_pages: numbers of the
    pages that hold rows of a set-up table. headings: (level, text) in reading order. sheets: the tables of a file that
    is made of them; tables: the same, typed and written to disk, when a folder for them was given. members: the files
    it holds, to be read as documents of their own; an archive holds nothing else and has no pages.
    """

    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]
    media_type: str
    paged: bool = False
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    setup_pages: tuple[int, ...] = ()
    sheets: tuple["Table", ...] = field(default=(), compare=False, repr=False)
    tables: tuple[ReadTable, ...] = ()
    members: tuple[Member, ...] = ()

    @property
    def headings(self) -> tuple[tuple[int, str], ...]:
        """Level and text of every heading, in reading order."""
        texts = {page.number: page.text for page in self.pages}
        return tuple(
            (block.level, " ".join(texts[block.page][block.start : block.end].lstrip("#").split()))
            for block in self.blocks
            if block.kind is BlockKind.HEADING
        )


class PageWriter:
    """Builds a page's text block by block, for formats whose text has no layout of its own.

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
        """Append a block; text without visible characters is left out."""
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
    """A table's rows of cells, a line each. A first row of short, filled cells (its first may be empty) is the header:
    it rides along with the rows below as their column names; they are counted from 1.

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


def write_blocks(writer: PageWriter, extracted: Extracted) -> None:
    """Write what another reader gave, block by block."""
    texts = {page.number: page.text for page in extracted.pages}
    for block in extracted.blocks:
        text = texts[block.page][block.start : block.end]
        writer.add(text, block.kind, level=block.level, row=block.row, columns=block.columns)
