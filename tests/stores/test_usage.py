"""Use events and saved views in PostgreSQL: any value, other tenants, people who act at once, and what is refused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import Engine, text

from core.domain.errors import BadRequest, NotFound, Outdated, StoreFailed
from core.library.saved_searches import SavedSearch, SavedSearchVisit
from core.search.store import UsageKind
from storage.postgres.database import Database
from storage.postgres.saved_searches import SqlSavedSearchStore
from storage.postgres.usage import SqlUsageLog
from tests.database import new_tenant
from tests.stores.contracts.evaluation import made
from tests.stores.contracts.usage import event, look_of, view_of

anything = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@anything
@given(view=made(SavedSearch), look=made(SavedSearchVisit))
def test_any_view_and_any_look_is_read_back_as_it_was_stored(
    database: Database, view: SavedSearch, look: SavedSearchVisit
) -> None:
    store = SqlSavedSearchStore(database)
    saved_view = store.add_view(replace(view, retired=True))
    assert saved_view == replace(view, retired=True, id=saved_view.id, version=1) == store.view(saved_view.id)
    seen = replace(look, view_id=saved_view.id)
    store.save_visit(seen)
    assert store.visit(saved_view.id, seen.login, seen.who) == seen
    assert store.last_visits(seen.login, seen.who)[saved_view.id] == seen.at


def test_what_postgres_refuses_in_a_text_is_replaced_and_the_rest_kept(database: Database) -> None:
    odd, seen = "a\0\ud800b", "a\ufffd?b"
    log, views = SqlUsageLog(database), SqlSavedSearchStore(database)
    log.record([event(UsageKind.CITED, question=odd, who=odd)])
    (read,) = log.events_of(question=odd)
    assert (read.question, read.who) == (seen, seen) and log.uses([1])[1].questions == (seen,)
    view = views.add_view(view_of(odd, odd, odd, login=odd))
    assert [each.name for each in views.views()] == [seen]
    views.save_visit(look_of(view, odd, odd, login=odd))
    look = views.visit(view.id, odd, odd)
    assert look is not None and look.units == (seen,)


def test_no_tenant_sees_or_changes_what_another_keeps(engine: Engine) -> None:
    ours, theirs = new_tenant(engine), new_tenant(engine)
    SqlUsageLog(theirs).record([event(UsageKind.CITED), event(UsageKind.SHOWN)])
    view = SqlSavedSearchStore(theirs).add_view(view_of("Leave"))
    SqlSavedSearchStore(theirs).save_visit(look_of(view))
    log, views = SqlUsageLog(ours), SqlSavedSearchStore(ours)
    assert log.uses([1]) == {} == views.last_visits("ann", "Ann")
    assert [log.events_of(question="Due?"), log.events_of(passage_id=10), views.views()] == [[], [], []]
    assert views.visit(view.id, "ann", "Ann") is None
    refused: list[Callable[[], object]] = [
        lambda: views.view(view.id),
        lambda: views.change_view(replace(view, name="stolen")),
        lambda: views.save_visit(look_of(view)),
    ]
    for attempt in refused:
        with pytest.raises(NotFound):
            attempt()
    log.delete([1])
    log.record([event(UsageKind.CITED)])
    views.add_view(view_of("Leave"))
    assert SqlUsageLog(theirs).uses([1])[1].uses == 1 and SqlSavedSearchStore(theirs).view(view.id) == view


@pytest.mark.parametrize("table", ["use_events", "document_uses", "saved_views", "view_looks"])
def test_a_query_without_a_tenant_condition_sees_its_own_rows_only(engine: Engine, table: str) -> None:
    both = (new_tenant(engine), new_tenant(engine))
    for database in both:
        SqlUsageLog(database).record([event(UsageKind.OPENED)])
        store = SqlSavedSearchStore(database)
        store.save_visit(look_of(store.add_view(view_of("Leave"))))
    for database in both:
        with database.transaction("looking") as connection:
            assert list(connection.scalars(text(f"SELECT tenant_id FROM {table}"))) == [database.tenant]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE use_events SET kind = 'helpful'",
        "UPDATE document_uses SET document_id = 2",
        "DELETE FROM saved_views",
        "UPDATE saved_views SET id = 1",
        "DELETE FROM view_looks",
        "UPDATE view_looks SET who = 'x'",
        "INSERT INTO use_events (tenant_id, kind, document_id, passage_id, question, who, at)"
        " VALUES ('other', 'cited', 1, 1, '', '', now())",
    ],
)
def test_what_nobody_may_do_is_refused(database: Database, statement: str) -> None:
    with pytest.raises(StoreFailed), database.transaction("trespassing") as connection:
        connection.execute(text(statement))


def test_of_events_recorded_at_once_every_one_counts_and_nobody_waits_for_ever(database: Database) -> None:
    log = SqlUsageLog(database)

    def record(who: int) -> None:
        documents = range(1, 6) if who % 2 else range(5, 0, -1)
        for minute in range(5):
            log.record([event(UsageKind.OPENED, each, who=f"r{who}", minute=minute) for each in documents])
            log.record([event(UsageKind.HELPFUL, each, who=f"r{who}", minute=minute) for each in documents])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(record, range(8)))
    assert [use.uses for use in log.uses(range(1, 6)).values()] == [8 * 5 + 8] * 5


def _won(attempt: Callable[[int], object], refusal: type[Exception]) -> int:
    """How many of eight who try at once are not refused."""

    def tried(number: int) -> bool:
        try:
            attempt(number)
        except refusal:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        return sum(threads.map(tried, range(8)))


def test_of_those_who_give_a_name_or_change_a_view_at_once_exactly_one_wins(database: Database) -> None:
    store = SqlSavedSearchStore(database)
    assert _won(lambda who: store.add_view(view_of("Leave", who=str(who))), BadRequest) == 1
    spare = [store.add_view(view_of(f"v{number}")) for number in range(8)]
    assert _won(lambda who: store.change_view(replace(spare[who], name="Pay")), BadRequest) == 1
    (view,) = (each for each in store.views() if each.name == "Leave")
    assert _won(lambda who: store.change_view(replace(view, who=str(who))), Outdated) == 1
