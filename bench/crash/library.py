"""A library in a folder of its own whose programs are killed, and what is in it afterwards."""
# Over 300 lines: starting, killing, waiting and comparing share one folder and its environment.

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

from bench.crash.pausing import KillPoint
from bootstrap.environment import Settings, settings_from_environment
from bootstrap.workbench import OpenWorkbench, open_workbench
from tests.running import ROOT, free_port, until

__all__ = ["PATIENCE_SECONDS", "Contents", "CrashLibrary", "Program", "differences"]

PATIENCE_SECONDS = 1800.0  # for one step, on a busy machine
_NOTICE_SECONDS = 120.0  # until a process that was left alone has ended
_APP = ("streamlit", "run", "app.py", "--server.headless", "true", "--server.port")
_WORKER = ("cli", "worker")
_COUNT, _FOLLOWERS = "SELECT count(*) FROM", ("document_entities", "signatures")
_OWN = (
    "SELECT DISTINCT c.table_name FROM information_schema.columns c"
    " JOIN information_schema.tables t USING (table_schema, table_name)"
    " WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.column_name = 'document_id'"
)
_QUIET = (
    "SELECT (SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing', 'aborting'))"
    " + (SELECT count(*) FROM documents WHERE state = 'pending')"
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a library holds, to be compared.

    documents: name → SHA-256 of the bytes as uploaded, state, and digest of its passages in order and of the numbers of
    its entities and signatures. corrections: labels that people set. tables: name → rows. decisions: of the coverage
    boards, oldest first.
    """

    documents: dict[str, tuple[str, str, str]]
    corrections: tuple[tuple[str, str, str], ...] = ()
    tables: dict[str, int] = field(default_factory=dict)
    decisions: tuple[str, ...] = ()

    def but(self, *names: str) -> "Contents":
        """Without these documents."""
        return replace(self, documents={name: each for name, each in self.documents.items() if name not in names})


def differences(expected: Contents, found: Contents) -> list[str]:
    """What was lost or is there twice, in words; empty when nothing was."""
    lost = [f"document {name} is missing" for name in expected.documents if name not in found.documents]
    lost += [f"document {name} should not be there" for name in found.documents if name not in expected.documents]
    for name, document in expected.documents.items():
        got = found.documents.get(name, document)
        if got != document:
            lost.append(f"document {name} is {got}, not {document}")
    for what in ("corrections", "tables", "decisions"):
        if getattr(expected, what) != getattr(found, what):
            lost.append(f"{what} are {getattr(found, what)}, not {getattr(expected, what)}")
    return lost


@dataclass(slots=True)
class Program:
    """A running program of the product, in a process group of its own."""

    process: subprocess.Popen[bytes]
    log: Path
    note: Path

    def kill(self) -> None:
        """kill -9 of this process alone: whatever it started must notice by itself."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, as a service manager does."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)

    def reached(self, seconds: float = PATIENCE_SECONDS) -> bool:
        """Wait until it stands at its kill point; False when it ended before."""
        deadline = time.monotonic() + seconds
        while not self.note.exists():
            if self.process.poll() is not None:
                return False
            if time.monotonic() > deadline:
                raise TimeoutError(f"The kill point was not reached in {seconds:.0f} s:\n{self.printed()}")
            time.sleep(0.05)
        return True

    def go_on(self) -> None:
        """Let it go on as if nothing had happened."""
        self.note.with_suffix(".go").touch()

    def printed(self) -> str:
        """The end of what it printed."""
        return self.log.read_text("utf-8", "replace")[-2000:]


