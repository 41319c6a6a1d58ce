"""Rows of an answer on the page: a table people can read, and the same rows to take away."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import streamlit as st

from core.reality.spoken import cell_in_words
from core.table_queries import Rows
from pages.parts.data.exports import XLSX, rows_csv, rows_xlsx
from pages.parts.data.heads import Head
from pages.parts.data.sizes import ROW_PIXELS, height

__all__ = ["columns_of", "downloads", "drawn", "is_number"]

_ROW_WIDTH = 64
_EXACT = 2**53  # a browser's numbers are whole up to here


def drawn(rows: Rows, heads: Sequence[Head], *, key: str) -> None:
    """The rows as a table; empty cells are left empty."""
    import pyarrow as pa

    columns = columns_of(rows, heads)
    st.dataframe(
        pa.table({name: _arrow(cells) for name, cells in columns.items()}),
        key=key,
        hide_index=True,
        placeholder="",
        row_height=ROW_PIXELS,
        height=height(len(rows.rows)),
        column_config={name: _config(cells, head) for (name, cells), head in zip(columns.items(), heads, strict=True)},
    )


def columns_of(rows: Rows, heads: Sequence[Head]) -> dict[str, list[Any]]:
    """Head → cells; equal heads are told apart by a number."""
    found: dict[str, list[Any]] = {}
    for place, head in enumerate(heads):
        name, number = head.words, 1
        while name in found:
            number += 1
            name = f"{head.words} ({number})"
        found[name] = _uniform([row[place] for row in rows.rows])
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
    return str(cell) if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else cell_in_words(cell)


def is_number(cell: object) -> bool:
    """Whether a browser can hold it as a number."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return False
    size = float(cell)
    return abs(size) <= _EXACT  # never so for what is not a number


def _arrow(cells: list[Any]) -> Any:
    import pyarrow as pa

    return pa.array(cells, pa.string()) if all(cell is None for cell in cells) else pa.array(cells)


def _config(cells: Sequence[Any], head: Head) -> Any:
    first = next((cell for cell in cells if cell is not None), None)
    if isinstance(first, datetime):
        return st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm")
    if isinstance(first, date):
        return st.column_config.DateColumn(format="YYYY-MM-DD")
    if isinstance(first, int | float):
        return st.column_config.NumberColumn(format=head.number, width=_ROW_WIDTH if head.words == "Row" else None)
    return st.column_config.TextColumn()


def downloads(heads: Sequence[str], cells: Callable[[], Sequence[Sequence[object]]], name: str, *, key: str) -> None:
    """The rows as CSV and as a workbook; nothing is made before it is asked for."""
    st.download_button(
        "CSV",
        lambda: rows_csv(heads, cells()),
        f"{name}.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=f"{key}.csv",
    )
    st.download_button(
        "Excel",
        lambda: rows_xlsx(heads, cells()),
        f"{name}.xlsx",
        XLSX,
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=f"{key}.xlsx",
    )
