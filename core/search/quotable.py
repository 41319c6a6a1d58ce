"""What a passage can be quoted with: its sentences and table rows, told from what only names or rules them.

A heading or the header row of a table says what follows is about, not what is so; a table's rule says nothing. Which
is which is read from the passage itself: its section and context name its headings and its columns.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum

from core.documents import Passage, Span

__all__ = ["Quotable", "QuotableKind", "quotables", "shown_quote"]

_LETTER = re.compile(r"[^\W_]")
_FENCE = re.compile(r"(?:`{3,}|~{3,})\s*[\w.+-]*$")
_HASHES = re.compile(r"#{1,6}\s[^\n]*$")
_UNDERLINED = re.compile(r"[^\n]+\n[ \t]*(?:=+|-+)[ \t]*$")
_RULED_BELOW = re.compile(r"[ \t]*\n[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\n|$)")
_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•●○▪■◦➢]\s+)?(?=\S)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|`+)(?=[^\s*_`])(.+?)(?<=\S)\1(?!\w)")
_MOST_COLUMN_LETTERS = 220
"""So much of the column names stands in `Passage.context` (core.ingest.chunk.Sizes.context)."""


class QuotableKind(IntEnum):
    """What a part of a passage is; lower ones are quoted first."""

    SENTENCE = 0
    HEADER = 1
    HEADING = 2


@dataclass(frozen=True, slots=True)
class Quotable:
    """One part of a passage that could be quoted. index: its place in `Passage.sentences`. beside: the column names
    a table row is read with, "" for anything else."""

    index: int
    span: Span
    kind: QuotableKind = QuotableKind.SENTENCE
    beside: str = ""


def quotables(passage: Passage) -> tuple[Quotable, ...]:
    """The parts of a passage that say something, in reading order; the whole passage when it has none."""
    named = {_plain(part) for part in passage.section.split("›")}
    context = [_tidy_columns(line) for line in passage.context.split("\n")]
    found = []
    columns = ""
    for index, span in enumerate(passage.sentences):
        text = span.of(passage.text)
        if not _LETTER.search(text) or _FENCE.match(text):
            continue
        cells = _cells(text)
        if cells and _is_header(cells, context, passage.text[span.end :]):
            columns = "; ".join(filter(None, cells))
            found.append(Quotable(index, span, QuotableKind.HEADER))
        elif cells:
            found.append(Quotable(index, span, beside=columns or _columns_beside(cells, context)))
        else:
            kind = QuotableKind.HEADING if _is_heading(text, named) else QuotableKind.SENTENCE
            found.append(Quotable(index, span, kind))
    return tuple(found) or (Quotable(0, Span(0, len(passage.text))),)


def _cells(text: str) -> list[str]:
    """The cells of a table row written with bars; empty for anything else."""
    line = text.strip()
    if "\n" in line or not (line.startswith("|") or " | " in line):
        return []
    return [cell.strip() for cell in _BAR.split(line.strip("|"))]


def _tidy_columns(line: str) -> str:
    return re.sub(r"(?:;\s*)+", "; ", line).strip("; ")


def _is_header(cells: Sequence[str], context: Sequence[str], following: str) -> bool:
    if _RULED_BELOW.match(following):
        return True
    joined = _tidy_columns("; ".join(cells))
    return len(joined) > 2 and joined[:_MOST_COLUMN_LETTERS].strip("; ") in context


def _columns_beside(cells: Sequence[str], context: Sequence[str]) -> str:
    """The column names of a table that began in an earlier passage: the line of context with as many names."""
    counts = {len(cells), sum(bool(cell) for cell in cells)} - {0, 1}
    return next((line for line in context if line.count("; ") + 1 in counts), "")


def _is_heading(text: str, named: Collection[str]) -> bool:
    return bool(_HASHES.match(text) or _UNDERLINED.match(text)) or _plain(text) in named


def _plain(heading: str) -> str:
    """A heading as the section names it: one line without marks, at most 160 letters."""
    line = heading.strip().strip("#").replace("**", "").replace("__", "").replace("`", "")
    return " ".join(line.split())[:160]


def shown_quote(quote: str) -> str:
    """A quote as one reads it: without Markdown's marks, table cells between dots. For showing only: it may no longer
    stand on the page letter for letter.

    >>> shown_quote("| Payroll file | **7 years** | [Finance](f.md) |"), shown_quote("## 3. Who *approves*")
    ('Payroll file · 7 years · Finance', '3. Who approves')
    >>> shown_quote("- keep `snake_case` and 2 * 3 * 4")
    'keep snake_case and 2 * 3 * 4'
    """
    return " ".join(line for line in map(_shown_line, quote.split("\n")) if line)


def _shown_line(line: str) -> str:
    if not _LETTER.search(line):
        return "" if set(line.strip()) <= set("|:-=+_*~ ") else line.strip()
    cells = _cells(line)
    text = " · ".join(cell.replace("\\|", "|") for cell in cells if cell) if cells else line[_end_of_marks(line) :]
    text = _LINK.sub(r"\1", text)
    for _ in range(2):  # ***both*** and **bold with *italics* inside**
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split())


def _end_of_marks(line: str) -> int:
    found = _MARKS.match(line)
    return found.end() if found else 0
