"""The lines of a printed page as they are read: tables row by row, columns one after the other, the rest as it came.

The order of the file is kept unless the page shows that it runs across columns.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import mean, median

from core.ingest.extract.grids import Grid, aligned_rows, is_table, row_lines, ruled_grids, segments
from core.ingest.extract.layout import Line, is_contents_line
from core.ingest.extract.pdf_words import PrintedLine, Rule, Word

__all__ = ["in_order"]

_LEAST_SUPPORT = 5
"""Lines beside one another that show a column."""
_PROSE_LETTERS = 25
_FILLED = 0.7
"""Of the way to the next column: what lines of prose reach, and first cells of a table do not."""
_RUNNING = 0.4
"""Of the lines of prose begin within a sentence, with a small letter or none; the cells of a table begin one."""
_MOST_CROSSING = 0.2
_GUTTER = 0.9
"""Of the letter size; narrower gaps may be those between words."""
_FLUSH = 3.0
_INDENT = 2.5


def in_order(printed: Sequence[PrintedLine], found: Sequence[Rule]) -> list[Line]:
    """The page's lines; rows of tables are lines with a row number."""
    tables: dict[int, list[Line]] = {}
    grids = ruled_grids(found)
    items = _by_columns(list(_with_tables(printed, grids, tables) if grids else printed))
    lines: list[Line] = []
    for tabular, group in groupby(items, key=lambda each: id(each) in tables):
        stretch = list(group)
        lines += [line for each in stretch for line in tables[id(each)]] if tabular else _with_rows(stretch)
    return lines


def _with_tables(
    printed: Sequence[PrintedLine], grids: Sequence[Grid], tables: dict[int, list[Line]]
) -> Iterator[PrintedLine]:
    """The lines outside of the grids, and for each grid one item, where its first word stood, noted in `tables`."""
    held: dict[int, list[Word]] = {at: [] for at in range(len(grids))}
    for each in printed:
        for word in each.words:
            for at, grid in enumerate(grids):
                if grid.holds(word):
                    held[at].append(word)
                    break
    cells = {at: grids[at].cells(words) for at, words in held.items()}
    told = {at for at in held if is_table(cells[at])}
    seen: set[int] = set()
    for each in printed:
        inside = [next((at for at in told if grids[at].holds(word)), -1) for word in each.words]
        for at in dict.fromkeys(inside):
            if at < 0:
                part = [word for word, place in zip(each.words, inside, strict=True) if place < 0]
                yield each if len(part) == len(each.words) else _of_words(each, part)
            elif at not in seen:
                seen.add(at)
                item = _as_item(grids[at], each.line)
                tables[id(item)] = row_lines(cells[at], item.line)
                yield item


def _as_item(grid: Grid, line: Line) -> PrintedLine:
    left, right, top, bottom = grid.columns[0], grid.columns[-1], grid.rows[0], grid.rows[-1]
    place = Line("", size=line.size, left=left, base=top)
    return PrintedLine(place, (Word("", left, right, bottom, top),))


def _of_words(printed: PrintedLine, words: Sequence[Word]) -> PrintedLine:
    """A part of a line."""
    text = " ".join(word.text for word in words)
    line = Line(text, printed.line.size, printed.line.bold, words[0].left, printed.line.base)
    return PrintedLine(line, tuple(words))


def _with_rows(items: Sequence[PrintedLine]) -> Iterator[Line]:
    """Lines, those of tables without rules as rows."""
    heights = _heights(items)
    whole = [group[0] if len(group) == 1 else _across(group) for group in heights]
    stretches = {stretch.start: stretch for stretch in aligned_rows(whole)}
    at = 0
    while at < len(whole):
        stretch = stretches.get(at)
        if stretch is None or any(is_contents_line(whole[each].line.text) for each in stretch):
            yield from (each.line for each in heights[at])
            at += 1
        else:
            cells = [[" ".join(word.text for word in cell) for cell in segments(whole[each])] for each in stretch]
            yield from row_lines(cells, whole[at].line)
            at = stretch.stop


def _heights(items: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Lines that go on to the right of the one before at its height, together: a file may hold a row in pieces."""
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
    """Lines that run across columns, each cut in two; between lines of full width the left parts come first."""
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
    """Where the second column begins, when the lines come across columns of prose; else None."""
    parted = [part for item in items for part in segments(item)[1:]]
    pairs = [(one, other) for one, other in pairwise(items) if one.words and other.words and _beside(one, other)]
    starts = Counter(round(left / _FLUSH) for left in _lefts(parted, pairs))
    for place, _ in starts.most_common(3):
        if starts[place - 1] + starts[place] + starts[place + 1] < _LEAST_SUPPORT:
            continue
        at = min(left for left in _lefts(parted, pairs) if abs(left / _FLUSH - place) <= 1.5)
        sides = [*(_cut(item, at) for item in items), *(pair for pair in pairs if _begins(pair[1], at))]
        both = [(before, after) for before, after in sides if before and after]
        prose = _is_prose([before for before, _ in both], [after for _, after in both], at)
        if prose and _crossing(items, both, at) <= _MOST_CROSSING * len(both):
            return at
    return None


def _lefts(parted: Sequence[Sequence[Word]], pairs: Sequence[tuple[PrintedLine, PrintedLine]]) -> Iterator[float]:
    """Where something begins to the right of something else."""
    yield from (part[0].left for part in parted)
    yield from (other.words[0].left for _, other in pairs)


def _begins(item: PrintedLine, at: float) -> bool:
    return abs(item.words[0].left - at) <= 2 * _FLUSH


def _is_prose(left: Sequence[PrintedLine], right: Sequence[PrintedLine], at: float) -> bool:
    if len(left) < _LEAST_SUPPORT:
        return False
    begin = min(each.words[0].left for each in left)
    reach = median((each.words[-1].right - begin) / max(at - begin, 1.0) for each in left)
    letters = min(mean(len(each.line.text) for each in side) for side in (left, right))
    running = min(mean(not each.line.text.lstrip()[:1].isupper() for each in side) for side in (left, right))
    return letters >= _PROSE_LETTERS and reach >= _FILLED and running >= _RUNNING


def _crossing(items: Sequence[PrintedLine], both: Sequence[tuple[PrintedLine, PrintedLine]], at: float) -> int:
    """How many lines, at the height of those that come across the columns, run on where the second begins."""
    heights = [after.words[0].middle[1] for _, after in both]
    crossing = [item for item in items if item.words and item.words[0].left < at < item.words[-1].right]
    within = [item for item in crossing if min(heights) <= item.words[0].middle[1] <= max(heights)]
    return sum(_cut(item, at)[1] is None for item in within)


def _beside(one: PrintedLine, other: PrintedLine) -> bool:
    """Whether a line stands to the right of the one before it, at about its height."""
    height = max(one.line.size, 4.0)
    return other.words[0].left > one.words[-1].right and abs(one.line.base - other.line.base) < height


def _cut(item: PrintedLine, at: float) -> tuple[PrintedLine | None, PrintedLine | None]:
    """A line's parts before and from a place on; the whole line as the first where no column begins there."""
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
