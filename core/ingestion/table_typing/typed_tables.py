"""Writes a file's tables to disk as typed tables, ready for COPY: columns named and profiled, bad rows rejected."""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from pathlib import Path, PurePath

from core.domain.datasets import ROW_COLUMN, Column, ColumnType, ReadTable, Reject
from core.domain.documents import TableRole
from core.ingestion.parsers.table_text import MOST_COLUMNS, ParsedTable
from core.ingestion.table_typing.columns import ColumnReading, personal_data

__all__ = ["MOST_VALUES", "distinct_names", "sql_name", "suggested_role", "table_name", "typed_tables"]

_LONGEST = 50  # Characters; PostgreSQL identifiers are limited to 63 bytes.

_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")

_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}")

# PostgreSQL 18: reserved words that need quotes as column or table names (appendix C), then system columns (5.6).
_RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate"
    " collation column concurrently constraint create cross current_catalog current_date current_role"
    " current_schema current_time current_timestamp current_user default deferrable desc distinct do else end"
    " except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into"
    " is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on"
    " only or order outer overlaps placing primary references returning right select session_user similar some"
    " symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when"
    " where window with"
    " tableoid xmin cmin xmax cmax ctid".split()
)


def sql_name(text: str, otherwise: str = "column_") -> str:
    """A header as an unquoted SQL name: lower-case letters, digits and underscores, no reserved word.

    >>> sql_name("2020 Overtime Pay"), sql_name("WorkTimeStart"), sql_name("Order"), sql_name("名前")
    ('_2020_overtime_pay', 'work_time_start', 'order_', 'column_')
    """
    plain = unicodedata.normalize("NFKD", _SEAM.sub("_", text).replace("ß", "ss").replace("%", " percent "))
    plain = plain.encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")[:_LONGEST].strip("_") or otherwise
    if name[0].isdigit() or name.startswith("pg_"):  # unqualified pg_class resolves to the system catalog first
        name = f"_{name}"
    return f"{name}_" if name in _RESERVED else name


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, with later duplicates numbered.

    >>> distinct_names(["pay", "name", "pay"])
    ['pay', 'name', 'pay_2']
    """
    taken: set[str] = set()
    unique = []
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        unique.append(free)
    return unique


def table_name(file_name: str, sheet: str = "") -> str:
    """A table name from a file name, without parts that look like a hash.

    >>> table_name("86c9e325__Employee_Salaries_-_2020.csv"), table_name("plan.v2.xlsx", "Rates 2025")
    ('employee_salaries_2020', 'plan_v2_rates_2025')
    """
    stem = "_".join(part for part in re.split(r"[^\w]+|_+", PurePath(file_name).stem) if not _HASH.fullmatch(part))
    return sql_name(f"{stem} {sheet}".strip(), "table_")


_MOST_SETUP_ROWS = 500  # This and the limits below were chosen by hand, not fitted.

_KEY_COLUMNS = 2  # first columns, among which a key of codes is looked for

_CODE = re.compile(r"(?=.*[A-Z])[A-Z0-9][A-Z0-9_./+-]{0,15}")

_NUMBERED = re.compile(r"([A-Z]*)[-_]?\d{3,}")

_MOSTLY = 0.8  # share of codes in a column of codes

_NEARLY_ALL = 0.9  # share of filled, and of distinct, values in a column of descriptions

_DESCRIBING_WORDS = 1.5  # mean words of a description


def suggested_role(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> TableRole | None:
    """SETUP for a short table of distinct codes with descriptions; None if unclear.

    Numbered keys (E1001, E1002 …) identify records, so such a table is never SETUP. Favours precision: a records table
    taken for setup would hide a gap.

    >>> suggested_role(["code", "text"], [["REG", "Regular pay"], ["OT15", "Overtime at 1.5"], ["HOL", "Paid holiday"]])
    <TableRole.SETUP: 'setup'>
    >>> suggested_role(["id", "name"], [["E1001", "Ann Lee"], ["E1002", "Bo Ray"], ["E1003", "Cy Fox"]]) is None
    True
    """
    if not 2 <= len(rows) <= _MOST_SETUP_ROWS or len(columns) < 2:
        return None
    values = [[(row[at].strip() if at < len(row) else "") for row in rows] for at in range(len(columns))]
    keyed = any(_is_key(column) for column in values[:_KEY_COLUMNS])
    described = any(_describes(column) for column in values)
    return TableRole.SETUP if keyed and described else None


def _is_key(column: Sequence[str]) -> bool:
    if len(set(column)) < len(column) or not all(column):
        return False
    codes = sum(_CODE.fullmatch(value) is not None for value in column)
    numbered = Counter(match.group(1) for value in column if (match := _NUMBERED.fullmatch(value)))
    return codes >= _MOSTLY * len(column) and max(numbered.values(), default=0) < len(column) / 2


def _describes(column: Sequence[str]) -> bool:
    filled = [value for value in column if value]
    if len(filled) < _NEARLY_ALL * len(column) or len(set(filled)) < _NEARLY_ALL * len(filled):
        return False
    worded = [len(re.findall(r"[^\W\d_]{2,}", value)) for value in filled]
    return all(worded) and sum(worded) / len(worded) >= _DESCRIBING_WORDS


MOST_VALUES = 2_000  # This and the limits below were chosen by hand, not fitted.

_MOST_REJECTS = 10_000  # rejected rows listed per table

_TOP_VALUES = 10  # most frequent values per column

_REJECTED_LETTERS = 200  # per listed cell or value


def typed_tables(tables: Sequence[ParsedTable], folder: Path) -> tuple[ReadTable, ...]:
    """All tables with rows, written below `folder`."""
    filled = [table for table in tables if table.rows]
    return tuple(_typed(table, folder / f"table{number}.csv") for number, table in enumerate(filled))


def _typed(table: ParsedTable, path: Path) -> ReadTable:
    left_out = [(number, " · ".join(cell for cell in table.rows[number - 1] if cell)) for number in table.totals]
    numbers, rows, rejects = _fitting(table)
    headers = table.columns[: min(table.width, MOST_COLUMNS)]
    # Column by column: each distinct cell is parsed once, and the per-cell work runs in C.
    columns = [list(map(itemgetter(at), rows)) for at in range(len(headers))]
    counts = [Counter(column) for column in columns]
    readings = table.readings[: len(headers)]
    typed_values = [_meanings(reading, count) for reading, count in zip(readings, counts, strict=True)]
    wrong = dict.fromkeys(_wrong_places(columns, typed_values))
    for index in wrong:
        reason = _wrong(headers, rows[index], typed_values, readings)
        rejects.append(_reject(numbers[index], reason, rows[index]))
    _write(path, numbers, columns, typed_values, wrong)
    if wrong:
        good = [index not in wrong for index in range(len(rows))]
        counts = [Counter(compress(column, good)) for column in columns]
    loaded = len(rows) - len(wrong)
    profiled = _profiled(headers, readings, counts, typed_values, loaded)
    rejects.sort(key=lambda reject: reject.row)
    role = suggested_role(table.columns, table.rows) or TableRole.RECORDS
    first = tuple(rejects[:_MOST_REJECTS])
    return ReadTable(table.label, profiled, loaded, str(path), first, len(rejects), tuple(left_out), role)


_WRONG = "\x00wrong"  # cannot occur in a cell: cleaning removes control characters


def _fitting(table: ParsedTable) -> tuple[list[int], list[Sequence[str]], list[Reject]]:
    """Rows that fit the header, padded to one width, without totals, with their numbers; then the rejected rows."""
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


def _wrong_places(columns: Sequence[Sequence[str]], typed_values: Sequence[Mapping[str, str | None]]) -> list[int]:
    """Indexes, in order, of rows with a cell that does not fit its column's type."""
    row_numbers: set[int] = set()
    for column, meaning in zip(columns, typed_values, strict=True):
        if _WRONG in meaning.values():
            row_numbers.update(index for index, cell in enumerate(column) if meaning[cell] == _WRONG)
    return sorted(row_numbers)


