"""The registry of Reality tables and the SQL history, and loading tables with COPY.

The current version of a table is stored under its own name, older versions as name__v1, name__v2 …, and those in the
trash as trash$1, trash$2 …
"""
# Over 300 lines: a table's names in the database and in the registry change together, whichever way it goes.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg import sql
from sqlalchemy import (
    CheckConstraint,
    Connection,
    Index,
    Integer,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.datasets import ROW_COLUMN, ReadTable, RealityTable
from core.domain.documents import Document, TableRole
from core.ingestion.table_typing.typed_tables import table_name
from storage.datasets.access import TableAccess
from storage.datasets.sql import SQL_TYPES
from storage.postgres.json_records import from_json, to_json
from storage.postgres.tables import (
    BY_DOCUMENT,
    BY_LOGIN,
    Base,
    allow,
    id_column,
    login_column,
    of_document,
    of_tenant,
    table_of,
)

__all__ = [
    "HISTORY",
    "REALITY",
    "RealityTableRow",
    "SqlHistoryRow",
    "TableLoader",
    "known_tables",
    "parked_name",
    "placed",
    "stored_name",
    "unplaced",
]


class RealityTableRow(Base):
    """One version of one table. Each name has exactly one current version."""

    __tablename__ = "reality_tables"
    __table_args__ = (
        of_document(),
        CheckConstraint("version > 0", name="reality_tables_version_check"),
        Index("reality_tables_versions", "tenant_id", "name", "version", unique=True),
        Index("reality_tables_current", "tenant_id", "name", unique=True, postgresql_where=text("current")),
        Index("reality_tables_of_document", "tenant_id", "document_id"),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_DOCUMENT),
    )

    id: Mapped[int] = id_column("reality_tables_id_seq")
    document_id: Mapped[int]
    name: Mapped[str]
    version: Mapped[int] = mapped_column(Integer())
    current: Mapped[bool]
    data: Mapped[dict[str, Any]]
    rejects: Mapped[list[dict[str, Any]]]


class SqlHistoryRow(Base):
    """One statement run in the SQL box. Rows are only added."""

    __tablename__ = "sql_history"
    __table_args__ = (
        of_tenant(),
        Index("sql_history_newest", "tenant_id", text("id DESC")),
        allow("SELECT, INSERT", seen=BY_LOGIN),
    )

    id: Mapped[int] = id_column("sql_history_id_seq")
    at: Mapped[datetime]
    data: Mapped[dict[str, Any]]
    login: Mapped[str] = login_column()


REALITY = table_of(RealityTableRow)
HISTORY = table_of(SqlHistoryRow)
_SAME_TABLE = 0.5
"""Least share of columns, in [0, 1], that two versions of one table have in common. Chosen by hand, not fitted."""


def placed(
    new: RealityTable, had: Sequence[RealityTable], known: Sequence[RealityTable], *, sheets: int
) -> RealityTable:
    """The table as it will be registered: with its name, its version and the analyst's earlier decisions.

    had: what the same document held before; reading it again keeps names and versions. known: the tables of all other
    documents, and those of this document placed so far. sheets: how many tables the document has.
    """
    taken = {(each.name, each.version) for each in known}
    before = next((each for each in had if each.label == new.label and (each.name, each.version) not in taken), None)
    if before is not None:
        current = all(each.version < before.version for each in known if each.name == before.name)
        return replace(_following(new, before), version=before.version, current=current)
    older = next((each for each in known if each.current and _same_table(each, new)), None)
    if older is not None:
        last = max(each.version for each in known if each.name == older.name)
        return replace(_following(new, older), version=last + 1)
    return replace(new, name=_free_name(new, {each.name for each in known}, sheets))


def unplaced(document: Document, table: ReadTable, now: datetime) -> RealityTable:
    """A table just read: without an id, a name or an analyst's decisions."""
    return RealityTable(
        id=0,
        name="",
        label=table.label,
        document_id=document.id,
        document_name=document.name,
        project=document.project,
        version=1,
        current=True,
        role=table.role or TableRole.RECORDS,
        rows=table.rows,
        rejected=table.rejected,
        columns=table.columns,
        loaded_at=now,
        left_out=table.left_out,
    )


