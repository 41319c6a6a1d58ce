"""Access to a tenant's Reality tables: one schema, an owner role that fills it, and a read-only login.

The reader is a separate login, not a role set with SET ROLE: typed SQL could undo that (`RESET ROLE`, or `set_config`
in a SELECT), but cannot change the login. The reader owns nothing, may use one schema, and each of its connections
starts read-only with a time limit. The embedded server asks for no password on its own socket; elsewhere the reader's
password is derived from the program's own, which cannot be computed back from it.
"""
# Over 300 lines: what two roles may do, and the limits of both, are told in one place.

import hmac
import logging
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from core.domain.errors import BadRequest, StoreFailed
from storage.postgres.database import APP_ROLE, Database, conninfo_of, store_failures

__all__ = ["TableAccess", "refusals"]


@contextmanager
def refusals(timeout_ms: int) -> Iterator[None]:
    """Maps database errors caused by the question to BadRequest with a hint; any other error stays StoreFailed.
    timeout_ms: the limit to name in the message.
    """
    try:
        with store_failures("reading tables"):
            yield
    except StoreFailed as failure:
        cause = failure.__cause__
        for kind, words, hint in _WORDS:
            if isinstance(cause, kind):
                message = str(cause).strip().splitlines()[0].rstrip(".")
                seconds = f"{timeout_ms / 1000:g} seconds"
                raise BadRequest(words.format(message=message, seconds=seconds), hint) from cause
        raise


