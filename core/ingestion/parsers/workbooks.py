"""Parses workbooks: Excel with openpyxl, old Excel and OpenDocument with calamine; one table of values per sheet."""
# Over 300 lines: both readers make the same tables of cells that they show differently.

import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from core.domain.errors import EmptyFile, UnreadableFile
from core.ingestion.parsers.annotations import comment_text
from core.ingestion.parsers.cell_format import number_text, plain_number
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.damaged_parts import read_undamaged_parts
from core.ingestion.parsers.decrypt import needs_password
from core.ingestion.parsers.file_kinds import FileKind, kind_name
from core.ingestion.parsers.ooxml import check_package
from core.ingestion.parsers.sheet_xml import MergedArea, SheetDetails, hidden_warnings, sheet_comments, sheet_details
from core.ingestion.parsers.table_headers import split_header
from core.ingestion.parsers.table_text import MOST_COLUMNS, ParsedTable, ParsedTables
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["MergedCellFiller", "cell_text", "old_workbook_tables", "workbook_tables"]


def cell_text(value: object) -> str:
    """A cell as text: ISO dates, hours and minutes, whole numbers without '.0'."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case bytes():
            return value.hex()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case timedelta() if not value.microseconds:
            return _duration(value)
        case float():
            return plain_number(value)
        case _:
            return clean(str(value)).strip()


def _duration(value: timedelta) -> str:
    """
    >>> _duration(timedelta(hours=36, minutes=30)), _duration(-timedelta(seconds=90))
    ('36:30', '-0:01:30')
    """
    minutes, seconds = divmod(abs(value) // timedelta(seconds=1), 60)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}{f':{seconds:02}' if seconds else ''}"


class MergedCellFiller:
    """Repeats merged values in every row they span; expects rows in order. Single-row merges are titles, unchanged."""

    def __init__(self, areas: Iterable[MergedArea]) -> None:
        self._beginning: defaultdict[int, list[MergedArea]] = defaultdict(list)
        for area in areas:
            if area.top < area.bottom:
                self._beginning[area.top].append(area)
        self._shown: dict[MergedArea, str] = {}

    def fill(self, line: list[str], number: int) -> None:
        """Fills a row from merged cells that began above it. number: 1-based."""
        if self._shown:
            self._shown = {area: text for area, text in self._shown.items() if number <= area.bottom}
            for area, text in self._shown.items():
                line += [""] * (area.left - len(line))
                line[area.left - 1] = text
        for area in self._beginning.get(number, ()):
            if area.left <= len(line) and line[area.left - 1]:
                self._shown[area] = line[area.left - 1]


_DURATION = re.compile(r"(-?)PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:[.,]\d+)?)S)?")


def workbook_tables(name: str, data: bytes) -> ParsedTables:
    """One table per sheet. Raises EmptyFile, FileTooCostly or UnreadableFile."""
    from lxml.etree import LxmlError
    from openpyxl.utils.exceptions import InvalidFileException

    check_package(name, data)
    errors = damage(InvalidFileException, LxmlError)
    try:
        return read_undamaged_parts(data, lambda package: _workbook(name, package), errors)
    except errors as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its sheets cannot be read ({type(error).__name__}).", "Save it again from Excel."
        ) from error


def _workbook(name: str, data: bytes) -> ParsedTables:
    """Raises EmptyFile, and what the libraries raise for a damaged file."""
    import openpyxl

    workbook = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
    sheets = [_sheet(sheet, data) for sheet in workbook.worksheets]
    hidden = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state != "visible"]
    workbook.close()
    tables = [sheet.table for sheet in sheets if sheet.table]
    if not any(table.rows for table in tables):
        raise EmptyFile(
            f"'{name}' contains no cell with a value.", "If its cells are formulas, open and save it in Excel."
        )
    unsaved = sum(len(sheet.details.unsaved) for sheet in sheets)
    warnings = [_unsaved_warning(unsaved)] if unsaved else []
    warnings += hidden_warnings(hidden, [sheet.title for sheet in sheets if sheet.hides], len(sheets))
    comments = tuple(comment for sheet in sheets for comment in sheet.comments)
    return ParsedTables(tuple(tables), tuple(warnings), comments=comments)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet as read. table: None if it is empty. hides: whether it hides rows or columns with values."""

    title: str
    table: ParsedTable | None
    details: SheetDetails
    comments: tuple[str, ...]
    hides: bool = False