def _following(new: RealityTable, older: RealityTable) -> RealityTable:
    """Carry an analyst's decisions over from the older table, and the links from columns that still exist."""
    role = older.role if older.role_by == "analyst" else new.role
    links = tuple(link for link in older.links if new.column(link.column))
    return replace(
        new, name=older.name, role=role, role_by=older.role_by, used=older.used, links=links, called=older.called
    )


def _free_name(new: RealityTable, taken: set[str], sheets: int) -> str:
    """A name not yet taken. The prefix pg_ is avoided: PostgreSQL would look the name up in its own catalogue."""
    name = table_name(new.document_name, new.label.removeprefix("Sheet: ") if sheets > 1 else "")
    name = f"table_{name}" if name.startswith("pg_") else name
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _same_table(older: RealityTable, newer: RealityTable) -> bool:
    if (older.project, older.document_name, older.label) != (newer.project, newer.document_name, newer.label):
        return False
    names = [{column.name for column in table.columns} for table in (older, newer)]
    return len(names[0] & names[1]) >= _SAME_TABLE * max(len(names[0]), len(names[1]))


_BLOCK_BYTES = 1 << 20
"""Bytes of a CSV read at a time; bounds the memory of a load."""


def stored_name(name: str, version: int) -> str:
    """The database name of a version that is no longer current."""
    return f"{name}__v{version}"


def parked_name(table_id: int) -> str:
    """The database name of a table in the trash; no table in use has a dollar sign."""
    return f"trash${table_id}"


def known_tables(connection: Connection, tenant: str) -> list[RealityTable]:
    """Every version of every table, ordered by name and version."""
    own = REALITY.c.tenant_id == tenant
    query = select(REALITY.c.data, REALITY.c.current).where(own).order_by(REALITY.c.name, REALITY.c.version)
    return [replace(from_json(RealityTable, data), current=current) for data, current in connection.execute(query)]


