"""Web feeds and watched folders in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, and_, delete, func, not_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.errors import NotFound
from core.domain.sanitize import storable_text
from core.library.sources.store import (
    Feed,
    FolderTally,
    WatchedFile,
    WatchedFolder,
    feed_known,
    no_feed,
    watched_already,
)
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, insert_row, next_id, storable, upsert
from storage.postgres.tables import BY_PROJECT, Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = [
    "FEEDS",
    "FEED_ENTRIES",
    "WATCHED_FILES",
    "WATCHED_FOLDERS",
    "FeedEntryRow",
    "FeedRow",
    "SqlFeedStore",
    "SqlFolderStore",
]


class FeedRow(Base):
    """One feed. An address is unique per project."""

    __tablename__ = "feeds"
    __table_args__ = (
        of_tenant(),
        Index("feeds_once", "tenant_id", "url", "project", unique=True, postgresql_nulls_not_distinct=True),
        allow("SELECT, INSERT, UPDATE (project, data), DELETE", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("feeds_id_seq")
    url: Mapped[str]
    project: Mapped[str | None]
    data: Mapped[JsonValue]


class FeedEntryRow(Base):
    """One entry that became a document, and its digest at that time."""

    __tablename__ = "feed_entries"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "feed_id"], ["feeds.tenant_id", "feeds.id"], ondelete="CASCADE"),
        allow("SELECT, INSERT, UPDATE (digest), DELETE", seen="feed_id IN (SELECT id FROM feeds)"),
    )

    feed_id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]


FEEDS = table_of(FeedRow)
FEED_ENTRIES = table_of(FeedEntryRow)


class SqlFeedStore:
    """Implements core.library.sources.store.FeedStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._feeds = JsonRecords(FEEDS, Feed, database.tenant)

    def feeds(self) -> Sequence[Feed]:
        """Every feed, oldest first."""
        with self._database.transaction("reading feeds") as connection:
            return self._feeds.all(connection, order=FEEDS.c.id)

    def feed(self, feed_id: int) -> Feed:
        """One feed. Raises NotFound."""
        with self._database.transaction("reading a feed") as connection:
            feed = self._feeds.first(connection, FEEDS.c.id == feed_id)
        if feed is None:
            raise no_feed(feed_id)
        return feed

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed. Raises BadRequest when its project already follows this address."""
        with self._database.transaction("storing a feed") as connection:
            new = replace(feed, id=next_id(connection, FEEDS))
            row = {"id": new.id, "url": storable_text(new.url), "project": storable(new.project)}
            if not self._feeds.add(connection, row, new):
                raise feed_known(new)
        return new

    def save_feed(self, feed: Feed) -> None:
        """Store a changed feed. Raises NotFound."""
        with self._database.transaction("storing a feed") as connection:
            if not self._feeds.change(connection, {"project": storable(feed.project)}, feed, FEEDS.c.id == feed.id):
                raise no_feed(feed.id)

    def delete_feed(self, feed_id: int) -> None:
        """Delete a feed and its record of imported entries."""
        with self._database.transaction("deleting a feed") as connection:
            self._feeds.delete(connection, FEEDS.c.id == feed_id)

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that became a document."""
        own = (FEED_ENTRIES.c.tenant_id == self._tenant, FEED_ENTRIES.c.feed_id == feed_id)
        with self._database.transaction("reading the entries of a feed") as connection:
            rows = connection.execute(select(FEED_ENTRIES.c.key, FEED_ENTRIES.c.digest).where(*own))
            return {row.key: row.digest for row in rows}

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """Record that an entry became a document. Raises NotFound."""
        row = {"tenant_id": self._tenant, "feed_id": feed_id, "key": storable_text(key), "digest": digest}
        with self._database.transaction("noting an entry of a feed") as connection:
            try:
                upsert(connection, FEED_ENTRIES, [row])
            except IntegrityError as error:
                raise no_feed(feed_id) from error


class WatchedFolderRow(Base):
    """A folder on the server whose new and changed files are imported; `tags` and `project` are given to the
    documents."""

    __tablename__ = "watched_folders"
    __table_args__ = (
        of_tenant(),
        Index("watched_folders_once", "tenant_id", "path", unique=True),
        allow("SELECT, INSERT, UPDATE (project, tags, looked, failure, remedy), DELETE", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("watched_folders_id_seq")
    path: Mapped[str]
    project: Mapped[str | None]
    tags: Mapped[list[str]]
    looked: Mapped[datetime | None]
    failure: Mapped[str]
    remedy: Mapped[str]


class WatchedFileRow(Base):
    """A file as found by the last scan of its folder. `path` is relative to the folder; `modified` is in nanoseconds
    since 1970; `moving`: it may have been written during the scan; `sha256` is "" until the contents were imported."""

    __tablename__ = "watched_files"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "folder_id"], ["watched_folders.tenant_id", "watched_folders.id"], ondelete="CASCADE"
        ),
        allow(
            "SELECT, INSERT, UPDATE (size, modified, moving, sha256, document_id, failure, remedy), DELETE",
            seen="folder_id IN (SELECT id FROM watched_folders)",
        ),
    )

    folder_id: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    size: Mapped[int]
    modified: Mapped[int]
    moving: Mapped[bool]
    sha256: Mapped[str]
    document_id: Mapped[int | None]
    failure: Mapped[str]
    remedy: Mapped[str]


