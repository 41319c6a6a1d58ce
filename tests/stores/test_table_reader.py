"""What the reader of a tenant's tables in PostgreSQL can do, and what it never can."""

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import psycopg
import pytest
from sqlalchemy import Engine

from core.domain.errors import BadRequest
from storage.datasets import access as access_module
from storage.datasets.access import TableAccess, refusals
from storage.datasets.store import SqlTableStore
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from tests.database import new_tenant
from tests.stores.tables import EMPLOYEES, Library, in_postgres

ENDLESS = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x % 9 + 1 FROM n) SELECT {} FROM n"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tenant's tables as their reader sees them."""

    store: SqlTableStore
    access: TableAccess


@pytest.fixture(scope="module")
def guarded(engine: Engine) -> Guarded:
    """A tenant with one table, and another one beside it."""
    database = new_tenant(engine)
    store = SqlTableStore(database)
    Library(SqlCatalogue(database), store).upload("employees.csv", EMPLOYEES)
    return Guarded(store, TableAccess(database))


def test_an_analyst_can_select(guarded: Guarded) -> None:
    found = guarded.store.run("SELECT code, pay_rate, active FROM employees WHERE name LIKE 'Z%' -- one", 10, 2000)
    assert (found.columns, found.rows) == (("code", "pay_rate", "active"), (("007", Decimal("1200.50"), True),))
    assert (found.total, found.truncated) == (1, False)
    assert guarded.store.run("TABLE employees;", 10, 2000).total == 7


def test_cells_of_other_kinds_are_shown_as_text_and_long_ones_cut(guarded: Guarded) -> None:
    found = guarded.store.run(
        "SELECT ARRAY[1, 2], '{\"a\": 1}'::jsonb, repeat('x', 20000), DATE '2024-02-29'", 10, 2000
    )
    assert found.rows == (("[1, 2]", "{'a': 1}", "x" * 10_000, date(2024, 2, 29)),)


def test_a_statement_is_cut_at_the_most_rows_and_says_so(guarded: Guarded) -> None:
    cut, whole = (guarded.store.run("SELECT * FROM generate_series(1, 5)", most, 2000) for most in (4, 5))
    assert (len(cut.rows), cut.truncated, len(whole.rows), whole.truncated) == (4, True, 5, False)
    endless = guarded.store.run(ENDLESS.format("*"), 3, 2000)
    assert (endless.rows, endless.truncated) == (((1,), (2,), (3,)), True)


@pytest.mark.parametrize("sql", [ENDLESS.format("max(x)"), "SELECT pg_sleep(60)"])
def test_a_statement_that_takes_too_long_is_stopped(guarded: Guarded, sql: str) -> None:
    started = time.monotonic()
    with pytest.raises(BadRequest, match=r"more than 0\.2 seconds"):
        guarded.store.run(sql, 10, 200)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO employees (code) VALUES ('x')",
        "WITH gone AS (DELETE FROM employees RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copied FROM employees",
        "CREATE TABLE more (x int)",
        "CREATE TEMPORARY TABLE more (x int)",
        "DROP TABLE employees",
        "SELECT 1; DROP TABLE employees",
        "COMMIT; DROP TABLE employees",
        "COPY employees TO PROGRAM 'cat'",
        "RESET ROLE",
        "SET ROLE postgres",
        "SELECT set_config('role', 'postgres', false)",
        "SELECT set_config('role', 'fivefold_app', false)",
        "SELECT set_config('session_authorization', 'postgres', false)",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT * FROM public.documents",
        "SELECT * FROM public.reality_tables",
        "SELECT nextval('public.reality_tables_id_seq')",
        "SELECT * FROM pg_authid",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_from_bytea(0, 'x')",
        "DO $$ BEGIN END $$",
        "SELECT * FROM nothing",
        "SELECT nothing FROM employees",
        "SELECT name + 1 FROM employees",
        "SELECT 1 / 0",
        "SELECT 'x\x00y'; DROP TABLE employees",
        "SELECT \ud800",
        f"SELECT {'(' * 10_000}1{')' * 10_000}",
        f"SELECT {'-(' * 10_000}x{')' * 10_000} FROM (SELECT 1 AS x) AS one",
        "selekt",
        "",
    ],
)
def test_anything_but_reading_ones_own_tables_is_refused_in_words(guarded: Guarded, sql: str) -> None:
    with pytest.raises(BadRequest) as raised:
        guarded.store.run(sql, 10, 5000)
    assert raised.value.hint
    assert len(guarded.store.run("SELECT * FROM employees", 10, 2000).rows) == 7


