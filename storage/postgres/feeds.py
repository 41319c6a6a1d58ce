"""Feeds and their imported entries in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ForeignKeyConstraint, Index, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.sources.feeds import Feed, feed_known, no_feed
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, next_id, storable, upsert
from storage.postgres.tables import Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = ["FEEDS", "FEED_ENTRIES", "FeedEntryRow", "FeedRow", "SqlFeedStore"]


class FeedRow(Base):
    """One feed. An address is unique per project."""

    __tablename__ = "feeds"
    __table_args__ = (
        of_tenant(),
        Index("feeds_once", "tenant_id", "url", "project", unique=True, postgresql_nulls_not_distinct=True),
        allow("SELECT, INSERT, UPDATE (project, data), DELETE"),
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
        allow("SELECT, INSERT, UPDATE (digest), DELETE"),
    )

    feed_id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]


FEEDS = table_of(FeedRow)
FEED_ENTRIES = table_of(FeedEntryRow)


class SqlFeedStore:
    """Implements core.library.sources.feeds.FeedStore."""

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
