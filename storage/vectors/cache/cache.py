# Longer than 300 lines: reading, following and writing one cached library share its versions and its stop signal.
"""A cache of a tenant's vectors and filter columns, which speeds up search and follows the database.

The database is the source of truth. Before each search one query finds the documents whose passages changed, in any
process, and only those are read again. The cache is a memory-mapped file for all processes of a machine. Later changes
are in each process's memory; when there are many, the file is rewritten. Until it is built, the database answers.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import FivefoldError, StoreFailed
from core.domain.filters import SearchFilters
from core.ports.stores import PassageIds, Vectors
from storage.last_look import LastLook
from storage.postgres.database import Database
from storage.postgres.documents import KnownDocuments
from storage.vectors.cache.array_files import ArrayWriter, DamagedFile, open_arrays, writing_arrays
from storage.vectors.cache.changes import ChangeFeed, changes_since, passages_in, read_passages
from storage.vectors.cache.found_passages import FoundPassages
from storage.vectors.cache.quantized_vectors import QuantizedVectors, bits_of, codes_of, compile_kernels
from storage.vectors.cache.snapshot import (
    LISTED,
    SINGLE,
    Columns,
    Snapshot,
    SnapshotPart,
    StringColumn,
    merge_columns,
    part_in_memory,
)

__all__ = [
    "MOMENT_SECONDS",
    "WITHIN_SECONDS",
    "CachedLibrary",
    "VectorCache",
    "library_file",
    "read_library",
    "with_equal_width",
    "write_library",
    "write_new_library",
]

_FORMAT = 1  # of the file; another number causes a rebuild
_WRITTEN_ROWS = 8192  # vectors written at a time, some 12 MB


def library_file(folder: Path) -> Path:
    """The path of a tenant's cache."""
    return folder / "library.mirror"


def read_library(folder: Path, tenant: str, model: str) -> Snapshot:
    """The library as of when the file was written. Raises DamagedFile, also for another tenant's file, and OSError."""
    file = open_arrays(library_file(folder))
    about = file.about
    if {name: about.get(name) for name in ("format", "tenant", "model", "fields")} != _identity(tenant, model):
        raise DamagedFile
    try:
        coded = QuantizedVectors(**{name: file.arrays[name] for name in ("vectors", "codes", "scales", "bits", "mean")})
        base = SnapshotPart(Columns.from_arrays(file.arrays), coded, np.ones(len(file.arrays["ids"]), dtype=np.bool_))
        versions = {int(document): bytes.fromhex(version) for document, version in about["versions"].items()}
        words = StringColumn(about["words"])
    except (KeyError, ValueError) as error:
        raise DamagedFile from error
    nothing = np.zeros((0, coded.vectors.shape[1]), dtype=np.float32)
    parts = (base, part_in_memory(Columns.none(), nothing, coded.mean))
    return Snapshot(parts, words, versions, file, model=model)


def _identity(tenant: str, model: str) -> dict[str, Any]:
    return {"format": _FORMAT, "tenant": tenant, "model": model, "fields": [*SINGLE, *LISTED]}


def write_new_library(
    folder: Path,
    tenant: str,
    model: str,
    words: StringColumn,
    versions: Mapping[int, bytes],
    blocks: Iterable[tuple[Columns, Vectors]],
) -> None:
    """Write the passages of the blocks, ids ascending over all blocks. Raises OSError, StoreFailed."""
    columns = [Columns.none()]

    def vectors() -> Iterator[Vectors]:
        for block, rows in blocks:
            columns.append(block)
            yield rows

    with writing_arrays(library_file(folder)) as file:
        stored = file.add("vectors", with_equal_width(vectors()))
        together, _ = merge_columns(columns, [np.ones(len(each), dtype=np.bool_) for each in columns])
        _finish(file, stored, together, _identity(tenant, model) | _contents(words, versions))


