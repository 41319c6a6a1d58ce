"""A throw-away library: measured, then gone."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

from core.documents import Document, DocumentState
from core.errors import BadFile, BadRequest, FivefoldError
from core.library.intray import NewFile
from core.settings import Settings
from core.tuning.judgments import LabelRow
from core.workbench import Workbench
from storage.opening import open_workbench

__all__ = [
    "NamedFile",
    "apply_labels",
    "drain",
    "files_of",
    "fill",
    "labelled_files",
    "paths_of",
    "scratch_workbench",
    "settle",
]

_LOOK_SECONDS = 0.2
_SAME = {"other": "general"}
"""Words of judged labels for a domain of ours."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file under the name it is uploaded with."""

    name: str
    data: bytes


@contextmanager
def scratch_workbench(settings: Settings, *, worker: bool = False) -> Iterator[Workbench]:
    """A workbench on a fresh embedded database in a temporary folder; converted models are shared.

    worker: whether jobs run by themselves. Raises StoreFailed when the database cannot start.
    """
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as folder:
        alone = replace(settings, data_folder=Path(folder), database_url="", chroma_url="", worker=worker)
        models = settings.data_folder / "models"
        models.mkdir(parents=True, exist_ok=True)
        (alone.data_folder / "models").symlink_to(models.resolve(), target_is_directory=True)
        with open_workbench(alone) as workbench:
            yield workbench


def files_of(paths: Sequence[Path]) -> list[NamedFile]:
    """The files named, and those in the folders named, without hidden ones. Raises BadRequest for what is not there."""
    return [NamedFile(path.name, path.read_bytes()) for path in paths_of(paths).values()]


def paths_of(paths: Sequence[Path]) -> dict[str, Path]:
    """The files named, and those in the folders named, without hidden ones; a file in a folder by its path inside, with
    "/", because its folders say what it is. Raises BadRequest for what is not there."""
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = {p.relative_to(path): p for p in sorted(path.rglob("*")) if p.is_file()}
            shown = {name: p for name, p in inside.items() if not any(part.startswith(".") for part in name.parts)}
            found |= {_free(name.as_posix(), found): p for name, p in shown.items()}
        elif path.is_file():
            found[_free(path.name, found)] = path
        else:
            raise BadRequest(f"'{path}' is not a file or folder.", "Check the path.")
    if not found:
        raise BadRequest("There is no file to ingest.", "Name files, or a folder that holds some.")
    return found


def labelled_files(rows: Sequence[LabelRow], folder: Path, *, hide_names: bool = False) -> list[NamedFile]:
    """The files of a folder under their judged names, joined by the SHA-256 of their bytes.

    hide_names: neutral names that keep the extension, because names leak labels. Raises BadRequest without a file.
    """
    if not folder.is_dir():
        raise BadRequest(f"'{folder}' is not a folder.", "Name the folder that holds the labelled files.")
    names = {row.sha256: row.name for row in rows}
    files = []
    for number, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file()), start=1):
        data = path.read_bytes()
        name = names.get(sha256(data).hexdigest(), path.name)
        files.append(NamedFile(f"document-{number:04}{Path(name).suffix}" if hide_names else name, data))
    if not files:
        raise BadRequest(f"'{folder}' holds no file.", "Name the folder that holds the labelled files.")
    return files


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or with a number before it when another file has it."""
    return name if name not in taken else _free(f"{len(taken) + 1}/{name}", taken)


def fill(
    workbench: Workbench,
    files: Sequence[NamedFile],
    *,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Document]:
    """Ingest files one after the other in this process. SHA-256 → document, ready or failed; empty files are absent."""
    documents: dict[str, Document] = {}
    for done, file in enumerate(files, start=1):
        try:
            receipt = workbench.upload(file.name, file.data)
        except BadFile:
            on_file(done, len(files))
            continue
        if not receipt.duplicate_of:
            documents[receipt.sha256] = workbench.ingest(receipt.document_id)
        on_file(done, len(files))
    return documents


def apply_labels(workbench: Workbench, rows: Sequence[LabelRow], documents: Mapping[str, Document]) -> None:
    """Correct every ready document to its judged labels, as an analyst would."""
    for row in rows:
        document = documents.get(row.sha256)
        if document is None or document.state is not DocumentState.READY:
            continue
        for field in ("truth", "domain", "authority", "jurisdiction", "effective_date"):
            value = getattr(row, field)
            if value:
                workbench.correct(document.id, field, _SAME.get(value, value), "judgment")


def settle(
    workbench: Workbench, files: Sequence[NewFile], *, project: str | None = None
) -> Iterator[tuple[NewFile, Document | FivefoldError]]:
    """Take files in and wait for a worker to settle each; yields them in their order."""
    told = list(workbench.tray.take_in(files, project=project))
    for file, outcome in zip(files, told, strict=True):
        if isinstance(outcome, FivefoldError):
            yield file, outcome
            continue
        while (document := workbench.document(outcome.document_id)).state is DocumentState.PENDING:
            sleep(_LOOK_SECONDS)
        yield file, document


def drain(workbench: Workbench, seconds: float = 600.0) -> None:
    """Wait until a worker has done what follows on reading, so that it is not cut off; at most so long."""
    end = monotonic() + seconds
    while workbench.statistics().waiting_jobs and monotonic() < end:
        sleep(_LOOK_SECONDS)