_WORDS: Sequence[tuple[type[psycopg.Error], str, str]] = (
    (
        psycopg.errors.QueryCanceled,
        "It took more than {seconds} and was stopped.",
        "Ask for less: add a condition or a limit.",
    ),
    (psycopg.errors.DiskFull, "It needs more room than one question may: {message}.", "Ask for less: add a condition."),
    (psycopg.errors.ConfigurationLimitExceeded, "It needs more room than one question may.", "Ask for less."),
    (psycopg.errors.OutOfMemory, "It needs more room than one question may.", "Ask for less."),
    (psycopg.errors.ProgramLimitExceeded, "It needs more room than one question may: {message}.", "Ask for less."),
    (
        psycopg.errors.TooManyColumns,
        "It has more columns than PostgreSQL can return.",
        "Name the columns you need instead of all of them.",
    ),
    (psycopg.errors.TooManyArguments, "A call has too many values: {message}.", "Split it into several calls."),
    (psycopg.errors.TooManyConnections, "Other questions are still running.", "Ask again in a moment."),
    (psycopg.errors.AdminShutdown, "It took more than {seconds} and was stopped.", "Ask for less: add a condition."),
    (psycopg.errors.StatementTooComplex, "The statement is too deeply nested: {message}.", "Write it more simply."),
    (
        psycopg.errors.InsufficientPrivilege,
        "That is not allowed: {message}.",
        "Only this library's tables can be read.",
    ),
    (psycopg.errors.ReadOnlySqlTransaction, "Tables can only be read here: {message}.", "Write a SELECT."),
    (psycopg.errors.ActiveSqlTransaction, "Tables can only be read here: {message}.", "Write a SELECT."),
    (psycopg.errors.LockNotAvailable, "A table is being loaded just now.", "Ask again in a moment."),
    # Whole error classes: an unknown table or function is a fault of the statement, like a syntax error.
    (psycopg.ProgrammingError, "PostgreSQL says: {message}.", "Correct the statement."),
    (psycopg.DataError, "PostgreSQL says: {message}.", "Correct the statement."),
    (psycopg.NotSupportedError, "PostgreSQL says: {message}.", "Write it in another way."),
)
_LOCK_CLASS, _LINK_CLASS = 5_006, 5_009
"""Arbitrary; differ from every other advisory lock of the program."""
_MOST_READERS = 8
"""Connections per tenant's reader over all programs, so that one library cannot use up the server's. Chosen by hand."""
_READERS_HERE = 4
"""Of them in one program. Each may fill `_MEMORY_MEGABYTES`. Chosen by hand."""
_MEMORY_MEGABYTES = 256
"""Memory that a typed statement may use besides the server's shared buffers. Chosen by hand."""
_GRACE_SECONDS = 2.0
"""Between the time limit, a cancel by us, and the end of the connection. Chosen by hand."""
_log = logging.getLogger(__name__)
_TEMPORARY_MEGABYTES = 1024
"""Disk space a query may use for sorting and joining. Chosen by hand, not fitted."""
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
    """Roles and connections for one tenant's tables. All names are built from a digest, so none needs quoting."""

    database: Database
    _here: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_READERS_HERE), repr=False, compare=False
    )

    @property
    def _mark(self) -> str:
        return sha256(self.database.tenant.encode()).hexdigest()[:16]

    @property
    def schema(self) -> str:
        """The schema of the tenant's tables."""
        return f"reality_{self._mark}"

    @property
    def owner(self) -> str:
        """The role that creates and fills the tables."""
        return f"fivefold_owner_{self._mark}"

    @property
    def reader(self) -> str:
        """The login that reads the tables."""
        return f"fivefold_reader_{self._mark}"

    def _password(self, pool: URL | None = None) -> str:
        url = pool or self.database.engine.url
        secret = f"{url.password or ''}/{url.database}"
        return hmac.new(secret.encode(), self.reader.encode(), sha256).hexdigest()

    @contextmanager
    def owning(self, doing: str) -> Iterator[Connection]:
        """A transaction that may create, fill and drop tables and write the registry; one at a time per tenant.

        Starts as the registry's role; `as_owner` and `as_app` switch roles. Raises StoreFailed.
        """
        with store_failures(doing), self.database.engine.begin() as connection:
            key = int(self._mark[:7], 16)
            connection.execute(text("SELECT pg_advisory_xact_lock(:class, :key)"), {"class": _LOCK_CLASS, "key": key})
            self._ensure(connection)
            tenant = text("SELECT set_config('fivefold.tenant', :tenant, true)")
            connection.execute(tenant, {"tenant": self.database.tenant})
            self.as_app(connection)
            yield connection

    @contextmanager
    def linking(self) -> Iterator[None]:
        """A lock per tenant, over all programs; released at the end. Raises StoreFailed."""
        with store_failures("linking tables"), self.database.engine.begin() as connection:
            key = int(self._mark[:7], 16)
            connection.execute(text("SELECT pg_advisory_xact_lock(:class, :key)"), {"class": _LINK_CLASS, "key": key})
            yield

    def as_owner(self, connection: Connection) -> None:
        """Switch the transaction to the role that creates and fills tables."""
        connection.execute(text(f"SET LOCAL ROLE {self.owner}"))
        connection.execute(text(f"SET LOCAL search_path TO {self.schema}"))

    def as_app(self, connection: Connection) -> None:
        """Switch the transaction to the role that writes the registry."""
        connection.execute(text(f"SET LOCAL ROLE {APP_ROLE}"))
        connection.execute(text("SET LOCAL search_path TO DEFAULT"))

    def _ensure(self, connection: Connection) -> None:
        made = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
        if connection.scalar(made, {"schema": self.schema}) is None:
            self._make(connection)

    def prepare(self, connection: Connection, login: str) -> None:
        """Make schema and roles with the rights of their owner, and let a login use them that may make none: it may
        switch to the role that fills tables, and end statements of the one that reads them."""
        self._ensure(connection)
        driver: Any = connection.connection.driver_connection
        name = sql.Identifier(login)
        driver.execute(sql.SQL(f"GRANT {self.owner} TO {{}} WITH INHERIT FALSE, SET TRUE").format(name))
        driver.execute(sql.SQL(f"GRANT {self.reader} TO {{}} WITH INHERIT TRUE, SET FALSE").format(name))

    def _make(self, connection: Connection) -> None:
        names = {"owner": self.owner, "reader": self.reader, "schema": self.schema}
        driver: Any = connection.connection.driver_connection
        driver.execute(_MAKE.format(**names, password=self._password(), most=_MOST_READERS))
        if driver.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()[0]:
            driver.execute(f"ALTER ROLE {self.reader} SET temp_file_limit = '{_TEMPORARY_MEGABYTES}MB'")

    @staticmethod
    def renew_passwords(engine: Engine, pool: URL) -> None:
        """Give the reader of every tenant its password, as programs with the pool's URL compute it; needed after a
        restore. Raises StoreFailed."""
        with store_failures("setting up the readers of tables"), engine.begin() as connection:
            tenants = connection.scalars(text("SELECT DISTINCT tenant_id FROM documents")).all()
            for access in (TableAccess(Database(engine, tenant)) for tenant in tenants):
                made = text("SELECT 1 FROM pg_roles WHERE rolname = :reader")
                if connection.scalar(made, {"reader": access.reader}):
                    connection.exec_driver_sql(f"ALTER ROLE {access.reader} PASSWORD '{access._password(pool)}'")

    def exists(self) -> bool:
        """Whether any table was ever loaded."""
        with store_failures("looking for tables"), self.database.engine.connect() as connection:
            query = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
            return connection.scalar(query, {"schema": self.schema}) is not None

    @contextmanager
    def reading(self, timeout_ms: int, *, typed: bool = False) -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
        """A connection logged in as the reader, in a read-only transaction that is never committed.

        The time limit applies to each statement. One that goes on after it is cancelled, then its connection is ended:
        not every step of PostgreSQL looks at its clock. typed: for a statement a person wrote; its memory is limited
        where the server runs on this machine.
        Raises BadRequest when too many questions run already.
        """
        if not self._here.acquire(timeout=timeout_ms / 1000):
            raise BadRequest("Other questions are still running.", "Ask again in a moment.")
        try:
            with self._reader_connection(timeout_ms) as connection, self._watched(connection, timeout_ms / 1000):
                if typed:
                    _limit_memory(connection)
                try:
                    yield connection
                finally:
                    if not connection.closed:
                        connection.rollback()
        finally:
            self._here.release()

    def _reader_connection(self, timeout_ms: int) -> "psycopg.Connection[tuple[Any, ...]]":
        limits = {
            "statement_timeout": timeout_ms,
            "max_parallel_workers_per_gather": 0,  # other processes would escape the limit of memory
            "lock_timeout": 2_000,
            "idle_in_transaction_session_timeout": 60_000,
            "default_transaction_read_only": "on",
            "search_path": self.schema,
        }
        options = " ".join(f"-c {name}={value}" for name, value in limits.items())
        url = self.database.session_url.set(username=self.reader, password=self._password())
        return psycopg.connect(conninfo_of(url), options=options)

    @contextmanager
    def _watched(self, connection: "psycopg.Connection[tuple[Any, ...]]", seconds: float) -> Iterator[None]:
        """End a statement that outlives the server's own limit: cancel it, then end its connection."""
        pid, over, ended = connection.info.backend_pid, threading.Event(), threading.Event()

        def watch() -> None:
            steps = (("pg_cancel_backend", seconds + _GRACE_SECONDS), ("pg_terminate_backend", _GRACE_SECONDS))
            for act, after in steps:
                if over.wait(after):
                    return
                ended.set()
                _log.warning("A statement outlives its %g seconds: %s(%d).", seconds, act, pid)
                try:
                    with self.database.engine.connect() as admin:
                        admin.execute(text(f"SELECT {act}(:pid)"), {"pid": pid})
                except SQLAlchemyError as error:
                    _log.warning("It could not be stopped: %s", error)

        threading.Thread(target=watch, name="statement watch", daemon=True).start()
        try:
            yield
        except psycopg.Error as error:
            if ended.is_set():
                raise psycopg.errors.QueryCanceled("stopped by the program") from error
            raise
        finally:
            over.set()


def _limit_memory(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    """Let the server process of a connection take so much more memory, and no more: PostgreSQL then says that memory is
    out, and goes on. Works on Linux where the server runs on this machine as our user, or where we are root.
    """
    import psutil

    if not hasattr(psutil, "RLIMIT_DATA") or not connection.info.host.startswith("/"):
        return
    try:
        process = psutil.Process(connection.info.backend_pid)
        most = process.memory_info().data + _MEMORY_MEGABYTES * 2**20
        if process.uids().real == os.geteuid():
            process.rlimit(psutil.RLIMIT_DATA, (most, most))
        else:  # in most containers even root may limit only its own processes, so it is done as the server's user
            command = ["prlimit", "--pid", str(process.pid), f"--data={most}:{most}"]
            user, group = process.uids().real, process.gids().real
            subprocess.run(command, user=user, group=group, extra_groups=[], check=True, capture_output=True)
    except (psutil.Error, OSError, subprocess.CalledProcessError) as error:
        _log.warning("The memory of typed statements is not limited: %s", error)
