"""Who may touch a tenant's Reality tables: a schema of its own, an owner that fills it, and a reader that only reads.

The reader is a login of its own, not a role put on: what an analyst types could take a role off again (`RESET ROLE`, or
`set_config` in a SELECT), but nobody can take off who they logged in as. It owns nothing, may use one schema, and every
connection of it starts read-only with a time limit. The embedded server asks its own socket for no password; elsewhere
the reader's is derived from the program's own, which the reader never learns.
"""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import psycopg
from sqlalchemy import Connection, text

from storage.database import APP_ROLE, Database, conninfo_of
from storage.failures import store_failures

__all__ = ["TableAccess"]

_LOCK_CLASS = 5_006
_MOST_READERS = 20
_TEMPORARY_MEGABYTES = 1024
_MAKE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{owner}') THEN
        CREATE ROLE {owner} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{reader}') THEN
        CREATE ROLE {reader} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT {most};
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the whole server: another database beside this one may just have made them
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, '{owner}', 'SET') THEN
        EXECUTE format('GRANT {owner} TO %I', current_user);
    END IF;
END $$;
ALTER ROLE {reader} PASSWORD '{password}';
CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {owner};
REVOKE ALL ON SCHEMA {schema} FROM PUBLIC;
GRANT USAGE ON SCHEMA {schema} TO {reader};
"""


@dataclass(frozen=True, slots=True)
class TableAccess:
    """The doors to one tenant's tables. All names are made of a digest, so that none needs quoting."""

    database: Database

    @property
    def _mark(self) -> str:
        return sha256(self.database.tenant.encode()).hexdigest()[:16]

    @property
    def schema(self) -> str:
        """Where the tenant's tables stand."""
        return f"reality_{self._mark}"

    @property
    def owner(self) -> str:
        """The role that makes and fills them."""
        return f"fivefold_owner_{self._mark}"

    @property
    def reader(self) -> str:
        """The login that reads them."""
        return f"fivefold_reader_{self._mark}"

    def _password(self) -> str:
        secret = f"{self.database.engine.url.password or ''}/{self.database.engine.url.database}"
        return hmac.new(secret.encode(), self.reader.encode(), sha256).hexdigest()

    @contextmanager
    def owning(self, doing: str) -> Iterator[Connection]:
        """A transaction that may make, fill and drop tables and write the registry; one at a time per tenant.

        Starts as the registry's role; `as_owner` and `as_app` change between the two. Raises StoreFailed.
        """
        with store_failures(doing), self.database.engine.begin() as connection:
            key = int(self._mark[:7], 16)
            connection.execute(text("SELECT pg_advisory_xact_lock(:class, :key)"), {"class": _LOCK_CLASS, "key": key})
            made = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
            if connection.scalar(made, {"schema": self.schema}) is None:
                self._make(connection)
            tenant = text("SELECT set_config('fivefold.tenant', :tenant, true)")
            connection.execute(tenant, {"tenant": self.database.tenant})
            self.as_app(connection)
            yield connection

    def as_owner(self, connection: Connection) -> None:
        """From here on, this transaction makes and fills tables."""
        connection.execute(text(f"SET LOCAL ROLE {self.owner}"))
        connection.execute(text(f"SET LOCAL search_path TO {self.schema}"))

    def as_app(self, connection: Connection) -> None:
        """From here on, this transaction writes the registry."""
        connection.execute(text(f"SET LOCAL ROLE {APP_ROLE}"))
        connection.execute(text("SET LOCAL search_path TO DEFAULT"))

    def _make(self, connection: Connection) -> None:
        names = {"owner": self.owner, "reader": self.reader, "schema": self.schema}
        driver: Any = connection.connection.driver_connection
        driver.execute(_MAKE.format(**names, password=self._password(), most=_MOST_READERS))
        if driver.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()[0]:
            driver.execute(f"ALTER ROLE {self.reader} SET temp_file_limit = '{_TEMPORARY_MEGABYTES}MB'")

    def exists(self) -> bool:
        """Whether any table was ever loaded."""
        with store_failures("looking for tables"), self.database.engine.connect() as connection:
            query = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
            return connection.scalar(query, {"schema": self.schema}) is not None

    @contextmanager
    def reading(self, timeout_ms: int) -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
        """A connection logged in as the reader, in a read-only transaction that is never committed. The time limit
        holds for each statement."""
        limits = {
            "statement_timeout": timeout_ms,
            "lock_timeout": 2_000,
            "idle_in_transaction_session_timeout": 60_000,
            "default_transaction_read_only": "on",
            "search_path": self.schema,
        }
        options = " ".join(f"-c {name}={value}" for name, value in limits.items())
        url = self.database.engine.url.set(username=self.reader, password=self._password())
        with psycopg.connect(conninfo_of(url), options=options) as connection:
            try:
                yield connection
            finally:
                connection.rollback()
