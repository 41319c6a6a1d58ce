"""Parses plain text: paragraphs, headings and items, detected by line."""

import re

from core.domain.documents import Page
from core.domain.extraction import Block, BlockKind, ExtractedDocument
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.furniture import contents_lines
from core.ingestion.parsers.layout import starts_item
from core.ingestion.parsers.text_cleaning import clean
from core.text.sentences import has_round_bullets

__all__ = ["read_text"]

_SHORT_LINE = 80  # Characters. Chosen by hand, not fitted.
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]+\.|section\s+\d+\S*|article\s+\S+|chapter\s+\S+)\s+\S", re.I)


def read_text(name: str, text: str) -> ExtractedDocument:
    """Paragraphs separated by blank lines; short lines in capitals or with a section number are headings."""
    text = clean(text).expandtabs(4).strip("\n")
    lines = [line for line in re.finditer(r"[^\n]+", text) if line.group().strip()]
    contents = contents_lines([line.group() for line in lines])
    entries = {line.start() for at, line in enumerate(lines) if at in contents}
    round_bullets = has_round_bullets(text)
    blocks: list[Block] = []
    for stretch in re.finditer(r"[^\n]+(?:\n(?![^\S\n]*\n)[^\n]+)*", text):
        blocks += _blocks(stretch.group(), stretch.start(), entries, round_bullets)
    return ExtractedDocument((Page(1, text),), tuple(blocks), FileKind.TEXT)


def _blocks(stretch: str, offset: int, entries: set[int], round_bullets: bool) -> list[Block]:
    """The blocks of consecutive lines without a blank line between. entries: starts of lines of a table of contents.
    round_bullets: whether "o" marks items."""
    blocks: list[Block] = []
    lines = [line for line in re.finditer(r"[^\n]+", stretch) if line.group().strip()]
    before: str | None = None
    for line in lines:
        text = line.group()
        start = offset + line.start() + len(text) - len(text.lstrip())
        end = offset + line.start() + len(text.rstrip())
        if offset + line.start() in entries:
            blocks.append(Block(1, start, end, BlockKind.FURNITURE))
        elif _is_heading(text.strip(), alone=len(lines) == 1 or line is lines[0]):
            blocks.append(Block(1, start, end, BlockKind.HEADING, 2))
        elif starts_item(text, before, round_bullets):
            blocks.append(Block(1, start, end, BlockKind.ITEM, (len(text) - len(text.lstrip())) // 2))
        elif blocks and blocks[-1].kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}:
            last = blocks[-1]
            blocks[-1] = Block(1, last.start, end, last.kind, last.level)
        else:
            blocks.append(Block(1, start, end, BlockKind.PARAGRAPH))
        before = text
    return blocks


def _is_heading(line: str, *, alone: bool) -> bool:
    letters = [character for character in line if character.isalpha()]
    if not alone or len(line) > _SHORT_LINE or len(letters) < 3 or line[-1] in ".,;":
        return False
    return all(character.isupper() for character in letters) or bool(_NUMBERED.match(line) and line[-1] not in "?!")
