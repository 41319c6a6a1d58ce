"""Renders tables as searchable text: each row as "Column: value; …", plus a summary computed from the rows."""
# Over 300 lines: the text of rows and the summary are made from the same table.

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import sqrt

from core.domain.documents import Page
from core.domain.extraction import Block, BlockKind
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.table_typing.columns import (
    ColumnReading,
    as_number,
    has_ambiguous_separators,
    is_number,
    reading_of,
)

__all__ = [
    "MOST_COLUMNS",
    "MOST_ROWS",
    "MOST_VALUE_LETTERS",
    "TEXT_COLUMNS",
    "ParsedTable",
    "ParsedTables",
    "row_pages",
    "summary_page",
]

MOST_COLUMNS = 300
"""Of a loaded table. PostgreSQL stores a row in one page of 8,160 bytes, with cells of up to 24 bytes inline."""
MOST_ROWS = 50_000  # As text; the limits below too: chosen by hand, not fitted.
_ROWS_PER_PAGE = 250  # rows of a table that make one page of text
TEXT_COLUMNS = 200  # columns written as text
MOST_VALUE_LETTERS = 500  # per cell
_SUMMARY_COLUMNS = 40  # columns summarised
_CATEGORIES = 60  # distinct values of a category, at most the square root of the rows
_CATEGORY_COLUMNS = 4  # categories by which numbers are summed
_NUMBER_COLUMNS = 10  # number columns summed
_TOP_VALUES = 10  # most frequent values listed per column
_NUMERIC_SHARE = 0.9  # share of numbers in a number column
_ROW_LETTERS = 600  # of a row quoted in the summary
_TOTALS_ROWS = 3  # last rows that may be totals
_TOTAL = re.compile(r"(?i)\s*(?:(?:grand|sub|overall|report)[ -]?)?(?:totals?|sum)\b")
_PLAIN_TOTAL = re.compile(_TOTAL.pattern + r"\s*(?:[:(].*|(?:for|of) .*)?")


# No slots, because `totals` and `readings` are cached properties.
@dataclass(frozen=True)
class ParsedTable:
    """One table of text cells. first_row: 1-based row of `rows[0]` in the sheet or file. padded: rows end at their last
    filled cell, so short rows are complete. named: number of header columns, if longer rows added some; None: all.
    above: lines of text above the header. formulas: columns (1-based) with formulas whose results are not saved."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first_row: int = 2
    padded: bool = False
    named: int | None = None
    above: tuple[str, ...] = ()
    formulas: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Number of cells per row."""
        return len(self.columns) if self.named is None else self.named

    def misfit(self, row: Sequence[str]) -> str:
        """Why a row does not fit the header, or ""."""
        if len(row) > self.width and any(row[self.width :]):
            return f"{len(row)} cells where the header has {self.width}"
        if len(row) < self.width and not self.padded:
            return f"only {len(row)} cells where the header has {self.width}"
        return ""

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """1-based numbers of the total rows at the end of the table."""
        found: list[int] = []
        for number in range(len(self.rows), max(0, len(self.rows) - _TOTALS_ROWS), -1):
            if not _is_total(self, number - 1):
                break
            found.append(number)
        return tuple(reversed(found)) if len(found) < len(self.rows) else ()

    @cached_property
    def readings(self) -> tuple[ColumnReading, ...]:
        """How each column is read, up to the limit of a loaded table: by the rows that fit the header, if any do."""
        skipped = set(self.totals)
        rows = [row for at, row in enumerate(self.rows, 1) if at not in skipped and not self.misfit(row)] or self.rows
        columns = [
            Counter(row[at] if at < len(row) else "" for row in rows)
            for at in range(min(len(self.columns), MOST_COLUMNS))
        ]
        return tuple(map(reading_of, self.columns, columns))


@dataclass(frozen=True, slots=True)
class ParsedTables:
    """All tables of one file, with warnings for the user. fields: lines of text for what is beside the tables.
    comments: lines of text about their cells."""

    tables: tuple[ParsedTable, ...]
    warnings: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


