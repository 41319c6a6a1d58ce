"""Reality tables in lists of rows: everything PostgreSQL answers, except typed SQL."""

import csv
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any

from core.domain.dataset_queries import ColumnRef, Rows, TableQuery
from core.domain.datasets import (
    ROW_COLUMN,
    ColumnType,
    ReadTable,
    RealityTable,
    Reject,
    RowChange,
    TableDiff,
    TableHistory,
)
from core.domain.documents import Document
from core.domain.errors import BadRequest
from core.table_qa.store import no_table
from storage.datasets.loading import placed, unplaced
from storage.datasets.sql import names_of, sql_of
from tests.fakes.dataset_answers import StoredTable, answered, as_point, lower
from tests.fakes.dataset_types import kind_of, must_compare, must_hold_text, read_cell

__all__ = ["FakeTableStore"]


class FakeTableStore:
    """Implements core.table_qa.store.TableStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._kept: dict[int, StoredTable] = {}
        self._rejects: dict[int, Sequence[Reject]] = {}
        self._history: dict[str, TableHistory] = {}

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Store a document's tables, all or none; see core.table_qa.store."""
        rows = [_rows_of(table) for table in tables]
        loaded = []
        with self._lock:
            had = [table for table in self._known() if table.document_id == document.id]
            self.forget(document.id)
            for table, its_rows in zip(tables, rows, strict=True):
                new = placed(unplaced(document, table, now), had, self._known(), sheets=len(tables))
                new = replace(new, id=next(self._ids))
                if new.current:
                    self._make_current(new.name, None)
                self._kept[new.id] = StoredTable(new, its_rows)
                self._rejects[new.id] = table.rejects
                loaded.append(new)
        return loaded

    def forget(self, document_id: int) -> None:
        """Drop a document's tables; the version before each becomes current again."""
        with self._lock:
            for table in [each for each in self._known() if each.document_id == document_id]:
                del self._kept[table.id], self._rejects[table.id]
                left = self.versions(table.name)
                if table.current and left:
                    self._make_current(table.name, left[0].id)

    def _make_current(self, name: str, table_id: int | None) -> None:
        for each in self.versions(name):
            self._kept[each.id] = replace(self._kept[each.id], table=replace(each, current=each.id == table_id))

    def _known(self) -> list[RealityTable]:
        return sorted((kept.table for kept in self._kept.values()), key=lambda table: (table.name, table.version))

    def tables(self) -> Sequence[RealityTable]:
        """The current tables, by name."""
        with self._lock:
            return [table for table in self._known() if table.current]

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        with self._lock:
            return [table for table in reversed(self._known()) if table.name == name]

    def change(self, table: RealityTable) -> None:
        """Store a table's current role, use and links. Raises NotFound."""
        with self._lock:
            kept = self._one(table)
            self._kept[table.id] = replace(kept, table=replace(table, current=kept.table.current))

    def rejects(self, table_id: int) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000. Raises NotFound."""
        if table_id not in self._rejects:
            raise no_table(table_id)
        return list(self._rejects[table_id])

    def _one(self, table: RealityTable) -> StoredTable:
        if table.id not in self._kept:
            raise no_table(f"{table.name}, version {table.version}")
        return self._kept[table.id]

    def diff(self, newer: RealityTable, older: RealityTable, most_rows: int) -> TableDiff:
        """The differences between two versions, row by row. Raises NotFound."""
        with self._lock:
            before, after = self._one(older), self._one(newer)
        names = [[column.name for column in kept.table.columns] for kept in (before, after)]
        shared = [name for name in names[1] if name in names[0]]
        columns = [(before.table.column(name), after.table.column(name)) for name in shared]
        key = next((new.name for old, new in columns if old and new and old.key and new.key), "")
        changes = _by_key(before, after, shared, key) if key else _by_row(before, after, shared)
        counts = Counter(change.kind for change in changes)
        return TableDiff(
            table=after.table.name,
            before=before.table.rows,
            after=after.table.rows,
            by=key,
            added=counts["added"],
            removed=counts["removed"],
            changed=counts["changed"],
            rows=tuple(changes[:most_rows]),
            columns_added=tuple(name for name in names[1] if name not in names[0]),
            columns_removed=tuple(name for name in names[0] if name not in names[1]),
        )

    def answer(self, query: TableQuery, most_rows: int) -> Rows:
        """What a query gives, and the SQL the database would run for it. Raises BadRequest for what is not there."""
        with self._lock:
            kept = {each.table.name: each for each in self._kept.values() if each.table.current}
        started = time.perf_counter()
        sql = sql_of(query, {name: each.table for name, each in kept.items()})
        rows = answered(query, kept)
        spent = 1000 * (time.perf_counter() - started)
        return Rows(names_of(query), tuple(rows[:most_rows]), len(rows), spent, sql, len(rows) > most_rows)

    def _column(self, table: str, column: str) -> tuple[ColumnType, set[Any]]:
        """What a column of a current table holds."""
        with self._lock:
            kept = next((e for e in self._kept.values() if e.table.current and e.table.name == table), None)
        if kept is None:
            raise BadRequest(f"There is no table '{table}'.", "It was deleted or renamed; ask again.")
        kind = kind_of(kept.table, column)
        return kind, {row[column] for row in kept.rows if row[column] is not None}

    def find(self, table: str, column: str, phrases: Sequence[str]) -> Sequence[str]:
        """The values of a text column that equal one of the lower-case phrases, ignoring case."""
        kind, values = self._column(table, column)
        must_hold_text(kind, column)
        return sorted(value for value in values if lower(value) in phrases)

    def overlap(self, column: ColumnRef, key: ColumnRef) -> tuple[int, int]:
        """The number of distinct values of a column, and how many of them occur in the other column."""
        kind, values = self._column(column.table, column.column)
        other_kind, others = self._column(key.table, key.column)
        must_compare(kind, other_kind)
        return len(values), len({as_point(value) for value in values} & {as_point(value) for value in others})

    def run(self, sql: str, most_rows: int, timeout_ms: int) -> Rows:
        """Raises BadRequest: there is no database here that could read SQL."""
        raise BadRequest("SQL needs the database.", "Open a library that is kept in PostgreSQL.")

    def remember(self, entry: TableHistory) -> None:
        """Store a statement that was run."""
        with self._lock:
            self._history.pop(entry.sql, None)
            self._history[entry.sql] = entry

    def history(self, limit: int) -> Sequence[TableHistory]:
        """Statements that were run, newest first, each once."""
        with self._lock:
            return list(reversed(self._history.values()))[:limit]


def _rows_of(table: ReadTable) -> list[Mapping[str, Any]]:
    """The rows of a CSV as ReadTable describes it."""
    kinds = [(ROW_COLUMN, ColumnType.INTEGER), *((column.name, column.type) for column in table.columns)]
    with Path(table.path).open(encoding="utf-8", newline="") as file:
        return [
            {name: read_cell(cell, kind) if cell else None for (name, kind), cell in zip(kinds, line, strict=True)}
            for line in csv.reader(file)
        ]


def _told(kept: StoredTable, names: Sequence[str]) -> list[dict[str, str | None]]:
    """Every row's cells as text, so that a column whose type changed still compares."""
    return [{name: _text(row[name]) for name in names} for row in kept.rows]


