"""A process of its own that the app starts, watches and starts again when it ends.

The settings go to it over its standard input, which stays open: when it closes, because the app stops or was killed,
the process ends.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from bootstrap.environment import Settings

__all__ = ["SupervisedProcess", "most_megabytes", "settings_from_parent"]

# Chosen by hand, not fitted.
_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before it is started again; doubled each time it dies early
_STEADY_SECONDS = 60.0  # a process that lived so long did not die of its start
_MEMORY_SHARE = 0.8  # of the machine; what is more would be taken from the app and the database
_TOO_OFTEN, _SHORT_TIME = 5, timedelta(minutes=5)
_log = logging.getLogger(__name__)


class SupervisedProcess:
    """One supervised process. name: in the log. command: what runs, as arguments of Python. megabytes: it is ended
    beyond that, and beyond 80 % of the machine's memory."""

    stop_seconds = 25.0
    """How long it may take to end. A job in progress gets a few seconds, and the database is closed. Chosen by hand."""

    planned_exit: int | None = None
    """An exit status that is no failure: the process asked to be started again."""

    def __init__(self, name: str, settings: Settings, command: Sequence[str], megabytes: int) -> None:
        self._name, self._settings, self._command, self._megabytes = name, settings, command, megabytes
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: list[datetime] = []
        self._thread = threading.Thread(target=self._supervise, name=f"{name} supervision", daemon=True)

    def start(self) -> None:
        """Start it; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Let it end; kill it when it does not. Safe to call again."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(self.stop_seconds + _LOOK_SECONDS)

    @property
    def pid(self) -> int | None:
        """Its process number; None while it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    @property
    def keeps_ending(self) -> bool:
        """Whether it died five times in the last five minutes."""
        now = datetime.now(UTC)
        return sum(now - each < _SHORT_TIME for each in self._deaths) >= _TOO_OFTEN

    def _inherited(self) -> Sequence[int]:
        """Further file descriptors for the next process, whose numbers are added to its command."""
        return ()

    def _started(self) -> None:
        """Called when it has started, and has the inherited descriptors."""

    def _look(self) -> None:
        """Called once a second while it runs."""

    def _ended(self) -> None:
        """Called when it has ended."""

    def _supervise(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = datetime.now(UTC)
            try:
                status: object = self._run()
            except OSError as error:  # no memory, or no file descriptor, for another process
                status = error
            if self._stopping.is_set():
                return
            ended = datetime.now(UTC)
            if status != self.planned_exit:
                self._deaths = [*self._deaths, ended][-_TOO_OFTEN:]
            pause = _FIRST_PAUSE_SECONDS if ended - began > timedelta(seconds=_STEADY_SECONDS) else pause
            _log.warning("The %s ended (%s) and is started again in %.0f s.", self._name, status, pause)
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _run(self) -> int:
        """Run one process until it ends or is to stop; its exit status."""
        inherited = self._inherited()
        with subprocess.Popen(
            [sys.executable, *self._command, *map(str, inherited)],
            stdin=subprocess.PIPE,
            env=_environment(),
            pass_fds=inherited,
        ) as process:
            self._process = process
            self._started()
            assert process.stdin is not None
            with suppress(OSError):  # it died at once
                process.stdin.write(_as_line(self._settings))
                process.stdin.flush()
            while process.poll() is None:
                if self._stopping.wait(_LOOK_SECONDS):
                    _end(process, self.stop_seconds)
                elif _megabytes(process.pid) > most_megabytes(self._megabytes):
                    _log.warning("The %s took more than %s MB and is ended.", self._name, self._megabytes)
                    process.kill()
                else:
                    self._look()
            with suppress(OSError):
                process.stdin.close()
        self._ended()
        return process.returncode


def _end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()


def most_megabytes(requested: int) -> float:
    """The memory a process may have: what the setting says, but no more than 80 % of the machine's."""
    import psutil

    return float(min(requested, _MEMORY_SHARE * psutil.virtual_memory().total / 2**20))


def _megabytes(pid: int) -> float:
    import psutil

    try:
        return float(psutil.Process(pid).memory_info().rss / 2**20)
    except psutil.NoSuchProcess:
        return 0.0


def _environment() -> dict[str, str]:
    """This process's, with the folder of the packages, wherever it was started."""
    root = str(Path(__file__).resolve().parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))}


def _as_line(settings: Settings) -> bytes:
    values = asdict(replace(settings, data_folder=settings.data_folder.expanduser().resolve()))
    return json.dumps(values | {"data_folder": str(values["data_folder"])}).encode() + b"\n"


def _from_line(line: bytes) -> Settings:
    values: dict[str, Any] = json.loads(line)
    return Settings(**values | {"data_folder": Path(values["data_folder"])})


def settings_from_parent() -> tuple[Settings, Callable[[float], bool]]:
    """The settings, and a function that waits so many seconds for the parent's end and says whether it has ended.
    Called once, at the beginning of a supervised process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C reaches both; the app then says when to end
    parent = _taken_input()
    settings = _from_line(parent.readline())
    closed = threading.Event()

    def listen() -> None:
        parent.read()
        closed.set()

    threading.Thread(target=listen, name="parent", daemon=True).start()
    return settings, closed.wait


def _taken_input() -> BinaryIO:
    """The standard input, for this module alone: a process that is forked closes its own copy, and would wait for ever
    for a lock on it that a reading thread held."""
    taken = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken
