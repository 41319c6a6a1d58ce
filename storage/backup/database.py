"""The database's part of a backup, written and read by pg_dump and pg_restore of the installed PostgreSQL."""

import os
import subprocess
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path

import psycopg
from psycopg import sql

from core.domain.errors import BadRequest, StoreFailed
from storage.backup.archive import Manifest
from storage.embedded_postgres.setup import client_program
from storage.postgres.database import conninfo_of, psycopg_url, store_failures

__all__ = ["dump_database", "restore_database"]

_ROLES = "SELECT rolname FROM pg_roles WHERE rolname ~ '^fivefold_(app|purger|queue|owner_[0-9a-f]+|reader_[0-9a-f]+)$'"
_ORIGINALS = """
SELECT coalesce(nullif(readable, ''), sha256) AS name FROM documents WHERE origin = 'document'
UNION SELECT sha256 FROM documents WHERE origin = 'document'
UNION SELECT coalesce(nullif(readable, ''), sha256) FROM trash WHERE NOT purging
UNION SELECT sha256 FROM trash WHERE NOT purging
"""
"""Notes are documents, too, so that they are found: without an original."""
_COUNTED = ("count(*) FILTER (WHERE origin = 'document')", "coalesce(sum(passages), 0)")
_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def dump_database(url: str, file: Path, taken_at: str) -> Manifest:
    """Write the whole database as it is at one moment; others go on writing.

    Raises StoreFailed, and BadRequest for a login that may not read the rows of every tenant.
    """
    with store_failures("making a backup"), psycopg.connect(conninfo_of(psycopg_url(url))) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        snapshot = _one(connection, "SELECT pg_export_snapshot()")
        _check_reads_everything(connection)
        originals = tuple(sorted(row[0] for row in connection.execute(_ORIGINALS)))
        roles = tuple(sorted(row[0] for row in connection.execute(_ROLES)))
        revision = _one(connection, "SELECT version_num FROM alembic_version")
        documents, passages = (int(_one(connection, f"SELECT {each} FROM documents")) for each in _COUNTED)
        _run("pg_dump", url, "--format=custom", f"--snapshot={snapshot}", "--no-comments", f"--file={file}")
    with file.open("rb") as written:
        digest = file_digest(written, "sha256").hexdigest()
    return Manifest(taken_at, revision, documents, passages, roles, digest, originals)


def _one(connection: "psycopg.Connection[tuple[object, ...]]", query: str) -> str:
    row = connection.execute(query.encode()).fetchone()
    return str(row[0]) if row else ""


def _check_reads_everything(connection: "psycopg.Connection[tuple[object, ...]]") -> None:
    may = _one(connection, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    if may != "True":
        raise BadRequest(
            "This database login sees one tenant's rows only, so a backup would be empty.",
            "Set FIVEFOLD_MIGRATION_DATABASE_URL to a login with BYPASSRLS for this command.",
        )


def restore_database(url: str, dump: Path, manifest: Manifest) -> None:
    """Fill an empty database. Raises BadRequest when it is in use or not empty, StoreFailed when restoring fails; it is
    then as empty as before.
    """
    with store_failures("restoring a backup"), psycopg.connect(conninfo_of(psycopg_url(url))) as connection:
        if int(_one(connection, _OTHERS)):
            raise BadRequest("The library is in use.", "Stop the app and its workers, then restore.")
        if _one(connection, "SELECT to_regclass('documents') IS NOT NULL") == "True":
            raise BadRequest("This database holds a library already.", "Restore into an empty data folder or database.")
        for role in manifest.roles:
            _make_role(connection, role)
    _run("pg_restore", url, "--single-transaction", "--exit-on-error", "--no-comments", str(dump))


def _make_role(connection: "psycopg.Connection[tuple[object, ...]]", role: str) -> None:
    """A role as the program makes it, still without a password."""
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
        return
    kind = "LOGIN NOINHERIT" if role.startswith("fivefold_reader_") else "NOLOGIN"
    rights = sql.SQL(f"{kind} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")
    connection.execute(sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(role), rights))
    if not role.startswith("fivefold_reader_"):
        connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(role)))


def _run(program: str, url: str, *arguments: str) -> None:
    found = psycopg_url(url)
    environment: Mapping[str, str] = os.environ | ({"PGPASSWORD": str(found.password)} if found.password else {})
    command = [str(client_program(program)), "-d", conninfo_of(found.set(password=None)), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "error" in line.lower()), done.stderr.strip())
        raise StoreFailed(f"{program} failed: {reason}", "Check that the server is not newer than PostgreSQL 18.")
