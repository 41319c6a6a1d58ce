"""From the lines of printed pages to blocks: paragraphs, headings, items, and what only repeats.

Letter sizes and places decide where the reader knows them (PDF); without them (plain text) the words alone do.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from core.ingest.extract.values import Block, BlockKind

__all__ = ["ITEM_START", "Line", "is_contents_line", "lay_out"]

ITEM_START = re.compile(
    r"\s*(?:[•●○▪■□◦‣⁃∙·➢❖✓✔►\uf0b7\uf0a7o*–—-]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s+|\([\da-zA-Z]{1,4}\)\s*)(?=\S)"
)
_BULLET = re.compile(r"[•●○▪■□◦‣⁃·➢❖✓►\uf0b7\uf0a7]")
_CONTENTS_LINE = re.compile(r"(?:\.\s?){4,}\s*[\divxlc]{1,5}\s*$|_{2,}\s*\d{1,4}\s*$")
_PAGE_NUMBER = re.compile(
    r"\s*(?:page|seite|p\.)?\s*[-–—|]?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|von)\s*\d{1,4})?\s*[-–—|]?\s*$", re.I
)
_NUMBERED_HEADING = re.compile(
    r"\s*(?:(?:section|article|chapter|part|appendix|annex|exhibit|attachment|§)\s*[\dA-Z][\w.\-]*|\d{1,2}(?:\.\d{1,3}){0,4}\.?)"
    r"[\s:.–—-]+[A-Z]",
    re.I,
)
_SENTENCE_END = re.compile(r"[.!?:;]['\"”’)\]]*$")
_EDGE_LINES = 3
_REPEATED_SHARE = 0.4
_REPEATED_LEAST = 3
_HEADING_LETTERS = 120
_CONTENTS_LEAST = 3
_CONTENTS_TAIL = 120  # letters: a line of nothing but dots would be tried from each of them


@dataclass(frozen=True, slots=True)
class Line:
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

    def with_text(self, text: str) -> "Line":
        """The same place with another text."""
        return self if text == self.text else replace(self, text=text)

    def as_row(self, text: str, row: int, columns: str) -> "Line":
        """A row of a table at this place."""
        return replace(self, text=text, row=row, columns=columns)


@dataclass(frozen=True, slots=True)
class _Body:
    """What is ordinary in this document: the letter size most letters have, whether most are bold, the line pitch."""

    size: float
    bold: bool
    pitch: float


def lay_out(pages: Sequence[Sequence[Line]], outline: Sequence[tuple[int, int, str]]) -> tuple[list[str], list[Block]]:
    """Page texts and their blocks. outline: (page index, level from 1, title), titles matched against lines."""
    kept = [[line for line in page if line.text.strip()] for page in pages]
    body = _body(kept)
    running = _running(kept)
    sizes = _heading_sizes(kept, body)
    marked = {(index, _plain(title)): level for index, level, title in outline if title}
    texts: list[str] = []
    blocks: list[Block] = []
    for index, page in enumerate(kept):
        kinds = _kinds(page, index, body, running, sizes, marked)
        text, page_blocks = _page(index + 1, page, kinds, body)
        texts.append(text)
        blocks.extend(page_blocks)
    return texts, blocks


def is_contents_line(text: str) -> bool:
    """Whether a line leads to a page: "Leave ........ 12"."""
    return _CONTENTS_LINE.search(text.rstrip()[-_CONTENTS_TAIL:]) is not None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def _body(pages: Sequence[Sequence[Line]]) -> _Body:
    letters: Counter[float] = Counter()
    bold = total = 0
    pitches = []
    for page in pages:
        for line in page:
            letters[line.size] += len(line.text)
            bold += line.bold * len(line.text)
            total += len(line.text)
        pitches += [a.base - b.base for a, b in pairwise(page) if 4 < a.base - b.base < 40]
    size = letters.most_common(1)[0][0] if letters else 0.0
    return _Body(size, bold > total / 2, median(pitches) if pitches else 0.0)


def _mask(text: str) -> str:
    return re.sub(r"\d+", "#", " ".join(text.lower().split()))


def _running(pages: Sequence[Sequence[Line]]) -> set[str]:
    """Digit-masked texts that stand at the edge of many pages: running headers and footers.

    The outermost lines need only three repetitions when they carry a number, because chapters change the rest.
    """
    seen: Counter[str] = Counter()
    outermost: Counter[str] = Counter()
    for page in pages:
        seen.update({_mask(line.text) for line in (*page[:_EDGE_LINES], *page[-_EDGE_LINES:])})
        outermost.update({_mask(line.text) for line in (*page[:1], *page[-1:])})
    least = max(_REPEATED_LEAST, _REPEATED_SHARE * len(pages))
    numbered = {text for text, count in outermost.items() if "#" in text and count >= _REPEATED_LEAST}
    running = {text for text, count in seen.items() if count >= least} | numbered
    letters = sum(len(line.text) for page in pages for line in page)
    taken = sum(len(line.text) for page in pages for line in page if _mask(line.text) in running)
    return running if taken < letters / 2 else set()  # pages that repeat altogether, as filled-in forms do


def _heading_sizes(pages: Sequence[Sequence[Line]], body: _Body) -> dict[float, int]:
    """Letter sizes above the body's, largest first, as heading levels 1 … 4."""
    sizes: Counter[float] = Counter()
    for page in pages:
        sizes.update(line.size for line in page if line.size > body.size * 1.12 and len(line.text) <= _HEADING_LETTERS)
    return {size: min(level, 4) for level, size in enumerate(sorted(sizes, reverse=True), start=1)}


