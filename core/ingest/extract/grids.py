"""Tables on printed pages: told by the rules drawn around their cells, or by words that stand below one another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.ingest.extract.layout import ITEM_START, Line
from core.ingest.extract.pdf_words import PrintedLine, Rule, Word

__all__ = ["Grid", "aligned_rows", "is_table", "row_lines", "ruled_grids", "segments"]

_NEAR = 3.0
"""Points; rules closer than this are one, or touch."""
_REGULAR = 0.75
_MOST_GRID_ROWS = 300
_UNRULED_LINES = 4
_GAP = 1.5
"""Of the letter size: a wider gap between words ends a cell."""
_LEAST_ROWS = 3
_CELL_LETTERS = 40
_SHORT_WORDS = 3
_HEADER_LETTERS = 60
_BETWEEN = "   "
_SIGNS = frozenset({"$", "€", "£", "US$"})
_MOST_RULES = 400


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's lines on a page. columns, rows: its rules' places, from left to right and from top to bottom.
    parted: (row, column) of every cell that a rule separates from the one to its left."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    parted: frozenset[tuple[int, int]]

    def holds(self, word: Word) -> bool:
        """Whether a word stands inside."""
        x, y = word.middle
        return self.columns[0] <= x <= self.columns[-1] and self.rows[-1] <= y <= self.rows[0]

    def cells(self, words: Iterable[Word]) -> list[list[str]]:
        """The words of each cell, row by row, as they are read; a row without rules between its lines is several."""
        placed: dict[int, dict[int, list[Word]]] = {}
        for word in words:
            x, y = word.middle
            row = next(at for at, (_, low) in enumerate(pairwise(self.rows)) if y >= low)
            column = next(at for at, (_, right) in enumerate(pairwise(self.columns)) if x <= right)
            while column and (row, column) not in self.parted:
                column -= 1
            placed.setdefault(row, {}).setdefault(column, []).append(word)
        width = len(self.columns) - 1
        read: list[list[str]] = []
        for row in sorted(placed):
            read += [[_words(part.get(at, [])) for at in range(width)] for part in _unruled(placed[row])]
        return read


def ruled_grids(found: Sequence[Rule]) -> list[Grid]:
    """The tables that rules draw, at least two rows by two columns, most cells closed on all sides."""
    grids = []
    for group in _touching(found) if len(found) <= _MOST_RULES else ():
        downs, acrosses = ([rule for rule in group if rule.across is across] for across in (False, True))
        if not downs or not acrosses:
            continue
        columns = _places([*(rule.at for rule in downs), *_ends(acrosses)])
        rows = _places([*(rule.at for rule in acrosses), *_ends(downs)])[::-1]
        if len(columns) < 3 or not 3 <= len(rows) <= _MOST_GRID_ROWS:
            continue
        parted = {
            (row, column)
            for row, (high, low) in enumerate(pairwise(rows))
            for column, at in enumerate(columns[1:-1], start=1)
            if _covered(downs, at, (high + low) / 2)
        }
        ruled = sum(
            _covered(acrosses, at, (left + right) / 2) for at in rows[1:-1] for left, right in pairwise(columns)
        )
        inner = (len(rows) - 1) * (len(columns) - 2)
        if len(parted) >= _REGULAR * inner and ruled >= _REGULAR * (len(rows) - 2) * (len(columns) - 1):
            grids.append(Grid(tuple(columns), tuple(rows), frozenset(parted)))
    return grids


def _touching(found: Sequence[Rule]) -> list[list[Rule]]:
    """Rules that touch or cross, together."""
    groups: list[list[Rule]] = []
    for rule in found:
        joined = [group for group in groups if any(_meet(rule, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in joined)]
        groups.append([rule, *(each for group in joined for each in group)])
    return groups


def _meet(one: Rule, other: Rule) -> bool:
    if one.across is other.across:
        beside = abs(one.at - other.at) <= _NEAR
        return beside and one.begin <= other.end + _NEAR and other.begin <= one.end + _NEAR
    here = one.begin - _NEAR <= other.at <= one.end + _NEAR
    return here and other.begin - _NEAR <= one.at <= other.end + _NEAR


def _ends(group: Sequence[Rule]) -> tuple[float, float]:
    return min(rule.begin for rule in group), max(rule.end for rule in group)


def _places(values: Sequence[float]) -> list[float]:
    """Sorted, those nearer than three points as one.

    >>> _places([10.0, 50.0, 11.0])
    [10.0, 50.0]
    """
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _NEAR:
            kept.append(value)
    return kept


def _covered(group: Sequence[Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.begin - _NEAR <= middle <= rule.end + _NEAR for rule in group)


def is_table(cells: Sequence[Sequence[str]]) -> bool:
    """Whether at least half the rows fill more than one cell; else rules only frame what stands below one another.

    >>> is_table([["A", "1"], ["B", "2"], ["", "Total"]]), is_table([["One.", ""], ["Two.", ""]])
    (True, False)
    """
    several = sum(sum(map(bool, row)) > 1 for row in cells)
    return several > 1 and several >= len(cells) / 2


def _unruled(cells: dict[int, list[Word]]) -> list[dict[int, list[Word]]]:
    """The rows of one band between rules: several where each of many lines fills the first cell and others too."""
    lines = _by_line([word for words in cells.values() for word in words])
    first = min(cells)
    split = [{column: [word for word in words if word in line] for column, words in cells.items()} for line in lines]
    split = [{column: words for column, words in row.items() if words} for row in split]
    whole = len(lines) >= _UNRULED_LINES and all(first in row and len(row) > 1 for row in split)
    return split if whole else [cells]


def _by_line(words: Sequence[Word]) -> list[list[Word]]:
    """Words on one height together, from top to bottom, each from left to right."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda each: -each.middle[1]):
        high = (word.top - word.bottom) / 2
        if lines and abs(lines[-1][0].middle[1] - word.middle[1]) <= max(high, 2.0):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda each: each.left) for line in lines]