def _text(value: Any) -> str | None:
    """10.50 and 10.5 are one number, however a file writes it."""
    if isinstance(value, Decimal):
        plain = f"{value:f}" if value else "0"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _by_key(before: StoredTable, after: StoredTable, shared: Sequence[str], key: str) -> list[RowChange]:
    old, new = ({row.pop(key): row for row in _told(kept, shared)} for kept in (before, after))
    changes = [RowChange(str(each), "added", {}, new[each]) for each in new.keys() - old.keys()]
    changes += [RowChange(str(each), "removed", old[each], {}) for each in old.keys() - new.keys()]
    for each in old.keys() & new.keys():
        differ = [name for name in new[each] if old[each][name] != new[each][name]]
        if differ:
            was, now = ({name: row[each][name] for name in differ} for row in (old, new))
            changes.append(RowChange(str(each), "changed", was, now))
    return sorted(changes, key=lambda change: (change.kind, change.key))


def _by_row(before: StoredTable, after: StoredTable, shared: Sequence[str]) -> list[RowChange]:
    """Whole rows, as often as each stands there: without a key, a changed row is one removed and one added."""
    if not shared:
        return []
    old, new = (Counter(tuple(row.values()) for row in _told(kept, shared)) for kept in (before, after))
    added, removed = (
        sorted(many.elements(), key=lambda row: [(cell is None, cell or "") for cell in row])
        for many in (new - old, old - new)
    )
    changes = [RowChange("", "added", {}, dict(zip(shared, row, strict=True))) for row in added]
    return changes + [RowChange("", "removed", dict(zip(shared, row, strict=True)), {}) for row in removed]
