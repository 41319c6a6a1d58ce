"""Puts the lines of a page in reading order: tables by row, columns one after the other, the rest in file order.

Tables are detected by ruling lines or by aligned words. File order is kept unless the page shows that it crosses
columns.
"""

# Over 300 lines: table and column detection work on the same words of a page.

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import mean, median

from core.domain.extraction import LayoutLine
from core.ingestion.parsers.furniture import is_contents_line
from core.ingestion.parsers.layout import ITEM_START
from core.ingestion.parsers.pdf_words import PdfWord, PrintedLine, RuledLine

__all__ = ["Grid", "aligned_rows", "in_order", "is_table", "row_lines", "ruled_grids", "segments"]

_NEAR = 3.0
"""Points; rules closer than this are the same, or touch. Chosen by hand, like the limits below."""

_REGULAR = 0.75  # share of the inner rules that a table must have

_MOST_GRID_ROWS = 300  # more horizontal rules are a drawing

_UNRULED_LINES = 4  # lines that a table without inner rules must have

_GAP = 1.5
"""Times the font size: a wider gap between words ends a cell."""

_LEAST_ROWS = 3  # lines side by side that make a table

_CELL_LETTERS = 40  # median letters of a cell; the longest may have three times as many

_SHORT_WORDS = 3  # words of a cell that may be aligned right or centred

_HEADER_LETTERS = 60  # longest cell of a header row

_BETWEEN = "   "

_SIGNS = frozenset({"$", "€", "£", "US$"})

_LEFTWARD = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")

_MOST_RULES = 400  # a page with more rules is a drawing; grouping them takes quadratic time