DOUBLING = (
    "WITH RECURSIVE n(x) AS (SELECT 'aaaaaaaaaaaaaaaa' UNION ALL SELECT x||x FROM n) SELECT max(length(x)) FROM n"
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (DOUBLING, "room"),
        ("SELECT repeat('x', 400000000)", "room"),
        ("SELECT repeat('x', 3000000) FROM generate_series(1, 100)", "too large to show"),
        (f"SELECT {', '.join(['employees.*'] * 400)} FROM employees", "more columns than PostgreSQL"),
    ],
)
def test_what_would_fill_the_memory_ends_with_a_reason(guarded: Guarded, sql: str, expected: str) -> None:
    with pytest.raises(BadRequest, match=expected):
        guarded.store.run(sql, 1000, 60_000)
    assert guarded.store.run("SELECT count(*) FROM employees", 10, 2000).rows == ((7,),)


def test_a_statement_that_does_not_look_at_its_clock_is_ended(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_module, "_GRACE_SECONDS", 0.1)
    with pytest.raises(BadRequest, match="stopped"), refusals(200), guarded.access.reading(200) as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        connection.execute("SELECT pg_sleep(600)")
    with pytest.raises(BadRequest, match="stopped"), refusals(200), guarded.access.reading(200) as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        with suppress(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(600)")
        connection.rollback()  # it went on after it was cancelled, so its connection is ended
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        connection.execute("SELECT pg_sleep(600)")


def test_only_a_few_questions_run_at_a_time(guarded: Guarded) -> None:
    with ExitStack() as running:
        for _ in range(4):
            running.enter_context(guarded.access.reading(2000))
        with pytest.raises(BadRequest, match="still running"), guarded.access.reading(100):
            pass
    with guarded.access.reading(100):
        pass


def test_a_setting_changed_by_one_statement_is_gone_in_the_next(guarded: Guarded) -> None:
    guarded.store.run("SELECT set_config('statement_timeout', '0', false)", 10, 2000)
    with pytest.raises(BadRequest, match="stopped"):
        guarded.store.run("SELECT pg_sleep(60)", 10, 200)


def test_the_tables_of_another_tenant_cannot_be_read(guarded: Guarded, engine: Engine) -> None:
    database = new_tenant(engine)
    Library(SqlCatalogue(database), SqlTableStore(database)).upload("employees.csv", EMPLOYEES)
    with pytest.raises(BadRequest, match="permission denied for schema"):
        guarded.store.run(f"SELECT * FROM {TableAccess(database).schema}.employees", 10, 2000)


def test_a_version_that_was_replaced_is_not_read(engine: Engine) -> None:
    library = in_postgres(engine)
    for text in (EMPLOYEES, EMPLOYEES + "014,bo,FIN,,,,,,\n"):
        library.upload("employees.csv", text)
    with pytest.raises(BadRequest, match="permission denied"):
        library.store.run("SELECT * FROM employees__v1", 10, 2000)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO employees (code) VALUES ('x')",
        "UPDATE employees SET code = 'x'",
        "DELETE FROM employees",
        "TRUNCATE employees",
        "ALTER TABLE employees RENAME TO mine",
        "CREATE TABLE more (x int)",
        "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE SCHEMA more",
        "CREATE TABLE public.more (x int)",
        "INSERT INTO public.tenants (tenant_id) VALUES ('x')",
        "SET ROLE fivefold_app",
        "SET SESSION AUTHORIZATION postgres",
        "COPY employees TO '/tmp/stolen.csv'",
        "ALTER ROLE CURRENT_USER SUPERUSER",
    ],
)
def test_the_reader_itself_has_no_right_to_write_even_in_a_transaction_that_may(guarded: Guarded, sql: str) -> None:
    with guarded.access.reading(2000) as connection:
        connection.execute("ROLLBACK")
        connection.execute("BEGIN READ WRITE")
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedObject)):
            connection.execute(sql.encode())


def test_before_the_first_table_there_is_nothing_to_select_from(database: Database) -> None:
    with pytest.raises(BadRequest, match="no tables yet"):
        SqlTableStore(database).run("SELECT 1", 10, 2000)
