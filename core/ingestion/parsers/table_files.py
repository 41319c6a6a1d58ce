"""Parses table files without sheets (CSV, TSV, JSON, Parquet); renders any file's tables as searchable text."""

import csv
import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any

from core.domain.documents import Page, TableRole
from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import Block, BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.table_headers import split_header
from core.ingestion.parsers.table_text import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_VALUE_LETTERS,
    TEXT_COLUMNS,
    ParsedTable,
    ParsedTables,
    row_pages,
    summary_page,
)
from core.ingestion.parsers.text_cleaning import clean
from core.ingestion.parsers.workbooks import cell_text
from core.ingestion.table_typing.typed_tables import suggested_role

__all__ = ["delimited_tables", "json_tables", "parquet_tables", "tables_as_text"]

_DELIMITERS = ",;\t|"

_SAMPLE_LETTERS = 20_000  # Chosen by hand, not fitted.

_LONGEST_CELL = 10_000_000  # Chosen by hand, not fitted.

_BREAKS = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Line separators that end a line of prose but not a row."""


def delimited_tables(name: str, text: str, kind: FileKind) -> ParsedTables:
    """The table of a delimited file. Raises EmptyFile if all cells are empty, UnreadableFile."""
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
        raise EmptyFile(f"'{name}' contains no cell with a value.", "Export the table again.")
    begin, columns, above = split_header(lines)
    rows = tuple(map(tuple, lines[begin:]))
    table = ParsedTable("Table", columns, rows, begin + 1, named=_named_columns(lines, begin), above=above)
    ragged = sum(bool(table.misfit(row)) for row in rows)
    warnings = [f"{ragged} rows have another number of cells than the header."] if ragged else []
    if text.count('"') % 2 and any("\n" in cell for cell in lines[-1]):
        warnings.append("A quotation mark in the last row is never closed: what follows it was read as one cell.")
    return ParsedTables((table,), tuple(warnings))


def _named_columns(lines: list[list[str]], begin: int) -> int:
    """Number of header cells, without trailing ones that no row fills; without a header, as in most rows."""
    if not begin:
        return Counter(map(len, lines)).most_common(1)[0][0]
    named = len(lines[begin - 1])
    while not lines[begin - 1][named - 1] and not any(len(row) >= named and row[named - 1] for row in lines[begin:]):
        named -= 1
    return named


def _delimiter(text: str) -> str:
    """The delimiter that splits the first lines into the same number of cells, at least two."""
    sample = text[:_SAMPLE_LETTERS].split("\n")[:50]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        widths = [len(line) for line in csv.reader(sample, delimiter=delimiter) if line]
        usual = max(set(widths), key=widths.count, default=1)
        score = (usual > 1) * widths.count(usual) / max(len(widths), 1) + min(usual, 20) / 1000
        if score > best_score:
            best, best_score = delimiter, score
    return best


def tables_as_text(name: str, parsed: ParsedTables, kind: FileKind) -> ExtractedDocument:
    """What is beside the tables, all tables' rows, a summary of each table, then the comments."""
    tables, warnings = parsed.tables, list(parsed.warnings)
    pages: list[Page] = []
    blocks: list[Block] = []
    setup: list[int] = []
    if parsed.fields:
        pages, blocks = _lines_page("Fields", parsed.fields, 1)
    for table in tables:
        role = suggested_role(table.columns, table.rows)
        for page, page_blocks in row_pages(table, len(pages) + 1):
            pages.append(page)
            blocks += page_blocks
            setup += [page.number] if role is TableRole.SETUP else []
        warnings += _limit_warnings(table)
    for table in tables:
        if table.rows:
            page, page_blocks = summary_page(table, len(pages) + 1, name)
            pages.append(page)
            blocks += page_blocks
    if parsed.comments:
        page_of_comments, comment_blocks = _lines_page("Comments", parsed.comments, len(pages) + 1)
        pages, blocks = pages + page_of_comments, blocks + comment_blocks
    left_out = sum(len(table.totals) for table in tables)
    if left_out:
        warnings.append(f"{left_out} totals {'row is' if left_out == 1 else 'rows are'} not counted in the summaries.")
    return ExtractedDocument(tuple(pages), tuple(blocks), kind, warnings=tuple(warnings), setup_pages=tuple(setup))


def _lines_page(label: str, lines: Sequence[str], number: int) -> tuple[list[Page], list[Block]]:
    writer = PageWriter(number, label)
    for line in lines:
        writer.add(line, BlockKind.PARAGRAPH)
    return [writer.page()], writer.blocks


def _limit_warnings(table: ParsedTable) -> Iterator[str]:
    """What of a table is beyond the limits of text and loaded tables."""
    if table.width > MOST_COLUMNS:
        yield f"{table.label} has more than {MOST_COLUMNS} columns; the first {MOST_COLUMNS} can be counted."
    elif table.width > TEXT_COLUMNS:
        yield f"{table.label}: the text of a row has its first {TEXT_COLUMNS} of {table.width} columns."
    if long := sum(len(cell) > MOST_VALUE_LETTERS for row in table.rows[:MOST_ROWS] for cell in row):
        yield (
            f"{table.label}: {long:,} {'cell is' if long == 1 else 'cells are'} longer than {MOST_VALUE_LETTERS}"
            " characters; the text of a row has the first of them."
        )
    if len(table.rows) > MOST_ROWS:
        yield (
            f"{table.label} has {len(table.rows):,} rows; the first {MOST_ROWS:,} can be found one by one, "
            "all are counted in its summary."
        )