WATCHED_FOLDERS = table_of(WatchedFolderRow)
WATCHED_FILES = table_of(WatchedFileRow)

_OF_FOLDER = ("id", "path", "project", "looked", "failure", "remedy")
_OF_FILE = ("path", "size", "modified", "moving", "sha256", "document_id", "failure", "remedy")


class SqlFolderStore:
    """Implements core.library.sources.store.FolderStore for one tenant."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def folders(self) -> Sequence[WatchedFolder]:
        """All folders, oldest first."""
        query = select(WATCHED_FOLDERS).where(WATCHED_FOLDERS.c.tenant_id == self._tenant)
        with self._database.transaction("reading watched folders") as connection:
            return [_folder(row) for row in connection.execute(query.order_by(WATCHED_FOLDERS.c.id)).mappings()]

    def folder(self, folder_id: int) -> WatchedFolder:
        """One folder. Raises NotFound."""
        query = select(WATCHED_FOLDERS).where(*self._one(folder_id))
        with self._database.transaction("reading a watched folder") as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise NotFound(f"Folder {folder_id} is watched no more.", "Add it again on Upload.")
        return _folder(row)

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new folder. Raises BadRequest when its path is already watched."""
        with self._database.transaction("storing a watched folder") as connection:
            new = replace(folder, id=next_id(connection, WATCHED_FOLDERS))
            if not insert_row(connection, WATCHED_FOLDERS, {"tenant_id": self._tenant, **_folder_values(new)}):
                raise watched_already(folder)
        return new

    def change(self, folder: WatchedFolder) -> None:
        """Store the changeable fields of a folder; ignores a folder removed meanwhile."""
        values = {name: value for name, value in _folder_values(folder).items() if name not in ("id", "path")}
        with self._database.transaction("storing a watched folder") as connection:
            connection.execute(update(WATCHED_FOLDERS).where(*self._one(folder.id)).values(values))

    def remove(self, folder_id: int) -> None:
        """Delete a folder and its files."""
        with self._database.transaction("forgetting a watched folder") as connection:
            connection.execute(delete(WATCHED_FOLDERS).where(*self._one(folder_id)))

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → the stored state of the file."""
        query = select(*(WATCHED_FILES.c[name] for name in _OF_FILE)).where(*self._of(folder_id))
        with self._database.transaction("reading watched files") as connection:
            return {row.path: WatchedFile(**row._asdict()) for row in connection.execute(query)}

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store the state of files; those of a folder removed meanwhile are dropped."""
        if not files:
            return
        rows = [
            {"tenant_id": self._tenant, "folder_id": folder_id}
            | {name: storable(getattr(file, name)) for name in _OF_FILE}
            for file in {file.path: file for file in files}.values()
        ]
        folder_lock = select(WATCHED_FOLDERS.c.id).where(*self._one(folder_id)).with_for_update(key_share=True)
        with self._database.transaction("storing watched files") as connection:
            if connection.scalar(folder_lock) is not None:
                upsert(connection, WATCHED_FILES, rows)

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → counts of its files by state."""
        moving, failed = WATCHED_FILES.c.moving, WATCHED_FILES.c.failure != ""
        query = (
            select(
                WATCHED_FILES.c.folder_id,
                func.count().filter(and_(not_(moving), not_(failed), WATCHED_FILES.c.sha256 != "")).label("taken"),
                func.count().filter(moving).label("left"),
                func.count().filter(and_(not_(moving), failed)).label("failed"),
            )
            .where(WATCHED_FILES.c.tenant_id == self._tenant)
            .group_by(WATCHED_FILES.c.folder_id)
        )
        with self._database.transaction("counting watched files") as connection:
            return {row.folder_id: FolderTally(row.taken, row.left, row.failed) for row in connection.execute(query)}

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be imported, ordered by path."""
        query = select(*(WATCHED_FILES.c[name] for name in _OF_FILE)).where(
            *self._of(folder_id), WATCHED_FILES.c.failure != "", not_(WATCHED_FILES.c.moving)
        )
        with self._database.transaction("reading watched files") as connection:
            rows = connection.execute(query.order_by(WATCHED_FILES.c.path.collate("C")).limit(limit))
            return [WatchedFile(**row._asdict()) for row in rows]

    def _one(self, folder_id: int) -> tuple[Any, Any]:
        return WATCHED_FOLDERS.c.tenant_id == self._tenant, WATCHED_FOLDERS.c.id == folder_id

    def _of(self, folder_id: int) -> tuple[Any, Any]:
        return WATCHED_FILES.c.tenant_id == self._tenant, WATCHED_FILES.c.folder_id == folder_id


def _folder(row: Mapping[Any, Any]) -> WatchedFolder:
    return WatchedFolder(**{name: row[name] for name in _OF_FOLDER}, tags=tuple(row["tags"]))


def _folder_values(folder: WatchedFolder) -> dict[str, Any]:
    return {name: getattr(folder, name) for name in _OF_FOLDER} | {"tags": list(folder.tags)}
