"""Temporary libraries for benchmarks and tests."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

from adapters.ocr import installed_ocr
from bootstrap.environment import Settings, utc_now
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.domain.documents import Document, DocumentState
from core.domain.errors import BadFile, BadRequest, FivefoldError
from core.domain.results import UploadReceipt
from core.evaluation.judgments.files import LabelRow
from core.ingestion.parsers import extract
from core.library.upload_queue import NewFile
from core.table_qa.service import TableService
from core.workbench import Workbench
from storage.datasets.store import SqlTableStore
from storage.embedded_postgres.server import start_embedded
from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for

__all__ = [
    "NamedFile",
    "apply_labels",
    "drain",
    "files_of",
    "fill",
    "labelled_files",
    "paths_of",
    "scratch_library",
    "scratch_table_services",
    "scratch_workbench",
    "settle",
    "table_service_of",
]

_TOGETHER, _SMALL_BYTES, _TEXTS = 4, 20_000, (".txt", ".md")  # chosen by hand; each reader is a process
_LOOK_SECONDS = 0.2  # polling interval. Chosen by hand, not fitted.
_SAME = {"other": "general"}
"""Words of judged labels for a domain of ours."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file and the name it is uploaded with."""

    name: str
    data: bytes


@contextmanager
def scratch_workbench(settings: Settings, *, worker: bool = False) -> Iterator[Workbench]:
    """The workbench of `scratch_library`."""
    with scratch_library(settings, worker=worker) as library:
        yield library.workbench


@contextmanager
def scratch_library(settings: Settings, *, worker: bool = False) -> Iterator[OpenWorkbench]:
    """A library on a new embedded database in a temporary folder; converted models are shared.

    worker: whether queued jobs run. Raises StoreFailed when the database cannot start.
    """
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as folder:
        alone = replace(settings, data_folder=Path(folder), worker=worker)
        alone = replace(alone, database_url="", session_database_url="", originals_url="", chroma_url="")
        models = settings.data_folder / "models"
        models.mkdir(parents=True, exist_ok=True)
        (alone.data_folder / "models").symlink_to(models.resolve(), target_is_directory=True)
        with closing(open_workbench(alone)) as library:
            yield library


def files_of(paths: Sequence[Path]) -> list[NamedFile]:
    """The given files, and those in the given folders except hidden ones. Raises BadRequest for a missing path."""
    return [NamedFile(path.name, path.read_bytes()) for path in paths_of(paths).values()]


def paths_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Name → path, for the given files and those in the given folders except hidden ones; a file in a folder is named
    by its relative path, with "/", because folder names help classification. Raises BadRequest for a missing path."""
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = {p.relative_to(path): p for p in sorted(path.rglob("*")) if p.is_file()}
            visible = {name: p for name, p in inside.items() if not any(part.startswith(".") for part in name.parts)}
            found |= {_free(name.as_posix(), found): p for name, p in visible.items()}
        elif path.is_file():
            found[_free(path.name, found)] = path
        else:
            raise BadRequest(f"'{path}' is not a file or folder.", "Check the path.")
    if not found:
        raise BadRequest("There is no file to ingest.", "Name files, or a folder that holds some.")
    return found


def labelled_files(rows: Sequence[LabelRow], folder: Path, *, hide_names: bool = False) -> list[NamedFile]:
    """The files of a folder under their labelled names, matched by the SHA-256 of their bytes.

    hide_names: use neutral names with the same extension, because names leak labels. Raises BadRequest for a missing
    or empty folder."""
    if not folder.is_dir():
        raise BadRequest(f"'{folder}' is not a folder.", "Name the folder that holds the labelled files.")
    names = {row.sha256: row.name for row in rows}
    files = []
    for number, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file()), start=1):
        data = path.read_bytes()
        name = names.get(sha256(data).hexdigest(), path.name)
        files.append(NamedFile(f"document-{number:04}{Path(name).suffix}" if hide_names else name, data))
    if not files:
        raise BadRequest(f"'{folder}' contains no file.", "Name the folder that holds the labelled files.")
    return files


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or with a number in front when another file has it."""
    return name if name not in taken else _free(f"{len(taken) + 1}/{name}", taken)


