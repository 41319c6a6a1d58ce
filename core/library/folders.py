"""Folders on the server that are watched: what is new or changed in them is taken in once, under its path inside.

    look → those whose size or time changed → those that stand still → their bytes → those with a new hash → kept

Only folders below the allowed roots can be watched, no link is followed, and a file that is still being written is left
until it stands still. A file that vanishes changes nothing: the library keeps what it has.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from core.errors import BadFile, BadRequest
from core.jobs import JobKind, JobQueue
from core.library.folder_files import Found, contents, folders_below, found_below
from core.library.intray import Kept

__all__ = ["FolderDesk", "FolderStore", "FolderTally", "WatchedFile", "WatchedFolder", "watched_already"]

_EVERY = timedelta(minutes=5)
_STILL = timedelta(seconds=30)  # so long ago a file was changed that stands still at the first look
_BETWEEN = timedelta(seconds=2)  # at least so much lies between two looks that see the same
_AT_ONCE = 50
_MOST_CHOICES = 500


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """path: absolute. project, tags: what its files get. looked: when it was last looked through; None: never.
    failure, remedy: why that could not be done, and what to do; ""."""

    path: str
    id: int = 0
    project: str | None = None
    tags: tuple[str, ...] = ()
    looked: datetime | None = None
    failure: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A file as it was when last looked at. path: inside its folder, with "/". modified: nanoseconds since 1970.
    moving: it was being written then, or may have been. sha256: of what was last taken in, "" before. failure, remedy:
    why it could not be, and what to do; ""."""

    path: str
    size: int
    modified: int
    moving: bool = False
    sha256: str = ""
    document_id: int | None = None
    failure: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class FolderTally:
    """How many files of a folder were taken in, are left until they stand still, could not be taken in."""

    taken: int = 0
    left: int = 0
    failed: int = 0


def watched_already(folder: WatchedFolder) -> BadRequest:
    """What a store says of a folder that is watched."""
    return BadRequest(f"'{folder.path}' is watched already.", "Change its project and tags in the list.")


