"""Rows of an answer: column labels, the table on the page, and CSV and XLSX downloads."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import streamlit as st

from core.domain.dataset_queries import AggregateMeasure, Aggregation, ColumnRef, Grouping, Rows, TableQuery
from core.domain.datasets import ROW_COLUMN, ColumnType, RealityTable
from core.formats.csv import csv_text, inert
from core.table_qa.join_paths import is_amount
from core.table_qa.query_description import format_cell

__all__ = [
    "HEAD_PIXELS",
    "LISTED",
    "ROW_PIXELS",
    "XLSX",
    "ColumnLabel",
    "column_labels",
    "columns_of",
    "downloads",
    "draw_rows",
    "height",
    "is_number",
    "readable",
    "rows_csv",
    "rows_xlsx",
    "sql_column_labels",
]

HEAD_PIXELS, ROW_PIXELS = 38, 32  # the heights st.dataframe draws
LISTED = 14
"""Rows of an answer that are seen without scrolling."""


def height(rows: int, most: int = LISTED) -> int | Literal["content"]:
    """The height of a table of which at most so many rows are seen at once.

    >>> height(3), height(200, 10)
    ('content', 358)
    """
    return "content" if rows <= most else HEAD_PIXELS + ROW_PIXELS * most


_FOLDS = {
    Aggregation.SUM: "Total",
    Aggregation.AVERAGE: "Average",
    Aggregation.MEDIAN: "Median",
    Aggregation.LEAST: "Lowest",
    Aggregation.MOST: "Highest",
    Aggregation.DISTINCT: "Different values of",
    Aggregation.COUNT: "Filled",
}


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """words: what stands above a column. number: the format of a Streamlit number column, None for its own."""

    words: str
    number: str | None = None


def readable(header: str) -> str:
    """A header as words; one that is written for people stays as it is.

    >>> readable("pay_rate"), readable("Pay Rate (USD)"), readable("employeeId")
    ('Pay rate', 'Pay Rate (USD)', 'employeeId')
    """
    for_programs = header == header.lower() and ("_" in header.strip("_") or header.isalpha())
    return header.replace("_", " ").strip().capitalize() if for_programs else header


def column_labels(query: TableQuery, rows: Rows, tables: Sequence[RealityTable]) -> tuple[ColumnLabel, ...]:
    """One head per column of an answer."""
    known = {table.name: table for table in tables}
    known |= {join.alias: known[join.table] for join in query.joins if join.table in known}
    if query.groups or query.measures:
        labels = [_group_label(each, known) for each in query.groups] + [
            _measure_label(each, query, known) for each in query.measures
        ]
    else:
        labels = [] if query.distinct else [ColumnLabel("Row", "%d")]
        labels += [_column_label(ref, query, known) for ref in query.columns]
    return tuple(labels) if len(labels) == len(rows.columns) else sql_column_labels(rows)


def sql_column_labels(rows: Rows) -> tuple[ColumnLabel, ...]:
    """The names SQL gave the columns."""
    return tuple(ColumnLabel("Row" if name == ROW_COLUMN else name) for name in rows.columns)


def _column_label(ref: ColumnRef, query: TableQuery, known: Mapping[str, RealityTable]) -> ColumnLabel:
    words = _column_words(ref, known)
    return ColumnLabel(words if ref.table == query.table else f"{ref.table} · {words}", _number_format(ref, known))


def _group_label(group: Grouping, known: Mapping[str, RealityTable]) -> ColumnLabel:
    words = _column_words(group.ref, known)
    return (
        ColumnLabel(f"{group.part.value.capitalize()} of {words.lower()}", "%d")
        if group.part
        else ColumnLabel(words, "plain")
    )


def _measure_label(measure: AggregateMeasure, query: TableQuery, known: Mapping[str, RealityTable]) -> ColumnLabel:
    if measure.aggregation is Aggregation.SHARE:
        return ColumnLabel("Share", "percent")
    if measure.ref is None:
        return ColumnLabel(f"Rows of {query.table}", "localized")
    words = _column_words(measure.ref, known)
    counted = measure.aggregation in (Aggregation.COUNT, Aggregation.DISTINCT)
    return ColumnLabel(
        f"{_FOLDS[measure.aggregation]} {words.lower()}", "localized" if counted else _number_format(measure.ref, known)
    )


def _column_words(ref: ColumnRef, known: Mapping[str, RealityTable]) -> str:
    table = known.get(ref.table)
    column = table.column(ref.column) if table else None
    return readable(column.header if column else ref.column)


def _number_format(ref: ColumnRef, known: Mapping[str, RealityTable]) -> str | None:
    """Thousands are parted in amounts, never in numbers that name something (a year, a cost centre)."""
    table = known.get(ref.table)
    column = table.column(ref.column) if table else None
    if table is None or column is None or not column.type.numeric:
        return None
    if column.type is ColumnType.MONEY:
        return "accounting"
    return "localized" if is_amount(table, column) else "plain"


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767
_MOST_DIGITS = 15  # a spreadsheet keeps no more of a number

Cells = Iterable[Sequence[object]]


def rows_csv(labels: Sequence[str], rows: Cells) -> str:
    """Rows as CSV with a header.

    >>> rows_csv(["name", "pay"], [("=1+1", Decimal("2.50")), (None, None)])
    '"name","pay"\\r\\n"\\'=1+1","2.50"\\r\\n"",""\\r\\n'
    """
    return csv_text([labels, *([_csv_cell(cell) for cell in row] for row in rows)])


def rows_xlsx(labels: Sequence[str], rows: Cells) -> bytes:
    """Rows as a workbook of one sheet."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Rows")
    sheet.freeze_panes = "A2"
    head = [WriteOnlyCell(sheet, _xlsx_cell(each)) for each in labels]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    for row in rows:
        sheet.append([_xlsx_cell(cell) for cell in row])
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def _csv_cell(cell: object) -> object:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return "" if cell is None else inert(cell)


