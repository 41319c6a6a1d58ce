"""Finds the header of a table: the names of its columns, and the lines above it."""

from collections import Counter
from collections.abc import Sequence

from core.ingestion.table_typing.columns import is_number

__all__ = ["split_header"]

_SEARCH_ROWS = 20  # first rows in which the header is looked for; this and the numbers below were chosen by hand
_SAMPLE_ROWS = 200  # first rows that tell how many cells are usual
_FULL_SHARE = 0.6  # of the usual number of cells, from which a row may be the header
_DISTINCT_SHARE = 0.6  # of its cells
_YEARS = range(1900, 2101)
_LEAST_STEPS = 3  # cells that count 1, 2, 3 …


def split_header(lines: Sequence[Sequence[str]]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Index of the first row (0-based), the column names, and the lines above them as text.

    The header is the first of the first 20 lines that fills the table's width with mostly distinct words; beside them,
    it may have years or counted steps. A second line of words under it joins its names; a line of groups above it tells
    names apart that repeat.
    It is never looked for below a row of several numbers, or below two rows with one. Without a header, columns are
    named "Column 1" …

    >>> split_header([["Payroll 2020", ""], ["Name", "Pay"], ["Ada", "10"]])
    (2, ('Name', 'Pay'), ('Payroll 2020',))
    >>> split_header([["1", "2"], ["3", "4"]])
    (0, ('Column 1', 'Column 2'), ())
    """
    width = max((len(line) for line in lines), default=0)
    usual = Counter(sum(map(bool, line)) for line in lines[:_SAMPLE_ROWS]).most_common(1)
    full = max(1, _FULL_SHARE * usual[0][0]) if usual else 1
    numbered = 0
    for at, line in enumerate(lines[: min(_SEARCH_ROWS, len(lines) - 1)]):
        if sum(map(bool, line)) < full:
            continue
        numbers = [cell for cell in line if is_number(cell)]
        names = _group_repeated(lines[at - 1], line) if at else list(line)
        if _is_distinct(names) and (_names_periods(lines, at) if numbers else True):
            above = tuple(" · ".join(" ".join(cell.split()) for cell in each if cell) for each in lines[:at])
            if _is_second_tier(lines, at):
                return at + 2, _named(_joined(line, lines[at + 1]), width), above
            return at + 1, _named(names, width), above
        numbered += bool(numbers)
        if len(numbers) > 1 or numbered > 1:
            break
    return 0, _named((), width), ()


def _is_distinct(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return len({*filled}) > _DISTINCT_SHARE * len(filled)


def _names_periods(lines: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the numbers of a row are distinct years, or count steps from 0 or 1, and most numbers below are not."""
    line = lines[at]
    places = [position for position, cell in enumerate(line) if is_number(cell)]
    if is_number(line[0]) or not all(line[place].isdecimal() and len(line[place]) <= 4 for place in places):
        return False
    values = [int(line[place]) for place in places]
    counted = len(values) >= _LEAST_STEPS and values[0] in (0, 1) and values == [*range(values[0], values[-1] + 1)]
    if len({*values}) < len(values) or not (counted or all(value in _YEARS for value in values)):
        return False
    if len(values) == 1 and not any(map(is_number, lines[at + 1])) and not _is_second_tier(lines, at):
        return False  # a title with a year, above the header
    periods = {line[place] for place in places} if counted else {*map(str, _YEARS)}
    below = [row[place] for row in lines[at + 1 : at + _SAMPLE_ROWS] for place in places if place < len(row)]
    below = [cell for cell in below if is_number(cell)]
    return sum(cell in periods for cell in below) <= len(below) / 2


def _is_second_tier(lines: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the row below a header row names columns, too, as "Plan, Actual" below a year: words under years or gaps,
    with the first cell empty in one of both, or the same; below each is a number."""
    if at + 2 >= len(lines):
        return False
    upper, lower, below = lines[at], lines[at + 1], lines[at + 2]
    pairs = [*zip(upper, lower, strict=False)]
    gaps = any(name and not group for group, name in pairs[1:])
    led = (gaps or any(map(is_number, upper))) if lower[0] in ("", upper[0]) else gaps and not upper[0]
    places = [place for place, (group, name) in enumerate(pairs) if place and name and name != group]
    if not led or not places or any(map(is_number, lower)):
        return False
    cells = [below[place] for place in places if place < len(below) and below[place]]
    return bool(cells) and all(map(is_number, cells))


def _group_repeated(upper: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names; those that repeat with the group above them, if a row of groups with an empty first cell is above.

    >>> _group_repeated(["", "2019", "", "2020"], ["Country", "Plan", "Note", "Plan"])
    ['Country', '2019 Plan', 'Note', '2020 Plan']
    """
    if upper[0] or sum(map(bool, upper)) < 2:
        return list(names)
    times = Counter(names)
    joined = _joined(upper, names)
    return [joined[place] if times[name] > 1 else name for place, name in enumerate(names)]


def _joined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """
    >>> _joined(["Country", "2019", "", "Note"], ["", "Plan", "Actual", ""])
    ['Country', '2019 Plan', '2019 Actual', 'Note']
    """
    names, group = [], ""
    for place in range(max(len(upper), len(lower))):
        above, name = (each[place] if place < len(each) else "" for each in (upper, lower))
        group = (above or group) if place else ""
        names.append(f"{group} {name}".strip() if name and name != above else above)
    return names


def _named(line: Sequence[str], width: int) -> tuple[str, ...]:
    names = [" ".join(cell.split()) for cell in line] + [""] * (width - len(line))
    return tuple(name or f"Column {position}" for position, name in enumerate(names, start=1))
