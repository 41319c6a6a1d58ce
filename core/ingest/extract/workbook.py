"""Excel workbooks: every sheet a table; shown values, not formulas."""

import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from core.errors import EmptyFile, UnreadableFile
from core.ingest.extract.delimited import tables_as_text
from core.ingest.extract.detect import FileKind
from core.ingest.extract.merged import Area, Filling, merged_areas
from core.ingest.extract.package import check_package
from core.ingest.extract.shown import shown
from core.ingest.extract.tables import MOST_COLUMNS, Table, split_header
from core.ingest.extract.values import Extracted

__all__ = ["read_workbook"]

_MOST_ROWS = 1_048_576
_EMPTY_ROWS_TO_STOP = 1_000


def read_workbook(name: str, data: bytes) -> Extracted:
    """Raises EmptyFile, FileTooCostly or UnreadableFile."""
    import openpyxl
    from lxml.etree import LxmlError
    from openpyxl.utils.exceptions import InvalidFileException

    check_package(name, data)
    tables = []
    try:
        book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            lines = _lines(sheet, merged_areas(data, getattr(sheet, "_worksheet_path", "")))
            if lines:
                begin, columns = split_header(lines)
                rows = tuple(map(tuple, lines[begin:]))
                tables.append(Table(f"Sheet: {sheet.title}", columns, rows, begin + 1, padded=True))
        book.close()
    except (
        InvalidFileException, LxmlError, zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError,
        AttributeError, EOFError, OSError, SyntaxError,
    ) as error:  # fmt: skip
        raise UnreadableFile(
            f"'{name}' is damaged: its sheets cannot be read ({type(error).__name__}).", "Save it again from Excel."
        ) from error
    if not any(table.rows for table in tables):
        raise EmptyFile(
            f"'{name}' holds no cell with a value.", "If its cells are formulas, open and save it in Excel."
        )
    return tables_as_text(name, tables, FileKind.XLSX, [])


def _lines(sheet: Any, merged: Sequence[Area]) -> list[list[str]]:
    """The sheet's rows that hold anything, as text, without empty columns at the right. What a merged area shows stands
    in each of its rows: a department written once beside five rows is the department of all five."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()
    lines: list[list[str]] = []
    empty = 0
    filling = Filling(merged)
    for number, row in enumerate(sheet.iter_rows(max_row=_MOST_ROWS, values_only=True), 1):
        line = [shown(value) for value in row[: MOST_COLUMNS + 1]]
        filling.fill(line, number)
        if any(line):
            lines.append(line)
            empty = 0
        elif (empty := empty + 1) > _EMPTY_ROWS_TO_STOP:
            break
    width = max((position + 1 for line in lines for position, cell in enumerate(line) if cell), default=0)
    return [line[:width] for line in lines]