def _words(words: Sequence[Word]) -> str:
    return " ".join(word.text for line in _by_line(words) for word in line)


def segments(printed: PrintedLine) -> list[list[Word]]:
    """The words of a line, parted where a wide gap stands between two."""
    parts: list[list[Word]] = []
    wide = _GAP * max(printed.line.size, 4.0)
    reach = float("-inf")
    for word in printed.words:
        near = -wide < word.left - reach < wide or (parts and parts[-1][-1].text in _SIGNS)
        if parts and near:
            parts[-1].append(word)
        else:
            parts.append([word])
        reach = word.right
    return parts


def aligned_rows(printed: Sequence[PrintedLine]) -> list[range]:
    """Stretches of lines that are rows of a table without rules: three or more with the same number of short cells,
    each below the one above, flush at its left, its right, or its middle."""
    parted = [segments(each) for each in printed]
    found: list[range] = []
    begin = 0
    for at in range(1, len(printed) + 1):
        if at < len(printed) and _continues(parted[at - 1], parted[at]):
            continue
        if at - begin >= _LEAST_ROWS and len(parted[begin]) > 1 and _is_table(parted[begin:at]):
            found.append(range(begin, at))
        begin = at
    return found


def _continues(above: Sequence[Sequence[Word]], below: Sequence[Sequence[Word]]) -> bool:
    if len(above) != len(below) or len(above) < 2 or above[0][0].bottom <= below[0][0].bottom:
        return False
    return all(_flush(one, other) for one, other in zip(above, below, strict=True))


def _flush(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether cells are flush; words of prose between wide gaps all end at the margin, so only short ones may do so."""
    left, right = one[0].left - other[0].left, one[-1].right - other[-1].right
    short = max(len(one), len(other)) <= _SHORT_WORDS
    return abs(left) <= _NEAR or (short and min(abs(right), abs(left + right) / 2) <= _NEAR)


def _is_table(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Whether the cells are those of a table: not lines of prose in columns, not items behind their bullets or numbers,
    not titles with their page numbers."""
    letters = [sum(len(word.text) + 1 for word in cell) for row in rows for cell in row[1:]]
    last = [row[-1][0].text for row in rows]
    pages = len(rows[0]) == 2 and all(each.isdecimal() and len(each) < 4 for each in last)
    contents = pages and all(int(one) <= int(other) for one, other in pairwise(last))
    marked = len(rows[0]) == 2 and all(ITEM_START.match(f"{row[0][0].text} x") for row in rows)
    short = median(letters) <= _CELL_LETTERS and max(letters) <= 3 * _CELL_LETTERS
    return short and not contents and not marked


def row_lines(cells: Sequence[Sequence[str]], place: Line) -> list[Line]:
    """A table's rows as lines at one place of the page; a first row of words only is the header."""
    filled = [row for row in cells if any(row)]
    head = filled[0]
    worded = all(head[1:] or head) and not any(letter.isdigit() for cell in head for letter in cell)
    headed = len(filled) > 1 and worded and max(map(len, head)) <= _HEADER_LETTERS
    columns = "; ".join(filter(None, head)) if headed else ""
    lines = []
    for number, row in enumerate(filled, start=0 if headed else 1):
        text = _BETWEEN.join(row).strip()
        lines.append(place.as_row(text, number, columns if number else ""))
    return lines