_MOST_DEPTH = 4  # Chosen by hand, not fitted.


def json_tables(text: str) -> ParsedTables | None:
    """The tables in a JSON text, None if there are none or it is invalid; nested objects become "outer.inner" columns.

    >>> [table] = json_tables('[{"code": "REG", "rate": {"base": 1.5}}, {"code": "OT", "active": true}]').tables
    >>> table.columns, table.rows
    (('code', 'rate.base', 'active'), (('REG', '1.5', ''), ('OT', '', 'yes')))
    """
    read = _parsed_json(text)
    fields: dict[str, Any] = {}
    if isinstance(read, list):
        lists = [_json_table("Table", read)]
    elif isinstance(read, dict):
        found = {key: _json_table(f"Sheet: {clean(key).strip()}", value) for key, value in read.items()}
        lists = [*found.values()]
        fields = {key: value for key, value in read.items() if found[key] is None}
    else:
        return None
    tables = tuple(table for table in lists if table)
    warnings = tuple(_joined_warning(table) for table in tables if table.columns[-1] == OTHER_FIELDS)
    return ParsedTables(tables, warnings, tuple(_field_lines(fields))) if tables else None


def _field_lines(fields: Any, name: str = "", depth: int = 1) -> Iterator[str]:
    """Lines of text, one per value or list of numbers; texts of a list repeat its name.

    >>> [*_field_lines({"limits": {"hotel": 180}, "notes": ["Keep receipts.", "Ask first."], "years": [2024, 2025]})]
    ['limits.hotel: 180', 'notes: Keep receipts.', 'notes: Ask first.', 'years: [2024, 2025]']
    """
    if isinstance(fields, dict) and depth <= _MOST_DEPTH:
        for key, value in fields.items():
            yield from _field_lines(value, f"{name}.{clean(key).strip()}" if name else clean(key).strip(), depth + 1)
    elif isinstance(fields, list) and depth <= _MOST_DEPTH and all(isinstance(each, str | dict) for each in fields):
        for value in fields:
            yield from _field_lines(value, name, depth + 1)
    elif cell := _json_cell(fields):
        yield f"{name}: {cell}"


OTHER_FIELDS = "Other fields"
_MOST_CELLS = 10_000_000  # of a table of objects, filled or not. Chosen by hand, not fitted.
_LEAST_COLUMNS = 20  # however many rows it has. Chosen by hand, not fitted.


def _joined_warning(table: ParsedTable) -> str:
    return (
        f"{table.label} has too many fields for a column each: the {len(table.columns) - 1:,} that most rows have are"
        f" columns, and the others are text in the column “{OTHER_FIELDS}”."
    )


def _parsed_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None


def _json_table(label: str, values: Any) -> ParsedTable | None:
    if not isinstance(values, list) or not values or not all(isinstance(value, dict) for value in values):
        return None
    flat = [_flat_object(value) for value in values]
    times = Counter(name for row in flat for name in row)
    if not times:
        return None
    most = max(_LEAST_COLUMNS, min(TEXT_COLUMNS, _MOST_CELLS // len(flat)))
    columns = list(times)
    if len(columns) > most:
        chosen = {name for name, _ in times.most_common(most - 1)}
        columns = [name for name in columns if name in chosen]
        flat = [_with_others_joined(row, chosen) for row in flat]
        columns.append(OTHER_FIELDS)
    headers = tuple(clean(name).strip() or f"Column {at}" for at, name in enumerate(columns, 1))
    return ParsedTable(label, headers, tuple(tuple(row.get(name, "") for name in columns) for row in flat))


def _with_others_joined(row: Mapping[str, str], columns: Container[str]) -> dict[str, str]:
    """The row with its fields beyond the columns as one text.

    >>> _with_others_joined({"id": "1", "k7": "x", "k8": ""}, {"id"})
    {'id': '1', 'Other fields': 'k7: x'}
    """
    others = "; ".join(f"{clean(name)}: {value}" for name, value in row.items() if name not in columns and value)
    return {name: value for name, value in row.items() if name in columns} | {OTHER_FIELDS: others}


def _flat_object(value: Mapping[str, Any], before: str = "", depth: int = 1) -> dict[str, str]:
    row: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict) and depth < _MOST_DEPTH:
            row |= _flat_object(inner, f"{before}{name}.", depth + 1)
        else:
            row[f"{before}{name}"] = _json_cell(inner)
    return row


def _json_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).strip()


def parquet_tables(name: str, data: bytes) -> ParsedTables:
    """The table of a Parquet file. Raises EmptyFile, UnreadableFile."""
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        read = parquet.read_table(BytesIO(data))
        columns = [[cell_text(value) for value in column.to_pylist()] for column in read.columns]
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise UnreadableFile(f"'{name}' is damaged: {reason}.", "Export it again.") from error
    if not read.num_rows or not read.num_columns:
        raise EmptyFile(f"'{name}' contains no row.", "Export the table again.")
    headers = tuple(clean(header).strip() or f"Column {at}" for at, header in enumerate(read.column_names, 1))
    return ParsedTables((ParsedTable("Table", headers, tuple(zip(*columns, strict=True))),))