def _xlsx_cell(cell: object) -> Any:
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


_ROW_WIDTH = 64  # pixels of the row number
_EXACT = 2**53  # a browser's numbers are whole up to here


def draw_rows(rows: Rows, labels: Sequence[ColumnLabel], *, key: str) -> None:
    """The rows as a table; empty cells are left empty."""
    import pyarrow as pa

    columns = columns_of(rows, labels)
    st.dataframe(
        pa.table({name: _arrow(cells) for name, cells in columns.items()}),
        key=key,
        hide_index=True,
        placeholder="",
        row_height=ROW_PIXELS,
        height=height(len(rows.rows)),
        column_config={name: _config(cells, head) for (name, cells), head in zip(columns.items(), labels, strict=True)},
    )


def columns_of(rows: Rows, labels: Sequence[ColumnLabel]) -> dict[str, list[Any]]:
    """Head → cells; equal labels get a number."""
    found: dict[str, list[Any]] = {}
    for index, head in enumerate(labels):
        name, number = head.words, 1
        while name in found:
            number += 1
            name = f"{head.words} ({number})"
        found[name] = _uniform([row[index] for row in rows.rows])
    return found


def _uniform(cells: list[Any]) -> list[Any]:
    """Cells of one kind: numbers, days, moments or text. What a browser would round is text."""
    filled = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in filled}
    if kinds <= {int, float, Decimal} and all(is_number(cell) for cell in filled):
        if kinds <= {int}:
            return cells
        return [None if cell is None else float(cell) for cell in cells]
    if kinds <= {date} or kinds <= {datetime} or kinds <= {str}:
        return cells
    return [None if cell is None else _text(cell) for cell in cells]


def _text(cell: Any) -> str:
    return str(cell) if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else format_cell(cell)


def is_number(cell: object) -> bool:
    """Whether a browser can hold it as a number."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return False
    size = float(cell)
    return abs(size) <= _EXACT  # never so for what is not a number


def _arrow(cells: list[Any]) -> Any:
    import pyarrow as pa

    return pa.array(cells, pa.string()) if all(cell is None for cell in cells) else pa.array(cells)


def _config(cells: Sequence[Any], head: ColumnLabel) -> Any:
    first = next((cell for cell in cells if cell is not None), None)
    if isinstance(first, datetime):
        return st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm")
    if isinstance(first, date):
        return st.column_config.DateColumn(format="YYYY-MM-DD")
    if isinstance(first, int | float):
        return st.column_config.NumberColumn(format=head.number, width=_ROW_WIDTH if head.words == "Row" else None)
    return st.column_config.TextColumn()


def downloads(labels: Sequence[str], cells: Callable[[], Sequence[Sequence[object]]], name: str, *, key: str) -> None:
    """The rows as CSV and as a workbook; nothing is made before it is asked for."""
    st.download_button(
        "CSV",
        lambda: rows_csv(labels, cells()),
        f"{name}.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=f"{key}.csv",
    )
    st.download_button(
        "Excel",
        lambda: rows_xlsx(labels, cells()),
        f"{name}.xlsx",
        XLSX,
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=f"{key}.xlsx",
    )
