"""One embedded PostgreSQL for all store tests; each test that asks gets a tenant of its own."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Engine

from storage.embedded_postgres.server import start_embedded
from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for

_TENANTS = count(1)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A migrated database."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # as root, the server runs as the owner of its folder and must get there
        yield from _served(Path(folder))


def _served(folder: Path) -> Iterator[Engine]:
    server = start_embedded(folder)
    made = engine_for(server.url())
    try:
        migrate(made)
        yield made
    finally:
        made.dispose()
        server.close()


def new_tenant(engine: Engine) -> Database:
    """An empty library."""
    database = Database(engine, f"tenant {next(_TENANTS)}")
    SqlCatalogue(database).register()
    return database


@pytest.fixture
def database(engine: Engine) -> Database:
    """An empty library."""
    return new_tenant(engine)
