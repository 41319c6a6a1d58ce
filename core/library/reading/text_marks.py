"""What is marked in a document: hits, the cited sentence, notes and coverage evidence, and the text cut at them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from core.domain.coverage import Cell
from core.domain.documents import Passage, Span
from core.domain.errors import NotFound
from core.insights.store import Insight

__all__ = [
    "Mark",
    "MarkKind",
    "MarkedText",
    "cited_mark",
    "evidence_marks",
    "find_words",
    "hit_marks",
    "marked_texts",
    "note_marks",
]


def find_words(text: str, words: str) -> list[Span]:
    """Every place of the words in a text, in order, none overlapping; any run of blanks stands for any other.

    >>> text = "Overtime  pay. No overtime\\npay."
    >>> [span.of(text) for span in find_words(text, "overtime pay")]
    ['Overtime  pay', 'overtime\\npay']
    """
    parts = words.replace("\0", " ").split()
    if not parts:
        return []
    pattern = re.compile(r"\s+".join(re.escape(part) for part in parts), re.IGNORECASE)
    return [Span(*match.span()) for match in pattern.finditer(text)]


class MarkKind(StrEnum):
    """Why a place is marked; where marks overlap, the first kind shows."""

    HIT = "hit"
    CITED = "cited"
    NOTE = "note"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters [start, end) of a page's text. label: what the reader is told about it."""

    page: int
    start: int
    end: int
    kind: MarkKind
    label: str = ""


def cited_mark(passage: Passage, sentence: int | None) -> Mark:
    """The mark of a passage, or of one of its sentences (0-based). Raises NotFound when it has no such sentence."""
    if sentence is None:
        return Mark(passage.page, passage.start, passage.end, MarkKind.CITED, "Cited passage")
    if sentence >= len(passage.sentences):
        raise NotFound("The cited sentence is no longer in this passage.", "Search again for its words.")
    span = passage.sentences[sentence]
    start = passage.start + span.start
    return Mark(passage.page, start, passage.start + span.end, MarkKind.CITED, "Cited sentence")


def note_marks(document_id: int, notes: Sequence[Insight], texts: Mapping[int, str]) -> list[Mark]:
    """The evidence of notes in a document. Text that has changed since is looked for again by its words."""
    found = []
    for note in notes:
        for link in note.links:
            if link.document_id != document_id:
                continue
            text = texts.get(link.page, "")
            start = link.start if text[link.start : link.end] == link.quote else text.find(link.quote)
            if link.quote and start >= 0:
                found.append(Mark(link.page, start, start + len(link.quote), MarkKind.NOTE, f"Note: {note.text}"))
    return found


def evidence_marks(document_id: int, cells: Sequence[Cell], texts: Mapping[int, str]) -> list[Mark]:
    """The sentences of a document that coverage cells rest on."""
    return [
        Mark(each.page_number, each.start, each.end, MarkKind.EVIDENCE, f"Evidence: {cell.topic}, {cell.kind.value}")
        for cell in cells
        for each in cell.evidence
        if each.document_id == document_id and texts.get(each.page_number, "")[each.start : each.end] == each.quote
    ]


def hit_marks(texts: Mapping[int, str], words: str) -> list[Mark]:
    """Every place of the words in a document, in reading order."""
    return [
        Mark(number, span.start, span.end, MarkKind.HIT, "Found")
        for number, text in sorted(texts.items())
        for span in find_words(text, words)
    ]


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A run of characters that is marked in one way, or not (None). current: the mark the reader has moved to."""

    text: str
    mark: Mark | None = None
    current: bool = False


def marked_texts(
    text: str, start: int, end: int, marks: Sequence[Mark], current: Mark | None = None
) -> list[MarkedText]:
    """Characters [start, end) of a page's text, cut where marks begin and end. marks: those of this page.

    >>> hit = Mark(1, 4, 7, MarkKind.HIT)
    >>> [(run.text, run.mark is hit) for run in marked_texts("The cat sat", 0, 11, [hit])]
    [('The ', False), ('cat', True), (' sat', False)]
    """
    inside = [mark for mark in marks if mark.start < end and mark.end > start]
    borders = sorted({start, end, *(min(max(at, start), end) for mark in inside for at in (mark.start, mark.end))})
    order = list(MarkKind)
    runs = []
    for first, last in pairwise(borders):
        over = [mark for mark in inside if mark.start <= first and mark.end >= last]
        best = min(over, key=lambda mark: order.index(mark.kind), default=None)
        runs.append(MarkedText(text[first:last], best, current is not None and current in over))
    return runs
