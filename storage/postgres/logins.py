"""The login of the connection pool: it may switch to the roles of the application, and nothing else.

Tables and roles belong to another login, which is used at start only: the embedded server's, or the one of
FIVEFOLD_MIGRATION_DATABASE_URL. So no query that goes wrong can bypass row-level security, read the server's files or
make roles: the pool's login has neither these rights nor a way to them.
"""

from psycopg import sql
from sqlalchemy import Engine, text

from core.domain.errors import BadRequest
from storage.datasets.access import TableAccess
from storage.postgres.database import APP_ROLE, PURGE_ROLE, QUEUE_ROLE, Database, store_failures

__all__ = ["bypassing_login", "is_prepared", "prepare_login"]

_LOCK = 5_005_009
"""Arbitrary; differs from every other advisory lock of the program."""
_RIGHTS = "LOGIN NOINHERIT NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION"


def prepare_login(owner: Engine, pool: Engine, tenant: str) -> None:
    """Give the pool's login what it needs, and make it where it is missing. owner: a login that made the tables, or may
    do what that one may. Raises StoreFailed, and BadRequest when the two logins are one.
    """
    name = pool.url.username or ""
    if name == owner.url.username:
        raise BadRequest(
            "DATABASE_URL and FIVEFOLD_MIGRATION_DATABASE_URL have the same login.",
            "Give DATABASE_URL a login of its own; it is made when it is missing.",
        )
    login = sql.Identifier(name)
    with store_failures("setting up the login of DATABASE_URL"), owner.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        driver = connection.connection.driver_connection
        assert driver is not None
        if not driver.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone():
            password = sql.SQL(" PASSWORD {}").format(pool.url.password) if pool.url.password else sql.SQL("")
            driver.execute(sql.SQL(f"CREATE ROLE {{}} {_RIGHTS}{{}}").format(login, password))
        for role in (APP_ROLE, PURGE_ROLE):
            driver.execute(sql.SQL(f"GRANT {role} TO {{}} WITH INHERIT FALSE, SET TRUE").format(login))
        driver.execute(sql.SQL(f"GRANT {QUEUE_ROLE} TO {{}} WITH INHERIT TRUE, SET FALSE").format(login))
        TableAccess(Database(pool, tenant)).prepare(connection, name)


def is_prepared(pool: Engine, revision: str) -> bool:
    """Whether the database has this schema, and the pool's login everything it needs. Raises StoreFailed when it does
    not answer."""
    with store_failures("connecting"), pool.connect() as connection:
        readable = (
            "SELECT CASE WHEN to_regclass('alembic_version') IS NULL THEN false"
            " ELSE has_table_privilege('alembic_version', 'SELECT') END"
        )
        if not connection.scalar(text(readable)):
            return False
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) == revision)


def bypassing_login(pool: Engine) -> str:
    """A message when the pool's login may bypass row-level security, "" otherwise. Raises StoreFailed."""
    query = "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = session_user"
    with store_failures("looking at the rights of the login"), pool.connect() as connection:
        found = connection.execute(text(query)).one()
    if not any(found):
        return ""
    can = "is a superuser" if found[0] else "may bypass row-level security (BYPASSRLS)"
    return (
        f"The database login “{pool.url.username}” {can}. Every query still runs under a role without that right, but"
        " an error in the program could undo this. Use a login of its own: the page “A PostgreSQL server” of the"
        " documentation has the statements."
    )
