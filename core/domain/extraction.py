"""What readers extract from a file: pages, blocks, contained files, feed entries."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.domain.datasets import ReadTable
from core.domain.documents import Page

__all__ = ["Block", "BlockKind", "ContainedFile", "ExtractedDocument", "FeedEntry", "LayoutLine", "ParsedFeed"]


class BlockKind(StrEnum):
    """Layout type of a block. Only FURNITURE is never part of a passage."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    FURNITURE = "furniture"


@dataclass(frozen=True, slots=True)
class Block:
    """Characters [start, end) of a page's text.

    level: of a heading, 1 (title) … 6; of a list item, its depth from 0. row: the 1-based number of a table row.
    columns: the table's header line, for a row without column names of its own. FURNITURE is repeated or navigational
    text: running headers, page numbers, tables of contents, front matter."""

    page: int
    start: int
    end: int
    kind: BlockKind
    level: int = 0
    row: int | None = None
    columns: str = ""


@dataclass(frozen=True, slots=True)
class ContainedFile:
    """A file contained in another one (an archive member, a mail attachment), written to disk.

    name: its path inside, with "/" and without "..". path: of its bytes, below the folder given to the reader. note:
    for the user, or ""."""

    name: str
    path: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """The extracted text of a file. `pages` are numbered from 1; `blocks` are in reading order, each on one page.

    paged: whether the file itself has pages. title: the document's own, or "". metadata: lower-case keys ("author",
    "created" …). warnings: sentences for the reader. setup_pages: numbers of the pages with rows of a configuration
    table. headings: (level, text) in reading order. tables: of a tabular file, typed and written to disk, if a folder
    was given. members: contained files, to be ingested as documents of their own; an archive has only these and no
    pages."""

    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]
    media_type: str
    paged: bool = False
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    setup_pages: tuple[int, ...] = ()
    tables: tuple[ReadTable, ...] = ()
    members: tuple[ContainedFile, ...] = ()

    @property
    def headings(self) -> tuple[tuple[int, str], ...]:
        """Level and text of every heading, in reading order."""
        texts = {page.number: page.text for page in self.pages}
        return tuple(
            (block.level, " ".join(texts[block.page][block.start : block.end].lstrip("#").split()))
            for block in self.blocks
            if block.kind is BlockKind.HEADING
        )


@dataclass(frozen=True, slots=True)
class LayoutLine:
    """One printed line. size in points (0 = unknown); left and base in points from the page's lower left corner.

    row: of a line that is a table's row, its number from 1, 0 for the header; columns: the header of such a row.
    """

    text: str
    size: float = 0.0
    bold: bool = False
    left: float = 0.0
    base: float = 0.0
    row: int | None = None
    columns: str = ""

    def with_text(self, text: str) -> "LayoutLine":
        """The same position with another text."""
        return self if text == self.text else replace(self, text=text)

    def as_row(self, text: str, row: int, columns: str) -> "LayoutLine":
        """A table row at this position."""
        return replace(self, text=text, row=row, columns=columns)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One feed entry. key: unique in the feed, and stable when the entry is edited. html: its body, without scripts.
    published: ISO date, or "". url: absolute, or "".
    """

    key: str
    title: str
    url: str
    published: str
    author: str
    html: str


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A parsed RSS or Atom feed."""

    title: str
    entries: tuple[FeedEntry, ...]
