"""Known answers computed by SQLite straight from the files, independently of how tables are loaded and asked."""

import csv
import re
import sqlite3
import statistics
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from core.domain.errors import BadRequest

__all__ = ["REFUSED", "known_answers"]

REFUSED = "unanswerable"
"""Instead of a statement: the question must be refused or handed back."""
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def known_answers(folder: Path, statements: Sequence[str]) -> list[dict[str, Any]]:
    """What each statement answers, in the form of TableQuestionReport.expected: one number or text, one column of keys,
    or label and number.

    Each file is a table of its name, a single one also called t. Columns of plain numbers are numbers, all others text,
    empty cells NULL. num(text) reads an amount, day(text, form) a date, median(number) is an aggregate. Raises
    BadRequest naming a wrong statement.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("num", 1, _amount)
        connection.create_function("day", 2, _day)
        connection.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
        paths = sorted(folder.glob("*.csv"))
        for path in paths:
            _load(connection, path)
        if len(paths) == 1:
            connection.execute(f'CREATE VIEW t AS SELECT * FROM "{paths[0].stem}"')
        return [_answer(connection, each) for each in statements]


def _load(connection: sqlite3.Connection, path: Path) -> None:
    text = path.read_text("utf-8")
    delimiter = max(",;\t", key=text.splitlines()[0].count)
    header, *rows = csv.reader(text.splitlines(), delimiter=delimiter)
    numeric = [all(_NUMBER.fullmatch(row[at]) for row in rows if row[at]) for at in range(len(header))]
    columns = ", ".join(f'"{name}"' for name in header)
    connection.execute(f'CREATE TABLE "{path.stem}" ({columns})')
    cells = (
        [float(cell) if number and cell else cell or None for cell, number in zip(row, numeric, strict=True)]
        for row in rows
    )
    connection.executemany(f'INSERT INTO "{path.stem}" VALUES ({", ".join("?" * len(header))})', cells)


def _answer(connection: sqlite3.Connection, statement: str) -> dict[str, Any]:
    if statement == REFUSED:
        return {"refused": True}
    try:
        rows = connection.execute(statement).fetchall()
    except sqlite3.Error as error:
        raise BadRequest(f"{statement}: {error}.", "Correct the statement.") from error
    if rows and len(rows[0]) == 2:
        return {"groups": {_label(label): number for label, number in rows if label is not None}}
    if len(rows) == 1 and isinstance(rows[0][0], int | float):
        return {"number": rows[0][0]}
    if len(rows) == 1:
        return {"value": rows[0][0]}
    return {"rows": [_label(key) for (key,) in rows], "total": len(rows)}


def _label(cell: object) -> str:
    return f"{cell:.12g}" if isinstance(cell, int | float) else str(cell)


def _amount(text: object) -> float | None:
    """
    >>> _amount("€1,250.50"), _amount(None)
    (1250.5, None)
    """
    return None if text is None else float(re.sub(r"[^\d.-]", "", str(text)))


def _day(text: str | None, form: str) -> str | None:
    return None if text is None else datetime.strptime(text, form).date().isoformat()


class _Median:
    """SQLite has no median."""

    def __init__(self) -> None:
        self._numbers: list[float] = []

    def step(self, number: float | None) -> None:
        """Take the number of one row."""
        if number is not None:
            self._numbers.append(number)

    def finalize(self) -> float | None:
        """The median of all rows."""
        return statistics.median(self._numbers) if self._numbers else None