def _sheet(sheet: Any, data: bytes) -> _Sheet:
    """A sheet, each of its comments with the row that it is about."""
    path = getattr(sheet, "_worksheet_path", "")
    details, remarks = sheet_details(data, path), sheet_comments(data, path)
    about = dict.fromkeys((each.row for each in remarks), "")
    lines = _openpyxl_lines(sheet, details, about)
    comments = tuple(
        comment_text(each.author, each.text, f"{sheet.title} {each.cell}: {about[each.row]}")
        if each.cell
        else f"Text box on {sheet.title}: {' '.join(each.text.split())}"
        for each in remarks
    )
    if not lines:
        return _Sheet(sheet.title, None, details, comments)
    begin, columns, above = split_header(lines)
    rows, formulas = tuple(map(tuple, lines[begin:])), frozenset(details.unsaved)
    table = ParsedTable(f"Sheet: {sheet.title}", columns, rows, begin + 1, True, above=above, formulas=formulas)
    hides = details.hidden_rows or 0 < details.hidden_column <= len(lines[0])
    return _Sheet(sheet.title, table, details, comments, hides)


def _unsaved_warning(cells: int) -> str:
    count = "1 cell is a formula" if cells == 1 else f"{cells:,} cells are formulas"
    return f"{count} without a saved result. Open the file in Excel, save it, and upload it again."


