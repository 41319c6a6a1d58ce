"""One tenant's access to PostgreSQL: every transaction runs under a restricted role and sets its tenant.

Row-level security is the first safeguard, the code's own `tenant_id` condition the second. Superusers and roles with
BYPASSRLS ignore row-level security, so the pool has a login with neither right (`storage.postgres.logins`). That login
may read nothing by itself: each transaction first switches to `fivefold_app`, then sets its tenant. Both settings end
with the transaction, so that a pooled connection never carries a tenant over into other work.

A person who may see some projects only is a `Scope`: restrictive policies (`storage.postgres.tables`) hide all other
rows, whatever a query asks for.

Errors of PostgreSQL and its drivers are mapped to StoreFailed here, with a message the user can act on; a row of a
project outside the scope to AccessDenied.
"""
# Over 300 lines: a transaction, the read in one round trip and the mapping of errors share how a connection is entered.

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus
from sqlalchemy import Connection, Engine, PoolProxiedConnection, RootTransaction, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.domain.errors import AccessDenied, BadRequest, FivefoldError, StoreFailed, StoreUnavailable

__all__ = [
    "APP_ROLE",
    "EVERYTHING",
    "PURGE_ROLE",
    "QUEUE_ROLE",
    "Database",
    "Scope",
    "array_literal",
    "conninfo_of",
    "engine_for",
    "psycopg_url",
    "store_failures",
]

_UNREACHABLE = (
    "Check that PostgreSQL is running and that DATABASE_URL is right, then try again."
    " Where DATABASE_URL is not set, Fivefold starts its own database again within seconds, and nothing saved is lost."
)

_HINTS: tuple[tuple[type[psycopg.Error], str, str], ...] = (
    (
        psycopg.errors.DiskFull,
        "The disk of the database is full",
        "Make room on the disk that holds the data folder, then try again.",
    ),
    (
        psycopg.errors.InsufficientPrivilege,
        "The database refuses access",
        "Start the app once with FIVEFOLD_MIGRATION_DATABASE_URL, which gives the login of DATABASE_URL its rights.",
    ),
    (
        psycopg.errors.UndefinedTable,
        "The database has not the tables this version needs",
        "Start the program once against this database, so that it can migrate it.",
    ),
    (
        psycopg.errors.QueryCanceled,
        "The database took too long",
        "Narrow the search, or try again when it is less busy.",
    ),
    (psycopg.OperationalError, "The database does not answer", _UNREACHABLE),
    (psycopg.InterfaceError, "The connection to the database was lost", _UNREACHABLE),
)

_MAY_PASS = ("08", "53", "57P")
"""Beginnings of error codes that the same statement may not meet later: no connection, no room, a server that stops or
starts (PostgreSQL, appendix A). Without a code, the connection itself failed."""


@contextmanager
def store_failures(doing: str) -> Iterator[None]:
    """Maps every database error raised inside to StoreFailed, and a row that the person may not write to AccessDenied;
    `doing` completes "… while {doing}".

    >>> with store_failures("reading a page"):  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    ...     raise psycopg.OperationalError("server closed the connection")
    Traceback (most recent call last):
        ...
    core.domain.errors.StoreUnavailable: The database does not answer while reading a page: server closed the
    connection. Check ...
    """
    try:
        yield
    except (SQLAlchemyError, psycopg.Error) as error:
        raise _store_failed(error, doing) from error


_SCOPE_POLICY = "_of_scope"
"""End of the name of every policy that hides the rows of other projects; PostgreSQL names the one that a row breaks."""


def _store_failed(error: Exception, doing: str) -> FivefoldError:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, psycopg.errors.InsufficientPrivilege) and _SCOPE_POLICY in str(cause):
        return AccessDenied("You have no role in this project.", "Ask an administrator of this library for one.")
    detail = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    if isinstance(cause, PoolTimeout):
        return StoreUnavailable(f"All database connections are in use while {doing}.", "Try again in a moment.")
    for kind, words, hint in _HINTS:
        if isinstance(cause, kind):
            failure = StoreUnavailable if (cause.sqlstate or "08").startswith(_MAY_PASS) else StoreFailed
            return failure(f"{words} while {doing}: {detail}.", hint)
    return StoreFailed(
        f"The database failed while {doing}: {detail}.", "Try again; if it fails again, report this message."
    )


