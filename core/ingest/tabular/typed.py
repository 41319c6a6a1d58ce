"""Tables of a file → typed tables on disk, ready for COPY: columns profiled, bad rows set aside with their reason."""

import csv
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from pathlib import Path

from core.documents import TableRole
from core.ingest.extract.roles import suggested_role
from core.ingest.extract.tables import MOST_COLUMNS, Table
from core.ingest.tabular.columns import Reading, personal_data, reading_of
from core.ingest.tabular.names import distinct_names, sql_name
from core.tabular import ROW_COLUMN, Column, ColumnType, ReadTable, Reject

__all__ = ["MOST_VALUES", "typed_tables"]

MOST_VALUES = 2_000
_MOST_REJECTS = 10_000
_TOP_VALUES = 10
_REJECTED_LETTERS = 200


def typed_tables(tables: Sequence[Table], folder: Path) -> tuple[ReadTable, ...]:
    """Every table that holds rows, written below `folder`."""
    filled = [table for table in tables if table.rows]
    return tuple(_typed(table, folder / f"table{number}.csv") for number, table in enumerate(filled))


def _typed(table: Table, path: Path) -> ReadTable:
    left_out = [(number, " · ".join(cell for cell in table.rows[number - 1] if cell)) for number in table.totals]
    numbers, rows, rejects = _fitting(table)
    headers = table.columns[: min(table.width, MOST_COLUMNS)]
    # Column by column: each distinct cell is understood once, and what is done per cell is done by C.
    columns = [list(map(itemgetter(at), rows)) for at in range(len(headers))]
    counts = [Counter(column) for column in columns]
    readings = [reading_of(header, count) for header, count in zip(headers, counts, strict=True)]
    meant = [_meanings(reading, count) for reading, count in zip(readings, counts, strict=True)]
    wrong = dict.fromkeys(_wrong_places(columns, meant))
    for place in wrong:
        reason = _wrong(headers, rows[place], meant, readings)
        rejects.append(_reject(numbers[place], reason, rows[place]))
    _write(path, numbers, columns, meant, wrong)
    if wrong:
        good = [place not in wrong for place in range(len(rows))]
        counts = [Counter(compress(column, good)) for column in columns]
    loaded = len(rows) - len(wrong)
    profiled = _profiled(headers, readings, counts, meant, loaded)
    rejects.sort(key=lambda reject: reject.row)
    role = suggested_role(table.columns, table.rows) or TableRole.RECORDS
    first = tuple(rejects[:_MOST_REJECTS])
    return ReadTable(table.label, profiled, loaded, str(path), first, len(rejects), tuple(left_out), role)


_WRONG = "\x00wrong"  # no cell can hold it: text is cleaned of control characters


def _fitting(table: Table) -> tuple[list[int], list[Sequence[str]], list[Reject]]:
    """The rows that fit the header, totals left out, all of one width; with their numbers. Then the others."""
    width, skipped = table.width, set(table.totals)
    numbers: list[int] = []
    rows: list[Sequence[str]] = []
    rejects: list[Reject] = []
    for number, row in enumerate(table.rows, 1):
        if number in skipped:
            continue
        if reason := "" if len(row) == width else table.misfit(row):
            rejects.append(_reject(number, reason, row))
        else:
            numbers.append(number)
            rows.append(row if len(row) >= width else (*row, *[""] * (width - len(row))))
    return numbers, rows, rejects


def _wrong_places(columns: Sequence[Sequence[str]], meant: Sequence[Mapping[str, str | None]]) -> list[int]:
    """Where rows stand that have a cell which is not of its column's type, in order."""
    places: set[int] = set()
    for column, meaning in zip(columns, meant, strict=True):
        if _WRONG in meaning.values():
            places.update(place for place, cell in enumerate(column) if meaning[cell] == _WRONG)
    return sorted(places)


def _write(
    path: Path,
    numbers: Sequence[int],
    columns: Sequence[Sequence[str]],
    meant: Sequence[Mapping[str, str | None]],
    wrong: Container[int],
) -> None:
    cells = [map(meaning.__getitem__, column) for column, meaning in zip(columns, meant, strict=True)]
    lines = enumerate(zip(numbers, *cells, strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(line for place, line in lines if place not in wrong)


def _meanings(reading: Reading, counts: Counter[str]) -> dict[str, str | None]:
    """Each distinct cell as PostgreSQL takes it: each is read once, however often it stands there."""
    meant: dict[str, str | None] = {}
    for cell in counts:
        if reading.empty(cell):
            meant[cell] = None
        else:
            value = reading.read(cell)
            meant[cell] = _WRONG if value is None else value
    return meant


def _reject(number: int, reason: str, row: Sequence[str]) -> Reject:
    return Reject(number, reason, tuple(cell[:_REJECTED_LETTERS] for cell in row[:MOST_COLUMNS]))


def _wrong(
    headers: Sequence[str],
    row: Sequence[str],
    meant: Sequence[Mapping[str, str | None]],
    readings: Sequence[Reading],
) -> str:
    told = zip(headers, row, meant, readings, strict=False)
    return "; ".join(
        f"{header}: '{cell[:60]}' is not {reading.expected}"
        for header, cell, meaning, reading in told
        if meaning[cell] == _WRONG
    )


def _profiled(
    headers: Sequence[str],
    readings: Sequence[Reading],
    counts: Sequence[Counter[str]],
    meant: Sequence[dict[str, str | None]],
    rows: int,
) -> tuple[Column, ...]:
    names = distinct_names(_free(sql_name(header)) for header in headers)
    columns: list[Column] = []
    for name, header, reading, raw, meaning in zip(names, headers, readings, counts, meant, strict=True):
        values: Counter[str] = Counter()
        for cell, times in raw.items():
            if (value := meaning[cell]) is not None:
                values[value] += times
        columns.append(_column(name, header, reading, values, rows, listed_first=not columns))
    return tuple(columns)


def _free(name: str) -> str:
    return f"{name}_column" if name == ROW_COLUMN else name


_NAMING = re.compile(r"(?i)(?:id|identifier|no|nr|nbr|num|number|code|cd|key|#)\W*$")


def _names_rows(header: str, reading: Reading) -> bool:
    """Whether different values name the rows: amounts can all be different too, but a number called so names."""
    return reading.type is ColumnType.TEXT or _NAMING.search(header) is not None


def _column(name: str, header: str, reading: Reading, values: Counter[str], rows: int, *, listed_first: bool) -> Column:
    filled = values.total()
    order = float if reading.type.numeric else str
    ends = (min(values, key=order), max(values, key=order)) if values else ("", "")
    listed = reading.type is ColumnType.TEXT and len(values) <= MOST_VALUES
    listed = listed and all(len(value) <= _REJECTED_LETTERS for value in values)
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    countable = reading.type in (ColumnType.TEXT, ColumnType.INTEGER)
    return Column(
        name=name,
        header=header,
        type=reading.type,
        filled=filled,
        distinct=len(values),
        least=ends[0][:_REJECTED_LETTERS],
        most=ends[1][:_REJECTED_LETTERS],
        top=tuple((value[:_REJECTED_LETTERS], times) for value, times in ranked[:_TOP_VALUES]),
        values=dict(ranked) if listed else {},
        key=countable and rows > 1 and filled == rows == len(values) and (listed_first or _names_rows(header, reading)),
        personal=personal_data(header, values),
        note=reading.note,
    )