@dataclass(frozen=True, slots=True)
class Grid:
    """A table on a page. columns, rows: positions of its rules, left to right and top to bottom. parted: (row, column)
    of each cell with a rule on its left."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    parted: frozenset[tuple[int, int]]

    def holds(self, word: PdfWord) -> bool:
        """Whether a word is inside."""
        x, y = word.middle
        return self.columns[0] <= x <= self.columns[-1] and self.rows[-1] <= y <= self.rows[0]

    def cells(self, words: Iterable[PdfWord]) -> list[list[str]]:
        """The words of each cell, row by row; a row may be split into several if rules are missing."""
        placed: dict[int, dict[int, list[PdfWord]]] = {}
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


def ruled_grids(found: Sequence[RuledLine]) -> list[Grid]:
    """Tables drawn with rules: at least two rows and columns, most cells closed on all sides."""
    grids = []
    for group in _touching(found) if len(found) <= _MOST_RULES else ():
        downs, acrosses = ([rule for rule in group if rule.across is across] for across in (False, True))
        if not downs or not acrosses:
            continue
        columns = _column_edges([*(rule.at for rule in downs), *_ends(acrosses)])
        rows = _column_edges([*(rule.at for rule in acrosses), *_ends(downs)])[::-1]
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


def _touching(found: Sequence[RuledLine]) -> list[list[RuledLine]]:
    """Groups of rules that touch or cross."""
    groups: list[list[RuledLine]] = []
    for rule in found:
        joined = [group for group in groups if any(_meet(rule, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in joined)]
        groups.append([rule, *(each for group in joined for each in group)])
    return groups


def _meet(one: RuledLine, other: RuledLine) -> bool:
    if one.across is other.across:
        beside = abs(one.at - other.at) <= _NEAR
        return beside and one.begin <= other.end + _NEAR and other.begin <= one.end + _NEAR
    here = one.begin - _NEAR <= other.at <= one.end + _NEAR
    return here and other.begin - _NEAR <= one.at <= other.end + _NEAR


def _ends(group: Sequence[RuledLine]) -> tuple[float, float]:
    return min(rule.begin for rule in group), max(rule.end for rule in group)


def _column_edges(values: Sequence[float]) -> list[float]:
    """Sorted values; those within three points are merged.

    >>> _column_edges([10.0, 50.0, 11.0])
    [10.0, 50.0]
    """
    distinct: list[float] = []
    for value in sorted(values):
        if not distinct or value - distinct[-1] > _NEAR:
            distinct.append(value)
    return distinct


def _covered(group: Sequence[RuledLine], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.begin - _NEAR <= middle <= rule.end + _NEAR for rule in group)


def is_table(cells: Sequence[Sequence[str]]) -> bool:
    """Whether at least half the rows fill more than one cell; otherwise the rules only frame text.

    >>> is_table([["A", "1"], ["B", "2"], ["", "Total"]]), is_table([["One.", ""], ["Two.", ""]])
    (True, False)
    """
    several = sum(sum(map(bool, row)) > 1 for row in cells)
    return several > 1 and several >= len(cells) / 2


def _unruled(cells: dict[int, list[PdfWord]]) -> list[dict[int, list[PdfWord]]]:
    """Rows between two rules: split if many lines each fill the first cell and others too."""
    lines = _by_line([word for words in cells.values() for word in words])
    first = min(cells)
    split = [{column: [word for word in words if word in line] for column, words in cells.items()} for line in lines]
    split = [{column: words for column, words in row.items() if words} for row in split]
    is_table = len(lines) >= _UNRULED_LINES and all(first in row and len(row) > 1 for row in split)
    return split if is_table else [cells]


def _by_line(words: Sequence[PdfWord]) -> list[list[PdfWord]]:
    """Words grouped by height, top to bottom, each left to right; Hebrew and Arabic in their order in the file."""
    lines: list[list[PdfWord]] = []
    for word in sorted(words, key=lambda each: -each.middle[1]):
        high = (word.top - word.bottom) / 2
        if lines and abs(lines[-1][0].middle[1] - word.middle[1]) <= max(high, 2.0):
            lines[-1].append(word)
        else:
            lines.append([word])
    places = {id(word): at for at, word in enumerate(words)}
    for line in lines:
        line.sort(key=(lambda each: places[id(each)]) if _is_leftward(line) else (lambda each: each.left))
    return lines


def _is_leftward(words: Sequence[PdfWord]) -> bool:
    """Whether most letters are of a script that is written from right to left."""
    letters = [letter for word in words for letter in word.text if letter.isalpha()]
    return 2 * sum(_LEFTWARD.match(letter) is not None for letter in letters) > len(letters)


def _words(words: Sequence[PdfWord]) -> str:
    return " ".join(word.text for line in _by_line(words) for word in line)


def segments(printed: PrintedLine) -> list[list[PdfWord]]:
    """The words of a line, split at wide gaps."""
    parts: list[list[PdfWord]] = []
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
    """Row ranges of tables without rules: three or more lines with the same number of short cells, aligned with those
    above at the left, right or centre."""
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


def _continues(above: Sequence[Sequence[PdfWord]], below: Sequence[Sequence[PdfWord]]) -> bool:
    if len(above) != len(below) or len(above) < 2 or above[0][0].bottom <= below[0][0].bottom:
        return False
    return all(_flush(one, other) for one, other in zip(above, below, strict=True))


def _flush(one: Sequence[PdfWord], other: Sequence[PdfWord]) -> bool:
    """Whether cells are aligned; right and centre count only for short cells, as prose ends at the margin too."""
    left, right = one[0].left - other[0].left, one[-1].right - other[-1].right
    short = max(len(one), len(other)) <= _SHORT_WORDS
    return abs(left) <= _NEAR or (short and min(abs(right), abs(left + right) / 2) <= _NEAR)


def _is_table(rows: Sequence[Sequence[Sequence[PdfWord]]]) -> bool:
    """Whether cells form a table, rather than columns of prose, items after bullets or numbers, or titles with page
    numbers."""
    letters = [sum(len(word.text) + 1 for word in cell) for row in rows for cell in row[1:]]
    last = [row[-1][0].text for row in rows]
    pages = len(rows[0]) == 2 and all(each.isdecimal() and len(each) < 4 for each in last)
    contents = pages and all(int(one) <= int(other) for one, other in pairwise(last))
    marked = len(rows[0]) == 2 and all(ITEM_START.match(f"{row[0][0].text} x") for row in rows)
    short = median(letters) <= _CELL_LETTERS and max(letters) <= 3 * _CELL_LETTERS
    return short and not contents and not marked


def row_lines(cells: Sequence[Sequence[str]], template: LayoutLine) -> list[LayoutLine]:
    """A table's rows as lines at one position; a first row of short cells without digits is the header."""
    filled = [row for row in cells if any(row)]
    head = filled[0]
    worded = all(head[1:] or head) and not any(letter.isdigit() for cell in head for letter in cell)
    headed = len(filled) > 1 and worded and max(map(len, head)) <= _HEADER_LETTERS
    columns = "; ".join(filter(None, head)) if headed else ""
    lines = []
    for number, row in enumerate(filled, start=0 if headed else 1):
        text = _BETWEEN.join(row).strip()
        lines.append(template.as_row(text, number, columns if number else ""))
    return lines


_LEAST_SUPPORT = 5
"""Lines side by side that indicate a column."""

_PROSE_LETTERS = 25  # mean letters of prose lines; cells have fewer

_FILLED = 0.7
"""Share of the column width that prose lines fill, unlike first cells of a table."""

_RUNNING = 0.4
"""Share of prose lines that start within a sentence, in lower case or without a letter; table cells rarely do."""

_LEAST_BORDERS = 0.1  # share of lines of prose with a sentence's end inside. Chosen by hand, not fitted.

