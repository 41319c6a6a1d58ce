"""Errors of PostgreSQL and its drivers, said once in words a user can act on."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.errors import StoreFailed

__all__ = ["store_failures"]

_UNREACHABLE = (
    "Check that PostgreSQL is running and that DATABASE_URL is right, then try again."
    " Where DATABASE_URL is not set, start Fivefold again: its own database starts with it, and nothing is lost."
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
        "Grant the role in DATABASE_URL the rights described in the documentation, then try again.",
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


@contextmanager
def store_failures(doing: str) -> Iterator[None]:
    """Turns whatever the database raises inside into StoreFailed; `doing` completes "… while {doing}".

    >>> with store_failures("reading a page"):  # doctest: +ELLIPSIS
    ...     raise psycopg.OperationalError("server closed the connection")
    Traceback (most recent call last):
        ...
    core.errors.StoreFailed: The database does not answer while reading a page: server closed the connection. Check ...
    """
    try:
        yield
    except (SQLAlchemyError, psycopg.Error) as error:
        raise _store_failed(error, doing) from error


def _store_failed(error: Exception, doing: str) -> StoreFailed:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    detail = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    if isinstance(cause, PoolTimeout):
        return StoreFailed(f"All database connections are in use while {doing}.", "Try again in a moment.")
    for kind, words, hint in _HINTS:
        if isinstance(cause, kind):
            return StoreFailed(f"{words} while {doing}: {detail}.", hint)
    return StoreFailed(
        f"The database failed while {doing}: {detail}.", "Try again; if it fails again, report this message."
    )
