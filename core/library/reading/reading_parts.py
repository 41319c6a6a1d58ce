"""The parts a document is read in: its pages, or pieces of a long text cut between paragraphs."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.documents import Passage

__all__ = ["OutlineEntry", "Part", "outline", "part_at", "parts"]

_PART_CHARACTERS = 12_000  # about five printed pages: drawn in a few milliseconds. Chosen by hand.


@dataclass(frozen=True, slots=True)
class Part:
    """Characters [start, end) of one page's text, shown at once."""

    page: int
    start: int
    end: int


def parts(texts: Mapping[int, str], *, paged: bool, most: int = _PART_CHARACTERS) -> list[Part]:
    """The parts in reading order. texts: of every page by number. Pages of a paged document stay whole; other texts are
    cut at line ends where one allows it.

    >>> parts({1: "One.\\nTwo.\\nThree.\\n"}, paged=False, most=10)
    [Part(page=1, start=0, end=10), Part(page=1, start=10, end=17)]
    """
    if paged:
        return [Part(number, 0, len(text)) for number, text in sorted(texts.items())]
    return [part for number, text in sorted(texts.items()) for part in _cut(number, text, most)]


def _cut(page: int, text: str, most: int) -> list[Part]:
    found, start = [], 0
    while len(text) - start > most:
        breaks = (text.rfind(mark, start, start + most) + len(mark) for mark in ("\n\n", "\n", " "))
        end = next((at for at in breaks if at > start + most // 2), start + most)
        found.append(Part(page, start, end))
        start = end
    return [*found, Part(page, start, len(text))]


def part_at(all_parts: Sequence[Part], page: int, start: int) -> int:
    """The index of the part that shows a place; the nearest one for a place outside.

    >>> part_at([Part(1, 0, 10), Part(1, 10, 20), Part(2, 0, 5)], 1, 12)
    1
    """
    return max(0, bisect_right([(part.page, part.start) for part in all_parts], (page, start)) - 1)


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section where it begins. level: from 0."""

    title: str
    level: int
    page: int
    start: int


def outline(passages: Sequence[Passage]) -> list[OutlineEntry]:
    """The sections of a document, each where its first passage begins."""
    found: dict[str, OutlineEntry] = {}
    for passage in sorted(passages, key=lambda each: each.position):
        if passage.section and passage.section not in found:
            path = passage.section.split(" › ")
            found[passage.section] = OutlineEntry(path[-1], len(path) - 1, passage.page, passage.start)
    return list(found.values())
