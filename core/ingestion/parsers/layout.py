"""Turns page lines and boxes into ordered blocks: paragraphs, headings, items and furniture.

Uses font sizes and positions if known (PDF), otherwise the words alone (plain text). Freely placed boxes on a slide are
ordered by the gaps between them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from core.domain.extraction import Block, BlockKind, LayoutLine
from core.ingestion.parsers.furniture import Place, page_furniture
from core.text.sentences import has_round_bullets

__all__ = ["ITEM_START", "PlacedShape", "in_reading_order", "lay_out", "starts_item"]

ITEM_START = re.compile(
    r"\s*(?:[•●○▪■□◦‣⁃∙·➢❖✓✔►\uf0b7\uf0a7o*–—-]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s+|\([\da-zA-Z]{1,4}\)\s*)(?=\S)"
)

_ROUND_BULLET = re.compile(r"\s*o\s")

_BULLET = re.compile(r"[•●○▪■□◦‣⁃·➢❖✓►\uf0b7\uf0a7]")

_NUMBERED_HEADING = re.compile(
    r"\s*(?:(?:section|article|chapter|part|appendix|annex|exhibit|attachment|§)\s*[\dA-Z][\w.\-]*|\d{1,2}(?:\.\d{1,3}){0,4}\.?)"
    r"[\s:.–—-]+[A-Z]",
    re.I,
)

_SENTENCE_END = re.compile(r"[.!?:;]['\"”’)\]]*$")

_HEADING_LETTERS = 120  # Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class _Body:
    """Typical values of the document: the most common font size, whether most text is bold, the line pitch."""

    size: float
    bold: bool
    pitch: float


def lay_out(
    pages: Sequence[Sequence[LayoutLine]], outline: Sequence[tuple[int, int, str]]
) -> tuple[list[str], list[Block]]:
    """Page texts and blocks. outline: (page index, level from 1, title); titles are matched against lines."""
    filled = [[line for line in page if line.text.strip()] for page in pages]
    body = _body(filled)
    furniture, first = page_furniture([[line.text for line in page] for page in filled])
    sizes = _heading_sizes(filled, body)
    round_bullets = has_round_bullets("\n".join(line.text for page in filled for line in page))
    marked = {(index, _plain(title)): level for index, level, title in outline if title}
    texts: list[str] = []
    blocks: list[Block] = []
    for index, page in enumerate(filled):
        kinds = _kinds(page, index, body, furniture, first, sizes, marked, round_bullets)
        text, page_blocks = _page(index + 1, page, kinds, body)
        texts.append(text)
        blocks.extend(page_blocks)
    return texts, blocks


def starts_item(text: str, before: str | None, round_bullets: bool) -> bool:
    """Whether a line starts a list item. before: the line above, None if a paragraph starts here.

    round_bullets: whether the document marks items with "o", which is a word in some languages.

    >>> starts_item("o aviso", "entre as partes,", False), starts_item("o leave", "We pay:", False)
    (False, True)
    """
    if not ITEM_START.match(text):
        return False
    word = before is not None and _ROUND_BULLET.match(text) and not _SENTENCE_END.search(before.rstrip())
    return round_bullets or not word


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def _body(pages: Sequence[Sequence[LayoutLine]]) -> _Body:
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


def _heading_sizes(pages: Sequence[Sequence[LayoutLine]], body: _Body) -> dict[float, int]:
    """Font sizes above the body's, largest first, mapped to heading levels 1 … 4."""
    sizes: Counter[float] = Counter()
    for page in pages:
        sizes.update(line.size for line in page if line.size > body.size * 1.12 and len(line.text) <= _HEADING_LETTERS)
    return {size: min(level, 4) for level, size in enumerate(sorted(sizes, reverse=True), start=1)}


