"""A database of two servers: a streaming replica takes over from the primary, and nothing that was stored is lost."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from core.domain.errors import StoreUnavailable
from core.domain.queries import SearchRequest
from core.workbench import Workbench
from storage.embedded_postgres import setup
from tests.running import until

_START_SECONDS = 60
_REPLICATED = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"


@pytest.fixture
def servers() -> Iterator[tuple[Path, Path]]:
    """A primary that commits only what its replica has too, and that replica."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        primary, replica = Path(place) / "primary", Path(place) / "replica"
        primary.parent.chmod(0o711)  # as root, the servers run as another user, who must pass
        setup.create(primary)
        setup.write_settings(primary)
        with _started(primary):
            _ask(primary, "CREATE DATABASE fivefold")
            _copy(primary, replica)
            with _started(replica):
                _ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
                until(lambda: _ask(primary, _REPLICATED) == 1, _START_SECONDS, "a replica in step")
                yield primary, replica


def _copy(primary: Path, replica: Path) -> None:
    """Make a replica as an administrator does."""
    replica.mkdir(mode=0o700)
    shutil.chown(replica, primary.stat().st_uid, primary.stat().st_gid)
    source = f"host={primary} user=postgres"
    setup.run(replica, "pg_basebackup", "-d", source, "-D", str(replica), "-R", "-c", "fast", seconds=_START_SECONDS)
    setup.clear_after_crash(replica)  # the lock of the primary's socket was copied too


@contextmanager
def _started(server: Path) -> Iterator[None]:
    setup.start(server, _START_SECONDS)
    try:
        yield
    finally:
        if setup.is_running(server):
            setup.stop(server)


def _ask(server: Path, *statements: str) -> object:
    """The value the last statement returns, None for none; asked by the owner."""
    with psycopg.connect(f"host={server} user=postgres dbname=postgres", autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def _found(workbench: Workbench, question: str) -> set[str]:
    result = workbench.search.run(SearchRequest(question))
    assert not result.notices
    return {hit.candidate.passage.document_name for hit in result.hits}


def test_a_replica_takes_over(servers: tuple[Path, Path], models: Path, tmp_path: Path) -> None:
    """Searches, uploads and the worker of an open library go on with the new primary, whichever is listed first."""
    primary, replica = servers
    (tmp_path / "models").symlink_to(models.resolve(), target_is_directory=True)
    place = f"/fivefold?host={replica},{primary}"
    settings = Settings(
        tmp_path,
        database_url=f"postgresql://fivefold_login@{place}",
        migration_database_url=f"postgresql://postgres@{place}",
        worker=True,
    )
    with closing(open_workbench(settings)) as library:
        workbench = library.workbench
        workbench.documents.upload("leave.txt", b"Employees accrue twelve days of leave a year.")
        until(lambda: _states(workbench) == {"leave.txt": "ready"}, _START_SECONDS, "the first file read")
        assert _found(workbench, "How many days of leave accrue?") == {"leave.txt"}

        os.kill(int((primary / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        until(lambda: not setup.is_running(primary), _START_SECONDS, "the end of the primary")
        with pytest.raises(StoreUnavailable):
            workbench.documents.list()
        setup.run(replica, "pg_ctl", "promote", "-w", "-D", str(replica), seconds=_START_SECONDS)

        assert _states(workbench) == {"leave.txt": "ready"}
        assert _found(workbench, "How many days of leave accrue?") == {"leave.txt"}
        workbench.documents.upload("notice.txt", b"Employees give notice of four weeks.")
        until(lambda: _states(workbench).get("notice.txt") == "ready", _START_SECONDS, "the second file read")
        assert "notice.txt" in _found(workbench, "How long is the notice?")
        assert workbench.check.run().ok


def _states(workbench: Workbench) -> dict[str, str]:
    return {each.name: str(each.state) for each in workbench.documents.list()}
