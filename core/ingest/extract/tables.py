"""Tables as findable text: every row a line "Column: value; …", and a summary computed from the rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import sqrt

from core.documents import Page
from core.ingest.extract.values import Block, BlockKind, PageWriter

__all__ = ["MOST_ROWS", "Table", "row_pages", "split_header", "summary_page"]

MOST_ROWS = 50_000
_ROWS_PER_PAGE = 250
_MOST_COLUMNS = 200
_MOST_VALUE_LETTERS = 500
_SUMMARY_COLUMNS = 40
_CATEGORIES = 60
_CATEGORY_COLUMNS = 4
_NUMBER_COLUMNS = 10
_TOP_VALUES = 10
_HEADER_SEARCH_ROWS = 20
_NUMERIC_SHARE = 0.9
_ROW_LETTERS = 600


@dataclass(frozen=True, slots=True)
class Table:
    """One table of text cells. `first_row` is the 1-based row of the sheet or file that `rows[0]` stands in."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first_row: int = 2


def split_header(lines: Sequence[Sequence[str]]) -> tuple[int, tuple[str, ...]]:
    """Where the rows begin (0-based) and the column names.

    The header is the first line, among the first 20, that fills the table's width with distinct words and no numbers.
    Without one, columns are named "Column 1" …

    >>> split_header([["Payroll 2020", ""], ["Name", "Pay"], ["Ada", "10"]])
    (2, ('Name', 'Pay'))
    >>> split_header([["1", "2"], ["3", "4"]])
    (0, ('Column 1', 'Column 2'))
    """
    width = max((len(line) for line in lines), default=0)
    usual = Counter(sum(bool(cell) for cell in line) for line in lines[:200]).most_common(1)
    wanted = usual[0][0] if usual else 0
    for position, line in enumerate(lines[:_HEADER_SEARCH_ROWS]):
        filled = [cell for cell in line if cell]
        wordy = all(number(cell) is None for cell in filled)
        if filled and wordy and len(filled) >= max(1, 0.6 * wanted) and len({*filled}) >= 0.8 * len(filled):
            if position + 1 < len(lines):
                return position + 1, _named(line, width)
            break
    return 0, _named((), width)


def _named(line: Sequence[str], width: int) -> tuple[str, ...]:
    names = [" ".join(cell.split()) for cell in line] + [""] * (width - len(line))
    return tuple(name or f"Column {position}" for position, name in enumerate(names, start=1))


def number(text: str) -> float | None:
    """The number a cell shows, with signs of money, percent and thousands left out; None for anything else.

    >>> number("$1,234.50"), number("(12)"), number("2025-02-20"), number("")
    (1234.5, -12.0, None, None)
    """
    plain = text.strip().replace(",", "").replace(" ", "").lstrip("$€£").rstrip("%€$")
    if plain.startswith("(") and plain.endswith(")"):
        plain = f"-{plain[1:-1].lstrip('$')}"
    if not plain.lstrip("+-")[:1].isdigit() and not plain.lstrip("+-").startswith("."):
        return None
    try:
        return float(plain)
    except ValueError:
        return None


def row_line(columns: Sequence[str], row: Sequence[str]) -> str:
    """One row as a sentence-like line; empty cells are left out.

    >>> row_line(["Name", "Pay", "Note"], ["Ada", "10", ""])
    'Name: Ada; Pay: 10'
    """
    cells = zip(columns, row, strict=False)
    return "; ".join(
        f"{column}: {' '.join(cell.split())[:_MOST_VALUE_LETTERS]}" for column, cell in cells if cell.strip()
    )


def row_pages(table: Table, first_number: int) -> Iterator[tuple[Page, list[Block]]]:
    """The rows as pages of 250 lines, labelled with their range; at most 50,000 rows become text."""
    rows = iter(enumerate(table.rows[:MOST_ROWS], start=1))
    number_of_page = first_number
    columns = table.columns[:_MOST_COLUMNS]
    while part := list(islice(rows, _ROWS_PER_PAGE)):
        label = f"{table.label}, rows {part[0][0]}–{part[-1][0]}" if len(table.rows) > _ROWS_PER_PAGE else table.label
        writer = PageWriter(number_of_page, label)
        for position, row in part:
            writer.add(row_line(columns, row), BlockKind.ROW, row=position)
        yield writer.page(), writer.blocks
        number_of_page += 1


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    position: int
    filled: int
    counts: Counter[str]
    numbers: tuple[tuple[float, int], ...]

    @property
    def numeric(self) -> bool:
        return self.filled > 0 and len(self.numbers) >= _NUMERIC_SHARE * self.filled

    @property
    def category(self) -> bool:
        """Whether the values sort rows into fewer groups than a group has rows: departments do, last names do not."""
        few = 1 < len(self.counts) <= min(_CATEGORIES, sqrt(self.filled))
        return few and not (self.numeric and len(self.counts) > 12)


