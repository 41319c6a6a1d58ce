"""Rows for a spreadsheet: CSV and XLSX, with text that would run as a formula made inert."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from core.coverage.report import inert

__all__ = ["XLSX", "rows_csv", "rows_xlsx"]

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767
_MOST_DIGITS = 15  # a spreadsheet keeps no more of a number

Cells = Iterable[Sequence[object]]


def rows_csv(heads: Sequence[str], rows: Cells) -> str:
    """Rows as CSV with a header.

    >>> rows_csv(["name", "pay"], [("=1+1", Decimal("2.50")), (None, None)])
    "name,pay\\r\\n'=1+1,2.50\\r\\n,\\r\\n"
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([inert(head) for head in heads])
    writer.writerows([_text(cell) for cell in row] for row in rows)
    return out.getvalue()


def rows_xlsx(heads: Sequence[str], rows: Cells) -> bytes:
    """Rows as a workbook of one sheet."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    sheet.freeze_panes = "A2"
    head = [WriteOnlyCell(sheet, _value(each)) for each in heads]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    for row in rows:
        sheet.append([_value(cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _text(cell: object) -> object:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return "" if cell is None else inert(cell)


def _value(cell: object) -> Any:
    """A value a workbook can hold."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    match cell:
        case None | bool():
            return cell
        case int() | float() | Decimal():
            finite = cell == cell and abs(cell) != float("inf")
            return cell if finite and abs(cell) < 10**_MOST_DIGITS else str(cell)
        case datetime():
            return cell.replace(tzinfo=None)
        case date():
            return cell
    return inert(ILLEGAL_CHARACTERS_RE.sub(" ", str(cell))[:_MOST_LETTERS])
