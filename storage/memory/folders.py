"""Watched folders in dicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.errors import NotFound
from core.library.folders import FolderTally, WatchedFile, WatchedFolder, watched_already

__all__ = ["MemoryFolderStore"]


class MemoryFolderStore:
    """core.library.folders.FolderStore; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._folders: dict[int, WatchedFolder] = {}
        self._files: dict[int, dict[str, WatchedFile]] = {}

    def folders(self) -> Sequence[WatchedFolder]:
        """All of them, in order of age."""
        with self._lock:
            return list(self._folders.values())

    def folder(self, folder_id: int) -> WatchedFolder:
        """Raises NotFound."""
        with self._lock:
            if folder_id not in self._folders:
                raise NotFound(f"Folder {folder_id} is watched no more.", "Add it again on Upload.")
            return self._folders[folder_id]

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new one. Raises BadRequest when its path is watched already."""
        with self._lock:
            if folder.path in {each.path for each in self._folders.values()}:
                raise watched_already(folder)
            new = replace(folder, id=next(self._ids))
            self._folders[new.id], self._files[new.id] = new, {}
            return new

    def change(self, folder: WatchedFolder) -> None:
        """Store what may change of a folder; one removed meanwhile is left."""
        with self._lock:
            if folder.id in self._folders:
                self._folders[folder.id] = replace(folder, path=self._folders[folder.id].path)

    def remove(self, folder_id: int) -> None:
        """Forget a folder and its files."""
        with self._lock:
            self._folders.pop(folder_id, None)
            self._files.pop(folder_id, None)

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → what is known of the file."""
        with self._lock:
            return dict(self._files.get(folder_id, {}))

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store what is known of files; those of a folder removed meanwhile are dropped."""
        with self._lock:
            if folder_id in self._files:
                self._files[folder_id] |= {file.path: file for file in files}

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → how its files fare."""
        with self._lock:
            return {number: _tally(list(files.values())) for number, files in self._files.items() if files}

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be taken in, by path."""
        failed = [each for each in self.files(folder_id).values() if each.failure and not each.moving]
        return sorted(failed, key=lambda each: each.path)[:limit]


def _tally(files: Sequence[WatchedFile]) -> FolderTally:
    left = sum(each.moving for each in files)
    failed = sum(bool(each.failure) and not each.moving for each in files)
    taken = sum(bool(each.sha256) and not each.moving and not each.failure for each in files)
    return FolderTally(taken, left, failed)
