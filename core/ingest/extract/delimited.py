"""CSV and TSV: delimiter and header found by looking, ragged rows kept; and any file of tables as findable text."""

import csv
import re
from collections import Counter
from io import StringIO

from core.documents import Page, TableRole
from core.errors import EmptyFile, UnreadableFile
from core.ingest.extract.clean import clean
from core.ingest.extract.detect import FileKind
from core.ingest.extract.roles import suggested_role
from core.ingest.extract.tables import MOST_COLUMNS, MOST_ROWS, Table, row_pages, split_header, summary_page
from core.ingest.extract.values import Block, Extracted

__all__ = ["delimited_tables", "tables_as_text"]

_DELIMITERS = ",;\t|"
_SAMPLE_LETTERS = 20_000
_LONGEST_CELL = 10_000_000
_BREAKS = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What ends a line of prose, but no row."""


def delimited_tables(name: str, text: str, kind: FileKind) -> tuple[list[Table], list[str]]:
    """The one table of a file, and warnings. Raises EmptyFile when no cell holds anything, UnreadableFile."""
    text = clean(_BREAKS.sub(" ", text))
    delimiter = "\t" if kind is FileKind.TSV else _delimiter(text)
    csv.field_size_limit(_LONGEST_CELL)
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(StringIO(text), delimiter=delimiter)]
    except csv.Error as error:
        raise UnreadableFile(
            f"'{name}' has a cell of more than {_LONGEST_CELL:,} characters.",
            "Look for a quotation mark that is opened and never closed.",
        ) from error
    lines = [line for line in lines if any(line)]
    if not lines:
        raise EmptyFile(f"'{name}' holds no cell with a value.", "Export the table again.")
    begin, columns = split_header(lines)
    rows = tuple(map(tuple, lines[begin:]))
    table = Table("Table", columns, rows, begin + 1, named=_named_columns(lines, begin))
    ragged = sum(bool(table.misfit(row)) for row in rows)
    warnings = [f"{ragged} rows have another number of cells than the header."] if ragged else []
    if text.count('"') % 2 and any("\n" in cell for cell in lines[-1]):
        warnings.append("A quotation mark in the last row is never closed: what follows it was read as one cell.")
    return [table], warnings


def _named_columns(lines: list[list[str]], begin: int) -> int:
    """How many cells the header has, without those at its end that no row fills; without header, as most rows have."""
    if not begin:
        return Counter(map(len, lines)).most_common(1)[0][0]
    named = len(lines[begin - 1])
    while not lines[begin - 1][named - 1] and not any(len(row) >= named and row[named - 1] for row in lines[begin:]):
        named -= 1
    return named


def _delimiter(text: str) -> str:
    """The delimiter that splits the first lines into the same number of cells, more than one."""
    sample = text[:_SAMPLE_LETTERS].split("\n")[:50]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        widths = [len(line) for line in csv.reader(sample, delimiter=delimiter) if line]
        usual = max(set(widths), key=widths.count, default=1)
        score = (usual > 1) * widths.count(usual) / max(len(widths), 1) + min(usual, 20) / 1000
        if score > best_score:
            best, best_score = delimiter, score
    return best


def tables_as_text(name: str, tables: list[Table], kind: FileKind, told: list[str]) -> Extracted:
    """All tables' rows, then a summary of each."""
    warnings = list(told)
    pages: list[Page] = []
    blocks: list[Block] = []
    setup: list[int] = []
    for table in tables:
        role = suggested_role(table.columns, table.rows)
        for page, page_blocks in row_pages(table, len(pages) + 1):
            pages.append(page)
            blocks += page_blocks
            setup += [page.number] if role is TableRole.SETUP else []
        if table.width > MOST_COLUMNS:
            warnings.append(
                f"{table.label} has more than {MOST_COLUMNS} columns; the first {MOST_COLUMNS} can be counted."
            )
        if len(table.rows) > MOST_ROWS:
            warnings.append(
                f"{table.label} has {len(table.rows):,} rows; the first {MOST_ROWS:,} can be found one by one, "
                "all are counted in its summary."
            )
    for table in tables:
        if table.rows:
            page, page_blocks = summary_page(table, len(pages) + 1, name)
            pages.append(page)
            blocks += page_blocks
    left_out = sum(len(table.totals) for table in tables)
    if left_out:
        warnings.append(f"{left_out} totals {'row is' if left_out == 1 else 'rows are'} not counted in the summaries.")
    told_pages = (tuple(pages), tuple(blocks), kind)
    return Extracted(*told_pages, warnings=tuple(warnings), setup_pages=tuple(setup), sheets=tuple(tables))
