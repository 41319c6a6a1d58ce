"""What every core.library.shortlists.ShortlistStore does."""

from dataclasses import replace

import pytest

from core.domain.errors import BadRequest, NotFound, Outdated
from core.library.shortlists import Shortlist, ShortlistItem, ShortlistStore
from storage.postgres.shortlists import SqlShortlistStore
from tests.database import new_tenant
from tests.fakes import FakeShortlistStore
from tests.stores.contracts.usage import AT

ITEM = ShortlistItem("Größe – 残業?", 3, "a.pdf", 7, "intent", "It's “due”; --", "a.pdf, page 2", AT, "ask Ann")


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> ShortlistStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeShortlistStore()
    return SqlShortlistStore(new_tenant(request.getfixturevalue("engine")))


def test_a_shortlist_is_read_back_exactly_as_it_was_stored(store: ShortlistStore) -> None:
    stored = store.add_shortlist(Shortlist("Überstunden", "Ann", AT, (ITEM, ITEM)))
    assert stored.id > 0 and store.shortlist(stored.id) == stored
    assert list(store.shortlists()) == [stored]


def test_a_deleted_one_leaves_the_list_and_frees_its_name(store: ShortlistStore) -> None:
    first = store.add_shortlist(Shortlist("Leave", "", AT))
    with pytest.raises(BadRequest, match="'LEAVE'"):
        store.add_shortlist(Shortlist("LEAVE", "", AT))
    deleted = store.change_shortlist(replace(first, retired=True))
    second = store.add_shortlist(Shortlist("LEAVE", "", AT))
    assert list(store.shortlists()) == [second] and store.shortlist(first.id) == deleted
    with pytest.raises(BadRequest, match="'Leave'"):
        store.change_shortlist(replace(deleted, retired=False))


def test_a_change_of_an_older_version_is_refused(store: ShortlistStore) -> None:
    first = store.add_shortlist(Shortlist("Leave", "", AT))
    changed = store.change_shortlist(replace(first, items=(ITEM,)))
    with pytest.raises(Outdated, match="'Leave' has been changed"):
        store.change_shortlist(replace(first, name="Pay"))
    assert store.shortlist(first.id) == changed


def test_one_that_is_not_there_is_not_found(store: ShortlistStore) -> None:
    with pytest.raises(NotFound):
        store.shortlist(10**9)
    with pytest.raises(NotFound):
        store.change_shortlist(Shortlist("Leave", "", AT, id=10**9))
