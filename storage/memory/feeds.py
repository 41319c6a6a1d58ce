"""Feeds in dicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.library.feeds import Feed, feed_known, no_feed

__all__ = ["MemoryFeedStore"]


class MemoryFeedStore:
    """core.library.feeds.FeedStore; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._feeds: dict[int, Feed] = {}
        self._seen: dict[int, dict[str, str]] = {}

    def feeds(self) -> Sequence[Feed]:
        """Every feed, in order of age."""
        with self._lock:
            return list(self._feeds.values())

    def feed(self, feed_id: int) -> Feed:
        """Raises NotFound."""
        with self._lock:
            if feed_id not in self._feeds:
                raise no_feed(feed_id)
            return self._feeds[feed_id]

    def add_feed(self, feed: Feed) -> Feed:
        """Store a new feed. Raises BadRequest when its project follows this address already."""
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
        """Forget a feed and what was seen of it."""
        with self._lock:
            self._feeds.pop(feed_id, None)
            self._seen.pop(feed_id, None)

    def seen(self, feed_id: int) -> Mapping[str, str]:
        """Key → digest of every entry that was made a document."""
        with self._lock:
            return dict(self._seen.get(feed_id, {}))

    def note_seen(self, feed_id: int, key: str, digest: str) -> None:
        """An entry is a document now. Raises NotFound."""
        with self._lock:
            self.feed(feed_id)
            self._seen[feed_id][key] = digest
