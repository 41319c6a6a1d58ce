"""Writing CSV and workbooks; text that a spreadsheet would run as a formula is escaped."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from core.formats.csv import csv_text, inert

__all__ = ["Sheet", "csv_bytes", "workbook_bytes"]

_MOST_LETTERS = 32_000  # characters; Excel's limit for a cell is 32,767


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table. widths: column widths in characters."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    widths: tuple[int, ...]


def csv_bytes(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as CSV in UTF-8 with the byte order mark that spreadsheets need; numbers keep full precision.

    >>> csv_bytes(["rank", "quote"], [(1, "=1+1"), (0.1, None)]).decode("utf-8-sig")
    '"rank","quote"\\r\\n"1","\\'=1+1"\\r\\n"0.1",""\\r\\n'
    """
    return csv_text([heads, *([_text(cell) for cell in row] for row in rows)]).encode("utf-8-sig")


def _text(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, date) else inert(cell)


def workbook_bytes(sheets: Sequence[Sheet]) -> bytes:
    """An .xlsx workbook; each sheet has a frozen header row and column filters."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    workbook = Workbook(write_only=True)
    for sheet in sheets:
        page = workbook.create_sheet(sheet.name)
        page.freeze_panes = "A2"
        page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.heads))}{len(sheet.rows) + 1}"
        for number, width in enumerate(sheet.widths, 1):
            page.column_dimensions[get_column_letter(number)].width = width
        head = [WriteOnlyCell(page, each) for each in sheet.heads]
        for cell in head:
            cell.font = Font(bold=True)
        page.append(head)
        for row in sheet.rows:
            cells = [WriteOnlyCell(page, _value(each)) for each in row]
            for cell in cells:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            page.append(cells)
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def _value(cell: Any) -> Any:
    """A valid cell value: no control characters, no time zone, not too long, no formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(cell, datetime):
        return cell.replace(tzinfo=None, microsecond=0)
    return inert(ILLEGAL_CHARACTERS_RE.sub(" ", cell)[:_MOST_LETTERS]) if isinstance(cell, str) else cell
