"""Stores Reality tables in PostgreSQL, in a schema per tenant; queries run under a login that can only read it."""
# Over 300 lines: all that is asked of one tenant's tables is one port.

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from psycopg.errors import UndefinedTable
from sqlalchemy import Connection, func, insert, select, update

from core.domain.dataset_queries import ColumnRef, Rows, TableQuery
from core.domain.datasets import Column, ColumnType, ReadTable, RealityTable, Reject, RowChange, TableDiff, TableHistory
from core.domain.documents import Document
from core.domain.errors import BadRequest, StoreFailed
from core.domain.sanitize import storable_text
from core.table_qa.store import no_table
from storage.datasets.access import TableAccess, refusals
from storage.datasets.loading import HISTORY, REALITY, TableLoader, known_tables, stored_name
from storage.datasets.sql import sql_of
from storage.postgres.database import Database
from storage.postgres.json_records import from_json, to_json

if TYPE_CHECKING:
    import psycopg

__all__ = ["SqlTableStore", "diff_of"]


def diff_of(
    connection: Connection, older: RealityTable, newer: RealityTable, stored: tuple[str, str], most_rows: int
) -> TableDiff:
    """The differences. stored: names of the older and the newer version in the current search path. Values are
    compared as text, so that a column whose type changed can still be compared.
    """
    driver: Any = connection.connection.driver_connection
    before, after = {c.name: c for c in older.columns}, {c.name: c for c in newer.columns}
    shared = [name for name in after if name in before]
    key = _comparing_key([before[name] for name in shared], [after[name] for name in shared])
    cell_texts = [[_text(each[name]) for name in shared] for each in (before, after)]
    if key:
        counts, rows = _by_key(driver, stored, shared, key, cell_texts, most_rows)
    else:
        counts, rows = _by_row(driver, stored, shared, cell_texts, most_rows)
    return TableDiff(
        table=newer.name,
        before=older.rows,
        after=newer.rows,
        by=key,
        added=counts.get("added", 0),
        removed=counts.get("removed", 0),
        changed=counts.get("changed", 0),
        rows=tuple(rows),
        columns_added=tuple(name for name in after if name not in before),
        columns_removed=tuple(name for name in before if name not in after),
    )


def _comparing_key(before: Sequence[Column], after: Sequence[Column]) -> str:
    """A column whose values identify the rows of both versions."""
    return next((new.name for old, new in zip(before, after, strict=True) if old.key and new.key), "")


Found = tuple[dict[str, int], list[RowChange]]


def _text(column: Column) -> str:
    """A cell as text; 10.50 and 10.5 become equal."""
    scaled = column.type in (ColumnType.NUMBER, ColumnType.MONEY)
    return f'trim_scale({{}}."{column.name}")::text' if scaled else f'{{}}."{column.name}"::text'


def _by_key(
    driver: Any,
    stored: tuple[str, str],
    shared: Sequence[str],
    key: str,
    cell_texts: Sequence[Sequence[str]],
    most: int,
) -> Found:
    others = [name for name in shared if name != key]
    pairs = [
        (old.format("o"), new.format("n")) for name, old, new in zip(shared, *cell_texts, strict=True) if name in others
    ]
    cells = "".join(f", {old}, {new}" for old, new in pairs)
    differs = " OR ".join(f"{old} IS DISTINCT FROM {new}" for old, new in pairs) or "FALSE"
    kind = f"""CASE WHEN o."{key}" IS NULL THEN 'added' WHEN n."{key}" IS NULL THEN 'removed' ELSE 'changed' END"""
    source = (
        f'FROM "{stored[0]}" AS o FULL JOIN "{stored[1]}" AS n ON o."{key}"::text = n."{key}"::text'
        f' WHERE o."{key}" IS NULL OR n."{key}" IS NULL OR {differs}'
    )
    counts = dict(driver.execute(f"SELECT {kind} AS kind, count(*) {source} GROUP BY 1").fetchall())
    listed = f'SELECT {kind} AS kind, COALESCE(n."{key}"::text, o."{key}"::text){cells}'
    rows = driver.execute(f"{listed} {source} ORDER BY 1, 2 LIMIT {int(most)}").fetchall()
    return counts, [_change(row, others) for row in rows]


def _change(row: Sequence[Any], names: Sequence[str]) -> RowChange:
    kind, key, *cells = row
    old, new = dict(zip(names, cells[::2], strict=True)), dict(zip(names, cells[1::2], strict=True))
    if kind == "changed":
        differ = [name for name in names if old[name] != new[name]]
        return RowChange(str(key), kind, {name: old[name] for name in differ}, {name: new[name] for name in differ})
    return RowChange(str(key), kind, old if kind == "removed" else {}, new if kind == "added" else {})