def _openpyxl_lines(sheet: Any, details: SheetDetails, about: dict[int, str]) -> list[list[str]]:
    """The non-empty rows as text, without empty columns at the right. Merged values are repeated in each row: a
    department written once beside five rows applies to all five. about: by row (1-based), filled with its cells."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()
    lines: list[list[str]] = []
    filling = MergedCellFiller(details.merged)
    for number, row in enumerate(sheet.iter_rows(max_row=details.last_row or 1), 1):
        line = [_formatted(cell) for cell in row[: MOST_COLUMNS + 1]]
        filling.fill(line, number)
        if number in about:
            about[number] = " | ".join(filter(None, line))
        if any(line):
            lines.append(line)
    width = max((position + 1 for line in lines for position, cell in enumerate(line) if cell), default=0)
    return [line[:width] for line in lines]


def _formatted(cell: Any) -> str:
    value = cell.value
    styled = type(value) in (int, float) and cell.has_style
    return number_text(value, cell.number_format) if styled else cell_text(value)


def old_workbook_tables(name: str, data: bytes, kind: FileKind) -> ParsedTables:
    """One table per sheet. Raises EmptyFile, EncryptedFile, FileTooCostly or UnreadableFile."""
    from python_calamine import CalamineError, PasswordError

    try:
        if kind is FileKind.ODS:
            check_package(name, data)
            _check_markup(data)
        else:
            _check_records(data)
        tables, warnings = _calamine_tables(data)
    except PasswordError as error:
        raise needs_password(name) from error
    except damage(CalamineError) as error:
        raise _damaged_workbook(name, kind) from error
    except BaseException as error:  # a panic in calamine's Rust code; no module exports its class
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged_workbook(name, kind) from error
    if not any(table.rows for table in tables):
        raise EmptyFile(
            f"'{name}' contains no cell with a value.", "Open it, look whether its cells are filled, save it."
        )
    return ParsedTables(tuple(tables), tuple(warnings))


def _check_markup(data: bytes) -> None:
    """ValueError unless the cells are well-formed XML: calamine looks for a missing closing tag for ever."""
    from lxml.etree import LxmlError, iterparse

    try:
        with zipfile.ZipFile(BytesIO(data)) as package, package.open("content.xml") as part:
            for _, element in iterparse(part, resolve_entities=False, no_network=True, huge_tree=True):
                element.clear()
    except LxmlError as error:
        raise ValueError(str(error)) from error


_CELL_RECORDS = frozenset({0x06, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x27E})
_XLS_COLUMNS = 256
_MOST_ROOM, _MOST_ROOM_PER_CELL = 2_000_000, 200  # chosen by hand, not fitted


def _check_records(data: bytes) -> None:
    """ValueError for what calamine would fill any memory with: sectors following each other in a circle, a cell beyond
    the 256 columns an .xls can have ([MS-XLS] 2.5.17), and a few cells far apart, since it makes room for all between
    them."""
    from olefile import OleFileIO

    with OleFileIO(BytesIO(data)) as package:
        _check_chains(package.fat)
        _check_header(data)
        stream = next((each for each in ("Workbook", "Book") if package.exists(each)), None)
        if stream is None or package.get_size(stream) > len(data):
            raise ValueError("no workbook stream")
        records = package.openstream(stream).read()
    offset = cells = bottom = right = 0
    while offset + 8 <= len(records):
        kind, length, row, column = struct.unpack_from("<4H", records, offset)
        if kind in _CELL_RECORDS and length >= 4:
            cells, bottom, right = cells + 1, max(bottom, row + 1), max(right, column + 1)
        offset += 4 + length
    if right > _XLS_COLUMNS or bottom * right > max(_MOST_ROOM, _MOST_ROOM_PER_CELL * cells):
        raise ValueError("cells too far apart")


_LAST_SECTOR = 0xFFFFFFFA  # numbers above are marks, such as the end of a chain


def _check_header(data: bytes) -> None:
    """ValueError for a list of allocation sectors that does not end where the header says ([MS-CFB] 2.5)."""
    size = 1 << struct.unpack_from("<H", data, 30)[0]
    at, count = struct.unpack_from("<II", data, 68)
    for _ in range(count + 1):
        if at >= _LAST_SECTOR:
            return
        [at] = struct.unpack_from("<I", data, (at + 2) * size - 4)
    raise ValueError("sectors in a circle")


def _check_chains(following: Sequence[int]) -> None:
    """ValueError for a circle. following: of each sector, the number of the next one.

    >>> _check_chains([1, 2, 0xFFFFFFFE])
    >>> _check_chains([1, 2, 1])
    Traceback (most recent call last):
    ValueError: sectors in a circle
    """
    seen = [0] * len(following)  # by which walk
    for walk, at in enumerate(range(len(following)), 1):
        while at < len(following) and not seen[at]:
            seen[at], at = walk, following[at]
        if at < len(following) and seen[at] == walk:
            raise ValueError("sectors in a circle")


def _damaged_workbook(name: str, kind: FileKind) -> UnreadableFile:
    return UnreadableFile(
        f"'{name}' is {kind_name(kind)} that is damaged: its sheets cannot be read.", "Save it again, or as .xlsx."
    )


def _calamine_tables(data: bytes) -> tuple[list[ParsedTable], list[str]]:
    """The tables, and warnings about hidden sheets."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    tables = []
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        sheets = workbook.sheets_metadata
        hidden = [sheet.name for sheet in sheets if sheet.visible is not SheetVisibleEnum.Visible]
        for sheet in sheets:
            lines = (
                _calamine_lines(workbook.get_sheet_by_name(sheet.name)) if sheet.typ is SheetTypeEnum.WorkSheet else []
            )
            if lines:
                begin, columns, above = split_header(lines)
                rows = tuple(map(tuple, lines[begin:]))
                tables.append(ParsedTable(f"Sheet: {sheet.name}", columns, rows, begin + 1, padded=True, above=above))
    return tables, hidden_warnings(hidden, (), len(sheets))


def _with_duration(value: object) -> object:
    """A duration that calamine gives as text (ISO 8601) as a time span, or the value itself.

    >>> _with_duration("PT36H30M00S"), _with_duration("PTA")
    (datetime.timedelta(days=1, seconds=45000), 'PTA')
    """
    found = _DURATION.fullmatch(value) if isinstance(value, str) and value.startswith(("PT", "-PT")) else None
    if found is None:
        return value
    span = timedelta(
        hours=int(found[2] or 0), minutes=int(found[3] or 0), seconds=round(float((found[4] or "0").replace(",", ".")))
    )
    return -span if found[1] else span


def _calamine_lines(sheet: Any) -> list[list[str]]:
    """The non-empty rows as text; merged values are repeated in each row."""
    areas = [
        MergedArea(top + 1, left + 1, bottom + 1, right + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
    ]
    filling = MergedCellFiller(areas)
    lines = []
    for number, row in enumerate(sheet.to_python(skip_empty_area=False), 1):
        line = [cell_text(_with_duration(value)) for value in row[: MOST_COLUMNS + 1]]
        filling.fill(line, number)
        if any(line):
            lines.append(line)
    width = max((position + 1 for line in lines for position, cell in enumerate(line) if cell), default=0)
    return [line[:width] for line in lines]