class FolderStore(Protocol):
    """Where watched folders are kept."""

    def folders(self) -> Sequence[WatchedFolder]:
        """All of them, in order of age."""
        ...

    def folder(self, folder_id: int) -> WatchedFolder:
        """Raises NotFound."""
        ...

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new one (id 0) and give it back with its id. Raises BadRequest when its path is watched already."""
        ...

    def change(self, folder: WatchedFolder) -> None:
        """Project, tags, when it was looked through, failure and remedy changed; one removed meanwhile is left."""
        ...

    def remove(self, folder_id: int) -> None:
        """Forget a folder and its files."""
        ...

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → what is known of the file."""
        ...

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store what is known of files, new or changed; those of a folder removed meanwhile are dropped."""
        ...

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → how its files fare; a folder of which no file is known is absent."""
        ...

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be taken in, by path."""
        ...


class FolderDesk:
    """Watches folders. roots: the folders below which others may be watched; none: nothing can be."""

    def __init__(
        self, store: FolderStore, keep: Kept, jobs: JobQueue, roots: Sequence[Path], now: Callable[[], datetime]
    ) -> None:
        self._store, self._keep, self._jobs, self._now = store, keep, jobs, now
        self.roots = tuple(root.resolve() for root in roots)

    def folders(self) -> Sequence[tuple[WatchedFolder, FolderTally]]:
        """Every watched folder and how its files fare, in order of age."""
        tallies = self._store.tallies()
        return [(folder, tallies.get(folder.id, FolderTally())) for folder in self._store.folders()]

    def choices(self) -> Sequence[str]:
        """Folders that can be watched: the roots and the folders in them, two levels deep, at most 500."""
        found: list[str] = []
        for root in self.roots:
            for folder in folders_below(root, 2):
                if len(found) == _MOST_CHOICES:
                    return found
                found.append(str(folder))
        return found

    def add(self, path: str, *, project: str | None = None, tags: Sequence[str] = ()) -> WatchedFolder:
        """Watch a folder, and look through it at once. Raises BadRequest for one that may not or cannot be watched."""
        wanted = Path(path.strip())
        if not wanted.is_absolute():
            raise BadRequest(f"'{path}' is not a whole path.", "Write it from the root of the server on.")
        self._check(wanted)
        stored = self._store.add(WatchedFolder(str(wanted.resolve()), project=project, tags=tuple(tags)))
        self.look_now(stored.id)
        return stored

    def change(self, folder_id: int, *, project: str | None, tags: Sequence[str]) -> None:
        """Other files than those already taken in get this project and these tags. Raises NotFound."""
        self._store.change(replace(self._store.folder(folder_id), project=project, tags=tuple(tags)))

    def remove(self, folder_id: int) -> None:
        """Watch it no more; what was taken in stays in the library."""
        self._store.remove(folder_id)
        self._jobs.settle(JobKind.FOLDER, folder_id)

    def failures(self, folder_id: int, limit: int = 50) -> Sequence[WatchedFile]:
        """Files that could not be taken in, by path."""
        return self._store.failures(folder_id, limit)

    def look_now(self, folder_id: int) -> None:
        """Queue a look through a folder."""
        self._jobs.defer(JobKind.FOLDER, [folder_id])

    def look_due(self) -> None:
        """Queue a look through every folder whose last one is five minutes ago, or left files that were in motion."""
        now, tallies = self._now(), self._store.tallies()
        for folder in self._store.folders():
            moving = tallies.get(folder.id, FolderTally()).left > 0
            if folder.looked is None or moving or now - folder.looked >= _EVERY:
                self.look_now(folder.id)

    def look(self, folder_id: int) -> None:
        """Look through a folder and take in what is new; the job behind `look_now`. Safe to repeat.

        Raises NotFound for a folder that is watched no more, StoreFailed when nothing could be stored.
        """
        folder, now = self._store.folder(folder_id), self._now()
        try:
            self._check(Path(folder.path))
        except BadRequest as problem:
            self._store.change(replace(folder, looked=now, failure=problem.message, remedy=problem.hint))
            return
        known = self._store.files(folder_id)
        place, seen = 0, set[str]()
        for files in _blocks(self._noteworthy(folder, known, now)):
            told = [self._taken(folder, known.get(path), each) for path, each in files]
            new = [document_id for _, document_id in told if document_id is not None]
            self._jobs.defer_ingest(new, place)
            self._store.save_files(folder_id, [file for file, _ in told])
            place += len(new)
            seen |= {path for path, _ in files}
        gone = [each for each in known.values() if (each.moving or each.failure) and each.path not in seen]
        self._store.save_files(folder_id, [replace(each, moving=False, failure="", remedy="") for each in gone])
        self._store.change(replace(folder, looked=now, failure="", remedy=""))

    def _noteworthy(
        self, folder: WatchedFolder, known: Mapping[str, WatchedFile], now: datetime
    ) -> Iterator[tuple[str, "_Seen"]]:
        """The files that are not as they were when they were taken in, by path."""
        rested = folder.looked is not None and now - folder.looked >= _BETWEEN
        oldest = int((now - _STILL).timestamp() * 1e9)
        for each in found_below(Path(folder.path)):
            if not isinstance(each, Found):
                yield each[0], _Seen(Found(each[0], 0, 0), problem=each[1])
                continue
            before = known.get(each.path)
            same = before is not None and (before.size, before.modified) == (each.size, each.modified)
            if same and before is not None and before.sha256 and not before.moving and not before.failure:
                continue
            still = each.modified <= oldest or (same and rested)
            yield each.path, _Seen(each, still=still)

    def _taken(
        self, folder: WatchedFolder, before: WatchedFile | None, seen: "_Seen"
    ) -> tuple[WatchedFile, int | None]:
        """Take a file in if it stands still and its bytes are new; what is known of it then, and the new document."""
        file = seen.file
        known = replace(before or WatchedFile(file.path, 0, 0), size=file.size, modified=file.modified)
        try:
            if seen.problem is not None:
                raise seen.problem
            data = contents(Path(folder.path), file) if seen.still else None
            if data is None:
                return replace(known, moving=True), None
            known = replace(known, moving=False, failure="", remedy="")
            if sha256(data).hexdigest() == known.sha256:
                return known, None
            receipt = self._keep(file.path, data, project=folder.project, tags=folder.tags)
        except BadFile as problem:
            return replace(known, moving=False, failure=problem.message, remedy=problem.hint), None
        kept = replace(known, sha256=receipt.sha256, document_id=receipt.document_id)
        return kept, None if receipt.duplicate_of else receipt.document_id

    def _check(self, folder: Path) -> None:
        """Raises BadRequest unless it is a folder below a root, reached without a link."""
        if not self.roots:
            raise BadRequest("No folder may be watched.", "Set FIVEFOLD_WATCH_FOLDERS to the folders that may be.")
        real = folder.resolve()
        if not any(real == root or root in real.parents for root in self.roots):
            allowed = ", ".join(map(str, self.roots))
            raise BadRequest(f"'{folder}' is outside the folders that may be watched.", f"They are: {allowed}.")
        if not real.is_dir():
            raise BadRequest(f"'{folder}' is not there, or is no folder.", "Check the path, and that it is mounted.")


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file worth a look. still: nobody writes it. problem: why it, or the folder it names, cannot be read."""

    file: Found
    still: bool = True
    problem: BadFile | None = None


def _blocks(each: Iterable[tuple[str, _Seen]]) -> Iterator[list[tuple[str, _Seen]]]:
    block: list[tuple[str, _Seen]] = []
    for one in each:
        block.append(one)
        if len(block) == _AT_ONCE:
            yield block
            block = []
    if block:
        yield block