def _by_row(
    driver: Any, stored: tuple[str, str], shared: Sequence[str], cell_texts: Sequence[Sequence[str]], most: int
) -> Found:
    """Compare whole rows, counting repeats. Without a key, a changed row appears as one removed and one added."""
    if not shared:
        return {}, []
    older, newer = (
        f'SELECT {", ".join(text.format("v") for text in texts)} FROM "{name}" AS v'
        for name, texts in zip(stored, cell_texts, strict=True)
    )
    order = ", ".join(str(position) for position in range(1, len(shared) + 1))
    counts: dict[str, int] = {}
    rows: list[RowChange] = []
    for kind, first, second in (("added", newer, older), ("removed", older, newer)):
        only = f"{first} EXCEPT ALL {second}"
        counts[kind] = driver.execute(f"SELECT count(*) FROM ({only}) AS d").fetchone()[0]
        for row in driver.execute(f"{only} ORDER BY {order} LIMIT {int(most) - len(rows)}").fetchall():
            cells = dict(zip(shared, row, strict=True))
            rows.append(RowChange("", kind, cells if kind == "removed" else {}, cells if kind == "added" else {}))
    return counts, rows


_QUESTION_MS = 20_000
"""Longer than typed SQL may take, because the program builds these queries and limits their joins. Chosen by hand, not
fitted.
"""
_KEYS_AT_ONCE = 16  # compared with one statement. Chosen by hand.
_CELL_LETTERS = 10_000
"""Longest cell in characters; pages show fewer. Chosen by hand, not fitted."""


