"""Connections that the server ended are replaced before anybody notices, without asking the server each time."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, text

from core.domain.errors import StoreFailed, StoreUnavailable
from storage.postgres.database import APP_ROLE, Database, Scope, conninfo_of, engine_for, store_failures


@pytest.fixture
def own(engine: Engine) -> Iterator[Engine]:
    """A pool of its own on the shared server."""
    own = engine_for(engine.url.render_as_string(hide_password=False))
    yield own
    own.dispose()


def backend(database: Database) -> int:
    """The process of the server that answers."""
    with database.transaction("looking who answers") as connection:
        return int(connection.scalar(text("SELECT pg_backend_pid()")))


def test_a_connection_that_the_server_ended_is_replaced_at_once(own: Engine, engine: Engine) -> None:
    database = Database(own, "connections")
    first = backend(database)
    assert backend(database) == first
    with psycopg.connect(conninfo_of(engine.url), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (first,))
    second = backend(database)  # perhaps before the end of the first one has arrived here
    assert second != first and backend(database) == second


def test_a_transaction_takes_three_round_trips(own: Engine, tmp_path: Path) -> None:
    """Begin with role and tenant, the query, and the end; taking the connection asks the server nothing."""
    database, path = Database(own, "connections"), tmp_path / "trace"
    with database.transaction("looking") as connection:
        driver = connection.connection.driver_connection
    assert driver is not None
    with path.open("w") as trace:
        driver.pgconn.trace(trace.fileno())
        try:
            assert backend(database) == driver.info.backend_pid
        finally:
            driver.pgconn.untrace()
    assert path.read_text().count("ReadyForQuery") == 3


def test_a_read_is_one_round_trip_in_its_tenants_role_and_leaves_nothing_behind(own: Engine) -> None:
    database = Database(own, "it's", Scope(("north", 'so"uth'), "bo %s"))
    who = (
        "SELECT current_user::text, current_setting('fivefold.tenant'), current_setting('fivefold.projects'),"
        " current_setting('fivefold.login'), %(given)s::text"
    )
    assert database.read("looking", who, {"given": "'; --"}) == [
        (APP_ROLE, "it's", '["north", "so\\"uth"]', "bo %s", "'; --")
    ]
    with own.connect() as plain:
        left = plain.execute(
            text("SELECT current_user::text = session_user::text, current_setting('fivefold.tenant', true)")
        )
        assert tuple(left.one()) == (True, "")


def test_a_read_that_fails_says_so_and_the_connection_serves_the_next(own: Engine) -> None:
    database = Database(own, "connections")
    with pytest.raises(StoreFailed, match="while looking"):
        database.read("looking", "SELECT nothing FROM nowhere", {})
    assert database.read("looking", "SELECT 1", {}) == [(1,)]
    assert backend(database)


def test_a_read_on_a_connection_that_the_server_ended_is_repeated_on_another(own: Engine, engine: Engine) -> None:
    database = Database(own, "connections")
    ask = "SELECT pg_backend_pid()"
    ((first,),) = database.read("looking who answers", ask, {})
    with psycopg.connect(conninfo_of(engine.url), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (first,))
    ((second,),) = database.read("looking who answers", ask, {})  # perhaps before the end has arrived here
    assert second != first and database.read("looking who answers", ask, {}) == [(second,)]


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (psycopg.OperationalError("server closed the connection"), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.DiskFull(), True),
        (psycopg.errors.ProgramLimitExceeded(), False),
        (psycopg.errors.QueryCanceled(), False),
        (psycopg.errors.InsufficientPrivilege(), False),
    ],
)
def test_what_may_pass_by_itself_is_told_from_what_the_work_itself_causes(error: psycopg.Error, passes: bool) -> None:
    with pytest.raises(StoreFailed) as caught, store_failures("storing"):
        raise error
    assert isinstance(caught.value, StoreUnavailable) is passes