def summary_page(table: Table, number_of_page: int, name: str) -> tuple[Page, list[Block]]:
    """What the rows add up to, in lines that can be cited: counts, extremes with their rows, common values."""
    writer = PageWriter(number_of_page, f"Summary of {table.label}")
    columns = [_column(table, position) for position in range(min(len(table.columns), _SUMMARY_COLUMNS))]
    names = ", ".join(column.name for column in columns) + (" …" if len(table.columns) > len(columns) else "")
    writer.add(f"Summary of {table.label} (computed from all its rows)", BlockKind.HEADING, level=1)
    writer.add(
        f"{table.label} of {name} has {len(table.rows)} rows in total and {len(table.columns)} columns: {names}.",
        BlockKind.PARAGRAPH,
    )
    for column in columns:
        _describe(writer, table, column)
    categories = [column for column in columns if column.category and not column.numeric][:_CATEGORY_COLUMNS]
    numeric = [column for column in columns if column.numeric and len(column.counts) > 2][:_NUMBER_COLUMNS]
    for group in categories:
        for column in numeric:
            _by_category(writer, table, group, column)
    return writer.page(), writer.blocks


def _column(table: Table, position: int) -> _Column:
    cells = [(row[position].strip() if position < len(row) else "") for row in table.rows]
    counts = Counter(cell for cell in cells if cell)
    numbers = tuple((value, index) for index, cell in enumerate(cells) if cell and (value := number(cell)) is not None)
    return _Column(table.columns[position], position, sum(counts.values()), counts, numbers)


def _describe(writer: PageWriter, table: Table, column: _Column) -> None:
    count = f"{column.filled} of {len(table.rows)} rows filled, {len(column.counts)} different values"
    if column.numeric and len(column.counts) > 2:
        values = [value for value, _ in column.numbers]
        total, mean = _plain(sum(values)), _plain(sum(values) / len(values))
        writer.add(f"{column.name}: {count}; sum (total) {total}; average (mean) {mean}.", BlockKind.PARAGRAPH)
        for word, (_, index) in (
            ("largest (highest, maximum, biggest)", max(column.numbers, key=lambda pair: (pair[0], -pair[1]))),
            ("smallest (lowest, minimum)", min(column.numbers)),
        ):
            value = table.rows[index][column.position].strip()
            line = row_line(table.columns, table.rows[index])[:_ROW_LETTERS]
            writer.add(f"{column.name}, {word}: {value}, in row {index + 1}: {line}.", BlockKind.PARAGRAPH)
    elif column.counts:
        common = "; ".join(f"{value[:80]} ({times})" for value, times in _ranked(column.counts)[:_TOP_VALUES])
        word = "most frequent (rows)" if len(column.counts) > _TOP_VALUES else "values (rows)"
        writer.add(f"{column.name}: {count}; {word}: {common}.", BlockKind.PARAGRAPH)
    else:
        writer.add(f"{column.name}: empty in every row.", BlockKind.PARAGRAPH)


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _by_category(writer: PageWriter, table: Table, group: _Column, column: _Column) -> None:
    """The largest value of a number column in each value of a category column, one line each. The lines are computed:
    they name the row they speak of, and are cited as lines of the summary, never as rows of the table."""
    best: dict[str, tuple[float, int]] = {}
    for value, index in column.numbers:
        key = table.rows[index][group.position].strip() if group.position < len(table.rows[index]) else ""
        if key and (key not in best or value > best[key][0]):
            best[key] = (value, index)
    for key in sorted(best):
        _, index = best[key]
        shown = table.rows[index][column.position].strip()
        line = f"Highest {column.name} where {group.name} is {key}: {shown}, in row {index + 1}."
        writer.add(line, BlockKind.ROW)


def _plain(value: float) -> str:
    """A computed number without noise digits."""
    return f"{round(value, 2):.2f}".rstrip("0").rstrip(".")