_SENTENCE_BORDER = re.compile(r"\w[.!?]\s+[^\W\d_]|[。！？]\w")

_STOPS = frozenset(".!?:;。！？：；")

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # letters that say as much as two of an alphabet

_MOST_CROSSING = 0.2  # share of lines that may cross a gutter between columns

_GUTTER = 0.9
"""Times the font size; narrower gaps may separate words."""

_FLUSH = 3.0  # points; lines that start this near to each other are aligned

_INDENT = 2.5  # times the font size; the widest indent of a paragraph


def in_order(printed: Sequence[PrintedLine], found: Sequence[RuledLine]) -> list[LayoutLine]:
    """The page's lines in reading order; table rows have a row number."""
    tables: dict[int, list[LayoutLine]] = {}
    grids = ruled_grids(found)
    items = _by_columns(list(_with_tables(printed, grids, tables) if grids else printed))
    lines: list[LayoutLine] = []
    for tabular, group in groupby(items, key=lambda each: id(each) in tables):
        stretch = list(group)
        lines += [line for each in stretch for line in tables[id(each)]] if tabular else _with_rows(stretch)
    return lines


def _with_tables(
    printed: Sequence[PrintedLine], grids: Sequence[Grid], tables: dict[int, list[LayoutLine]]
) -> Iterator[PrintedLine]:
    """Lines outside the grids, with one placeholder per grid at its first word; their rows go to `tables`."""
    words_by_grid: dict[int, list[PdfWord]] = {at: [] for at in range(len(grids))}
    for each in printed:
        for word in each.words:
            for at, grid in enumerate(grids):
                if grid.holds(word):
                    words_by_grid[at].append(word)
                    break
    cells = {at: grids[at].cells(words) for at, words in words_by_grid.items()}
    accepted = {at for at in words_by_grid if is_table(cells[at])}
    seen: set[int] = set()
    for each in printed:
        inside = [next((at for at in accepted if grids[at].holds(word)), -1) for word in each.words]
        for at in dict.fromkeys(inside):
            if at < 0:
                part = [word for word, index in zip(each.words, inside, strict=True) if index < 0]
                yield each if len(part) == len(each.words) else _of_words(each, part)
            elif at not in seen:
                seen.add(at)
                item = _as_item(grids[at], each.line)
                tables[id(item)] = row_lines(cells[at], item.line)
                yield item


def _as_item(grid: Grid, line: LayoutLine) -> PrintedLine:
    left, right, top, bottom = grid.columns[0], grid.columns[-1], grid.rows[0], grid.rows[-1]
    template = LayoutLine("", size=line.size, left=left, base=top)
    return PrintedLine(template, (PdfWord("", left, right, bottom, top),))


def _of_words(printed: PrintedLine, words: Sequence[PdfWord]) -> PrintedLine:
    """A line reduced to some of its words."""
    text = " ".join(word.text for word in words)
    line = LayoutLine(text, printed.line.size, printed.line.bold, words[0].left, printed.line.base)
    return PrintedLine(line, tuple(words))


def _with_rows(items: Sequence[PrintedLine]) -> Iterator[LayoutLine]:
    """The lines, with tables without rules as rows."""
    heights = _heights(items)
    rows = [group[0] if len(group) == 1 else _across(group) for group in heights]
    stretches = {stretch.start: stretch for stretch in aligned_rows(rows)}
    at = 0
    while at < len(rows):
        stretch = stretches.get(at)
        if stretch is None or any(is_contents_line(rows[each].line.text) for each in stretch):
            yield from (each.line for each in heights[at])
            at += 1
        else:
            cells = [[" ".join(word.text for word in cell) for cell in segments(rows[each])] for each in stretch]
            yield from row_lines(cells, rows[at].line)
            at = stretch.stop


