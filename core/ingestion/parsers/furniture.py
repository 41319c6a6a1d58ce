"""Finds what repeats or guides on pages: running headers and footers, page numbers, tables of contents.

A number is furniture only where it is the page's: it is the same on each page, or steps with the pages. A line that
cannot be told from content is content.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Place", "contents_lines", "is_contents_line", "page_furniture"]

_CONTENTS_LINE = re.compile(r"(?:\.\s?){4,}\s*([\divxlc]{1,5})\s*$|_{2,}\s*(\d{1,4})\s*$")

_CONTENTS_TAIL = 120  # characters searched: avoids quadratic time on a line of dots only

_CONTENTS_LEAST = 3  # Chosen by hand, not fitted.

_ENTRIES_PER_FALL = 10  # of a long table, such as one in columns. Chosen by hand, not fitted.

_WRAPPED = 2  # lines of a wrapped title between two entries. Chosen by hand, not fitted.

_EDGE_LINES = 3  # Chosen by hand, not fitted.

_REPEATED_SHARE = 0.4  # Of the pages. Chosen by hand, not fitted.

_REPEATED_LEAST = 3  # Chosen by hand, not fitted.

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_NUMBER_ALONE = re.compile(r"[^\w]*\d+(?:[.,]\d+)*[^\w]*$")

_PAGE_WORD = re.compile(r"\b(?:page|seite|p[áa]g(?:ina)?|strona|side|sida|страница|p(?=\.))\b", re.I)

_PAGE_NUMBER = re.compile(
    r"\s*(?P<word>(?:page|seite|p\.)?)\s*[-–—|]?\s*(?P<number>\d{1,4}|[ivxlc]{1,6})(?P<total>\s*(?:of|/|von)\s*\d{1,4})?"
    r"\s*[-–—|]?\s*$",
    re.I,
)

_ROMAN = re.compile(r"(c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$", re.I)

_WORD = re.compile(r"\w+")

_TOTAL = re.compile(r"\s*(?:of|/|von)\s*\d+\W*$")

_VALUE = re.compile(r":\s*\d+\W*$")

_LABELLED = re.compile(r"\s*[^\W\d][^:]{0,60}:\s+\S")

_LABEL_WORDS = 3  # of a label before a number that is none of the pages'. Chosen by hand, not fitted.

Place = tuple[int, int]
"""Index of a page, and of a line on it."""


def is_contents_line(text: str) -> bool:
    """Whether a line looks like a table of contents entry: "Leave ........ 12"."""
    return _target(text) is not None


def _target(text: str) -> str | None:
    found = _CONTENTS_LINE.search(text.rstrip()[-_CONTENTS_TAIL:])
    return found and (found[1] or found[2])


def contents_lines(texts: Sequence[str], pages: int | None = None) -> set[int]:
    """Indexes of the lines of a table of contents: at least three, whose page numbers do not decrease and are at most
    `pages`; if that is not known, most titles must be in the text again.

    >>> contents_lines(["Pay .... 2", "Leave .... 4", "Notice .... 9"], 9)
    {0, 1, 2}
    >>> contents_lines(["Pay .... 2", "Leave .... 9", "Notice .... 4"], 9)
    set()
    """
    targets = [(at, _value(target)) for at, text in enumerate(texts) if (target := _target(text)) is not None]
    runs: list[list[tuple[int, int]]] = []
    for at, value in targets:
        gap = at - runs[-1][-1][0] - 1 if runs else _WRAPPED + 1
        if gap > _WRAPPED or (gap and value < runs[-1][-1][1]):
            runs.append([])
        runs[-1].append((at, value))
    found: set[int] = set()
    for run in runs:
        values = [value for _, value in run]
        falls = sum(one > other for one, other in pairwise(values))
        if len(run) < _CONTENTS_LEAST or falls > len(run) // _ENTRIES_PER_FALL:
            continue
        if max(values) <= pages if pages is not None else _are_titles([texts[at] for at, _ in run], texts):
            found.update(at for at, _ in run)
    return found


def _are_titles(entries: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether most of the entries' titles are in the text again."""
    text = "\n".join(texts).lower()
    titles = [entry.lower().strip(" ._ivxlc0123456789") for entry in entries]
    return sum(text.count(title) > 1 for title in titles) > len(titles) / 2