def write_library(folder: Path, tenant: str, model: str, snapshot: Snapshot, check_stopped: Callable[[], None]) -> None:
    """Write a snapshot. check_stopped: called between blocks; raises to end the writing. Raises OSError."""
    columns, row_positions = merge_columns(
        [part.columns for part in snapshot.parts], [part.live for part in snapshot.parts]
    )
    with writing_arrays(library_file(folder)) as file:
        stored = file.add("vectors", with_equal_width(_gather_vectors(snapshot.parts, row_positions, check_stopped)))
        _finish(file, stored, columns, _identity(tenant, model) | _contents(snapshot.words, snapshot.versions))


def _contents(words: StringColumn, versions: Mapping[int, bytes]) -> dict[str, Any]:
    return {"words": words.all(), "versions": {str(document): version.hex() for document, version in versions.items()}}


def _gather_vectors(
    parts: Sequence[SnapshotPart], row_positions: NDArray[np.int64], check_stopped: Callable[[], None]
) -> Iterator[Vectors]:
    """The vectors of these rows, counted over all parts one after the other."""
    starts = np.cumsum([0, *(len(part.columns) for part in parts)])
    width = max(part.coded.vectors.shape[1] for part in parts)
    for first in range(0, len(row_positions), _WRITTEN_ROWS):
        chosen = row_positions[first : first + _WRITTEN_ROWS]
        block = np.zeros((len(chosen), width), dtype=np.float32)
        for start, part in zip(starts, parts, strict=False):
            in_part = (chosen >= start) & (chosen < start + len(part.columns))
            if part.coded.vectors.shape[1]:
                block[in_part] = part.coded.vectors[chosen[in_part] - start]
        check_stopped()
        yield block


def with_equal_width(blocks: Iterable[Vectors]) -> Iterator[Vectors]:
    """At least one block, all of the same width: zeros for blocks of passages without any vector.

    Raises StoreFailed when vectors have different lengths.
    """
    waiting, width = 0, 0
    for block in blocks:
        if not block.shape[1]:
            if width:
                yield np.zeros((len(block), width), dtype=np.float32)
            else:
                waiting += len(block)
            continue
        if width not in (0, block.shape[1]):
            raise StoreFailed("Vectors of one model have different lengths.", "Have the documents read again.")
        if not width:
            width = block.shape[1]
            yield np.zeros((waiting, width), dtype=np.float32)
        yield block
    if not width:
        yield np.zeros((waiting, 0), dtype=np.float32)


def _finish(file: ArrayWriter, vectors: Vectors, columns: Columns, about: dict[str, Any]) -> None:
    """Write everything except the vectors, which are read back block by block."""
    slices = [slice(start, start + _WRITTEN_ROWS) for start in range(0, max(len(vectors), 1), _WRITTEN_ROWS)]
    total = np.zeros(vectors.shape[1])
    scales: list[NDArray[np.float32]] = []

    def codes() -> Iterator[NDArray[np.int8]]:
        for rows in slices:
            block, scale = codes_of(vectors[rows])
            scales.append(scale)
            np.add(total, vectors[rows].sum(axis=0, dtype=np.float64), out=total)
            yield block

    file.add("codes", codes())
    file.add("scales", [np.concatenate(scales)])
    mean = (total / max(len(vectors), 1)).astype(np.float32)
    file.add("mean", [mean])
    file.add("bits", (bits_of(vectors[rows], mean) for rows in slices))
    for name, array in columns.arrays().items():
        file.add(name, [array])
    file.finish(about)


_ATTEMPTS = 10
"""How often documents are read again that change while they are read. Chosen by hand: the next search looks again."""


