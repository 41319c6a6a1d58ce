"""The worker in a process of its own: it is started, started again when it dies, and loses nothing."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bootstrap.environment import Settings
from bootstrap.supervised_process import _as_line, _from_line, most_megabytes
from bootstrap.workbench import ProcessRole, open_workbench
from bootstrap.worker_process import WorkerProcess
from core.domain.documents import DocumentState
from core.domain.errors import FileTooCostly
from tests.running import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a matter of POSIX")
SECONDS = 240.0


def test_the_settings_reach_the_worker_whole(tmp_path: Path) -> None:
    settings = Settings(
        tmp_path / "data", tenant="acme", smtp_url="smtp://u:p@mail.example", file_seconds=7, hosts="a,b"
    )
    assert _from_line(_as_line(settings)) == settings


def test_a_worker_has_at_most_most_of_the_memory() -> None:
    assert most_megabytes(100) == 100
    assert most_megabytes(10**9) < psutil.virtual_memory().total / 2**20


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[WorkerProcess]:
    """A supervised process that ends only when its input closes."""
    process = WorkerProcess(Settings(tmp_path), ("-c", "import sys; sys.stdin.buffer.read()"))
    process.start()
    yield process
    process.stop()


def test_a_worker_that_dies_is_started_again_and_stops_when_asked(sleeper: WorkerProcess) -> None:
    first = until(lambda: sleeper.pid, SECONDS, "the start of a worker")
    os.kill(first, signal.SIGKILL)
    second = until(lambda: sleeper.pid not in (None, first) and sleeper.pid, SECONDS, "a second start")
    assert sleeper.notice() == ""
    sleeper.stop()
    assert sleeper.pid is None and not psutil.pid_exists(second)


def test_a_worker_beyond_its_memory_is_ended_and_started_again(tmp_path: Path) -> None:
    hungry = (
        "import sys; held = bytearray(300_000_000); held[::4096] = b'x' * len(held[::4096]); sys.stdin.buffer.read()"
    )
    process = WorkerProcess(replace(Settings(tmp_path), worker_megabytes=100), ("-c", hungry))
    process.start()
    try:
        first = until(lambda: process.pid, SECONDS, "the start of a worker")
        until(lambda: process.pid not in (None, first), SECONDS, "its end and a second start")
    finally:
        process.stop()


def test_people_are_told_of_a_worker_that_keeps_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bootstrap.supervised_process._FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("bootstrap.supervised_process._LONGEST_PAUSE_SECONDS", 0.01)
    process = WorkerProcess(Settings(tmp_path), ("-c", "raise SystemExit(3)"))
    process.start()
    try:
        until(process.notice, SECONDS, "a notice")
        assert process.notice().startswith("The process that reads files keeps ending")
    finally:
        process.stop()


@pytest.mark.slow
def test_killing_the_worker_loses_no_file_and_the_reading_goes_on(data_folder: Path) -> None:
    settings = Settings(data_folder, worker=True)
    with open_workbench(settings, ProcessRole.APP) as workbench:

        def worker() -> psutil.Process | None:
            named = [each for each in psutil.Process().children() if "bootstrap.worker_process" in each.cmdline()]
            return named[0] if named else None

        first = until(worker, SECONDS, "the start of the worker")
        text = "Employees accrue leave each month and it is paid at the regular rate. " * 300
        ids = [
            workbench.documents.upload(f"{number}.txt", f"{text}{number}".encode()).document_id for number in range(3)
        ]

        def begun() -> bool:
            return any(workbench.documents.get(each).step not in ("waiting", "") for each in ids)

        until(begun, SECONDS, "the beginning of the reading")
        first.kill()

        def read() -> bool:
            return all(workbench.documents.get(each).state is DocumentState.READY for each in ids)

        until(read, SECONDS, "the reading of all files")
        until(lambda: worker() not in (None, first), SECONDS, "the start of another worker")


def test_an_overdue_step_fails_its_file_with_one_message_and_the_worker_starts_again(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bootstrap.workbench import run_worker
    from core.library.step_progress import OverdueStep, StepClock

    settings = Settings(data_folder, worker=False)
    with open_workbench(settings) as workbench:
        number = workbench.documents.upload("slow.txt", b"Leave is paid.").document_id
    error = FileTooCostly("Splitting 'slow.txt' took more than 300 seconds and was stopped.", "Split the file.")
    reported = [OverdueStep(number, "split", error)]
    monkeypatch.setattr(StepClock, "overdue", lambda clock: tuple(reported))
    monkeypatch.setattr("bootstrap.workbench._start_workers", lambda *parts: None)
    looks, restarts = iter([False, True]), list[int]()
    run_worker(settings, lambda seconds: next(looks), lambda: restarts.append(1))
    assert restarts == [1]
    with open_workbench(settings) as workbench:
        document = workbench.documents.get(number)
        assert (document.state, document.step) == (DocumentState.FAILED, "split")
        assert document.failure == error.message and document.remedy == "Split the file."
