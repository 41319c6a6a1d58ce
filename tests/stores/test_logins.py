"""The login of the connection pool: without rights of its own, on the embedded server and on one of your own."""

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from sqlalchemy import text

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from core.domain.errors import BadRequest, StoreFailed
from storage.embedded_postgres.server import EmbeddedServer, start_embedded
from storage.migrations import migrate
from storage.postgres.database import engine_for
from storage.postgres.logins import bypassing_login

RIGHTS = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication FROM pg_roles"
TABLE = b"name,pay\nAnn,10\nBo,20\n"
_NAMES = count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """A PostgreSQL server in which nothing was set up."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)  # as root, the server runs as another user, who must pass
        started = start_embedded(Path(place) / "server")
        yield started
        started.close()


@pytest.fixture
def folder(models: Path) -> Iterator[Path]:
    """An empty data folder."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        (Path(place) / "data").mkdir()
        (Path(place) / "data/models").symlink_to(models.resolve(), target_is_directory=True)
        yield Path(place) / "data"


def _works(settings: Settings) -> None:
    """A library is filled, searched, asked by SQL and emptied, and its pool has no rights to bypass anything."""
    opened = open_workbench(settings)
    try:
        workbench = opened.workbench
        with opened.database.engine.connect() as connection:
            assert connection.scalar(text(f"{RIGHTS} WHERE rolname = session_user")) is False
            with pytest.raises(Exception, match="permission denied"):
                connection.execute(text("SELECT name FROM documents"))
        receipt = workbench.documents.upload("pay.csv", TABLE)
        assert workbench.documents.statistics().waiting_jobs
        workbench.ingestion.ingest(receipt.document_id)
        assert workbench.tables.run_sql("SELECT sum(pay) FROM pay").rows[0][0] == 30
        workbench.bulk_edit.delete(receipt.document_id, "Ann")
        workbench.trash.purge([receipt.document_id], "Ann")
        assert not workbench.login_notice and workbench.check.run().ok
    finally:
        opened.close()


def test_the_embedded_servers_pool_has_a_login_without_rights(folder: Path) -> None:
    _works(Settings(folder, worker=False))


def test_a_data_folder_of_an_earlier_version_gets_the_login_when_it_is_opened(folder: Path) -> None:
    earlier = start_embedded(folder)
    engine = engine_for(earlier.url())
    migrate(engine)  # as earlier versions did: everything belongs to the superuser, and there is no other login
    with engine.connect() as connection:
        assert not connection.scalar(text("SELECT count(*) FROM pg_roles WHERE rolname = 'fivefold_login'"))
    engine.dispose()
    earlier.close()
    _works(Settings(folder, worker=False))


def test_the_statements_of_the_documentation_set_up_a_server(root: Path, server: EmbeddedServer, folder: Path) -> None:
    page = (root / "docs/database.md").read_text("utf-8")
    first, extension, *rest = re.findall(r"^```sql\n(.*?)^```", page, re.M | re.S)
    assert len(rest) == 2
    _run(server.url("postgres"), "DROP DATABASE IF EXISTS fivefold")
    _run(server.url("postgres"), first)
    _run(server.url("fivefold"), extension)
    for statements in rest:
        _run(server.url("postgres"), statements)
    host = server.url().partition("?host=")[2]
    login, owner, backup = (
        f"postgresql://{name}:{name}-secret@/fivefold?host={host}"
        for name in ("fivefold_login", "fivefold_owner", "fivefold_backup")
    )
    with psycopg.connect(server.url("postgres")) as connection:
        assert connection.execute(f"{RIGHTS} WHERE rolname = 'fivefold_owner' AND rolsuper".encode()).fetchone() is None
    _works(Settings(folder, database_url=login, migration_database_url=owner, worker=False))
    _works(Settings(folder, database_url=login, worker=False))
    from bootstrap.backup import back_up

    manifest = back_up(Settings(folder, database_url=login, migration_database_url=backup), folder / "one.fivefold")
    assert manifest.missing == ()


def test_the_same_login_twice_is_refused(server: EmbeddedServer, folder: Path) -> None:
    with pytest.raises(BadRequest, match="the same login"):
        open_workbench(Settings(folder, database_url=server.url(), migration_database_url=server.url(), worker=False))


def test_a_superuser_is_told(server: EmbeddedServer) -> None:
    engine = engine_for(server.url("postgres"))
    assert "is a superuser" in bypassing_login(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE wide LOGIN BYPASSRLS"))
    engine.dispose()
    wide = engine_for(server.url("postgres").replace("postgres@", "wide@", 1))
    assert "BYPASSRLS" in bypassing_login(wide)
    wide.dispose()


def test_a_login_without_rights_on_an_empty_database_is_told_what_to_do(server: EmbeddedServer, folder: Path) -> None:
    name = f"empty{next(_NAMES)}"
    _run(server.url("postgres"), f"CREATE DATABASE {name}; CREATE ROLE {name} LOGIN;")
    url = server.url(name).replace("postgres@", f"{name}@", 1)
    with pytest.raises(StoreFailed) as refused:
        open_workbench(Settings(folder, database_url=url, worker=False))
    assert "FIVEFOLD_MIGRATION_DATABASE_URL" in refused.value.hint


def _run(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for each in filter(None, map(str.strip, statements.split(";"))):
            connection.execute(each.encode())
