"""The worker in a process of its own, which the app starts, watches and starts again: a file never costs the app.

The settings go to it over its standard input, which stays open: when it closes, because the app stops or was killed,
the worker returns its jobs to the queue and ends. A worker that needs more memory than it may is killed; its jobs are
taken up again, and the one that is to blame is given up after three attempts (storage/jobs/worker.py).
"""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from bootstrap.environment import Settings

__all__ = ["STOPPED_FOR_A_STEP", "WorkerProcess"]

# Chosen by hand, not fitted.
_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before it is started again; doubled each time it dies early
_STEADY_SECONDS = 60.0  # a worker that lived so long did not die of its start
_STOP_SECONDS = 25.0  # a job in progress gets a few seconds to end, and the database is closed
_MEMORY_SHARE = 0.8  # of the machine; what is more would be taken from the app and the database
_LESS_URGENT = 5  # added to its niceness: pages come first
_FIRST_TO_KILL = 500  # of 1,000: where memory ends, Linux ends the worker and not the app or the database
_TOO_OFTEN, _SHORT_TIME = 5, timedelta(minutes=5)
STOPPED_FOR_A_STEP = 75
"""Exit status of a worker that ended itself, to end a step that did not end."""
_log = logging.getLogger(__name__)


class WorkerProcess:
    """One supervised worker. command: what runs, for tests."""

    def __init__(self, settings: Settings, command: tuple[str, ...] = ("-m", "bootstrap.worker_process")) -> None:
        self._settings, self._command = settings, command
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: list[datetime] = []
        self._thread = threading.Thread(target=self._supervise, name="worker supervision", daemon=True)

    def start(self) -> None:
        """Start it; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Let it return its jobs and end; kill it when it does not. Safe to call again."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS + _LOOK_SECONDS)

    @property
    def pid(self) -> int | None:
        """Its process number; None while it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def notice(self) -> str:
        """For the user while the worker keeps ending; "" otherwise."""
        now = datetime.now(UTC)
        if sum(now - each < _SHORT_TIME for each in self._deaths) < _TOO_OFTEN:
            return ""
        return "The process that reads files keeps ending and is started again. The log of the app says why."

    def _supervise(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = datetime.now(UTC)
            status = self._run()
            if self._stopping.is_set():
                return
            ended = datetime.now(UTC)
            if status != STOPPED_FOR_A_STEP:
                self._deaths = [*self._deaths, ended][-_TOO_OFTEN:]
            pause = _FIRST_PAUSE_SECONDS if ended - began > timedelta(seconds=_STEADY_SECONDS) else pause
            _log.warning("The worker ended (exit %s) and is started again in %.0f s.", status, pause)
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _run(self) -> int:
        """Run one worker until it ends or is to stop; its exit status."""
        with subprocess.Popen([sys.executable, *self._command], stdin=subprocess.PIPE, env=_environment()) as process:
            self._process = process
            assert process.stdin is not None
            with suppress(OSError):  # it died at once
                process.stdin.write(_as_line(self._settings))
                process.stdin.flush()
            while process.poll() is None:
                if self._stopping.wait(_LOOK_SECONDS):
                    _end(process)
                elif _megabytes(process.pid) > most_megabytes(self._settings.worker_megabytes):
                    _log.warning("The worker took more than %s MB and is ended.", self._settings.worker_megabytes)
                    process.kill()
            with suppress(OSError):
                process.stdin.close()
            return process.returncode


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def most_megabytes(requested: int) -> float:
    """The memory a worker may have: what the setting says, but no more than 80 % of the machine's."""
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


def _serve() -> None:
    """Work until the input closes. Runs in the worker process."""
    from bootstrap.workbench import run_worker

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C reaches both; the app then says when to end
    parent = _taken_input()
    settings = _from_line(parent.readline())
    _step_back()
    closed = threading.Event()

    def listen() -> None:
        parent.read()
        closed.set()

    threading.Thread(target=listen, name="parent", daemon=True).start()
    run_worker(settings, closed.wait, lambda: os._exit(STOPPED_FOR_A_STEP))


def _taken_input() -> BinaryIO:
    """The standard input, for this module alone: a process that is forked closes its own copy, and would wait for ever
    for a lock on it that a reading thread held."""
    taken = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


def _step_back() -> None:
    """Let pages and the database come first, in time and in memory."""
    if hasattr(os, "nice"):
        os.nice(_LESS_URGENT)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_KILL), "ascii")


if __name__ == "__main__":
    _serve()