@dataclass(frozen=True, slots=True)
class CachedLibrary:
    """A tenant's passages in the database. check_stopped: called between blocks; raises to end the reading."""

    database: Database
    check_stopped: Callable[[], None]

    def changed_documents(self, snapshot: Snapshot) -> tuple[ChangeFeed, list[int]]:
        """What changed, and the documents whose passages differ from the snapshot. Raises StoreFailed.

        A restarted server may have been restored from a backup: then all of its documents are compared.
        """
        changes = changes_since(self.database, snapshot.next)
        vanished: list[int] = []
        if changes.started != snapshot.started:
            changes = changes_since(self.database, 0)
            vanished = [document for document in snapshot.versions if document not in changes.noted]
        differing = [
            document for document, version in changes.noted.items() if snapshot.versions.get(document) != version
        ]
        return changes, differing + vanished

    def catch_up(self, snapshot: Snapshot, at_most: int | None = None) -> Snapshot | None:
        """The snapshot with all changes; None when more than `at_most` passages changed. Raises StoreFailed."""
        for _ in range(_ATTEMPTS):
            changes, documents = self.changed_documents(snapshot)
            if not documents:
                return replace(snapshot, next=changes.next, started=changes.started)
            if at_most is not None and passages_in(self.database, documents) > at_most:
                return None
            # Versions are taken before reading: what changes in between has another version, and is read again.
            versions = dict(snapshot.versions)
            for document in documents:
                versions.pop(document, None)
            versions |= {document: changes.noted[document] for document in documents if document in changes.noted}
            snapshot = replace(
                self._replace_documents(snapshot, documents),
                versions=versions,
                next=changes.next,
                started=changes.started,
            )
        return snapshot

    def read(self, model: str, words: StringColumn, documents: list[int] | None) -> Iterator[tuple[Columns, Vectors]]:
        """The passages of these documents (None: of all) with a model's vectors, in blocks. Raises StoreFailed."""
        for block in read_passages(self.database, model, words, documents):
            self.check_stopped()
            yield block

    def _replace_documents(self, snapshot: Snapshot, documents: list[int]) -> Snapshot:
        base, fresh = snapshot.parts
        removed = np.array(documents, dtype=np.int64)
        columns, vectors = [fresh.columns], [fresh.coded.vectors]
        for block, rows in self.read(snapshot.model, snapshot.words, documents):
            columns.append(block)
            vectors.append(rows)
        retained = [
            ~np.isin(fresh.columns.documents, removed),
            *(np.ones(len(each), dtype=np.bool_) for each in columns[1:]),
        ]
        together, row_positions = merge_columns(columns, retained)
        changed = part_in_memory(
            together, np.concatenate(list(with_equal_width(vectors)))[row_positions], base.coded.mean
        )
        live = base.live & ~np.isin(base.columns.documents, removed)
        return replace(snapshot, parts=(SnapshotPart(base.columns, base.coded, live), changed))


_log = logging.getLogger(__name__)

_INLINE_PASSAGES = 20_000
"""Changed passages that a search waits for, some 0.7 s. If more changed, the database answers meanwhile."""

_CHANGED_LEAST, _CHANGED_SHARE = 4096, 1 / 16
"""The file is rewritten when more passages changed since: least number, and share of the library. Chosen by hand."""

_MEMORY_PASSAGES = 100_000  # changed passages kept in memory, some 190 MB; if more changed, a new file is read

MOMENT_SECONDS = 0.05  # where people search: what another process changes is found that much later at most

WITHIN_SECONDS = 1.0
"""Greatest age of the cache when it is asked by passage id: the ids come from a search, which has just looked."""

_NEVER = float("-inf")
_RETRY_SECONDS = 300.0  # after a failure, such as a full disk, that a person must fix. Chosen by hand, not fitted.
_CLOSING_SECONDS = 30.0  # how long closing waits for the background thread, which stops after its block
_LOCK_SECONDS = 0.5  # how often a process that waits for another one's writing checks whether it should stop


class _CacheStopped(Exception):
    """The program is ending."""


