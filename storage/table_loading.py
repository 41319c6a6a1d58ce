"""Loading Reality tables with COPY. The current version stands under its own name, older ones as name__v1 …"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from core.documents import Document
from core.tabular import ROW_COLUMN, ReadTable, RealityTable
from storage.json_values import read, written
from storage.reality_models import REALITY
from storage.table_access import TableAccess
from storage.table_placing import placed, unplaced
from storage.table_sql import SQL_TYPES

__all__ = ["Loading", "known_tables", "stored_name"]

_BLOCK_BYTES = 1 << 20


def stored_name(name: str, version: int) -> str:
    """What a version that is no longer current is called."""
    return f"{name}__v{version}"


def known_tables(connection: Connection, tenant: str) -> list[RealityTable]:
    """Every version of every table, by name and version."""
    own = REALITY.c.tenant_id == tenant
    query = select(REALITY.c.data, REALITY.c.current).where(own).order_by(REALITY.c.name, REALITY.c.version)
    return [replace(read(RealityTable, data), current=current) for data, current in connection.execute(query)]


class Loading:
    """Loading and dropping inside one transaction of TableAccess.owning."""

    def __init__(self, access: TableAccess, connection: Connection) -> None:
        self._access, self._connection, self._tenant = access, connection, access.database.tenant

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Keep a document's tables; what it had before goes, and its place is kept."""
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
        """Move an older version aside, make the table, fill it, register it."""
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
        row = self._row(new) | {"rejects": [written(reject) for reject in table.rejects]}
        connection.execute(insert(REALITY).values(row))

    def _older(self, new: RealityTable) -> int | None:
        """The version that is current until now, and from now on is not."""
        own = (REALITY.c.tenant_id == self._tenant, REALITY.c.name == new.name, REALITY.c.current)
        query = update(REALITY).where(*own).values(current=False).returning(REALITY.c.version)
        older: int | None = self._connection.scalar(query)
        return older

    def _row(self, table: RealityTable) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "id": table.id, "document_id": table.document_id, "name": table.name}
        return own | {"version": table.version, "current": table.current, "data": written(table)}

    def forget(self, document_id: int) -> None:
        """Drop a document's tables; the version before one of them becomes current again."""
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
            driver.execute(f'DROP TABLE IF EXISTS "{stored}"')
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
