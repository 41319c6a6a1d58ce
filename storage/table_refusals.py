"""What the database says to a question that is wrong, not allowed or too much, in words an analyst can act on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg

from core.errors import BadRequest, StoreFailed
from storage.failures import store_failures

__all__ = ["refusals"]


@contextmanager
def refusals(timeout_ms: int) -> Iterator[None]:
    """What the database says to a question, in words; what is no answer to it is a failure of the store."""
    try:
        with store_failures("reading tables"):
            yield
    except StoreFailed as failure:
        cause = failure.__cause__
        for kind, words, hint in _WORDS:
            if isinstance(cause, kind):
                said = str(cause).strip().splitlines()[0].rstrip(".")
                seconds = f"{timeout_ms / 1000:g} seconds"
                raise BadRequest(words.format(said=said, seconds=seconds), hint) from cause
        raise


_WORDS: Sequence[tuple[type[psycopg.Error], str, str]] = (
    (
        psycopg.errors.QueryCanceled,
        "It took more than {seconds} and was stopped.",
        "Ask for less: add a condition or a limit.",
    ),
    (psycopg.errors.DiskFull, "It needs more room than one question may: {said}.", "Ask for less: add a condition."),
    (psycopg.errors.ConfigurationLimitExceeded, "It needs more room than one question may.", "Ask for less."),
    (psycopg.errors.OutOfMemory, "It needs more room than one question may.", "Ask for less."),
    (psycopg.errors.ProgramLimitExceeded, "It needs more room than one question may: {said}.", "Ask for less."),
    (psycopg.errors.StatementTooComplex, "The statement is too deeply nested: {said}.", "Write it more simply."),
    (psycopg.errors.InsufficientPrivilege, "That is not allowed: {said}.", "Only this library's tables can be read."),
    (psycopg.errors.ReadOnlySqlTransaction, "Tables can only be read here: {said}.", "Write a SELECT."),
    (psycopg.errors.ActiveSqlTransaction, "Tables can only be read here: {said}.", "Write a SELECT."),
    (psycopg.errors.LockNotAvailable, "A table is being loaded just now.", "Ask again in a moment."),
    # The whole classes: a table or function that is not there is as much a matter of the statement as its commas.
    (psycopg.ProgrammingError, "PostgreSQL says: {said}.", "Correct the statement."),
    (psycopg.DataError, "PostgreSQL says: {said}.", "Correct the statement."),
    (psycopg.NotSupportedError, "PostgreSQL says: {said}.", "Write it in another way."),
)
