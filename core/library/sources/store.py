"""Web feeds and watched folders: their state, its stores, and the ports that fetch pages and scan folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from core.domain.errors import BadFile, BadRequest, NotFound

__all__ = [
    "FETCHED_EVERY",
    "Feed",
    "FeedStore",
    "FetchedPage",
    "FolderScanner",
    "FolderStore",
    "FolderTally",
    "PageFetcher",
    "ScannedFile",
    "WatchedFile",
    "WatchedFolder",
    "checked_url",
    "feed_known",
    "no_feed",
    "watched_already",
]

FETCHED_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed of a tenant. id: 0 until stored. title: the feed's own, "" until it was fetched.

    project, tags: given to the documents made of its entries. fetched_at: the last attempt. etag, modified: the
    server's validators, to detect an unchanged feed. entries: how many it had when it last answered. taken: how many
    became documents so far. problem, remedy: why the last attempt failed and what to do, "" when it succeeded.
    """

    url: str
    added_at: datetime
    project: str | None = None
    tags: tuple[str, ...] = ()
    id: int = 0
    title: str = ""
    paused: bool = False
    fetched_at: datetime | None = None
    etag: str = ""
    modified: str = ""
    entries: int = 0
    taken: int = 0
    problem: str = ""
    remedy: str = ""

    def due(self, now: datetime) -> bool:
        """Whether it is time to fetch the feed again."""
        return not self.paused and (self.fetched_at is None or now - self.fetched_at >= FETCHED_EVERY)


class FeedStore(Protocol):
    """Stores the feeds of one tenant. Every method raises StoreFailed when the store does not answer."""

    def feeds(self) -> Sequence[Feed]:
        """Every feed, oldest first."""
        ...

    def feed(self, feed_id: int) -> Feed:
        """Raises NotFound."""
        ...

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed (id 0). Raises BadRequest when its project has a feed with this address already."""
        ...

    def save_feed(self, feed: Feed) -> None:
        """Store a changed feed. Raises NotFound."""
        ...

    def delete_feed(self, feed_id: int) -> None:
        """Delete a feed and its record of seen entries; its documents stay. Idempotent."""
        ...

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that became a document."""
        ...

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """Record that an entry became a document with this digest; a later digest replaces it. Raises NotFound."""
        ...


# What every store says when it refuses


def feed_known(feed: Feed) -> BadRequest:
    """The same address is followed for the same project."""
    where = f"the project '{feed.project}'" if feed.project else "all projects"
    return BadRequest(f"{feed.url} is followed for {where} already.", "Look for it in the list of feeds.")


def no_feed(feed_id: int) -> NotFound:
    """The feed is not stored any more."""
    return NotFound(f"Feed {feed_id} is not followed (any longer).", "Look at the list of feeds again.")


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """path: absolute. project, tags: given to its files. looked: when it was last scanned; None: never. failure,
    remedy: why the last scan failed, and what to do; "" when it succeeded.
    """

    path: str
    id: int = 0
    project: str | None = None
    tags: tuple[str, ...] = ()
    looked: datetime | None = None
    failure: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A file as of the last scan. path: relative to its folder, with "/". modified: nanoseconds since 1970. moving: it
    was, or may have been, being written then. sha256: of the last upload, "" before. failure, remedy: why the upload
    failed, and what to do; "" when it did not.
    """

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
    """How many files of a folder were uploaded, are waiting until stable, or failed."""

    taken: int = 0
    left: int = 0
    failed: int = 0


def watched_already(folder: WatchedFolder) -> BadRequest:
    """What a store says of a folder that is watched."""
    return BadRequest(f"'{folder.path}' is watched already.", "Change its project and tags in the list.")


class FolderStore(Protocol):
    """Stores watched folders."""

    def folders(self) -> Sequence[WatchedFolder]:
        """All of them, in order of age."""
        ...

    def folder(self, folder_id: int) -> WatchedFolder:
        """Raises NotFound."""
        ...

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new one (id 0) and return it with its id. Raises BadRequest when its path is watched already."""
        ...

    def change(self, folder: WatchedFolder) -> None:
        """Update project, tags, last scan, failure and remedy; a folder removed meanwhile is ignored."""
        ...

    def remove(self, folder_id: int) -> None:
        """Delete a folder and its file records."""
        ...

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → the stored state of the file."""
        ...

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store the state of new or changed files; those of a folder removed meanwhile are dropped."""
        ...

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → counts of its files; a folder without known files is absent."""
        ...

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be uploaded, by path."""
        ...


_LONGEST_URL = 2_000  # characters; the length browsers and servers safely accept


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A server's response. url: the final address, after redirects. unchanged: the page has not changed (HTTP 304); the
    body is empty then. media_type: lower case, without parameters, "" when missing. etag, modified: validators for the
    next request.
    """

    url: str
    body: bytes = field(default=b"", repr=False)
    media_type: str = ""
    file_name: str = ""
    etag: str = ""
    modified: str = ""
    unchanged: bool = False


def checked_url(url: str) -> str:
    """The address without surrounding whitespace and fragment. Raises BadRequest for an invalid web address.

    >>> checked_url(" https://example.org/feed.xml#top ")
    'https://example.org/feed.xml'
    """
    address = url.strip()
    try:
        parts = urlsplit(address)
        usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        usable = False
    if (
        not usable
        or len(address.encode("utf-8", "replace")) > _LONGEST_URL
        or any(letter <= " " or letter == "\x7f" for letter in address)
    ):
        raise BadRequest("That is not a web address.", "It begins with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise BadRequest("The address holds a name or password.", "Give an address that needs none.")
    return parts._replace(fragment="").geturl()


class PageFetcher(Protocol):
    """Fetches web pages within limits of time and size. Thread-safe."""

    def fetch(self, url: str, *, etag: str = "", modified: str = "") -> FetchedPage:
        """Fetch an address; `unchanged` when the server recognises etag or modified.

        Raises BadRequest for an address that is not allowed, FetchFailed when the server does not respond properly.
        """
        ...


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file in a folder. path: relative to the folder, with "/". modified: nanoseconds since 1970."""

    path: str
    size: int
    modified: int


class FolderScanner(Protocol):
    """Lists and reads local folders; never writes."""

    def resolve(self, path: Path) -> Path:
        """The absolute path with symbolic links resolved, whether it exists or not."""
        ...

    def is_folder(self, path: Path) -> bool:
        """Whether the path is a folder that can be accessed."""
        ...

    def scan(self, folder: Path) -> Iterator[ScannedFile | tuple[str, BadFile]]:
        """Every file below a folder, ordered by path; for a folder that cannot be read, its path and the error.

        Skips symbolic links, anything that is no regular file, hidden files, lock files of office programs ("~$…") and
        unfinished downloads.
        """
        ...

    def read(self, folder: Path, file: ScannedFile) -> bytes | None:
        """The bytes of an unchanged file; None when it was moved, deleted or modified since it was scanned.

        Raises UnreadableFile when the system denies access, FileTooCostly above one gigabyte.
        """
        ...

    def folders(self, folder: Path, levels: int) -> Iterator[Path]:
        """The folder and its subfolders down to `levels`, without hidden, linked or unreadable ones."""
        ...
