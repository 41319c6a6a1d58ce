"""Splits blocks into passages of whole sentences, within one page and section, sized for the embedding model.

    blocks → pieces (a sentence, an item, a row) → groups under one heading path → passages → context

A passage is a contiguous span of its page. `context` adds what the span lacks: document title, headings, the lead-in of
a list that starts in an earlier passage, and abbreviations spelled out elsewhere in the document. Table rows stay
whole. Furniture (page headers, footers) is never in a passage.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace

from core.domain.documents import Passage, Span
from core.domain.extraction import Block, BlockKind, ExtractedDocument
from core.ner.definitions import spelled_out
from core.text.sentences import sentences

__all__ = ["ChunkSizes", "split"]


_VISIBLE = re.compile(r"\S")
_SYLLABLES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LETTERS_EACH = 3  # that a Chinese, Japanese or Korean sign stands for; chosen by hand
_MOST_ITEMS = 1_000  # of a list, between its lead-in and a passage. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Passage lengths in characters.

    target: a passage is closed before it exceeds this. least: a shorter remainder joins its neighbour if both fit in
    `most`. overlap: maximum length of a last sentence that is repeated at the start of the next passage.
    """

    target: int = 1300
    least: int = 250
    most: int = 1600
    overlap: int = 200
    context: int = 220

    def fitting(self, text: str) -> "ChunkSizes":
        """The lengths for a page: a third where most of its letters are Chinese, Japanese or Korean.

        >>> ChunkSizes().fitting("第三十条").target, ChunkSizes().fitting("Article 30").target
        (433, 1300)
        """
        if text.isascii() or 2 * sum(map(len, _SYLLABLES.findall(text))) < len(text):
            return self
        return ChunkSizes(*(size // _LETTERS_EACH for size in astuple(self)))


@dataclass(frozen=True, slots=True)
class _Piece:
    """An indivisible sentence, row or line of code: characters [start, end) of its page."""

    page: int
    start: int
    end: int
    kind: BlockKind
    opens: bool
    row: int | None = None
    columns: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Pieces of one page under one heading path."""

    path: tuple[str, ...]
    pieces: tuple[_Piece, ...]
    lead: str = ""


def split(
    extracted: ExtractedDocument,
    title: str,
    sizes: ChunkSizes = ChunkSizes(),
    on_passage: Callable[[int], None] = lambda done: None,
) -> tuple[Passage, ...]:
    """The passages in reading order; `text == page.text[start:end]`, and every sentence is a span of `text`.

    on_passage: called with the number done, after each; it may raise to end the work."""
    texts = {page.number: page.text for page in extracted.pages}
    labels = {page.number: page.label for page in extracted.pages}
    fitting = {number: sizes.fitting(text) for number, text in texts.items()}
    spelled = spelled_out(texts.values())
    passages: list[Passage] = []
    for group in _groups(extracted, texts):
        own = fitting[group.pieces[0].page]
        for pieces in _packed(group.pieces, texts[group.pieces[0].page], own):
            text = texts[pieces[0].page]
            section = " › ".join(group.path) or labels[pieces[0].page]
            abbreviations = spelled.of(text[pieces[0].start : pieces[-1].end], own.context)
            context = _context(title, section, _lead(group, pieces, text), pieces, abbreviations, own)
            passages.append(replace(_passage(text, pieces), section=section, context=context, position=len(passages)))
            on_passage(len(passages))
    return tuple(passages)


def _groups(extracted: ExtractedDocument, texts: dict[int, str]) -> Iterator[_Group]:
    """Groups of pieces under one heading path on one page; a heading starts the group it heads."""
    path: list[tuple[int, str]] = []
    pieces: list[_Piece] = []
    page = 0
    named: tuple[str, ...] = ()
    for block in extracted.blocks:
        if block.kind is BlockKind.FURNITURE:
            continue
        text = texts[block.page]
        heading = block.kind is BlockKind.HEADING
        if pieces and (block.page != page or (heading and pieces[-1].kind is not BlockKind.HEADING)):
            yield _Group(named, tuple(pieces))
            pieces = []
        if heading:
            words = _heading(text[block.start : block.end])
            path = [(level, other) for level, other in path if level < max(block.level, 1)] + [(block.level, words)]
        page, named = block.page, tuple(words for _, words in path)
        pieces += _pieces(block, text)
    if pieces:
        yield _Group(named, tuple(pieces))


def _heading(raw: str) -> str:
    """A heading on one line, without Markdown marks."""
    line = " ".join(part for part in raw.split("\n") if not set(part.strip()) <= {"=", "-"})
    return " ".join(line.strip().strip("#").replace("**", "").replace("__", "").replace("`", "").split())[:160]


def _pieces(block: Block, text: str) -> list[_Piece]:
    if block.kind in {BlockKind.HEADING, BlockKind.ROW}:
        return [_Piece(block.page, block.start, block.end, block.kind, True, block.row, block.columns)]
    if block.kind is BlockKind.CODE:
        spans = [Span(*span) for span in _code_lines(text[block.start : block.end])]
    else:
        spans = list(sentences(text[block.start : block.end]))
    return [
        _Piece(block.page, block.start + span.start, block.start + span.end, block.kind, position == 0)
        for position, span in enumerate(spans)
    ]


def _code_lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield start, start + len(line.rstrip())
        start += len(line) + 1


def _packed(pieces: Sequence[_Piece], text: str, sizes: ChunkSizes) -> list[list[_Piece]]:
    """Packs pieces into passages up to the target; prefers to break at paragraphs and items, merges remainders."""
    packed: list[list[_Piece]] = []
    current: list[_Piece] = []
    for piece in (part for long_piece in pieces for part in _bounded(long_piece, text, sizes)):
        headed = current and current[-1].kind is BlockKind.HEADING and _length(current) < sizes.target
        if current and piece.end - current[0].start > sizes.target and not headed:
            closed, rest = _at_opening(current, piece, sizes)
            packed.append(closed)
            current = rest or _carried(closed, piece, sizes)
        current.append(piece)
    if current:
        packed.append(current)
    if len(packed) > 1 and _length(packed[-1]) < sizes.least and packed[-1][-1].end - packed[-2][0].start <= sizes.most:
        last = packed.pop()
        packed[-1] = packed[-1] + [piece for piece in last if piece.start >= packed[-1][-1].end]
    return packed


def _length(pieces: Sequence[_Piece]) -> int:
    return pieces[-1].end - pieces[0].start


def _bounded(piece: _Piece, text: str, sizes: ChunkSizes) -> Iterator[_Piece]:
    """Splits a piece of excessive length, such as text without a full stop."""
    start = piece.start
    while piece.end - start > 2 * sizes.most:
        blank = text.rfind(" ", start + 1, start + sizes.most)
        end = blank if blank > 0 else start + sizes.most
        yield replace(piece, start=start, end=start + len(text[start:end].rstrip()))
        visible = _VISIBLE.search(text, end, piece.end)
        start = visible.start() if visible is not None else piece.end
    yield replace(piece, start=start)


def _at_opening(current: list[_Piece], following: _Piece, sizes: ChunkSizes) -> tuple[list[_Piece], list[_Piece]]:
    """Where to close: before the last block if it starts late in the passage, so that it is not split."""
    if following.opens:
        return current, []
    for position in range(len(current) - 1, 0, -1):
        if current[position].opens and current[position - 1].kind is not BlockKind.HEADING:
            late = current[position].start - current[0].start >= 0.5 * sizes.target
            return (current[:position], current[position:]) if late else (current, [])
    return current, []


def _carried(closed: list[_Piece], following: _Piece, sizes: ChunkSizes) -> list[_Piece]:
    """The last sentence as overlap, if the next passage continues the same paragraph."""
    last = closed[-1]
    running = last.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM} and not following.opens
    return [last] if running and last.end - last.start <= sizes.overlap and len(closed) > 1 else []


def _lead(group: _Group, pieces: Sequence[_Piece], text: str) -> str:
    """The lead-in sentence of a list or clause that starts in an earlier passage."""
    if pieces[0].kind is not BlockKind.ITEM:
        return ""
    first = bisect_right(group.pieces, pieces[0].start, key=lambda piece: piece.end)
    # A longer list has its lead-in where nobody would look for it, and searching it for each passage takes quadratic
    # time.
    for index in range(first - 1, max(-1, first - 1 - _MOST_ITEMS), -1):
        piece = group.pieces[index]
        if piece.kind is not BlockKind.ITEM:
            lead = " ".join(text[piece.start : piece.end].split())
            return lead if piece.kind is BlockKind.PARAGRAPH else ""
    return ""


def _context(title: str, section: str, lead: str, pieces: Sequence[_Piece], spelled: str, sizes: ChunkSizes) -> str:
    """Title, headings, column names, lead-in and spelled-out abbreviations, each once and of limited length."""
    columns = next((piece.columns for piece in pieces if piece.columns), "")
    title = title if any(letter.isalpha() for letter in title) else ""  # a bare number says nothing about the text
    parts = (title[:100], section[-sizes.context :], columns[: sizes.context], lead[-sizes.context :], spelled)
    return "\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _passage(text: str, pieces: Sequence[_Piece]) -> Passage:
    start, end = pieces[0].start, pieces[-1].end
    rows = [piece.row for piece in pieces if piece.row is not None]
    return Passage(
        text=text[start:end],
        page=pieces[0].page,
        start=start,
        end=end,
        sentences=tuple(Span(piece.start - start, piece.end - start) for piece in pieces),
        rows=(min(rows), max(rows)) if rows else None,
    )