def _is_total(table: ParsedTable, index: int) -> bool:
    """Whether a row is named a total, and either a cell equals the sum of those above, or the name is plain and most
    cells are empty. "Total Body Fitness" may be a name."""
    row = table.rows[index]
    filled = [cell for cell in row if cell]
    if not filled or _TOTAL.match(filled[0]) is None:
        return False
    plain = _PLAIN_TOTAL.fullmatch(filled[0]) is not None
    if plain and len(filled) <= table.width / 2:
        return True
    above = [each for each in table.rows[:index] if not _TOTAL.match(next((cell for cell in each if cell), ""))]
    number_cells = [at for at, cell in enumerate(row) if is_number(cell)] if len(above) > (not plain) else []
    return any(_adds_up([each[at] for each in above if at < len(each)], row[at]) for at in number_cells)


def _adds_up(parts: Sequence[str], total: str) -> bool:
    """
    >>> _adds_up(["1", "2.5"], "3.50"), _adds_up(["1.000,5", "0,25"], "1.000,75"), _adds_up(["1", "2"], "4")
    (True, True, False)
    """
    for comma in (False, True):
        stated_sum = float(as_number(total, comma=comma) or 0)
        found = sum(float(as_number(part, comma=comma) or 0) for part in parts)
        if abs(found - stated_sum) <= max(0.01, 1e-6 * abs(stated_sum)):
            return True
    return False


def row_line(columns: Sequence[str], row: Sequence[str]) -> str:
    """One row as a line of text; skips empty cells.

    >>> row_line(["Name", "Pay", "Note"], ["Ada", "10", ""])
    'Name: Ada; Pay: 10'
    """
    cells = zip(columns, row, strict=False)
    return "; ".join(
        f"{column}: {' '.join(cell.split())[:MOST_VALUE_LETTERS]}" for column, cell in cells if cell.strip()
    )


def row_pages(table: ParsedTable, first_number: int) -> Iterator[tuple[Page, list[Block]]]:
    """The rows as pages of 250 lines, labelled with their range, after the lines above them; at most 50,000 rows."""
    rows = iter(enumerate(table.rows[:MOST_ROWS], start=1))
    number_of_page = first_number
    columns = table.columns[:TEXT_COLUMNS]
    while part := list(islice(rows, _ROWS_PER_PAGE)):
        label = f"{table.label}, rows {part[0][0]}–{part[-1][0]}" if len(table.rows) > _ROWS_PER_PAGE else table.label
        writer = PageWriter(number_of_page, label)
        for line in table.above if part[0][0] == 1 else ():
            writer.add(line, BlockKind.PARAGRAPH)
        for position, row in part:
            writer.add(row_line(columns, row), BlockKind.ROW, row=position)
        yield writer.page(), writer.blocks
        number_of_page += 1


@dataclass(frozen=True, slots=True)
class _ColumnSummary:
    name: str
    position: int
    filled: int
    counts: Counter[str]
    numbers: tuple[tuple[float, int], ...]
    """Value and index of each row with a number; none where the separators are ambiguous."""

    @property
    def numeric(self) -> bool:
        return self.filled > 0 and len(self.numbers) >= _NUMERIC_SHARE * self.filled

    @property
    def category(self) -> bool:
        """Whether values group the rows, with more rows per group than groups: departments do, last names do not."""
        if not 1 < len(self.counts) <= min(_CATEGORIES, sqrt(self.filled)):
            return False
        return sum(times for cell, times in self.counts.items() if is_number(cell)) < _NUMERIC_SHARE * self.filled


