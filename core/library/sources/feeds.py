"""Web feeds: their state, and the port that stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from core.domain.errors import BadRequest, NotFound

__all__ = ["FETCHED_EVERY", "Feed", "FeedStore", "feed_known", "no_feed"]

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