class TableLoader:
    """Loads and drops tables inside one transaction of TableAccess.owning."""

    def __init__(self, access: TableAccess, connection: Connection) -> None:
        self._access, self._connection, self._tenant = access, connection, access.database.tenant

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Store a document's tables in place of its earlier ones, under the same names and versions."""
        had = [each for each in known_tables(self._connection, self._tenant) if each.document_id == document.id]
        self.forget(document.id)
        known = known_tables(self._connection, self._tenant)
        loaded = []
        for table in tables:
            new = placed(unplaced(document, table, now), had, known, sheets=len(tables))
            new = replace(new, id=_next_id(self._connection))
            self._make(new, table)
            if new.current:
                known = [replace(each, current=each.current and each.name != new.name) for each in known]
            known.append(new)
            loaded.append(new)
        return loaded

    def _make(self, new: RealityTable, table: ReadTable) -> None:
        """Rename the older version, create the table, fill it and register it."""
        connection = self._connection
        older = self._older(new) if new.current else None
        stored = new.name if new.current else stored_name(new.name, new.version)
        self._access.as_owner(connection)
        driver: Any = connection.connection.driver_connection
        if older is not None:
            driver.execute(f'ALTER TABLE "{new.name}" RENAME TO "{stored_name(new.name, older)}"')
            driver.execute(f'REVOKE SELECT ON "{stored_name(new.name, older)}" FROM {self._access.reader}')
        columns = "".join(f', "{column.name}" {SQL_TYPES[column.type]}' for column in new.columns)
        driver.execute(f'CREATE TABLE "{stored}" ("{ROW_COLUMN}" bigint{columns})')
        with (
            driver.cursor().copy(f'COPY "{stored}" FROM STDIN (FORMAT csv)') as copy,
            Path(table.path).open("rb") as file,
        ):
            while block := file.read(_BLOCK_BYTES):
                copy.write(block)
        driver.execute(f'ALTER TABLE "{stored}" ADD PRIMARY KEY ("{ROW_COLUMN}")')
        driver.execute(f'ANALYZE "{stored}"')
        if new.current:
            driver.execute(f'GRANT SELECT ON "{stored}" TO {self._access.reader}')
        self._access.as_app(connection)
        row = self._row(new) | {"rejects": [to_json(reject) for reject in table.rejects]}
        connection.execute(insert(REALITY).values(row))

    def _older(self, new: RealityTable) -> int | None:
        """Mark the current version as no longer current; returns its number, None without one."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.name == new.name, REALITY.c.current)
        query = update(REALITY).where(*own).values(current=False).returning(REALITY.c.version)
        older: int | None = self._connection.scalar(query)
        return older

    def _row(self, table: RealityTable) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "id": table.id, "document_id": table.document_id, "name": table.name}
        return own | {"version": table.version, "current": table.current, "data": to_json(table)}

    def forget(self, document_id: int) -> None:
        """Drop a document's tables; the version before each becomes current again."""
        self._take_away(document_id, lambda table, stored: f'DROP TABLE IF EXISTS "{stored}"')

    def park(self, document_id: int) -> None:
        """As `forget`, but the tables stay under names that nothing reads; `bring_back` restores them."""
        self._take_away(
            document_id,
            lambda table, stored: (
                f'REVOKE ALL ON "{stored}" FROM {self._access.reader};'
                f' ALTER TABLE "{stored}" RENAME TO "{parked_name(table.id)}"'
            ),
        )

    def bring_back(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Restore parked tables from the rows of their registry. Each gets its name and version again, or the next free
        ones when another table has them by now."""
        for row in rows:
            parked = from_json(RealityTable, row["data"])
            known = known_tables(self._connection, self._tenant)
            same = [each for each in known if each.name == parked.name]
            if any(not _same_table(each, parked) for each in same):
                free = _free_name(parked, {each.name for each in known}, sheets=1)
                table = replace(parked, name=free, version=1, current=True)
            elif any(each.version == parked.version for each in same):
                table = replace(parked, version=max(each.version for each in same) + 1, current=True)
            else:
                table = replace(parked, current=all(each.version < parked.version for each in same))
            self._move_into_place(table, parked_name(parked.id), row["rejects"])

    def _move_into_place(self, table: RealityTable, parked: str, rejects: Any) -> None:
        older = self._older(table) if table.current else None
        stored = table.name if table.current else stored_name(table.name, table.version)
        self._access.as_owner(self._connection)
        driver: Any = self._connection.connection.driver_connection
        if older is not None:
            driver.execute(f'ALTER TABLE "{table.name}" RENAME TO "{stored_name(table.name, older)}"')
            driver.execute(f'REVOKE SELECT ON "{stored_name(table.name, older)}" FROM {self._access.reader}')
        driver.execute(f'ALTER TABLE "{parked}" RENAME TO "{stored}"')
        if table.current:
            driver.execute(f'GRANT SELECT ON "{stored}" TO {self._access.reader}')
        self._access.as_app(self._connection)
        self._connection.execute(insert(REALITY).values(self._row(table) | {"rejects": rejects}))

    def drop(self, names: Sequence[str]) -> None:
        """Drop stored tables by their names in the database."""
        self._access.as_owner(self._connection)
        driver: Any = self._connection.connection.driver_connection
        for each in names:
            driver.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(each)))
        self._access.as_app(self._connection)

    def _take_away(self, document_id: int, how: Callable[[RealityTable, str], str]) -> None:
        """how: the statement for a table and its name in the database."""
        connection = self._connection
        for table in [each for each in known_tables(connection, self._tenant) if each.document_id == document_id]:
            own = (REALITY.c.tenant_id == self._tenant, REALITY.c.id == table.id)
            connection.execute(delete(REALITY).where(*own))
            before = connection.scalar(
                select(func.max(REALITY.c.version)).where(
                    REALITY.c.tenant_id == self._tenant, REALITY.c.name == table.name
                )
            )
            self._access.as_owner(connection)
            driver: Any = connection.connection.driver_connection
            stored = table.name if table.current else stored_name(table.name, table.version)
            driver.execute(how(table, stored))
            if table.current and before is not None:
                driver.execute(f'ALTER TABLE "{stored_name(table.name, before)}" RENAME TO "{table.name}"')
                driver.execute(f'GRANT SELECT ON "{table.name}" TO {self._access.reader}')
            self._access.as_app(connection)
            if table.current and before is not None:
                again = (REALITY.c.name == table.name, REALITY.c.version == before)
                connection.execute(
                    update(REALITY).where(REALITY.c.tenant_id == self._tenant, *again).values(current=True)
                )


def _next_id(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT nextval('reality_tables_id_seq')")) or 0)