class CrashLibrary:
    """A data folder and the programs that run on it. settings: further environment variables, such as DATABASE_URL.

    The folder's `tmp` is the temporary folder of all its programs, so that what they leave behind is seen.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.data, self.settings = folder, folder / "data", settings
        self.scratch = folder / "tmp"
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self._running: list[Program] = []
        self._number = 0

    def copy(self, folder: Path) -> "CrashLibrary":
        """The same library in another folder; nothing may run on it."""
        folder.mkdir()
        folder.chmod(0o711)  # as root, the database runs as another user, who must pass
        subprocess.run(["cp", "-a", str(self.data), str(folder / "data")], check=True)
        return CrashLibrary(folder, **self.settings)

    def environment(self, **settings: str) -> dict[str, str]:
        """The environment of its programs."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("FIVEFOLD_") and name != "DATABASE_URL"
        }
        own = {"FIVEFOLD_DATA_FOLDER": str(self.data), "TMPDIR": str(self.scratch), "FORWARDED_ALLOW_IPS": ""}
        return inherited | own | self.settings | settings

    # Programs

    def command(self, *words: str, good: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command to its end. Raises AssertionError with what it printed unless it succeeds, or need not."""
        done = subprocess.run(
            [sys.executable, "-m", "cli", *words],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0 or not good, f"cli {' '.join(words)}: {done.stdout}{done.stderr}"
        return done

    def start(
        self, *program: str, point: KillPoint | None = None, before: Sequence[str] = (), **settings: str
    ) -> Program:
        """Start a program, such as ("cli", "worker"); with a kill point it pauses there. before: words in front of the
        command, such as a wrapper's."""
        for mark in self.scratch.glob("*/.in-use"):
            os.utime(mark, (0, 0))  # a folder that a killed program left is deleted once it is a minute old
        self._number += 1
        note, log = self.folder / f"at-{self._number}", self.folder / f"program-{self._number}.log"
        words = ["bench.crash.pausing", str(point), str(note), *program] if point else list(program)
        with log.open("ab") as printed:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", *words],
                cwd=ROOT,
                env=self.environment(**settings),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(Program(process, log, note))
        return self._running[-1]

    def worker(self, point: KillPoint | None = None, before: Sequence[str] = (), **settings: str) -> Program:
        """Start `cli worker`."""
        return self.start(*_WORKER, point=point, before=before, **settings)

    def worker_at(self, point: KillPoint) -> Program:
        """Start `cli worker` and wait until it stands at its kill point."""
        worker = self.worker(point)
        assert worker.reached(), worker.printed()
        return worker

    @contextmanager
    def app(self, point: KillPoint | None = None, **settings: str) -> Iterator[tuple[Program, str]]:
        """The app, once it answers, and the address of its API; stopped at the end unless it was killed."""
        import httpx

        port = free_port()
        program = self.start(*_APP, str(port), point=point, **settings)
        address = f"http://127.0.0.1:{port}/api"

        def answers() -> bool:
            assert program.process.poll() is None, f"the app ended by itself:\n{program.printed()}"
            with suppress(httpx.TransportError):
                return httpx.get(f"{address}/health", timeout=30).status_code == 200
            return False

        until(answers, PATIENCE_SECONDS, "an answer of the app")
        try:
            yield program, address
        finally:
            if program.process.poll() is None:
                program.stop()

    def postmaster(self) -> int:
        """The process number of its embedded server. Raises FileNotFoundError when none was started."""
        return int((self.data / "postgres" / "postmaster.pid").read_text("utf-8").split("\n", 1)[0])

    def kill_postmaster(self) -> None:
        """kill -9 of the embedded server."""
        os.kill(self.postmaster(), signal.SIGKILL)

    def end(self) -> None:
        """Kill every program of this library that still runs, and its server."""
        for each in self._running:
            if each.process.poll() is None:
                each.kill()
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(self.postmaster(), signal.SIGINT)

    # Waiting

    def connection(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection to the database as its owner. Raises psycopg.OperationalError when no server runs."""
        url = self.settings.get("DATABASE_URL", "")
        return psycopg.connect(url or f"host={self.data / 'postgres'} user=postgres dbname=fivefold", autocommit=True)

    def scalar(self, query: str) -> int:
        """One number of the database."""
        with self.connection() as connection:
            row = connection.execute(query.encode()).fetchone()
        return int(row[0]) if row else 0

    def wait_until_quiet(self, program: Program) -> None:
        """Wait until nothing is queued and no document waits. Raises AssertionError when the program ends meanwhile."""

        def quiet() -> bool:
            assert program.process.poll() is None, f"the worker ended by itself:\n{program.printed()}"
            try:
                return self.scalar(_QUIET) == 0
            except psycopg.Error:  # the server, or its tables, are not there yet
                return False

        until(quiet, PATIENCE_SECONDS, "the end of all jobs")
        time.sleep(1.0)  # what follows up may queue more
        until(quiet, PATIENCE_SECONDS, "the end of all jobs")

    def settle(self) -> None:
        """Start a worker, wait until everything is done, and stop it."""
        worker = self.worker()
        self.wait_until_quiet(worker)
        worker.stop()

    # Comparing

    def opened(self) -> OpenWorkbench:
        """The library in this process, without a worker."""
        settings: Settings = replace(settings_from_environment(), data_folder=self.data, worker=False)
        settings = replace(settings, database_url=self.settings.get("DATABASE_URL", ""), chroma_url="")
        if "FIVEFOLD_CHROMA_URL" in self.settings:
            settings = replace(settings, vector_index="chroma", chroma_url=self.settings["FIVEFOLD_CHROMA_URL"])
        return open_workbench(settings)

    def queue(self, files: Sequence[Path]) -> None:
        """Store files and queue them; nobody reads them."""
        with self.opened() as workbench:
            for path in files:
                workbench.documents.upload(path.name, path.read_bytes())

    def contents(self) -> Contents:
        """What it holds now."""
        with self.opened() as workbench:
            documents = workbench.documents.list(archived=None)
            names = Counter(each.name for each in documents)
            rows: dict[str, tuple[str, str, str]] = {}
            for each in documents:
                name = each.name if names[each.name] == 1 else f"{each.name} (document {each.id})"
                bytes_now = hashlib.sha256(workbench.documents.uploaded(each.id)).hexdigest()
                texts = [(one.position, one.page, one.text) for one in workbench.documents.passages(each.id)]
                indexed = [self.scalar(f"{_COUNT} {table} WHERE document_id = {each.id}") for table in _FOLLOWERS]
                digest = hashlib.sha256(repr((texts, indexed)).encode()).hexdigest()[:16]
                rows[name] = (bytes_now, str(each.state), digest)
            return Contents(
                rows,
                tuple(
                    (each.name, field, str(getattr(each.labels, field).value))
                    for each in sorted(documents, key=lambda one: one.name)
                    for field in ("truth", "domain")
                    if getattr(each.labels, field).confirmed
                ),
                {table.name: table.rows for table in workbench.tables.tables()},
                tuple(f"{each.topic} {each.kind} {each.verdict}" for each in workbench.coverage.log(None)),
            )

    def remains(self) -> list[str]:
        """What no library may have once it is quiet: disagreeing stores, left jobs, rows, files and processes."""
        found = []
        with self.opened() as workbench:
            workbench.check.refresh()  # as every program does that reads files or shows pages
            found += [each.message for each in workbench.check.run().differences]
            documents = workbench.documents.list(archived=None)
            digests = {each.sha256 for each in documents} | {each.readable for each in documents if each.readable}
            originals = self.data / "originals"
            stored = {path.parent.name + path.name for path in originals.rglob("*") if path.is_file()}
            if stored - digests:
                found.append(f"{len(stored - digests)} files in 'originals' belong to no document")
            found += self._rows_left()
        with suppress(FileNotFoundError):
            left = sorted(path.name for path in self.scratch.iterdir() if not path.name.startswith("torchinductor"))
            found += [f"left in the temporary folder: {', '.join(left)}"] if left else []
        found += [f"still runs: {each}" for each in self._processes_left()]
        return found

    def _rows_left(self) -> Iterator[str]:
        with self.connection() as connection:
            for (table,) in connection.execute(_OWN).fetchall():
                orphans = f"SELECT count(*) FROM {table} o WHERE o.document_id IS NOT NULL AND NOT EXISTS"
                orphans += " (SELECT FROM documents d WHERE (d.tenant_id, d.id) = (o.tenant_id, o.document_id))"
                row = connection.execute(orphans.encode()).fetchone()
                if row and row[0]:
                    yield f"{row[0]} rows of {table} belong to no document"
            row = connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone()
            if row and row[0]:
                yield f"{row[0]} jobs are left in the queue"

    def _processes_left(self) -> list[str]:
        """Programs of this library that nobody waits for; they get some time to notice that they are alone."""
        import psutil

        def left() -> list[str]:
            names = []
            for each in psutil.process_iter():
                with suppress(psutil.Error):
                    own = each.environ().get("FIVEFOLD_DATA_FOLDER") == str(self.data)
                    if own and "postgres" not in each.name() and each.status() != psutil.STATUS_ZOMBIE:
                        names.append(" ".join(each.cmdline()[-4:]))
            return names

        deadline = time.monotonic() + _NOTICE_SECONDS
        while (found := left()) and time.monotonic() < deadline:
            time.sleep(0.5)
        return found

    def losses(self, expected: Contents) -> list[str]:
        """What differs from what must be there; empty when nothing was lost and nothing is left over."""
        return [*differences(expected, self.contents()), *self.remains()]