def _write(
    path: Path,
    numbers: Sequence[int],
    columns: Sequence[Sequence[str]],
    typed_values: Sequence[Mapping[str, str | None]],
    wrong: Container[int],
) -> None:
    cells = [map(meaning.__getitem__, column) for column, meaning in zip(columns, typed_values, strict=True)]
    lines = enumerate(zip(numbers, *cells, strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(line for number, line in lines if number not in wrong)


def _meanings(reading: ColumnReading, counts: Counter[str]) -> dict[str, str | None]:
    """Distinct cell → PostgreSQL input; each distinct cell is parsed once."""
    values: dict[str, str | None] = {}
    for cell in counts:
        if reading.empty(cell):
            values[cell] = None
        else:
            value = reading.read(cell)
            values[cell] = _WRONG if value is None else value
    return values


def _reject(number: int, reason: str, row: Sequence[str]) -> Reject:
    return Reject(number, reason, tuple(cell[:_REJECTED_LETTERS] for cell in row[:MOST_COLUMNS]))


def _wrong(
    headers: Sequence[str],
    row: Sequence[str],
    typed_values: Sequence[Mapping[str, str | None]],
    readings: Sequence[ColumnReading],
) -> str:
    cells = zip(headers, row, typed_values, readings, strict=False)
    return "; ".join(
        f"{header}: '{cell[:60]}' is not {reading.expected}"
        for header, cell, meaning, reading in cells
        if meaning[cell] == _WRONG
    )


def _profiled(
    headers: Sequence[str],
    readings: Sequence[ColumnReading],
    counts: Sequence[Counter[str]],
    typed_values: Sequence[dict[str, str | None]],
    rows: int,
) -> tuple[Column, ...]:
    names = distinct_names(_free(sql_name(header)) for header in headers)
    columns: list[Column] = []
    for name, header, reading, raw, meaning in zip(names, headers, readings, counts, typed_values, strict=True):
        values: Counter[str] = Counter()
        for cell, times in raw.items():
            if (value := meaning[cell]) is not None:
                values[value] += times
        columns.append(_column(name, header, reading, values, rows, listed_first=not columns))
    return tuple(columns)


def _free(name: str) -> str:
    return f"{name}_column" if name == ROW_COLUMN else name


_NAMING = re.compile(r"(?i)(?:id|identifier|no|nr|nbr|num|number|code|cd|key|#)\W*$")


def _names_rows(header: str, reading: ColumnReading) -> bool:
    """Whether distinct values identify rows: amounts can be distinct too, but a number needs a header such as "id"."""
    return reading.type is ColumnType.TEXT or _NAMING.search(header) is not None


def _column(
    name: str, header: str, reading: ColumnReading, values: Counter[str], rows: int, *, listed_first: bool
) -> Column:
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