def _kinds(
    page: Sequence[Line],
    index: int,
    body: _Body,
    running: set[str],
    sizes: dict[float, int],
    marked: dict[tuple[int, str], int],
) -> list[tuple[BlockKind, int]]:
    """Kind and level of each line; PARAGRAPH lines are joined later."""
    contents = sum(is_contents_line(line.text) for line in page) >= _CONTENTS_LEAST
    kinds = []
    for position, line in enumerate(page):
        if line.row is not None:
            kinds.append((BlockKind.ROW, 0))
            continue
        edge = position < _EDGE_LINES or position >= len(page) - _EDGE_LINES
        repeats = edge and (_mask(line.text) in running or _PAGE_NUMBER.match(line.text))
        if repeats or (contents and is_contents_line(line.text)):
            kinds.append((BlockKind.FURNITURE, 0))
        elif level := marked.get((index, _plain(line.text))) or _heading_level(line, body, sizes):
            kinds.append((BlockKind.HEADING, level))
        elif ITEM_START.match(line.text):
            kinds.append((BlockKind.ITEM, 0))
        else:
            kinds.append((BlockKind.PARAGRAPH, 0))
    return kinds


def _heading_level(line: Line, body: _Body, sizes: dict[float, int]) -> int:
    """1 … 6 for a heading, else 0: larger letters, or bold or numbered capitals on a short line of its own."""
    text = line.text.strip()
    if len(text) > _HEADING_LETTERS or not any(character.isalpha() for character in text) or len(text) < 3:
        return 0
    if text[0].islower() or text[-1] in ".,;" or _BULLET.match(text):
        return 0
    if line.size in sizes:
        return sizes[line.size]
    if line.bold and not body.bold and not text.endswith(":"):
        return 5
    letters = [character for character in text if character.isalpha()]
    shouted = len(letters) >= 4 and all(character.isupper() for character in letters) and len(text) <= 80
    return 5 if shouted and (line.size >= body.size or _NUMBERED_HEADING.match(text)) else 0


def _page(
    number: int, lines: Sequence[Line], kinds: Sequence[tuple[BlockKind, int]], body: _Body
) -> tuple[str, list[Block]]:
    """The page's text, line by line with a blank line between blocks, and the blocks."""
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for position, (line, (kind, level)) in enumerate(zip(lines, kinds, strict=True)):
        text = line.text.strip()
        joins = bool(blocks) and _continues(lines[position - 1], line, blocks[-1], kind, level, body)
        close = joins or (bool(blocks) and blocks[-1].kind is kind and kind in {BlockKind.ITEM, BlockKind.ROW})
        gap = "" if not parts else "\n" if close else "\n\n"
        start = length + len(gap)
        length = start + len(text)
        parts += (gap, text)
        if joins:
            blocks[-1] = replace(blocks[-1], end=length)
        else:
            blocks.append(Block(number, start, length, kind, level, line.row or None, line.columns))
    return "".join(parts), blocks


def _continues(before: Line, line: Line, block: Block, kind: BlockKind, level: int, body: _Body) -> bool:
    """Whether a line goes on with the block of the line before it."""
    if kind is BlockKind.HEADING:
        near = not before.base or before.base - line.base < 2 * max(line.size, 1)
        return (
            block.kind is BlockKind.HEADING and block.level == level and before.size == line.size and near and level < 5
        )
    if kind is not BlockKind.PARAGRAPH or block.kind not in {BlockKind.PARAGRAPH, BlockKind.ITEM}:
        return False
    if abs(before.size - line.size) > 0.15 * max(body.size, 1.0):
        return False
    ended = _SENTENCE_END.search(before.text.rstrip()) is not None
    if not body.pitch:
        return True
    drop = before.base - line.base
    if drop < 0:
        return not ended and line.text.strip()[0].islower()
    if drop > 1.45 * max(body.pitch, line.size * 1.1):
        return not ended and line.text.strip()[0].islower() and drop < 3 * body.pitch
    indented = line.left > before.left + body.size and block.kind is BlockKind.PARAGRAPH
    return not (indented and ended)