def _heights(items: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Groups lines that continue to the right at the same height; a file may store a row in pieces."""
    groups: list[list[PrintedLine]] = []
    for item in items:
        before = groups[-1][-1] if groups else None
        if before and item.words and before.words and _beside(before, item) and _level(before, item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _level(one: PrintedLine, other: PrintedLine) -> bool:
    return abs(one.words[-1].middle[1] - other.words[0].middle[1]) < max(one.line.size, 4.0) / 2


def _across(group: Sequence[PrintedLine]) -> PrintedLine:
    return _of_words(group[0], [word for each in group for word in each.words])


def _by_columns(items: list[PrintedLine]) -> list[PrintedLine]:
    """Splits lines that cross columns; between full-width lines, the left parts come first."""
    at = _column(items)
    if at is None:
        return items
    read: list[PrintedLine] = []
    sides: tuple[list[PrintedLine], list[PrintedLine]] = ([], [])
    for item in items:
        before, after = _cut(item, at)
        if before and after is None and item.words[-1].right > at:
            read += _by_columns(sides[0]) + _by_columns(sides[1])
            sides = ([], [])
            read.append(item)
            continue
        for side, part in zip(sides, (before, after), strict=True):
            if part is not None:
                side.append(part)
    return read + _by_columns(sides[0]) + _by_columns(sides[1])


def _column(items: Sequence[PrintedLine]) -> float | None:
    """The x position of a second column of prose, or None."""
    parted = [part for item in items for part in segments(item)[1:]]
    pairs = [(one, other) for one, other in pairwise(items) if one.words and other.words and _beside(one, other)]
    starts = Counter(round(left / _FLUSH) for left in _lefts(parted, pairs))
    for edge, _ in starts.most_common(3):
        if starts[edge - 1] + starts[edge] + starts[edge + 1] < _LEAST_SUPPORT:
            continue
        at = min(left for left in _lefts(parted, pairs) if abs(left / _FLUSH - edge) <= 1.5)
        sides = [*(_cut(item, at) for item in items), *(pair for pair in pairs if _begins(pair[1], at))]
        both = [(before, after) for before, after in sides if before and after]
        prose = _is_prose([before for before, _ in both], [after for _, after in both], at)
        if prose and _crossing(items, both, at) <= _MOST_CROSSING * len(both):
            return at
    return None


def _lefts(parted: Sequence[Sequence[PdfWord]], pairs: Sequence[tuple[PrintedLine, PrintedLine]]) -> Iterator[float]:
    """Left edges of text that has other text to its left."""
    yield from (part[0].left for part in parted)
    yield from (other.words[0].left for _, other in pairs)


def _begins(item: PrintedLine, at: float) -> bool:
    return abs(item.words[0].left - at) <= 2 * _FLUSH


def _is_prose(left: Sequence[PrintedLine], right: Sequence[PrintedLine], at: float) -> bool:
    if len(left) < _LEAST_SUPPORT:
        return False
    begin = min(each.words[0].left for each in left)
    reach = median((each.words[-1].right - begin) / max(at - begin, 1.0) for each in left)
    texts = [[each.line.text.strip() for each in side] for side in (left, right)]
    letters = min(mean(len(text) + len(_WIDE.findall(text)) for text in side) for side in texts)
    return letters >= _PROSE_LETTERS and reach >= _FILLED and min(map(_running, texts)) >= _RUNNING


def _running(texts: Sequence[str]) -> float:
    """Share of lines that start within a sentence: in lower case, or below a line that ends none, where sentences end
    inside lines. Chinese, Japanese and Korean have no case.

    >>> _running(["Der Chef zahlt das", "Entgelt. Die Frist", "Endet."]), _running(["Pay", "Leave", "Notice"])
    (0.6666666666666666, 0)
    """
    inside = sum(_SENTENCE_BORDER.search(text) is not None for text in texts) >= len(texts) * _LEAST_BORDERS
    follows = [False, *(inside and text[-1:] not in _STOPS for text in texts[:-1])]
    cased = (text[:1].isupper() or _WIDE.match(text) for text in texts)
    return mean(after or not begins for after, begins in zip(follows, cased, strict=True))


def _crossing(items: Sequence[PrintedLine], both: Sequence[tuple[PrintedLine, PrintedLine]], at: float) -> int:
    """How many lines, at the height of side-by-side lines, run across the start of the second column."""
    heights = [after.words[0].middle[1] for _, after in both]
    crossing = [item for item in items if item.words and item.words[0].left < at < item.words[-1].right]
    within = [item for item in crossing if min(heights) <= item.words[0].middle[1] <= max(heights)]
    return sum(_cut(item, at)[1] is None for item in within)


def _beside(one: PrintedLine, other: PrintedLine) -> bool:
    """Whether a line is to the right of the previous one, at about its height."""
    height = max(one.line.size, 4.0)
    return other.words[0].left > one.words[-1].right and abs(one.line.base - other.line.base) < height


def _cut(item: PrintedLine, at: float) -> tuple[PrintedLine | None, PrintedLine | None]:
    """A line's parts left and right of a position; the whole line as the first if no column starts there."""
    if not item.words or item.words[-1].right < at:
        return item, None
    if item.words[0].left >= at - _FLUSH:
        return None, item
    size = max(item.line.size, 4.0)
    for number, (before, word) in enumerate(pairwise(item.words), start=1):
        gap = word.left - before.right
        flush = abs(word.left - at) <= _FLUSH and gap > _GUTTER * size
        indented = at < word.left < at + _INDENT * size and before.right < at and gap > size
        if flush or indented:
            return _of_words(item, item.words[:number]), _of_words(item, item.words[number:])
    return item, None
