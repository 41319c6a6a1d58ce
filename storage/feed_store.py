"""Feeds in PostgreSQL. A feed travels as JSON, written and read by its own type."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from core.library.feeds import Feed, feed_known, no_feed
from storage.database import Database
from storage.feed_models import FEED_ENTRIES, FEEDS
from storage.json_values import read, written
from storage.rows import storable_text

__all__ = ["SqlFeedStore"]


class SqlFeedStore:
    """core.library.feeds.FeedStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def feeds(self) -> Sequence[Feed]:
        """Every feed, in order of age."""
        query = select(FEEDS.c.data).where(FEEDS.c.tenant_id == self._tenant).order_by(FEEDS.c.id)
        with self._database.transaction("reading feeds") as connection:
            return [read(Feed, data) for data in connection.scalars(query)]

    def feed(self, feed_id: int) -> Feed:
        """Raises NotFound."""
        with self._database.transaction("reading a feed") as connection:
            data = connection.scalar(select(FEEDS.c.data).where(*self._own(feed_id)))
        if data is None:
            raise no_feed(feed_id)
        return read(Feed, data)

    def _own(self, feed_id: int) -> tuple[ColumnElement[bool], ...]:
        return FEEDS.c.tenant_id == self._tenant, FEEDS.c.id == feed_id

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed. Raises BadRequest when its project follows this address already."""
        with self._database.transaction("storing a feed") as connection:
            new = replace(feed, id=connection.scalar(Ids("feeds_id_seq").next_value()))
            row = {"tenant_id": self._tenant, "id": new.id, "url": storable_text(new.url), **_row(new)}
            add = insert(FEEDS).values(row).on_conflict_do_nothing()
            if connection.scalar(add.returning(FEEDS.c.id)) is None:
                raise feed_known(new)
        return new

    def save_feed(self, feed: Feed) -> None:
        """Store a changed feed. Raises NotFound."""
        with self._database.transaction("storing a feed") as connection:
            if not connection.execute(update(FEEDS).where(*self._own(feed.id)).values(_row(feed))).rowcount:
                raise no_feed(feed.id)

    def delete_feed(self, feed_id: int) -> None:
        """Forget a feed and what was seen of it."""
        with self._database.transaction("deleting a feed") as connection:
            connection.execute(delete(FEEDS).where(*self._own(feed_id)))

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that was made a document."""
        own = (FEED_ENTRIES.c.tenant_id == self._tenant, FEED_ENTRIES.c.feed_id == feed_id)
        with self._database.transaction("reading the entries of a feed") as connection:
            rows = connection.execute(select(FEED_ENTRIES.c.key, FEED_ENTRIES.c.digest).where(*own))
            return {row.key: row.digest for row in rows}

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """An entry is a document now. Raises NotFound."""
        row = {"tenant_id": self._tenant, "feed_id": feed_id, "key": storable_text(key), "digest": digest}
        add = insert(FEED_ENTRIES).values(row)
        kept = add.on_conflict_do_update(
            index_elements=["tenant_id", "feed_id", "key"], set_={"digest": add.excluded.digest}
        )
        with self._database.transaction("noting an entry of a feed") as connection:
            try:
                connection.execute(kept)
            except IntegrityError as error:
                raise no_feed(feed_id) from error


def _row(feed: Feed) -> dict[str, Any]:
    project = None if feed.project is None else storable_text(feed.project)
    return {"project": project, "data": written(feed)}
