"""Watches folders on the server: uploads each new or changed file once, under its path inside the folder.

    scan → files with another size or time → files no longer being written → bytes → new hashes → uploaded

Only folders below the allowed roots can be watched, symbolic links are not followed, and a file that is still being
written is skipped until it is stable. Deleting a file changes nothing: the library keeps its document.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from core.domain.errors import BadFile, BadRequest
from core.library.sources.store import (
    FolderScanner,
    FolderStore,
    FolderTally,
    ScannedFile,
    WatchedFile,
    WatchedFolder,
)
from core.library.upload_queue import StoredOriginal
from core.ports.job_queue import JobKind, JobQueue

__all__ = ["FolderService"]

_EVERY = timedelta(minutes=5)
# Chosen by hand, not fitted.
_STILL = timedelta(seconds=30)  # age of the last change at which a file is stable at the first scan
_BETWEEN = timedelta(seconds=2)  # least time between two scans for an unchanged file to be stable
_AT_ONCE = 50  # chosen by hand
_MOST_CHOICES = 500  # folders offered for watching; chosen by hand


class FolderService:
    """Watches folders. roots: only folders below them can be watched; empty: none can."""

    def __init__(
        self,
        store: FolderStore,
        keep: StoredOriginal,
        jobs: JobQueue,
        roots: Sequence[Path],
        scanner: FolderScanner,
        now: Callable[[], datetime],
    ) -> None:
        self._scanner = scanner
        self._store, self._upload, self._jobs, self._now = store, keep, jobs, now
        self.roots = tuple(scanner.resolve(root) for root in roots)

    def folders(self) -> Sequence[tuple[WatchedFolder, FolderTally]]:
        """Every watched folder with its counts, oldest first."""
        tallies = self._store.tallies()
        return [(folder, tallies.get(folder.id, FolderTally())) for folder in self._store.folders()]

    def choices(self) -> Sequence[str]:
        """Folders that can be watched: the roots and the folders in them, two levels deep, at most 500."""
        found: list[str] = []
        for root in self.roots:
            for folder in self._scanner.folders(root, 2):
                if len(found) == _MOST_CHOICES:
                    return found
                found.append(str(folder))
        return found

    def add(self, path: str, *, project: str | None = None, tags: Sequence[str] = ()) -> WatchedFolder:
        """Watch a folder, and scan it at once. Raises BadRequest for a folder that may not or cannot be watched."""
        folder = Path(path.strip())
        if not folder.is_absolute():
            raise BadRequest(f"'{path}' is not a whole path.", "Write it from the root of the server on.")
        self._check(folder)
        stored = self._store.add(WatchedFolder(str(self._scanner.resolve(folder)), project=project, tags=tuple(tags)))
        self.scan_soon(stored.id)
        return stored

    def change(self, folder_id: int, *, project: str | None, tags: Sequence[str]) -> None:
        """Set project and tags for files uploaded from now on. Raises NotFound."""
        self._store.change(replace(self._store.folder(folder_id), project=project, tags=tuple(tags)))

    def remove(self, folder_id: int) -> None:
        """Stop watching a folder; its documents stay in the library."""
        self._store.remove(folder_id)
        self._jobs.settle(JobKind.FOLDER, folder_id)

    def failures(self, folder_id: int, limit: int = 50) -> Sequence[WatchedFile]:
        """Files that could not be uploaded, by path."""
        return self._store.failures(folder_id, limit)

    def scan_soon(self, folder_id: int) -> None:
        """Queue a scan of a folder."""
        self._jobs.defer(JobKind.FOLDER, [folder_id])

    def scan_due(self) -> None:
        """Queue a scan of every folder last scanned five minutes ago, or with files that were still being written."""
        now, tallies = self._now(), self._store.tallies()
        for folder in self._store.folders():
            moving = tallies.get(folder.id, FolderTally()).left > 0
            if folder.looked is None or moving or now - folder.looked >= _EVERY:
                self.scan_soon(folder.id)

    def scan(self, folder_id: int) -> None:
        """Scan a folder and upload what is new; the job behind `scan_soon`. Idempotent.

        Raises NotFound for a folder that is no longer watched, StoreFailed when nothing could be stored.
        """
        folder, now = self._store.folder(folder_id), self._now()
        try:
            self._check(Path(folder.path))
        except BadRequest as problem:
            self._store.change(replace(folder, looked=now, failure=problem.message, remedy=problem.hint))
            return
        known = self._store.files(folder_id)
        queue_position: int | None = None
        seen = set[str]()
        for files in _blocks(self._changed_files(folder, known, now)):
            results = [self._upload_new(folder, known.get(path), each) for path, each in files]
            new = [document_id for _, document_id in results if document_id is not None]
            queue_position = self._jobs.defer_ingest(new, queue_position)
            self._store.save_files(folder_id, [file for file, _ in results])
            seen |= {path for path, _ in files}
        vanished = [each for each in known.values() if (each.moving or each.failure) and each.path not in seen]
        self._store.save_files(folder_id, [replace(each, moving=False, failure="", remedy="") for each in vanished])
        self._store.change(replace(folder, looked=now, failure="", remedy=""))

    def _changed_files(
        self, folder: WatchedFolder, known: Mapping[str, WatchedFile], now: datetime
    ) -> Iterator[tuple[str, "_ScannedFolder"]]:
        """The files that have changed since they were uploaded, by path."""
        rested = folder.looked is not None and now - folder.looked >= _BETWEEN
        oldest = int((now - _STILL).timestamp() * 1e9)
        for each in self._scanner.scan(Path(folder.path)):
            if not isinstance(each, ScannedFile):
                yield each[0], _ScannedFolder(ScannedFile(each[0], 0, 0), problem=each[1])
                continue
            before = known.get(each.path)
            same = before is not None and (before.size, before.modified) == (each.size, each.modified)
            if same and before is not None and before.sha256 and not before.moving and not before.failure:
                continue
            still = each.modified <= oldest or (same and rested)
            yield each.path, _ScannedFolder(each, still=still)

    def _upload_new(
        self, folder: WatchedFolder, before: WatchedFile | None, seen: "_ScannedFolder"
    ) -> tuple[WatchedFile, int | None]:
        """Take a file in if it stands still and its bytes are new; what is known of it then, and the new document."""
        file = seen.file
        known = replace(before or WatchedFile(file.path, 0, 0), size=file.size, modified=file.modified)
        try:
            if seen.problem is not None:
                raise seen.problem
            data = self._scanner.read(Path(folder.path), file) if seen.still else None
            if data is None:
                return replace(known, moving=True), None
            known = replace(known, moving=False, failure="", remedy="")
            if sha256(data).hexdigest() == known.sha256:
                return known, None
            receipt = self._upload(file.path, data, project=folder.project, tags=folder.tags)
        except BadFile as problem:
            return replace(known, moving=False, failure=problem.message, remedy=problem.hint), None
        uploaded = replace(known, sha256=receipt.sha256, document_id=receipt.document_id)
        return uploaded, None if receipt.duplicate_of else receipt.document_id

    def _check(self, folder: Path) -> None:
        """Raises BadRequest unless it is a folder below a root, reached without a link."""
        if not self.roots:
            raise BadRequest("No folder may be watched.", "Set FIVEFOLD_WATCH_FOLDERS to the folders that may be.")
        real = self._scanner.resolve(folder)
        if not any(real == root or root in real.parents for root in self.roots):
            allowed = ", ".join(map(str, self.roots))
            raise BadRequest(f"'{folder}' is outside the folders that may be watched.", f"They are: {allowed}.")
        if not self._scanner.is_folder(real):
            raise BadRequest(
                f"'{folder}' does not exist or is not a folder.", "Check the path, and that it is mounted."
            )


@dataclass(frozen=True, slots=True)
class _ScannedFolder:
    """A file to examine. still: nobody is writing it. problem: why it, or its folder, cannot be read."""

    file: ScannedFile
    still: bool = True
    problem: BadFile | None = None


def _blocks(each: Iterable[tuple[str, _ScannedFolder]]) -> Iterator[list[tuple[str, _ScannedFolder]]]:
    block: list[tuple[str, _ScannedFolder]] = []
    for one in each:
        block.append(one)
        if len(block) == _AT_ONCE:
            yield block
            block = []
    if block:
        yield block
