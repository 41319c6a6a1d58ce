"""Cases of upload, reading and storing: the worker, the command, the app, the database and Chroma are killed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.crash.library import PATIENCE_SECONDS, Contents, CrashLibrary
from bench.crash.pausing import KillPoint
from tests.running import free_port, until

__all__ = [
    "APP",
    "CHROMA",
    "CHROMA_WORKER",
    "POSTMASTER",
    "READ",
    "UPLOAD",
    "Made",
    "killed_app",
    "killed_chroma",
    "killed_command",
    "killed_postmaster",
    "killed_worker",
    "killed_worker_of_chroma",
]

_STORED = "storage.files:OriginalFiles.put"
_LISTED = "storage.postgres.catalogue:SqlCatalogue.add_document"
_QUEUED = "storage.jobs.queue:PostgresJobQueue.defer_ingest"
_SAVED = "storage.postgres.catalogue:SqlCatalogue.save_all_ingested"

UPLOAD = tuple(f"{when} {step}" for step in (_STORED, _LISTED, _QUEUED) for when in ("before", "after"))
READ = (
    "before adapters.sandboxed_reader:SandboxedReader.read",
    "after adapters.sandboxed_reader:SandboxedReader.read#2",
    "after core.library.archive_members:ArchiveMembers._add_member",
    "after core.library.archive_members:ArchiveMembers.take_out#3",
    "after core.table_qa.service:TableService.load",
    "after core.ingestion.pipeline:embed_passages",
    "after core.ingestion.pipeline:IngestionPipeline.run#2",
    f"before {_SAVED}",
    f"after {_SAVED}",
    "after storage.vectors.pgvector:PgvectorIndex.add",
    "before storage.keywords.index:KeywordIndex._publish",
    "after storage.keywords.index:KeywordIndex.add",
    "after storage.postgres.entities:SqlEntityGraph.add_each",
    "after core.search.query.expansion:SynonymFinder.learn",
    "after core.library.ingestion_service:IngestionService._store_together",
    "after core.library.upload_queue:UploadQueue.ended",
)
APP = (f"after {_STORED}", f"after {_LISTED}", f"after {_SAVED}")
POSTMASTER = (
    "before adapters.sandboxed_reader:SandboxedReader.read",
    f"before {_SAVED}",
    f"after {_SAVED}",
    "after storage.keywords.index:KeywordIndex.add",
)
CHROMA = ("before storage.vectors.chroma:ChromaIndex.add", "after storage.vectors.chroma:ChromaIndex.add")
CHROMA_WORKER = (f"after {_SAVED}", *CHROMA)


@dataclass(frozen=True, slots=True)
class Made:
    """What all cases begin with.

    base: a library with a few documents read; before: what it holds. queued: the same with `files` stored and queued,
    not read; read: what it holds once they are read.
    """

    base: CrashLibrary
    before: Contents
    queued: CrashLibrary
    files: tuple[Path, ...]
    read: Contents


def killed_command(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """`cli ingest` is killed, a worker starts, and the person uploads the same files again."""
    library = made.base.copy(folder)
    try:
        program = library.start("cli", "ingest", *map(str, made.files), point=point)
        assert program.reached(), program.printed()
        program.kill()
        library.settle()
        library.command("ingest", *map(str, made.files))
        return library.losses(made.read)
    finally:
        library.end()


def killed_worker(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """`cli worker` is killed, and another one starts."""
    library = made.queued.copy(folder)
    try:
        worker = library.worker_at(point)
        worker.kill()
        library.settle()
        return library.losses(made.read)
    finally:
        library.end()


def killed_postmaster(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The embedded server is killed at a step of the worker, which goes on."""
    library = made.queued.copy(folder)
    try:
        worker = library.worker_at(point)
        library.kill_postmaster()
        worker.go_on()
        time.sleep(1)
        library.wait_until_quiet(worker)
        worker.stop()
        return library.losses(made.read)
    finally:
        library.end()


def killed_app(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The app is killed while it takes in and reads a file; the app starts again, and the file is uploaded again."""
    import httpx

    library = made.base.copy(folder)
    path = made.files[0]
    headers = {"X-Requested-With": "crash"}

    def upload(address: str) -> None:
        files = {"file": (path.name, path.read_bytes())}
        try:
            httpx.post(
                f"{address}/documents", files=files, headers=headers, timeout=PATIENCE_SECONDS
            ).raise_for_status()
        except httpx.TransportError:  # the app is killed before it answers
            return

    try:
        with library.app(point) as (app, address):
            threading.Thread(target=upload, args=(address,), daemon=True).start()
            assert app.reached(), app.printed()
            app.kill()
        with library.app() as (app, address):
            upload(address)
            library.wait_until_quiet(app)
        documents = made.before.documents | {path.name: made.read.documents[path.name]}
        return library.losses(replace(made.before, documents=documents))
    finally:
        library.end()


def killed_chroma(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The Chroma server is killed at a step of the worker, and comes back."""
    with _chroma_library(made, folder) as (library, chroma):
        worker = library.worker_at(point)
        chroma.kill()
        worker.go_on()
        time.sleep(5)
        chroma.start()
        library.wait_until_quiet(worker)
        worker.stop()
        return library.losses(_new(made))


def killed_worker_of_chroma(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """`cli worker` is killed between the catalogue and Chroma, and another one starts."""
    with _chroma_library(made, folder) as (library, _):
        worker = library.worker_at(point)
        worker.kill()
        library.settle()
        return library.losses(_new(made))


def _new(made: Made) -> Contents:
    """What `files` alone make."""
    documents = {name: each for name, each in made.read.documents.items() if name not in made.before.documents}
    tables = {name: rows for name, rows in made.read.tables.items() if name not in made.before.tables}
    return Contents(documents, (), tables)


@contextmanager
def _chroma_library(made: Made, folder: Path) -> Iterator[tuple[CrashLibrary, "_Chroma"]]:
    """A library with its vectors in a Chroma server; `files` are queued."""
    folder.mkdir()
    folder.chmod(0o711)
    chroma = _Chroma(folder)
    library = CrashLibrary(folder, FIVEFOLD_VECTOR_INDEX="chroma", FIVEFOLD_CHROMA_URL=chroma.url)
    chroma.start()
    try:
        library.queue(made.files)
        yield library, chroma
    finally:
        library.end()
        chroma.kill()


class _Chroma:
    """A Chroma server with its data in a folder, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        program = Path(sys.executable).with_name("chroma")
        with (self._folder / "chroma.log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(program), "run", "--path", str(self._folder / "chroma"), "--port", str(self._port)],
                env=os.environ | {"ANONYMIZED_TELEMETRY": "false"},
                stdout=log,
                stderr=log,
            )
        until(self._answers, PATIENCE_SECONDS, "an answer of Chroma")

    def _answers(self) -> bool:
        import httpx

        assert self._server.poll() is None, (self._folder / "chroma.log").read_text("utf-8", "replace")[-1000:]
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """kill -9."""
        self._server.kill()
        self._server.wait()