def _kinds(
    page: Sequence[LayoutLine],
    index: int,
    body: _Body,
    furniture: set[Place],
    first: set[Place],
    sizes: dict[float, int],
    marked: dict[tuple[int, str], int],
    round_bullets: bool,
) -> list[tuple[BlockKind, int]]:
    """Kind and level of each line; PARAGRAPH lines are merged later. The first of running lines is a row: it neither
    heads nor continues what is next to it."""
    kinds = []
    for position, line in enumerate(page):
        if line.row is not None or (index, position) in first:
            kinds.append((BlockKind.ROW, 0))
        elif (index, position) in furniture:
            kinds.append((BlockKind.FURNITURE, 0))
        elif level := marked.get((index, _plain(line.text))) or _heading_level(line, body, sizes):
            kinds.append((BlockKind.HEADING, level))
        elif starts_item(line.text, page[position - 1].text if position else None, round_bullets):
            kinds.append((BlockKind.ITEM, 0))
        else:
            kinds.append((BlockKind.PARAGRAPH, 0))
    return kinds


def _heading_level(line: LayoutLine, body: _Body, sizes: dict[float, int]) -> int:
    """Heading level 1 … 6, or 0: a larger font, or a short separate line that is bold or in numbered capitals."""
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
    number: int, lines: Sequence[LayoutLine], kinds: Sequence[tuple[BlockKind, int]], body: _Body
) -> tuple[str, list[Block]]:
    """The page's text, with a blank line between blocks, and the blocks."""
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


def _continues(before: LayoutLine, line: LayoutLine, block: Block, kind: BlockKind, level: int, body: _Body) -> bool:
    """Whether a line continues the previous line's block."""
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


@dataclass(frozen=True, slots=True)
class PlacedShape:
    """The edges of a box, in one unit, from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


def in_reading_order(boxes: Sequence[PlacedShape]) -> list[int]:
    """Indexes of the boxes in reading order: split along gaps, rows or columns first, whichever agrees better with the
    order in which the author created them; rows on a tie.

    >>> left, right = PlacedShape(0, 5, 4, 9), PlacedShape(5, 5, 9, 9)
    >>> in_reading_order([right, left, PlacedShape(0, 0, 9, 2)])
    [2, 1, 0]
    """
    indices = list(range(len(boxes)))
    rows, columns = _cut(boxes, indices, down=True), _cut(boxes, indices, down=False)
    return columns if _turns(columns) < _turns(rows) else rows


def _turns(order: Sequence[int]) -> int:
    """Number of pairs that are not in creation order."""
    return sum(a > b for at, a in enumerate(order) for b in order[at + 1 :])


def _cut(boxes: Sequence[PlacedShape], indices: list[int], *, down: bool) -> list[int]:
    if len(indices) < 2:
        return indices
    parts = _parts(boxes, indices, down=down)
    if len(parts) == 1:
        parts = _joined(boxes, _parts(boxes, indices, down=not down), down=down)
    if len(parts) == 1:
        return sorted(indices, key=lambda at: (boxes[at].top, boxes[at].left))
    return [index for part in parts for index in _cut(boxes, part, down=down)]


def _joined(boxes: Sequence[PlacedShape], parts: Sequence[list[int]], *, down: bool) -> list[list[int]]:
    """Merges neighbouring parts that share a continuous gap in the other direction."""
    joined: list[list[int]] = []
    for part in parts:
        if joined and len(_parts(boxes, [*joined[-1], *part], down=down)) > 1:
            joined[-1] = sorted([*joined[-1], *part])
        else:
            joined.append(part)
    return joined


def _parts(boxes: Sequence[PlacedShape], indices: Sequence[int], *, down: bool) -> list[list[int]]:
    """Groups of boxes separated by gaps across the full width or height; overlaps of up to a tenth are tolerated."""
    parts: list[list[int]] = []
    reach = float("-inf")
    for begin, end, index in sorted((*_extent(boxes[index], down), index) for index in indices):
        if begin >= reach - (end - begin) / 10:
            parts.append([])
        parts[-1].append(index)
        reach = max(reach, end)
    return [sorted(part) for part in parts]


def _extent(box: PlacedShape, down: bool) -> tuple[float, float]:
    return (box.top, box.bottom) if down else (box.left, box.right)
