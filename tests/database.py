"""One embedded PostgreSQL per test process, started by the first test that needs it; each library is a tenant of it."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import psycopg
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql import insert

from core.domain.datasets import ReadTable, RealityTable
from core.domain.documents import Document
from storage.datasets.access import TableAccess
from storage.datasets.store import SqlTableStore
from storage.embedded_postgres.server import start_embedded
from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for
from storage.postgres.documents import DOCUMENTS, document_values

__all__ = ["ScratchTableStore", "close", "new_tenant", "shared_engine"]

_OPEN = ExitStack()
_LOCK = Lock()
_STARTED: list[Engine] = []
_TENANTS = count(1)


def shared_engine() -> Engine:
    """The migrated database of this process."""
    with _LOCK:
        if not _STARTED:
            folder = Path(_OPEN.enter_context(TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True)))
            folder.chmod(0o711)  # as root, the server runs as the owner of its folder and must get there
            server = start_embedded(folder)
            _OPEN.callback(server.close)
            # No test outlives its machine, so none needs to wait for the disk.
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
            engine = engine_for(server.url())
            _OPEN.callback(engine.dispose)
            migrate(engine)
            _STARTED.append(engine)
        return _STARTED[0]


def close() -> None:
    """Stop the database, if it was started, and delete its folder."""
    _OPEN.close()
    _STARTED.clear()


def new_tenant(engine: Engine) -> Database:
    """An empty library."""
    database = Database(engine, f"tenant {next(_TENANTS)}")
    SqlCatalogue(database).register()
    return database


class ScratchTableStore(SqlTableStore):
    """The product's own table store, beside fakes: a tenant of the shared database, created at first use.

    A table belongs to a row of documents; for a catalogue in memory, `load` adds that row.
    """

    def __init__(self) -> None:
        pass  # the base class would need the database at once

    @cached_property
    def _database(self) -> Database:  # type: ignore[override]
        return new_tenant(shared_engine())

    @cached_property
    def _tenant(self) -> str:  # type: ignore[override]
        return self._database.tenant

    @cached_property
    def _access(self) -> TableAccess:  # type: ignore[override]
        return TableAccess(self._database)

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Store a document's tables, all or none; see core.table_qa.store."""
        # Two documents of a catalogue in memory may have the same bytes, so the id stands for them.
        values = document_values(replace(document, sha256=f"{document.id:064d}", parent=None, version_of=None))
        row = insert(DOCUMENTS).values(values | {"tenant_id": self._tenant, "id": document.id})
        with self._database.transaction("adding a document") as connection:
            connection.execute(row.on_conflict_do_nothing())
        return super().load(document, tables, now)