def summary_page(table: ParsedTable, number_of_page: int, name: str) -> tuple[Page, list[Block]]:
    """A summary in citable lines: counts, extremes with their rows, common values."""
    writer = PageWriter(number_of_page, f"Summary of {table.label}")
    columns = _columns(table)
    names = ", ".join(column.name for column in columns) + (" …" if len(table.columns) > len(columns) else "")
    writer.add(f"Summary of {table.label} (computed from all its rows)", BlockKind.HEADING, level=1)
    rows = len(table.rows) - len(table.totals)
    writer.add(
        f"{table.label} of {name} has {rows} rows in total and {len(table.columns)} columns: {names}.",
        BlockKind.PARAGRAPH,
    )
    for column in sorted(columns, key=_measures):  # number columns last: each has its own heading
        _describe(writer, table, column)
    categories = [column for column in columns if column.category][:_CATEGORY_COLUMNS]
    numeric = [column for column in columns if _measures(column)][:_NUMBER_COLUMNS]
    for group in categories:
        keys = _cells(table, group.position) if numeric else []
        for column in numeric:
            _by_category(writer, table, group, keys, column)
    return writer.page(), writer.blocks


def _measures(column: _ColumnSummary) -> bool:
    """Whether a column holds many different numbers, not codes of one or two values."""
    return column.numeric and len(column.counts) > 2


def _columns(table: ParsedTable) -> list[_ColumnSummary]:
    """The first columns, with numbers as typed tables read them."""
    shown = range(min(len(table.columns), _SUMMARY_COLUMNS))
    cells = [_cells(table, position) for position in shown]
    counts = [Counter(cell for cell in column if cell) for column in cells]
    readings = table.readings
    commas = any(reading.decimal_commas for reading in readings)
    return [
        _ColumnSummary(table.columns[at], at, counts[at].total(), counts[at], _numbers(readings[at], cells[at], commas))
        for at in shown
    ]


def _numbers(reading: ColumnReading, cells: Sequence[str], commas: bool) -> tuple[tuple[float, int], ...]:
    distinct = {*cells}
    if not reading.type.numeric or has_ambiguous_separators(distinct, commas=commas):
        return ()
    values = {cell: reading.read(cell) for cell in distinct}
    return tuple((float(value), index) for index, cell in enumerate(cells) if (value := values[cell]) is not None)


def _cells(table: ParsedTable, position: int) -> list[str]:
    """The cells of a column, "" where a row is too short or a total."""
    cells = [row[position].strip() if position < len(row) else "" for row in table.rows]
    for number_of_row in table.totals:
        cells[number_of_row - 1] = ""
    return cells


def _describe(writer: PageWriter, table: ParsedTable, column: _ColumnSummary) -> None:
    rows = len(table.rows) - len(table.totals)
    distinct = "1 value" if len(column.counts) == 1 else f"{len(column.counts)} different values"
    count = f"{column.filled} of {rows} rows filled, {distinct}"
    if _measures(column):
        writer.add(column.name, BlockKind.HEADING, level=2)
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
    elif column.position + 1 in table.formulas:
        writer.add(f"{column.name}: formulas without a saved result.", BlockKind.PARAGRAPH)
    else:
        writer.add(f"{column.name}: empty in every row.", BlockKind.PARAGRAPH)


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _by_category(
    writer: PageWriter, table: ParsedTable, group: _ColumnSummary, keys: Sequence[str], column: _ColumnSummary
) -> None:
    """The maximum of a number column per category, one line each, largest first. The lines name the row they are
    computed from, but are cited as lines of the summary, never as rows."""
    best: dict[str, tuple[float, int]] = {}
    for value, index in column.numbers:
        key = keys[index]
        if key not in best or value > best[key][0]:
            best[key] = (value, index)
    best.pop("", None)
    if best:
        writer.add(f"{column.name} by {group.name}", BlockKind.HEADING, level=2)
    for key in sorted(best, key=lambda key: (-best[key][0], key)):
        _, index = best[key]
        extreme = table.rows[index][column.position].strip()
        line = f"Highest {column.name} where {group.name} is {key}: {extreme}, in row {index + 1}."
        writer.add(line, BlockKind.ROW)


def _plain(value: float) -> str:
    """A computed number, rounded to hide floating-point noise."""
    return f"{round(value, 2):.2f}".rstrip("0").rstrip(".")
