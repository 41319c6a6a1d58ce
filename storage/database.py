"""One tenant's door to PostgreSQL: every transaction runs as the guarded role and names its tenant.

Row-level security is the first lock, the code's own `tenant_id` condition the second. Superusers and roles with
BYPASSRLS walk through row-level security, and the embedded server knows no other login; so each transaction
first becomes `fivefold_app`, a role that can do neither, and only then names its tenant. Both settings end with the
transaction, so that a pooled connection never carries one tenant's name into another's work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url

from core.errors import BadRequest
from storage.failures import store_failures

__all__ = ["APP_ROLE", "Database", "conninfo_of", "engine_for", "psycopg_url"]

APP_ROLE = "fivefold_app"
_ENTER = text("SELECT set_config('role', :role, true), set_config('fivefold.tenant', :tenant, true)")


@dataclass(frozen=True, slots=True)
class Database:
    """The database as one tenant sees it."""

    engine: Engine
    tenant: str

    @contextmanager
    def transaction(self, doing: str) -> Iterator[Connection]:
        """A connection inside one transaction, committed at the end. Raises StoreFailed ("… while {doing}")."""
        with store_failures(doing), self.engine.begin() as connection:
            connection.execute(_ENTER, {"role": APP_ROLE, "tenant": self.tenant})
            yield connection


def psycopg_url(url: str) -> URL:
    """A database URL in SQLAlchemy's spelling for psycopg 3. Raises BadRequest for what is no PostgreSQL URL.

    >>> psycopg_url("postgres://ann@db/library").drivername
    'postgresql+psycopg'
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("postgres", "postgresql", "postgresql+psycopg"):
        raise BadRequest(
            "DATABASE_URL is not a PostgreSQL URL.", "Write it as postgresql://user:password@host:5432/database."
        )
    return make_url(f"postgresql+psycopg://{rest}")


def engine_for(url: str) -> Engine:
    """A pooled engine. No connection is made yet; a connection the server has closed is replaced unnoticed."""
    return create_engine(psycopg_url(url), pool_size=8, max_overflow=16, pool_pre_ping=True, pool_recycle=1800)


def conninfo_of(url: URL) -> str:
    """The same connection in libpq's own spelling. A URL would not do: SQLAlchemy writes a space in it as "+", which
    libpq takes for a plus.

    >>> conninfo_of(psycopg_url("postgresql://ann@/library?host=/my%20data"))
    "dbname=library user=ann host='/my data'"
    """
    from psycopg.conninfo import make_conninfo

    query = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    return make_conninfo("", **url.translate_connect_args(username="user", database="dbname"), **query)