class VectorCache:
    """Thread-safe. model: whose vectors are cached; a function is called when the name is first needed. When it gives
    another name later, the cache is built again with that model's vectors. look: when it last agreed with the database.

    Built in the background at the first search, or at once by `open`; a process that never searches builds none.
    """

    def __init__(
        self, database: Database, model: str | Callable[[], str], folder: Path, look: LastLook | None = None
    ) -> None:
        self._library, self._folder = CachedLibrary(database, self._check_stopped), folder
        self._model: Callable[[], str] = (lambda: model) if isinstance(model, str) else model
        self._look = look or LastLook()
        self.passages, self.documents = FoundPassages(), KnownDocuments()
        self._snapshot: Snapshot | None = None
        self._lock = Lock()  # one thread at a time replaces the snapshot
        self._behind = False  # so far that the background thread catches up
        self._start_lock = Lock()
        self._worker: Thread | None = None
        self._not_before = _NEVER
        self._stop = Event()
        self._notice = ""

    @property
    def notice(self) -> str:
        """A message for the user; "" when there is none."""
        return self._notice

    # Queries; None means: ask the database

    def current(self, within_seconds: float = 0.0) -> Snapshot | None:
        """The library as it is now, or was at most `within_seconds` or a moment ago. Raises StoreFailed."""
        recent = self._look.is_recent(within_seconds)  # asked first: what another thread reads meanwhile is newer
        snapshot = self._snapshot
        if snapshot is not None and snapshot.model != self._model():
            self._snapshot = snapshot = None
        if snapshot is None or self._behind:
            self._start_work()
            return None
        if not snapshot.file.intact():
            _log.warning("%s was written to by another process; it is rebuilt.", library_file(self._folder))
            self._snapshot = None
            self._start_work()
            return None
        if recent:
            return snapshot
        begun = self._look.begin()
        found = self._follow(snapshot)
        if found is not None:
            self._look.note(begun)
        return found

    def invalidate(self) -> None:
        """This process changes the library: the next query checks the database again."""
        self._look.own.note()

    def admissible(self, filters: SearchFilters) -> PassageIds | None:
        """Ids of the passages the filters admit, ascending."""
        snapshot = self.current()
        return None if snapshot is None else snapshot.admissible(filters)

    def undated(self, filters: SearchFilters) -> int | None:
        """Documents left out by the date filter only because they are undated."""
        snapshot = self.current()
        return None if snapshot is None else snapshot.undated(filters)

    def open(self) -> None:
        """Read or build the cache and wait for it. If it cannot be stored, `notice` says why."""
        self._not_before = _NEVER
        self._start_work()
        if self._worker is not None:
            self._worker.join()

    def rewrite(self) -> None:
        """Write the file from the database again, where there is one, so that it holds nothing of deleted documents.
        Searches go on with the old one meanwhile. Raises StoreFailed."""
        if not library_file(self._folder).exists():
            return
        try:
            with self._only_writer():
                fresh = self._build(self._model())
        except (OSError, _CacheStopped) as error:
            message = f"The copy of vectors and labels could not be written again: {error}."
            raise StoreFailed(message, "Make room, or delete the folder 'mirror' of the data folder.") from error
        with self._lock:
            self._snapshot, self._behind = fresh, False
        self.invalidate()

    def close(self) -> None:
        """Stop the background thread. Harmless when repeated."""
        self._stop.set()
        if self._worker is not None:
            self._worker.join(_CLOSING_SECONDS)

    def _follow(self, snapshot: Snapshot) -> Snapshot | None:
        changes, documents = self._library.changed_documents(snapshot)
        if not documents and changes.started == snapshot.started:
            self._advance(snapshot, changes.next if changes.noted else snapshot.next)
            return snapshot
        self.documents.forget(documents)
        self.passages.forget(documents)
        with self._lock:
            if self._snapshot is None or self._snapshot.model != snapshot.model:
                return None
            try:
                found = self._library.catch_up(self._snapshot, _INLINE_PASSAGES)
            except MemoryError as error:
                self._snapshot, found = None, None
                self._fail(error)
            except _CacheStopped:
                return None
            if found is not None:
                self._snapshot = found
            self._behind = found is None
        if found is None or _much_changed(found):
            self._start_work()
        return found

    def _advance(self, snapshot: Snapshot, following: int) -> None:
        """Nothing differs: changes up to `following` need not be listed again."""
        if following != snapshot.next and self._lock.acquire(blocking=False):
            if self._snapshot is snapshot:
                self._snapshot = replace(snapshot, next=following)
            self._lock.release()

    # In the background

    def _start_work(self) -> None:
        """Build the cache, catch up or rewrite it, unless a thread is at it or it has just failed."""
        with self._start_lock:
            running = self._worker is not None and self._worker.is_alive()
            if not running and not self._stop.is_set() and monotonic() >= self._not_before:
                (worker := Thread(target=self._run, name="vector cache", daemon=True)).start()
                self._worker = worker  # once it has started: `close` joins it

    def _run(self) -> None:
        try:
            compile_kernels()
            with self._only_writer():
                model = self._model()
                snapshot = self._save(self._load(model) or self._build(model))
                with self._lock:
                    self._snapshot, self._behind = self._library.catch_up(snapshot), False
        except _CacheStopped:
            return
        except (OSError, MemoryError, FivefoldError) as error:
            self._fail(error)
        else:
            self._notice = ""

    def _load(self, model: str) -> Snapshot | None:
        """This process's snapshot, or the file if it is newer: another process may have written it."""
        snapshot = self._snapshot
        if snapshot is not None and (snapshot.model != model or not snapshot.file.intact()):
            snapshot = None
        if snapshot is not None and snapshot.file.stands_at(library_file(self._folder)):
            return snapshot
        try:
            return read_library(self._folder, self._library.database.tenant, model)
        except FileNotFoundError:
            return snapshot
        except DamagedFile:
            _log.warning("%s is not what was written; it is rebuilt.", library_file(self._folder))
            return snapshot

    def _build(self, model: str) -> Snapshot:
        tenant = self._library.database.tenant
        changes, words = changes_since(self._library.database, 0), StringColumn()
        write_new_library(self._folder, tenant, model, words, changes.noted, self._library.read(model, words, None))
        return read_library(self._folder, tenant, model)

    def _save(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with all changes; the file is rewritten if it lacks many."""
        caught_up = self._library.catch_up(snapshot, _MEMORY_PASSAGES)
        if caught_up is None:
            caught_up = self._build(snapshot.model)
        if caught_up.file.stands_at(library_file(self._folder)) and not _much_changed(caught_up):
            return caught_up
        tenant, model = self._library.database.tenant, snapshot.model
        write_library(self._folder, tenant, model, caught_up, self._check_stopped)
        return read_library(self._folder, tenant, model)

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """No other process writes meanwhile; files that a killed process left are deleted."""
        from filelock import FileLock, Timeout

        self._check_stopped()  # a cache that is closed makes no folder again that was deleted meanwhile
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / "lock")
        while True:
            self._check_stopped()
            try:
                lock.acquire(timeout=_LOCK_SECONDS)
                break
            except Timeout:
                continue
        try:
            for path in self._folder.glob("*.new"):
                path.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def _check_stopped(self) -> None:
        if self._stop.is_set():
            raise _CacheStopped

    def _fail(self, error: Exception) -> None:
        self._not_before = monotonic() + _RETRY_SECONDS
        reason = error.message if isinstance(error, FivefoldError) else str(error) or type(error).__name__
        self._notice = (
            f"The copy of the library that makes search fast cannot be kept, so searches take longer: {reason}"
        )
        _log.warning("%s", self._notice)


def _much_changed(snapshot: Snapshot) -> bool:
    return snapshot.changed > max(_CHANGED_LEAST, _CHANGED_SHARE * len(snapshot.parts[0].columns))
