"""One library of several machines: a database server behind PgBouncer in transaction mode, where each transaction may
run in another server process, and originals in S3."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import pytest

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from core.domain.queries import SearchRequest
from core.library.upload_queue import NewFile
from storage.embedded_postgres.server import start_embedded
from storage.files import OriginalFiles
from tests.running import free_port, until

_CONFIGURATION = """
[databases]
* = host={socket}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 3
server_lifetime = 1
"""
"""A server process ends after a second, and with it every setting that outlives its transaction."""
_START_SECONDS = 20
_KEY = "key:secret"


@pytest.fixture
def machines(models: Path, s3: str) -> Iterator[Sequence[Settings]]:
    """Settings of two machines for an empty library; each has a data folder of its own."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed (Debian, Ubuntu: apt-get install pgbouncer).")
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        folder.chmod(0o711)  # as root, server and pooler run as another user, who must pass
        for name in ("one", "other"):
            (folder / name).mkdir()
            (folder / name / "models").symlink_to(models.resolve(), target_is_directory=True)
        server = start_embedded(folder / "server")
        with TemporaryDirectory(prefix="fivefold-pooler-") as own, _running(program, Path(own), server.url()) as port:
            one = Settings(
                folder / "one",
                database_url=f"postgresql://fivefold_login@127.0.0.1:{port}/fivefold",
                migration_database_url=server.url(),
                session_database_url=server.login_url(),
                originals_url=f"{s3}/originals",
                originals_key=_KEY,
                worker=True,
            )
            yield one, replace(one, data_folder=folder / "other", migration_database_url="", worker=False)
        server.close()


@contextmanager
def _running(program: str, folder: Path, server_url: str) -> Iterator[int]:
    """PgBouncer in front of a server; its port on this machine. folder: an empty one for its files."""
    port, place = free_port(), Path(parse_qs(urlsplit(server_url).query)["host"][0])
    (folder / "users.txt").write_text('"fivefold_login" ""\n')
    (folder / "pgbouncer.ini").write_text(_CONFIGURATION.format(socket=place, port=port, folder=folder))
    command = [program, str(folder / "pgbouncer.ini")]
    if os.geteuid() == 0:  # it refuses to run as root, and the server's socket is open to the server's user only
        owner = place.stat()
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
        command += ["-u", pwd.getpwuid(owner.st_uid).pw_name]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _wait_for(process, port)
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=_START_SECONDS)


def _wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    process.kill()
    raise AssertionError(process.communicate()[1].decode())


def test_what_one_machine_reads_the_other_finds(machines: Sequence[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    """One runs the worker, and each uploads, searches, asks tables and deletes; what one did the other sees at once.
    An hour is a second here."""
    monkeypatch.setattr("bootstrap.workbench._CHECK_SECONDS", 1.0)
    with closing(open_workbench(machines[0])) as first, closing(open_workbench(machines[1])) as second:
        one, other = first.workbench, second.workbench
        texts = {f"rule {days}.txt": f"Employees accrue {days} days of leave a year." for days in range(2, 12)}
        one.documents.upload("pay.csv", b"name,pay\nAnn,10\nBo,20\n")
        list(other.upload_queue.take_in([NewFile(name, text.encode) for name, text in texts.items()]))
        while other.upload_queue.counts(1.0).running:
            time.sleep(0.1)
        assert {each.state for each in other.documents.list()} == {"ready"}
        for machine in (other, one):
            for number in range(8):  # a statement is prepared by the fifth time at the latest, where it may be
                found = machine.search.run(SearchRequest(f"How many days of leave accrue? {number}"))
                assert {hit.candidate.passage.document_name for hit in found.hits} <= texts.keys() and found.hits
            assert machine.tables.run_sql("SELECT sum(pay) FROM pay").rows[0][0] == 30
        time.sleep(1.1)  # the pooler's server processes end, the connections of both stay
        gone = next(each for each in other.documents.list() if each.name == "rule 7.txt")
        one.bulk_edit.delete(gone.id, "Ann")
        assert not any(
            hit.candidate.passage.document_id == gone.id
            for hit in other.search.run(SearchRequest("How many days of leave accrue?")).hits
        )
        one.trash.purge([gone.id], "Ann")
        assert sorted(OriginalFiles(machines[0].originals_url, _KEY).names()) == sorted(
            {each.sha256 for each in other.documents.list()}
        )
        assert one.check.run().ok
        until(lambda: other.check.run().ok, 60, "the hourly check of the other machine")
