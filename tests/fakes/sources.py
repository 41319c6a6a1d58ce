"""Feeds and watched folders in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.domain.errors import NotFound
from core.library.sources.feeds import Feed, feed_known, no_feed
from core.library.sources.folder_service import FolderTally, WatchedFile, WatchedFolder, watched_already

__all__ = ["FakeFeedStore", "FakeFolderStore"]


class FakeFeedStore:
    """Implements core.library.sources.feeds.FeedStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._feeds: dict[int, Feed] = {}
        self._seen: dict[int, dict[str, str]] = {}

    def feeds(self) -> Sequence[Feed]:
        """Every feed, oldest first."""
        with self._lock:
            return list(self._feeds.values())

    def feed(self, feed_id: int) -> Feed:
        """One feed. Raises NotFound."""
        with self._lock:
            if feed_id not in self._feeds:
                raise no_feed(feed_id)
            return self._feeds[feed_id]

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed. Raises BadRequest when its project already follows this address."""
        with self._lock:
            if (feed.url, feed.project) in {(each.url, each.project) for each in self._feeds.values()}:
                raise feed_known(feed)
            new = replace(feed, id=next(self._ids))
            self._feeds[new.id], self._seen[new.id] = new, {}
            return new

    def save_feed(self, feed: Feed) -> None:
        """Store a changed feed. Raises NotFound."""
        with self._lock:
            self.feed(feed.id)
            self._feeds[feed.id] = feed

    def delete_feed(self, feed_id: int) -> None:
        """Delete a feed and its record of imported entries."""
        with self._lock:
            self._feeds.pop(feed_id, None)
            self._seen.pop(feed_id, None)

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that became a document."""
        with self._lock:
            return dict(self._seen.get(feed_id, {}))

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """Record that an entry became a document. Raises NotFound."""
        with self._lock:
            self.feed(feed_id)
            self._seen[feed_id][key] = digest


class FakeFolderStore:
    """Implements core.library.sources.folder_service.FolderStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._folders: dict[int, WatchedFolder] = {}
        self._files: dict[int, dict[str, WatchedFile]] = {}

    def folders(self) -> Sequence[WatchedFolder]:
        """All folders, oldest first."""
        with self._lock:
            return list(self._folders.values())

    def folder(self, folder_id: int) -> WatchedFolder:
        """One folder. Raises NotFound."""
        with self._lock:
            if folder_id not in self._folders:
                raise NotFound(f"Folder {folder_id} is watched no more.", "Add it again on Upload.")
            return self._folders[folder_id]

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new folder. Raises BadRequest when its path is already watched."""
        with self._lock:
            if folder.path in {each.path for each in self._folders.values()}:
                raise watched_already(folder)
            new = replace(folder, id=next(self._ids))
            self._folders[new.id], self._files[new.id] = new, {}
            return new

    def change(self, folder: WatchedFolder) -> None:
        """Store the changeable fields of a folder; ignores a folder removed meanwhile."""
        with self._lock:
            if folder.id in self._folders:
                self._folders[folder.id] = replace(folder, path=self._folders[folder.id].path)

    def remove(self, folder_id: int) -> None:
        """Delete a folder and its files."""
        with self._lock:
            self._folders.pop(folder_id, None)
            self._files.pop(folder_id, None)

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → the stored state of the file."""
        with self._lock:
            return dict(self._files.get(folder_id, {}))

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store the state of files; those of a folder removed meanwhile are dropped."""
        with self._lock:
            if folder_id in self._files:
                self._files[folder_id] |= {file.path: file for file in files}

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → counts of its files by state."""
        with self._lock:
            return {number: _tally(list(files.values())) for number, files in self._files.items() if files}

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be imported, ordered by path."""
        failed = [each for each in self.files(folder_id).values() if each.failure and not each.moving]
        return sorted(failed, key=lambda each: each.path)[:limit]


def _tally(files: Sequence[WatchedFile]) -> FolderTally:
    left = sum(each.moving for each in files)
    failed = sum(bool(each.failure) and not each.moving for each in files)
    taken = sum(bool(each.sha256) and not each.moving and not each.failure for each in files)
    return FolderTally(taken, left, failed)
