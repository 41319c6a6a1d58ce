"""Reality tables in PostgreSQL, in a schema of the tenant's own, read by a login that can do nothing else."""

import time
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import func, insert, select, update

from core.documents import Document
from core.errors import BadRequest
from core.reality.store import no_table
from core.table_queries import Ref, Rows, TableQuery
from core.tabular import ReadTable, RealityTable, Reject, TableDiff, TableHistory
from storage.database import Database
from storage.json_values import read, written
from storage.reality_models import HISTORY, REALITY
from storage.rows import storable_text
from storage.table_access import TableAccess
from storage.table_diff import diff_of
from storage.table_loading import Loading, known_tables, stored_name
from storage.table_refusals import refusals
from storage.table_sql import sql_of

__all__ = ["SqlTableStore"]

_QUESTION_MS = 20_000
_CELL_LETTERS = 10_000


class SqlTableStore:
    """core.reality.store.TableStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._access = TableAccess(database)

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Keep a document's tables, all or none; see core.reality.store."""
        with self._access.owning("loading a table") as connection:
            return Loading(self._access, connection).load(document, tables, now)

    def forget(self, document_id: int) -> None:
        """Drop a document's tables; the version before one of them becomes current again."""
        if self._access.exists():
            with self._access.owning("deleting tables") as connection:
                Loading(self._access, connection).forget(document_id)

    # The registry

    def tables(self) -> Sequence[RealityTable]:
        """The current tables, by name."""
        with self._database.transaction("reading the list of tables") as connection:
            return [table for table in known_tables(connection, self._tenant) if table.current]

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        with self._database.transaction("reading the versions of a table") as connection:
            return [table for table in reversed(known_tables(connection, self._tenant)) if table.name == name]

    def change(self, table: RealityTable) -> None:
        """Store a table's role, use and links as they are now. Raises NotFound."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.id == table.id)
        with self._database.transaction("changing a table") as connection:
            if not connection.execute(update(REALITY).where(*own).values(data=written(table))).rowcount:
                raise no_table(table.name)

    def rejects(self, table_id: int) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000. Raises NotFound."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.id == table_id)
        with self._database.transaction("reading rejected rows") as connection:
            found = connection.scalar(select(REALITY.c.rejects).where(*own))
        if found is None:
            raise no_table(table_id)
        return [read(Reject, each) for each in found]

    def diff(self, newer: RealityTable, older: RealityTable, most_rows: int) -> TableDiff:
        """What changed between two versions, row by row. Raises NotFound."""
        with self._access.owning("comparing two versions") as connection:
            known = {table.id: table for table in known_tables(connection, self._tenant)}
            if missing := [table for table in (older, newer) if table.id not in known]:
                raise no_table(f"{missing[0].name}, version {missing[0].version}")
            before, after = known[older.id], known[newer.id]
            self._access.as_owner(connection)
            return diff_of(connection, before, after, (_stored(before), _stored(after)), most_rows)

    # Asking

    def answer(self, query: TableQuery, most_rows: int) -> Rows:
        """What a query gives, its SQL beside it. Raises BadRequest for what is not there, or took too long."""
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
        """The values of a text column that equal one of the lower-case phrases, whatever their capitals."""
        statement = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE lower("{column}") = ANY(%s) ORDER BY 1'
        with refusals(_QUESTION_MS), self._access.reading(_QUESTION_MS) as connection:
            return [row[0] for row in connection.execute(statement.encode(), (list(phrases),))]

    def overlap(self, column: Ref, key: Ref) -> tuple[int, int]:
        """How many different values a column has, and how many of them the other column holds."""
        values = f'SELECT DISTINCT "{column.column}" AS x FROM "{column.table}" WHERE "{column.column}" IS NOT NULL'
        held = f'EXISTS (SELECT 1 FROM "{key.table}" AS k WHERE k."{key.column}" = v.x)'
        statement = f"SELECT count(*), count(*) FILTER (WHERE {held}) FROM ({values}) AS v"
        with refusals(_QUESTION_MS), self._access.reading(_QUESTION_MS) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def run(self, sql: str, most_rows: int, timeout_ms: int) -> Rows:
        """Run one statement typed by an analyst. A cursor is declared for it: only a query can have one."""
        if not self._access.exists():
            raise BadRequest("There are no tables yet.", "Upload a CSV file or a workbook first.")
        with refusals(timeout_ms), self._access.reading(timeout_ms) as connection:
            started = time.perf_counter()
            with connection.cursor(name="typed") as cursor:
                cursor.execute(storable_text(sql).encode())
                found = cursor.fetchmany(most_rows + 1)
                names = tuple(column.name for column in cursor.description or ())
            spent = 1000 * (time.perf_counter() - started)
        rows = tuple(tuple(_shown(cell) for cell in row) for row in found[:most_rows])
        return Rows(names, rows, len(rows), spent, sql, len(found) > most_rows)

    def remember(self, entry: TableHistory) -> None:
        """Keep a statement that was run."""
        row = {"tenant_id": self._tenant, "at": entry.at, "data": written(entry)}
        with self._database.transaction("remembering a statement") as connection:
            connection.execute(insert(HISTORY).values(row))

    def history(self, limit: int) -> Sequence[TableHistory]:
        """What was run, newest first, each statement once."""
        own = HISTORY.c.tenant_id == self._tenant
        newest = select(func.max(HISTORY.c.id)).where(own).group_by(HISTORY.c.data["sql"].astext)
        query = select(HISTORY.c.data).where(own, HISTORY.c.id.in_(newest)).order_by(HISTORY.c.id.desc()).limit(limit)
        with self._database.transaction("reading the history of statements") as connection:
            return [read(TableHistory, data) for data in connection.scalars(query)]


def _stored(table: RealityTable) -> str:
    return table.name if table.current else stored_name(table.name, table.version)


def _inside(what: str, sql: str, limit: str = "") -> bytes:
    return storable_text(f"SELECT {what} FROM (\n{sql}\n) AS answer{limit}").encode()


def _shown(cell: object) -> object:
    """A typed statement can give anything: what Rows has no cell for is shown as text."""
    return cell if cell is None or isinstance(cell, int | float | Decimal | date) else str(cell)[:_CELL_LETTERS]
