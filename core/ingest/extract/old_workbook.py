"""Excel workbooks of the old kind (.xls) and OpenDocument spreadsheets: every sheet a table, by calamine."""

from io import BytesIO
from typing import Any

from core.errors import EmptyFile, UnreadableFile
from core.ingest.extract.delimited import tables_as_text
from core.ingest.extract.kinds import FileKind, spoken
from core.ingest.extract.merged import Area, Filling
from core.ingest.extract.package import check_package
from core.ingest.extract.shown import shown
from core.ingest.extract.tables import MOST_COLUMNS, Table, split_header
from core.ingest.extract.unlocking import needs_password
from core.ingest.extract.values import Extracted

__all__ = ["read_old_workbook"]


def read_old_workbook(name: str, data: bytes, kind: FileKind) -> Extracted:
    """Raises EmptyFile, EncryptedFile, FileTooCostly or UnreadableFile."""
    from python_calamine import CalamineError, PasswordError

    if kind is FileKind.ODS:
        check_package(name, data)
    try:
        tables = _tables(data)
    except PasswordError as error:
        raise needs_password(name) from error
    except (CalamineError, OSError, ValueError) as error:
        raise _damaged(name, kind) from error
    except BaseException as error:  # a panic of its Rust code, whose class no module exports
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged(name, kind) from error
    if not any(table.rows for table in tables):
        raise EmptyFile(f"'{name}' holds no cell with a value.", "Open it, look whether its cells are filled, save it.")
    return tables_as_text(name, tables, kind, [])


def _damaged(name: str, kind: FileKind) -> UnreadableFile:
    return UnreadableFile(
        f"'{name}' is {spoken(kind)} that is damaged: its sheets cannot be read.", "Save it again, or as .xlsx."
    )


def _tables(data: bytes) -> list[Table]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    tables = []
    with CalamineWorkbook.from_filelike(BytesIO(data)) as book:
        for sheet in book.sheets_metadata:
            lines = _lines(book.get_sheet_by_name(sheet.name)) if sheet.typ is SheetTypeEnum.WorkSheet else []
            if lines:
                begin, columns = split_header(lines)
                rows = tuple(map(tuple, lines[begin:]))
                tables.append(Table(f"Sheet: {sheet.name}", columns, rows, begin + 1, padded=True))
    return tables


def _lines(sheet: Any) -> list[list[str]]:
    """The rows that hold anything, as text; what a merged area shows stands in each of its rows."""
    areas = [
        Area(top + 1, left + 1, bottom + 1, right + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
    ]
    filling = Filling(areas)
    lines = []
    for number, row in enumerate(sheet.to_python(skip_empty_area=False), 1):
        line = [shown(value) for value in row[: MOST_COLUMNS + 1]]
        filling.fill(line, number)
        if any(line):
            lines.append(line)
    width = max((position + 1 for line in lines for position, cell in enumerate(line) if cell), default=0)
    return [line[:width] for line in lines]
