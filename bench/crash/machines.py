"""Cases of the machine itself: full disks, clocks that jump, workers of several machines killed at random."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.crash.pausing import KillPoint
from bench.crash.reading import Made

__all__ = ["NotRun", "full_disk", "jumping_clock", "many_workers"]

_ROOM_MEGABYTES = 256  # of a disk that is not full: PostgreSQL's log takes up to 80 MB of it
_FULL_SECONDS = 40.0  # a job is tried three times in that time
_WORKERS, _KILLS, _FILES = 4, 8, 30
_FAKETIME = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)


class NotRun(Exception):
    """This machine cannot run a case; says why."""


@contextmanager
def _disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own at a place, gone at the end."""
    if os.geteuid() != 0:
        raise NotRun("needs root, to mount a small disk")
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,mode=0711"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        raise NotRun(f"no disk can be mounted: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disk(made: Made, folder: Path, what: str) -> list[str]:
    """The disk of the data folder, or of PostgreSQL's log alone, fills up while files are read; then there is room."""
    folder.mkdir()
    folder.chmod(0o711)
    of_log = what == "pg_wal"
    used = sum(path.stat().st_size for path in made.queued.data.rglob("*") if path.is_file() and not path.is_symlink())
    with _disk(folder / "disk", _ROOM_MEGABYTES + (0 if of_log else used // 2**20)) as disk:
        if of_log:
            library = made.queued.copy(folder / "own")
            wal = library.data / "postgres" / "pg_wal"
            subprocess.run(["cp", "-a", str(wal), str(disk / "wal")], check=True)
            shutil.rmtree(wal)
            wal.symlink_to(disk / "wal", target_is_directory=True)
        else:
            library = made.queued.copy(disk / "own")
        filler = disk / "filler"
        try:
            worker = library.worker(KillPoint.parse("before adapters.sandboxed_reader:SandboxedReader.read"))
            assert worker.reached(), worker.printed()
            _fill(filler)
            worker.go_on()
            time.sleep(_FULL_SECONDS)
            filler.unlink()
            lost = []
            if worker.process.poll() is not None:
                lost.append(f"the worker ended with {worker.process.returncode}: {worker.printed()}")
                worker = library.worker()
            library.wait_until_quiet(worker)
            worker.stop()
            library.command("ingest", *map(str, made.files))  # a person tries failed files again
            library.settle()
            return lost + library.losses(made.read)
        finally:
            filler.unlink(missing_ok=True)
            library.end()
            time.sleep(2)


def _fill(file: Path) -> None:
    """Write until the disk is full."""
    block = bytes(2**20)
    with file.open("wb", buffering=0) as out:
        for size in (block, block[:4096]):
            try:
                while out.write(size):
                    pass
            except OSError:
                continue


_SLEEP = """
import select, time
time.sleep = lambda seconds: select.select([], [], [], max(seconds, 0))
"""
"""Python sleeps until a moment of the monotonic clock, which libfaketime refuses when it does not fake that clock."""


def jumping_clock(made: Made, folder: Path, jump: str) -> list[str]:
    """The machine's clock jumps by a day while files are read, for worker and database alike."""
    fake = next((each for each in _FAKETIME if Path(each).exists()), None)
    if fake is None:
        raise NotRun("needs libfaketime (apt-get install faketime)")
    library = made.queued.copy(folder)
    clock = folder / "clock"
    clock.write_text("+0", "ascii")
    clock.chmod(0o644)
    faked = {"LD_PRELOAD": fake, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
    faked |= {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "PYTHONPATH": str(folder)}
    (folder / "sitecustomize.py").write_text(_SLEEP, "ascii")
    try:
        worker = library.worker(**faked)
        time.sleep(8)
        clock.write_text(jump, "ascii")
        library.wait_until_quiet(worker)
        library.queue(made.files)  # known already: nothing new may come of it
        clock.write_text("+0", "ascii")
        library.wait_until_quiet(worker)
        worker.stop()
        return library.losses(made.read)
    finally:
        library.end()


def many_workers(made: Made, folder: Path, what: str) -> list[str]:
    """Workers of two machines share one database; they are killed at random, and others take their place."""
    del what
    apart = ["unshare", "--net", "--uts"] if os.geteuid() == 0 and shutil.which("unshare") else []
    library = made.base.copy(folder)
    files = []
    for number in range(_FILES):
        path = folder / f"Note {number}.md"
        paragraph = f"Pier {number} has {number + 3} lamps. The keeper must light each of them before dusk.\n\n"
        path.write_text(f"# Note {number}\n\n{paragraph * 12}", "utf-8")
        files.append(path)
    chance = random.Random(5)
    try:
        with library.opened():  # the server lives here, as on a machine of its own
            library.queue(files)
            before = [apart if number % 2 else [] for number in range(_WORKERS)]
            workers = [library.worker(before=words) for words in before]
            for _ in range(_KILLS):
                time.sleep(chance.uniform(4, 10))
                number = chance.randrange(_WORKERS)
                workers[number].kill()
                workers[number] = library.worker(before=before[number])
            library.wait_until_quiet(workers[0])
            for each in workers:
                each.stop()
        documents = library.contents()
        lost = [
            f"{each.name} was not read" for each in files if documents.documents.get(each.name, ("", ""))[1] != "ready"
        ]
        lost += [f"{name} is there twice" for name in documents.documents if "(document" in name]
        known = {name: each for name, each in documents.documents.items() if name in made.before.documents}
        lost += [] if known == made.before.documents else ["documents that were there before differ"]
        return lost + library.remains()
    finally:
        library.end()