def fill(
    workbench: Workbench,
    files: Sequence[NamedFile],
    *,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Document]:
    """Ingest files in order in this process, small texts several at a time, as they are stored together. SHA-256 →
    document, ready or failed; empty files are absent."""
    documents: dict[str, Document] = {}
    done = 0
    for group in _groups(files):
        receipts = [receipt for file in group if (receipt := _uploaded(workbench, file)) is not None]
        new = [each for each in receipts if not each.duplicate_of]
        read = workbench.ingestion.ingest_together([each.document_id for each in new])
        documents |= dict(zip([each.sha256 for each in new], read, strict=True))
        done += len(group)
        on_file(done, len(files))
    return documents


def _uploaded(workbench: Workbench, file: NamedFile) -> UploadReceipt | None:
    with suppress(BadFile):
        return workbench.documents.upload(file.name, file.data)
    return None


def _groups(files: Sequence[NamedFile]) -> Iterator[list[NamedFile]]:
    """Small texts that follow one another, a few together; every other file alone."""
    group: list[NamedFile] = []
    for file in files:
        small = file.name.endswith(_TEXTS) and len(file.data) <= _SMALL_BYTES
        if group and (not small or len(group) == _TOGETHER):
            yield group
            group = []
        if small:
            group.append(file)
        else:
            yield [file]
    if group:
        yield group


def apply_labels(workbench: Workbench, rows: Sequence[LabelRow], documents: Mapping[str, Document]) -> None:
    """Correct every ready document to its judged labels, as an analyst would."""
    for row in rows:
        document = documents.get(row.sha256)
        if document is None or document.state is not DocumentState.READY:
            continue
        for field in ("truth", "domain", "authority", "jurisdiction", "effective_date"):
            value = getattr(row, field)
            if value:
                workbench.documents.correct(document.id, field, _SAME.get(value, value), "judgment")


def settle(
    workbench: Workbench, files: Sequence[NewFile], *, project: str | None = None, tags: Sequence[str] = ()
) -> Iterator[tuple[NewFile, Document | FivefoldError]]:
    """Upload files and wait until a worker has finished each; yields them in order."""
    outcomes = list(workbench.upload_queue.take_in(files, project=project, tags=tags))
    for file, outcome in zip(files, outcomes, strict=True):
        if isinstance(outcome, FivefoldError):
            yield file, outcome
            continue
        while (document := workbench.documents.get(outcome.document_id)).state is DocumentState.PENDING:
            sleep(_LOOK_SECONDS)
        yield file, document


def drain(workbench: Workbench, seconds: float = 600.0) -> None:
    """Wait until a worker has finished the follow-up jobs of ingestion, at most so many seconds."""
    end = monotonic() + seconds
    while workbench.documents.statistics().waiting_jobs and monotonic() < end:
        sleep(_LOOK_SECONDS)


def table_service_of(database: Database, files: Sequence[NamedFile]) -> TableService:
    """A table service with these files loaded and linked, for one tenant. Raises BadFile for an unreadable file."""
    catalogue = SqlCatalogue(database)
    catalogue.register()
    service = TableService(SqlTableStore(database), catalogue, now=utc_now)
    for file in files:
        digest = sha256(file.data).hexdigest()
        pending = Document(0, file.name, digest, len(file.data), DocumentState.PENDING, utc_now())
        document = catalogue.add_document(pending)
        with tempfile.TemporaryDirectory(prefix="fivefold-tables-") as folder:
            service.load(document, extract(file.name, file.data, Path(folder), ocr=installed_ocr()).tables)
    return service


@contextmanager
def scratch_table_services(folder: Path, names: Sequence[str]) -> Iterator[dict[str, TableService]]:
    """Name → table service with the tables of that folder below `folder`, each a tenant of one temporary database.

    Raises BadRequest for a missing folder.
    """
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing:
        raise BadRequest(
            f"'{folder}' contains no folder '{missing[0]}'.", "Put each set's tables in a folder of its name."
        )
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o711)  # as root, the server runs as the owner of its folder and needs access
        server = start_embedded(Path(scratch))
        engine = engine_for(server.url())
        try:
            migrate(engine)
            yield {
                name: table_service_of(Database(engine, f"asked {name}"), files_of([folder / name])) for name in names
            }
        finally:
            engine.dispose()
            server.close()
