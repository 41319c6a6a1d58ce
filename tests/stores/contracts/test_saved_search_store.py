"""What every core.library.saved_searches.SavedSearchStore does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.library.saved_searches import SavedSearchStore
from storage.postgres.saved_searches import SqlSavedSearchStore
from tests.database import new_tenant
from tests.fakes import FakeSavedSearchStore
from tests.stores.contracts.usage import AT, NOWHERE, look_of, view_of


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> SavedSearchStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeSavedSearchStore()
    return SqlSavedSearchStore(new_tenant(request.getfixturevalue("engine")))


def test_a_view_is_read_back_exactly_as_it_was_saved(store: SavedSearchStore) -> None:
    filters = SearchFilters(
        truths=("intent", "reality"), documents=(3, 1), date_from=AT, recency_months=6, archived=None, tags_mode="all"
    )
    request = SearchRequest("Größe – 残業 'quoted'; --?", filters, "mine@3", None, True, ("domain", "date"))
    saved = store.add_view(view_of("Überstunden", request=request, shown="five", owner="Ann"))
    assert saved.id > 0 and saved.version == 1
    assert store.view(saved.id) == saved
    assert list(store.views()) == [saved]


def test_views_are_listed_in_order_of_age_living_and_retired_apart(store: SavedSearchStore) -> None:
    first, second, third = (store.add_view(view_of(name)) for name in ("c", "a", "b"))
    deleted = store.change_view(replace(second, retired=True))
    assert list(store.views()) == [first, third]
    assert list(store.views(retired=True)) == [deleted] == [store.view(second.id)]


def test_a_name_lives_once_per_project_among_the_shared_and_among_each_owners(store: SavedSearchStore) -> None:
    for project in (None, "north"):
        for owner in ("", "Ann", "Bob"):
            store.add_view(view_of("Überstunden Ж", project, owner))
            with pytest.raises(BadRequest, match="'ÜBERSTUNDEN ж'"):
                store.add_view(view_of("ÜBERSTUNDEN ж", project, owner))
    assert len(store.views()) == 6
    store.add_view(view_of("Überstunden Ж", owner="Ann", login="another ann"))
    with pytest.raises(BadRequest, match="a shared view 'Überstunden Ж' of the project 'north'"):
        store.add_view(view_of("Überstunden Ж", "north"))
    with pytest.raises(BadRequest, match="a view of yours 'Überstunden Ж' of the whole library"):
        store.add_view(view_of("Überstunden Ж", owner="Bob"))


def test_a_name_that_is_taken_cannot_be_given_nor_come_back(store: SavedSearchStore) -> None:
    leave, pay = store.add_view(view_of("Leave")), store.add_view(view_of("Pay"))
    with pytest.raises(BadRequest, match="There is a shared view 'LEAVE'"):
        store.change_view(replace(pay, name="LEAVE"))
    deleted = store.change_view(replace(leave, retired=True))
    renamed = store.change_view(replace(pay, name="LEAVE"))
    with pytest.raises(BadRequest):
        store.change_view(replace(deleted, retired=False))
    again = store.change_view(replace(renamed, name="leave"))  # its own name in other letters is free
    assert again.version == 3 and list(store.views()) == [again]


def test_of_two_who_change_a_view_the_second_is_told(store: SavedSearchStore) -> None:
    read = store.add_view(view_of("Leave"))
    store.change_view(replace(read, name="Time off"))
    with pytest.raises(Outdated, match="'Time off' has been changed by someone else"):
        store.change_view(replace(read, retired=True))
    store.change_view(replace(read, name="Time off", retired=True, version=2))
    with pytest.raises(Outdated, match="has been deleted by someone else"):
        store.change_view(replace(read, name="Leave", version=2))


def test_what_is_not_here_is_said_so(store: SavedSearchStore) -> None:
    for attempt in (
        lambda: store.view(NOWHERE),
        lambda: store.change_view(view_of("x", id=NOWHERE)),
        lambda: store.save_visit(look_of(view_of("x", id=NOWHERE))),
    ):
        with pytest.raises(NotFound, match=str(NOWHERE)):
            attempt()


def test_a_look_is_kept_per_view_and_person_and_the_later_replaces_the_earlier(store: SavedSearchStore) -> None:
    leave, pay = store.add_view(view_of("Leave")), store.add_view(view_of("Pay"))
    assert store.visit(leave.id, "ann", "Ann") is None and store.last_visits("ann", "Ann") == {}
    mine = look_of(leave, "Ann", "ab:1:cd", "ab:2:ef")
    for look in (mine, look_of(leave, "Bob"), look_of(pay, "", "x:1:y")):
        store.save_visit(look)
    later = replace(mine, at=AT + timedelta(hours=1), units=("z",), since=AT, before=mine.units)
    store.save_visit(later)
    assert store.visit(leave.id, "ann", "Ann") == later
    assert store.visit(leave.id, "bob", "Bob") == look_of(leave, "Bob")
    assert store.last_visits("ann", "Ann") == {leave.id: later.at}
    assert store.last_visits("", "") == {pay.id: AT}
    assert store.visit(leave.id, "another ann", "Ann") is None and store.last_visits("another ann", "Ann") == {}
