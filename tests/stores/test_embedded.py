"""The embedded server over the life, and the violent death, of the programs that use it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from core.domain.errors import StoreFailed
from storage.embedded_postgres import server as server_module
from storage.embedded_postgres import setup
from storage.embedded_postgres.server import LOOK_SECONDS, EmbeddedServer, start_embedded
from tests.running import until

_PROGRAM = """
import sys
from pathlib import Path
import psycopg
from storage.embedded_postgres.server import start_embedded
server = start_embedded(Path(sys.argv[1]))
with psycopg.connect(server.url(), autocommit=True) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS notes (note text)")
    connection.execute("INSERT INTO notes VALUES ('from another program')")
print("ready", flush=True)
sys.stdin.readline()
server.close()
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A data folder no shell and no socket likes: blanks, quotes, and far too long for a socket."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        yield Path(place) / "Ann's own files, 50% of them" / ("long" * 25)


@pytest.fixture(autouse=True)
def _without_earlier_restarts(folder: Path) -> None:
    (folder / "postgres.restarts").unlink(missing_ok=True)


@pytest.fixture
def other(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program using the same data folder."""
    command = [sys.executable, "-c", _PROGRAM, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        yield started
        if started.poll() is None:
            _end(started)


def _end(program: subprocess.Popen[str]) -> None:
    """Let it close its server and end."""
    program.communicate("\n", timeout=60)
    assert program.returncode == 0


def _notes(folder: Path) -> int:
    server = start_embedded(folder)
    try:
        with psycopg.connect(server.url()) as connection:
            row = connection.execute("SELECT count(*) FROM notes").fetchone()
            assert row is not None
            return int(row[0])
    finally:
        server.close()


def test_two_programs_share_a_server_and_the_last_one_stops_it(folder: Path, other: subprocess.Popen[str]) -> None:
    assert _notes(folder) >= 1
    assert setup.is_running(folder / "postgres"), "the other program still uses it"
    _end(other)
    assert not setup.is_running(folder / "postgres")


def test_after_killing_program_and_server_the_next_start_has_everything_committed(
    folder: Path, other: subprocess.Popen[str]
) -> None:
    before = _notes(folder)
    server = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    other.kill()
    other.wait()
    os.kill(server, signal.SIGKILL)
    assert _notes(folder) == before
    assert not setup.is_running(folder / "postgres")


def test_a_killed_programs_server_is_taken_over_and_stopped(folder: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    assert setup.is_running(folder / "postgres")
    assert _notes(folder) >= 1
    assert not setup.is_running(folder / "postgres")


def _kill_server(folder: Path) -> None:
    os.kill(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def _starts(folder: Path) -> int:
    return (folder / "postgres" / "log").read_text("utf-8", "replace").count("starting PostgreSQL")


def _answers(server: EmbeddedServer) -> bool:
    try:
        with psycopg.connect(server.url(), connect_timeout=2) as connection:
            return connection.execute("SELECT count(*) FROM notes").fetchone() is not None
    except psycopg.OperationalError:
        return False


def test_a_server_that_is_killed_is_started_again_by_one_of_its_programs(
    folder: Path, other: subprocess.Popen[str]
) -> None:
    server = start_embedded(folder)
    assert server.notice() == ""
    before = _starts(folder)
    _kill_server(folder)
    until(lambda: _starts(folder) > before and _answers(server), 60, "an answer of the killed server")
    time.sleep(3 * LOOK_SECONDS)  # both programs have looked again
    assert _starts(folder) == before + 1
    _end(other)
    server.close()
    assert not setup.is_running(folder / "postgres"), "a closed one stays closed"


def test_people_are_told_of_a_new_start_and_a_server_that_keeps_dying_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_MOST_RESTARTS", 1)
    server = start_embedded(folder)
    before = _starts(folder)
    _kill_server(folder)
    until(lambda: _starts(folder) > before and _answers(server), 60, "an answer of the killed server")
    assert "was started again" in server.notice()
    _kill_server(folder)
    until(lambda: "keeps ending" in server.notice(), 60, "the notice")
    server.close()
    assert _notes(folder) >= 1, "the next start tries again"


def test_people_are_told_of_a_start_by_another_program(folder: Path, other: subprocess.Popen[str]) -> None:
    """The worker restarts the server of an app that did not notice."""
    server = start_embedded(folder)
    server._closing.set()  # this program no longer watches
    before = _starts(folder)
    _kill_server(folder)
    until(lambda: _starts(folder) > before and _answers(server), 60, "an answer of the killed server")
    assert "was started again" in server.notice()
    _end(other)
    server.close()


def test_a_note_of_a_dead_server_that_names_another_living_program_does_not_mislead(folder: Path) -> None:
    before = _notes(folder)
    (folder / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{folder}\n1\n5432\n\n\n 1 1\nready\n")
    assert _notes(folder) == before


def test_opened_twice_in_one_program_it_stops_with_the_second_close(folder: Path) -> None:
    first, second = start_embedded(folder), start_embedded(folder)
    first.close()
    with psycopg.connect(second.url()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    second.close()
    second.close()
    assert not setup.is_running(folder / "postgres")


def test_it_stops_also_when_the_right_to_pass_a_folder_above_was_taken_back() -> None:
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        server = start_embedded(Path(place) / "library")
        Path(place).chmod(0o700)
        server.close()
        assert not setup.is_running(Path(place) / "library" / "postgres")


def test_a_copy_of_a_data_folder_opens_whoever_made_the_copy(folder: Path, other: subprocess.Popen[str]) -> None:
    """A copy made by root is root's, as whom PostgreSQL does not run."""
    _end(other)
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        shutil.copytree(folder, Path(place) / "copy")
        assert _notes(Path(place) / "copy") > 0


def test_why_it_does_not_start_is_said(folder: Path, other: subprocess.Popen[str]) -> None:
    _end(other)
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        broken = shutil.copytree(folder, Path(place) / "broken")
        (broken / "postgres" / "global" / "pg_control").unlink()
        with pytest.raises(StoreFailed, match="pg_control"):
            start_embedded(broken)


def test_nobody_else_can_reach_it(folder: Path) -> None:
    server = start_embedded(folder)
    try:
        assert (folder / "postgres").stat().st_mode & 0o077 == 0
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    finally:
        server.close()


def test_a_folder_of_another_postgresql_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(StoreFailed, match="made by PostgreSQL 16"):
        start_embedded(tmp_path)


def test_a_data_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="data folder cannot be used"):
        start_embedded(tmp_path / "file" / "data")