APP_ROLE = "fivefold_app"
QUEUE_ROLE = "fivefold_queue"
"""What the job queue's library needs, which switches to no role: its own tables."""
PURGE_ROLE = "fivefold_purger"
"""Deletes for good: takes quotes out of the tenant's stored values, and sees which originals any tenant uses."""

_ENTER = (
    "SELECT set_config('role', %(role)s, true), set_config('fivefold.tenant', %(tenant)s, true),"
    " set_config('fivefold.projects', %(projects)s, true), set_config('fivefold.login', %(login)s, true);"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What one person sees of a tenant. projects: the projects whose rows are visible, besides those shared by all
    projects; None: every row. login: whose own rows are visible too."""

    projects: tuple[str, ...] | None = None
    login: str = ""

    @property
    def setting(self) -> str:
        """The projects as the policies read them: a JSON array, "" for every row."""
        return "" if self.projects is None else json.dumps(self.projects)


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Database:
    """The database as seen by one tenant, or by one person of a tenant. session: the same database where a client keeps
    its server process; None: where the engine connects."""

    engine: Engine
    tenant: str
    scope: Scope = EVERYTHING
    session: URL | None = None

    @property
    def session_url(self) -> URL:
        """Where to connect for what outlives a transaction: locks, notifications, settings of a connection."""
        return self.session or self.engine.url

    @contextmanager
    def transaction(self, doing: str, role: str = APP_ROLE) -> Iterator[Connection]:
        """A connection inside one transaction, committed at the end. Raises StoreFailed ("… while {doing}")."""
        with store_failures(doing):
            try:
                connection, transaction = self._enter(role)
            except psycopg.OperationalError as error:
                if _answers(error):
                    raise
                connection, transaction = self._enter(role)
            with connection, transaction:
                yield connection

    def read(self, doing: str, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of one query that may run twice, in one round trip: role, tenant and query are sent together, and
        PostgreSQL makes one transaction of them. It plans for these values. For what every search asks: a transaction
        of its own takes four round trips and three times the processor time. query: with %(name)s for each value.

        Raises StoreFailed ("… while {doing}")."""
        with store_failures(doing):
            try:
                return self._read(query, values)
            except psycopg.OperationalError as error:
                if _answers(error):
                    raise
                return self._read(query, values)

    def _read(self, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        pooled = self.engine.raw_connection()
        try:
            transformer, result = self._sent(pooled, f"{_ENTER} {query}", APP_ROLE, values)
            transformer.set_pgresult(result)
            rows: list[tuple[Any, ...]] = transformer.load_rows(0, result.ntuples, tuple)
            return rows
        finally:
            pooled.close()

    def _enter(self, role: str) -> tuple[Connection, RootTransaction]:
        connection = self.engine.connect()
        try:
            transaction = connection.begin()
            self._sent(connection.connection, f"BEGIN; {_ENTER}", role)
        except BaseException:
            connection.close()
            raise
        return connection, transaction

    def _sent(
        self, pooled: PoolProxiedConnection, query: str, role: str, values: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Any, Any]:
        """The result of statements sent in one call of libpq: a cursor makes six objects and waits four times, for two
        thirds of the processor time. Raises psycopg.Error."""
        driver: Any = pooled.driver_connection
        transformer = Transformer(driver)
        given = {
            "role": role,
            "tenant": self.tenant,
            "projects": self.scope.setting,
            "login": self.scope.login,
            **values,
        }
        literals = {name: str(transformer.as_literal(value), "utf-8") for name, value in given.items()}
        result = driver.pgconn.exec_((query % literals).encode())
        if driver.closed:
            pooled.invalidate()
            raise psycopg.OperationalError(result.get_error_message())
        if result.status != ExecStatus.TUPLES_OK:
            raise psycopg.errors.error_from_result(result)
        return transformer, result


def _answers(error: psycopg.OperationalError) -> bool:
    """Whether the server refused a statement, and did not end the connection: then the next one is new."""
    return error.sqlstate is not None and not error.sqlstate.startswith("57P")


def array_literal(numbers: Iterable[int]) -> str:
    """Whole numbers as PostgreSQL writes an array: the driver looks at each of a list, for half the time of a read.

    >>> array_literal([7, 12])
    '{7,12}'
    """
    return f"{{{','.join(map(str, map(int, numbers)))}}}"


def psycopg_url(url: str) -> URL:
    """A PostgreSQL URL as SQLAlchemy writes it for psycopg 3, also of several servers, of which the one that accepts
    changes is used. Raises BadRequest for any other URL.

    >>> psycopg_url("postgresql://ann@one,[::2]:5433/library").render_as_string()
    'postgresql+psycopg://ann@/library?host=one%2C%3A%3A2&port=5432%2C5433&target_session_attrs=read-write'
    """
    scheme, separator, rest = url.partition("://")
    authority, slash, place = rest.partition("/")
    login, at, addresses = authority.rpartition("@")
    several = addresses.split(",") if "," in addresses else []
    try:
        if not separator or scheme not in ("postgres", "postgresql", "postgresql+psycopg"):
            raise ValueError(scheme)
        found = make_url(f"postgresql+psycopg://{login}{at}{'' if several else addresses}{slash}{place}")
        servers = [_server(each) for each in several]
    except (ValueError, ArgumentError) as error:
        raise BadRequest(
            "DATABASE_URL is not a PostgreSQL URL.", "Write it as postgresql://user:password@host:5432/database."
        ) from error
    if servers:
        hosts, ports = (",".join(column) for column in zip(*servers, strict=True))
        found = found.update_query_dict({"host": hosts, "port": ports})
    if "," in str(found.query.get("host", "")) and "target_session_attrs" not in found.query:
        found = found.update_query_dict({"target_session_attrs": "read-write"})
    return found


def _server(address: str) -> tuple[str, str]:
    """Host and port of one of several servers, as libpq lists them. Raises ValueError."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ValueError(address)
    return found[1].strip("[]"), found[2] or "5432"


_ADDRESS = re.compile(r"(\[[^\]]+\]|[^:\[\]]+)(?::([0-9]+))?")


def engine_for(url: str, *, pooled: bool = False) -> Engine:
    """A pooled engine. It connects at first use and replaces connections that the server has closed.

    pooled: the URL leads to a pooler in transaction mode. A statement prepared in one transaction is then unknown in
    the next, which may run in another server process.
    """
    arguments = {"prepare_threshold": None} if pooled else {}
    # What is opened beyond 8 is closed after use: lasting connections take memory, and more of them were no faster.
    engine = create_engine(psycopg_url(url), pool_size=8, max_overflow=16, pool_recycle=1800, connect_args=arguments)
    event.listen(engine, "checkout", _refuse_closed)
    return engine


def _refuse_closed(connection: psycopg.Connection, *_: object) -> None:
    """Raise InvalidatePoolError, so that the pool connects again, when the server has closed the connection. libpq
    reads what the server sent and does not wait: unlike a ping, this costs no round trip per transaction."""
    try:
        connection.pgconn.consume_input()
    except psycopg.Error as error:
        raise InvalidatePoolError from error


def conninfo_of(url: URL) -> str:
    """The same connection in libpq's own spelling. A URL would not do: SQLAlchemy writes a space in it as "+", which
    libpq takes for a plus.

    >>> conninfo_of(psycopg_url("postgresql://ann@/library?host=/my%20data"))
    "dbname=library user=ann host='/my data'"
    """
    from psycopg.conninfo import make_conninfo

    query = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    return make_conninfo("", **url.translate_connect_args(username="user", database="dbname"), **query)