class SqlTableStore:
    """Implements core.table_qa.store.TableStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._access = TableAccess(database)

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Store a document's tables, all or none; see core.table_qa.store."""
        with self._access.owning("loading a table") as connection:
            return TableLoader(self._access, connection).load(document, tables, now)

    def forget(self, document_id: int) -> bool:
        """Drop a document's tables, if there are any; the version before each becomes current again."""
        query = "SELECT 1 FROM reality_tables WHERE tenant_id = %(tenant)s AND document_id = %(document)s LIMIT 1"
        found = bool(self._database.read("looking for a document's tables", query, {"document": document_id}))
        if found:
            with self._access.owning("deleting tables") as connection:
                TableLoader(self._access, connection).forget(document_id)
        return found

    # The registry

    def linking(self) -> AbstractContextManager[None]:
        """A lock: one program at a time changes links. Raises StoreFailed."""
        return self._access.linking()

    def tables(self) -> Sequence[RealityTable]:
        """The current tables, by name."""
        with self._database.transaction("reading the list of tables") as connection:
            return [table for table in known_tables(connection, self._tenant) if table.current]

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        with self._database.transaction("reading the versions of a table") as connection:
            return [table for table in reversed(known_tables(connection, self._tenant)) if table.name == name]

    def change(self, table: RealityTable, edit: Callable[[RealityTable], RealityTable]) -> RealityTable:
        """Store what an edit makes of a table as it is stored now; see core.table_qa.store."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.id == table.id)
        query = select(REALITY.c.data, REALITY.c.current).where(*own).with_for_update()
        with self._database.transaction("changing a table") as connection:
            row = connection.execute(query).first()
            if row is None:
                raise no_table(table.name)
            changed = edit(replace(from_json(RealityTable, row.data), current=row.current))
            connection.execute(update(REALITY).where(*own).values(data=to_json(changed)))
        return changed

    def rejects(self, table_id: int) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000. Raises NotFound."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.id == table_id)
        with self._database.transaction("reading rejected rows") as connection:
            found = connection.scalar(select(REALITY.c.rejects).where(*own))
        if found is None:
            raise no_table(table_id)
        return [from_json(Reject, each) for each in found]

    def diff(self, newer: RealityTable, older: RealityTable, most_rows: int) -> TableDiff:
        """The differences between two versions, row by row. Raises NotFound."""
        with self._access.owning("comparing two versions") as connection:
            known = {table.id: table for table in known_tables(connection, self._tenant)}
            if missing := [table for table in (older, newer) if table.id not in known]:
                raise no_table(f"{missing[0].name}, version {missing[0].version}")
            before, after = known[older.id], known[newer.id]
            self._access.as_owner(connection)
            return diff_of(connection, before, after, (_stored(before), _stored(after)), most_rows)

    # Asking

    def answer(self, query: TableQuery, most_rows: int) -> Rows:
        """The result of a query, with its SQL. Raises BadRequest for an unknown table or column, or on a timeout."""
        tables = {table.name: table for table in self.tables()}
        sql = sql_of(query, tables)
        with refusals(_QUESTION_MS), self._access.reading(_QUESTION_MS) as connection:
            started = time.perf_counter()
            cursor = connection.execute(_inside("*", sql, f" LIMIT {int(most_rows)}"))
            rows = cursor.fetchall()
            total = len(rows)
            if total == most_rows:
                counted = connection.execute(_inside("count(*)", sql)).fetchone()
                total = int(counted[0]) if counted else total
            spent = 1000 * (time.perf_counter() - started)
            names = tuple(column.name for column in cursor.description or ())
        return Rows(names, tuple(rows), total, spent, sql, total > len(rows))

    def find(self, table: str, column: str, phrases: Sequence[str]) -> Sequence[str]:
        """The values of a text column that equal one of the lower-case phrases, ignoring case."""
        statement = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE lower("{column}") = ANY(%s) ORDER BY 1'
        with refusals(_QUESTION_MS), self._access.reading(_QUESTION_MS) as connection:
            return [row[0] for row in connection.execute(statement.encode(), (list(phrases),))]

    def overlaps(self, column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        """For each of the other columns the number of distinct values of a column, and how many of them it contains;
        none when one of the two tables was deleted meanwhile. The values are gathered once for many columns."""
        found: list[tuple[int, int]] = []
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            found += self._overlaps(column, keys[start : start + _KEYS_AT_ONCE])
        return found

    def _overlaps(self, column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        try:
            found = self._counted(column, keys)
        except (BadRequest, StoreFailed):  # too slow, of another type, or a deadlock; one by one, each has its time
            if len(keys) == 1:
                raise
            found = []
        return found or [count for key in keys for count in self._overlaps(column, [key])]

    def _counted(self, column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        """As `overlaps`, with one statement; [] where one of several tables was deleted."""
        values = f'SELECT DISTINCT "{column.column}" AS x FROM "{column.table}" WHERE "{column.column}" IS NOT NULL'
        counts = ", ".join(
            f'(SELECT count(*) FROM v WHERE EXISTS (SELECT 1 FROM "{key.table}" AS k WHERE k."{key.column}" = v.x))'
            for key in keys
        )
        statement = f"WITH v AS MATERIALIZED ({values}) SELECT (SELECT count(*) FROM v), {counts}"
        with refusals(_QUESTION_MS), self._access.reading(_QUESTION_MS) as connection:
            try:
                rows = connection.execute(statement.encode()).fetchall()
            except UndefinedTable:
                return [(0, 0)] if len(keys) == 1 else []
        return [(int(distinct), int(each)) for distinct, *shared in rows for each in shared]

    def run(self, sql: str, most_rows: int, timeout_ms: int) -> Rows:
        """Run one statement typed by an analyst. It is run through a cursor, because only a query can have one."""
        if not self._access.exists():
            raise BadRequest("There are no tables yet.", "Upload a CSV file or a workbook first.")
        with refusals(timeout_ms), self._access.reading(timeout_ms, typed=True) as connection:
            started = time.perf_counter()
            with connection.cursor(name="typed") as cursor:
                cursor.execute(storable_text(sql).encode())
                found = _rows_within(cursor, most_rows + 1)
                names = tuple(column.name for column in cursor.description or ())
            spent = 1000 * (time.perf_counter() - started)
        rows = tuple(tuple(_shown(cell) for cell in row) for row in found[:most_rows])
        return Rows(names, rows, len(rows), spent, sql, len(found) > most_rows)

    def remember(self, entry: TableHistory) -> None:
        """Store a statement that was run."""
        row = {"tenant_id": self._tenant, "at": entry.at, "data": to_json(entry)}
        with self._database.transaction("remembering a statement") as connection:
            connection.execute(insert(HISTORY).values(row))

    def history(self, limit: int) -> Sequence[TableHistory]:
        """Statements that were run, newest first, each once."""
        own = HISTORY.c.tenant_id == self._tenant
        newest = select(func.max(HISTORY.c.id)).where(own).group_by(HISTORY.c.data["sql"].astext)
        query = select(HISTORY.c.data).where(own, HISTORY.c.id.in_(newest)).order_by(HISTORY.c.id.desc()).limit(limit)
        with self._database.transaction("reading the history of statements") as connection:
            return [from_json(TableHistory, data) for data in connection.scalars(query)]


_MOST_BYTES = 64 * 2**20  # of a typed statement's rows; far more than a page shows. Chosen by hand.


def _rows_within(cursor: "psycopg.ServerCursor[tuple[Any, ...]]", most_rows: int) -> list[tuple[Any, ...]]:
    """The first rows, a few at a time where they are large. Raises BadRequest when they are too large to bring here."""
    found: list[tuple[Any, ...]] = []
    size, step = 0, 1
    while len(found) < most_rows and (rows := cursor.fetchmany(min(step, most_rows - len(found)))):
        found += rows
        size += sum(len(str(cell)) for row in rows for cell in row)
        if size > _MOST_BYTES:
            raise BadRequest("The result is too large to show.", "Select fewer or shorter values, or count them.")
        step = max(1, min(500, 2 * step, (_MOST_BYTES - size) * len(found) // max(size, 1)))
    return found


def _stored(table: RealityTable) -> str:
    return table.name if table.current else stored_name(table.name, table.version)


def _inside(what: str, sql: str, limit: str = "") -> bytes:
    return storable_text(f"SELECT {what} FROM (\n{sql}\n) AS answer{limit}").encode()


def _shown(cell: object) -> object:
    """A value of a typed statement as a cell; types that Rows cannot hold become text."""
    return cell if cell is None or isinstance(cell, int | float | Decimal | date) else str(cell)[:_CELL_LETTERS]
