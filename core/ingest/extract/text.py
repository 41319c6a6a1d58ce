"""Plain text in any encoding, and how bytes become text for every textual format."""

import re

from core.documents import Page
from core.errors import UnreadableFile
from core.ingest.extract.clean import clean
from core.ingest.extract.detect import FileKind
from core.ingest.extract.layout import ITEM_START, is_contents_line
from core.ingest.extract.values import Block, BlockKind, Extracted

__all__ = ["decoded", "read_text"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_GUESS_BYTES = 100_000
_SHORT_LINE = 80
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]+\.|section\s+\d+\S*|article\s+\S+|chapter\s+\S+)\s+\S", re.I)


def decoded(name: str, data: bytes) -> tuple[str, str]:
    """The text of bytes and a warning ("" when its encoding is certain).

    A byte order mark decides, then UTF-8, then UTF-16 by its zero bytes, then the likeliest encoding.
    Raises UnreadableFile when nothing fits.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff"), ""
    head = data[:_GUESS_BYTES]
    if b"\x00" in head and head.count(0) > len(head) / 4:
        little = head[1::2].count(0) >= head[::2].count(0)
        return data.decode("utf-16-le" if little else "utf-16-be", "replace"), ""
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _guessed(name, data)


def _guessed(name: str, data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_GUESS_BYTES]).best()
    if best is None:
        raise UnreadableFile(f"'{name}' is not text in any known encoding.", "Save it as UTF-8 text and upload that.")
    text = data.decode(best.encoding, "replace")
    return text, f"The encoding was guessed: {best.encoding}. Look whether accents and signs are right."


def read_text(name: str, text: str) -> Extracted:
    """Paragraphs between blank lines; short lines of capitals or with a section number are headings."""
    text = clean(text).expandtabs(4).strip("\n")
    blocks: list[Block] = []
    for stretch in re.finditer(r"[^\n]+(?:\n(?!\s*\n)[^\n]+)*", text):
        blocks += _blocks(stretch.group(), stretch.start())
    return Extracted((Page(1, text),), tuple(blocks), FileKind.TEXT)


def _blocks(stretch: str, offset: int) -> list[Block]:
    """The blocks of one stretch of lines without a blank line between."""
    blocks: list[Block] = []
    lines = [line for line in re.finditer(r"[^\n]+", stretch) if line.group().strip()]
    for line in lines:
        text = line.group()
        start = offset + line.start() + len(text) - len(text.lstrip())
        end = offset + line.start() + len(text.rstrip())
        if is_contents_line(text):
            blocks.append(Block(1, start, end, BlockKind.FURNITURE))
        elif _is_heading(text.strip(), alone=len(lines) == 1 or line is lines[0]):
            blocks.append(Block(1, start, end, BlockKind.HEADING, 2))
        elif ITEM_START.match(text):
            blocks.append(Block(1, start, end, BlockKind.ITEM, (len(text) - len(text.lstrip())) // 2))
        elif blocks and blocks[-1].kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}:
            last = blocks[-1]
            blocks[-1] = Block(1, last.start, end, last.kind, last.level)
        else:
            blocks.append(Block(1, start, end, BlockKind.PARAGRAPH))
    return blocks


def _is_heading(line: str, *, alone: bool) -> bool:
    letters = [character for character in line if character.isalpha()]
    if not alone or len(line) > _SHORT_LINE or len(letters) < 3 or line[-1] in ".,;":
        return False
    return all(character.isupper() for character in letters) or bool(_NUMBERED.match(line) and line[-1] not in "?!")
