"""CSV and TSV: delimiter and header found by looking, ragged rows kept."""

import csv
from io import StringIO

from core.documents import Page, TableRole
from core.errors import EmptyFile
from core.ingest.extract.clean import clean
from core.ingest.extract.detect import FileKind
from core.ingest.extract.roles import suggested_role
from core.ingest.extract.tables import MOST_ROWS, Table, row_pages, split_header, summary_page
from core.ingest.extract.values import Block, Extracted

__all__ = ["read_delimited", "tables_as_text"]

_DELIMITERS = ",;\t|"
_SAMPLE_LETTERS = 20_000
_LONGEST_CELL = 10_000_000


def read_delimited(name: str, text: str, kind: FileKind) -> Extracted:
    """Raises EmptyFile when no cell holds anything."""
    text = clean(text)
    delimiter = "\t" if kind is FileKind.TSV else _delimiter(text)
    csv.field_size_limit(_LONGEST_CELL)
    lines = [[cell.strip() for cell in line] for line in csv.reader(StringIO(text), delimiter=delimiter)]
    lines = [line for line in lines if any(line)]
    if not lines:
        raise EmptyFile(f"'{name}' holds no cell with a value.", "Export the table again.")
    begin, columns = split_header(lines)
    ragged = sum(len(line) != len(columns) for line in lines[begin:])
    warnings = [f"{ragged} rows have another number of cells than the header."] if ragged else []
    tables = [Table("Table", columns, tuple(tuple(line) for line in lines[begin:]), begin + 1)]
    return tables_as_text(name, tables, kind, warnings)


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


def tables_as_text(name: str, tables: list[Table], kind: FileKind, warnings: list[str]) -> Extracted:
    """All tables' rows, then a summary of each."""
    pages: list[Page] = []
    blocks: list[Block] = []
    setup: list[int] = []
    for table in tables:
        role = suggested_role(table.columns, table.rows)
        for page, page_blocks in row_pages(table, len(pages) + 1):
            pages.append(page)
            blocks += page_blocks
            setup += [page.number] if role is TableRole.SETUP else []
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
    return Extracted(tuple(pages), tuple(blocks), kind, warnings=tuple(warnings), setup_pages=tuple(setup))