def _value(number: str) -> int:
    """Of digits or Roman numerals; -1 for other letters.

    >>> _value("12"), _value("xiv"), _value("CIVIL")
    (12, 14, -1)
    """
    if number.isdecimal():
        return int(number)
    parts = _ROMAN.match(number)
    if not parts:
        return -1
    digits = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    values = [digits[letter] for letter in number.lower()]
    return sum(-one if one < following else one for one, following in pairwise([*values, 0]))


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line near the edge of a page. mask: its text with numbers masked."""

    place: Place
    text: str
    mask: str
    numbers: tuple[str, ...]
    outermost: bool


def page_furniture(pages: Sequence[Sequence[str]]) -> tuple[set[Place], set[Place]]:
    """Places of running lines, page numbers and tables of contents; and, apart from these, of running lines that are
    the first with their numbers, such as the date of a version."""
    edges = [_edge(pages, page, at) for page, lines in enumerate(pages) for at in _at_edge(len(lines))]
    alike: dict[str, list[_Edge]] = defaultdict(list)
    for edge in edges:
        if not _NUMBER_ALONE.match(edge.text):
            alike[edge.mask].append(edge)
    least = max(_REPEATED_LEAST, _REPEATED_SHARE * len(pages))
    running: set[Place] = set()
    first: set[Place] = set()
    for mask, found in alike.items():
        repeated, begins = _repeated(found, len(pages))
        often = len({edge.place[0] for edge in repeated}) >= least
        outermost = "#" in mask and len({edge.place[0] for edge in repeated if edge.outermost}) >= _REPEATED_LEAST
        if often or outermost:
            running.update(edge.place for edge in repeated)
            first |= begins
    letters = sum(len(text) for lines in pages for text in lines)
    if sum(len(pages[page][at]) for page, at in running) >= letters / 2:
        running, first = set(), set()  # mostly repeated pages, such as filled-in forms
    explicit = {edge.place for edge in edges if _is_explicit(edge.text)}
    counts = {
        (edge.place[0], int(number) - edge.place[0])
        for edge in edges
        if edge.place in running
        for number in edge.numbers
        if number.isdecimal()
    }
    bare = _bare_numbers(pages, running | explicit, counts)
    entries = {(page, at) for page, lines in enumerate(pages) for at in contents_lines(lines, len(pages))}
    return (running - first) | explicit | bare | entries, first


def _at_edge(count: int) -> Iterator[int]:
    return (at for at in range(count) if at < _EDGE_LINES or at >= count - _EDGE_LINES)


def _edge(pages: Sequence[Sequence[str]], page: int, at: int) -> _Edge:
    text = " ".join(pages[page][at].split())
    outermost = at in {0, len(pages[page]) - 1}
    return _Edge((page, at), text, _NUMBER.sub("#", text.lower()), tuple(_NUMBER.findall(text)), outermost)


def _is_labelled(text: str) -> bool:
    """Whether a line is a label with its value, "Owner: Finance", without a page number."""
    return _LABELLED.match(text) is not None and _PAGE_WORD.search(text) is None


def _is_explicit(text: str) -> bool:
    """Whether a line is a page number that says so: "Page 3", "3 of 7"."""
    found = _PAGE_NUMBER.match(text)
    if not found or _value(found["number"]) < 1:
        return False
    return bool(found["word"]) or (found["total"] is not None and "/" not in found["total"])


def _repeated(found: Sequence[_Edge], pages: int) -> tuple[list[_Edge], set[Place]]:
    """The lines, equal but for their numbers, whose numbers agree with the next or the previous such page's; and those
    whose numbers are the same as on a later page, but not on an earlier one."""
    by_page: dict[int, list[_Edge]] = defaultdict(list)
    for edge in found:
        by_page[edge.place[0]].append(edge)
    repeated: dict[Place, _Edge] = {}
    seen: dict[tuple[str, ...], Place] = {}
    first: set[Place] = set()
    for one, other in pairwise(by_page.values()):
        for before in one:
            for after in other:
                if before.numbers == after.numbers and not _is_labelled(after.text):
                    first |= {seen.setdefault(before.numbers, before.place)} if before.numbers else set()
                elif not _steps(before, after, pages):
                    continue
                repeated |= {before.place: before, after.place: after}
    return list(repeated.values()), first


def _steps(before: _Edge, after: _Edge, pages: int) -> bool:
    """Whether the numbers that differ count the pages, or two on each, and do not number what is on them, as in
    "Article 3"."""
    differ = [at for at, (one, other) in enumerate(zip(before.numbers, after.numbers, strict=True)) if one != other]
    pairs = [(before.numbers[at], after.numbers[at]) for at in differ]
    if not all(one.isdecimal() and other.isdecimal() for one, other in pairs):
        return False
    steps = {int(other) - int(one) for one, other in pairs}
    gap = after.place[0] - before.place[0]
    if steps != {gap} and not (steps == {2 * gap} and len(pairs) == 2):
        return False
    if _PAGE_WORD.search(after.text):
        return True
    words = _WORD.findall(_TOTAL.sub("", after.text))
    least = 1 if int(pairs[0][1]) <= pages else _LABEL_WORDS
    outer = {other for _, other in pairs} <= {words[0], words[-1]}
    return outer and len(words) - len(pairs) > least and not _VALUE.search(after.text)


def _bare_numbers(pages: Sequence[Sequence[str]], furniture: set[Place], counts: set[tuple[int, int]]) -> set[Place]:
    """Places of page numbers without any word: outermost but for furniture, in a sequence with other pages' numbers.

    counts: page and number minus page, of the numbers in running lines.
    """
    numbers: dict[Place, int] = {}
    for page, lines in enumerate(pages):
        own = [at for at in _at_edge(len(lines)) if (page, at) not in furniture]
        for at in {*own[:1], *own[-1:]}:
            found = _PAGE_NUMBER.match(lines[at])
            if found and (value := _value(found["number"])) > 0:
                numbers[page, at] = value - page
    offsets = counts | {(page, offset) for (page, _), offset in numbers.items()}
    linked = {
        (page, at)
        for (page, at), offset in numbers.items()
        if any((page + gap, offset + more) in offsets for gap in (-2, -1, 1, 2) for more in (0, gap))
    }
    numbered = {page for page, _ in (*linked, *counts)}
    return linked if len(numbered) >= min(_REPEATED_LEAST, max(2, len(pages) - 1)) else set()
