"""What every core.library.sources.store.FeedStore does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain.errors import BadRequest, NotFound
from core.library.sources.store import Feed, FeedStore
from storage.postgres.sources import SqlFeedStore
from tests.database import new_tenant
from tests.fakes import FakeFeedStore

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
NOWHERE = 999_999_999
URL = "https://example.org/räte.xml"


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> FeedStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeFeedStore()
    return SqlFeedStore(new_tenant(request.getfixturevalue("engine")))


def test_a_feed_is_read_back_exactly_as_it_was_stored_and_changed(store: FeedStore) -> None:
    new = store.add_feed(Feed(URL, AT, "North", ("law", "Löhne")))
    assert new.id > 0 and store.feed(new.id) == new
    later = replace(new, title="Räte", paused=True, fetched_at=AT, etag='W/"1"', entries=3, taken=2, problem="Gone.")
    store.save_feed(later)
    assert store.feed(new.id) == later
    assert list(store.feeds()) == [later]


def test_feeds_are_listed_in_order_of_age(store: FeedStore) -> None:
    made = [store.add_feed(Feed(f"https://example.org/{name}", AT)) for name in "cab"]
    assert list(store.feeds()) == made


def test_an_address_is_followed_once_for_each_project(store: FeedStore) -> None:
    for project in (None, "North", "South"):
        store.add_feed(Feed(URL, AT, project))
        with pytest.raises(BadRequest, match=r"räte\.xml is followed for"):
            store.add_feed(Feed(URL, AT, project))
    assert len(store.feeds()) == 3


def test_what_was_seen_of_a_feed_is_kept_per_entry_and_the_later_digest_replaces_the_earlier(store: FeedStore) -> None:
    first, second = (store.add_feed(Feed(f"https://example.org/{name}", AT)) for name in "ab")
    for key, digest in (("1", "aa"), ("2", "bb"), ("1", "cc")):
        store.note_seen(first.id, key, digest)
    assert store.seen(first.id) == {"1": "cc", "2": "bb"}
    assert store.seen(second.id) == {}


def test_a_deleted_feed_is_forgotten_with_its_entries_and_can_be_added_anew(store: FeedStore) -> None:
    feed = store.add_feed(Feed(URL, AT))
    store.note_seen(feed.id, "1", "aa")
    store.delete_feed(feed.id)
    store.delete_feed(feed.id)
    assert list(store.feeds()) == [] and store.seen(feed.id) == {}
    assert store.seen(store.add_feed(Feed(URL, AT)).id) == {}


def test_what_is_not_here_is_said_so(store: FeedStore) -> None:
    for attempt in (
        lambda: store.feed(NOWHERE),
        lambda: store.save_feed(Feed(URL, AT, id=NOWHERE)),
        lambda: store.note_seen(NOWHERE, "1", "aa"),
    ):
        with pytest.raises(NotFound, match=str(NOWHERE)):
            attempt()
