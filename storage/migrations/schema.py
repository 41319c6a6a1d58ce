"""Creates the tables, columns and indexes a database lacks, so that an empty or an earlier schema becomes the current
one.

Every model is declared once, in the module of its noun; importing those modules here registers all of them on
`Base.metadata`. What SQLAlchemy cannot declare (row-level security, grants, sequences as column defaults, storage,
triggers) is applied here to every table by the same rule; applying it again is safe.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Column, Connection, Sequence, Table, inspect, text
from sqlalchemy.schema import CreateColumn

import storage.datasets.loading
import storage.jobs.queue
import storage.postgres.access
import storage.postgres.active_learning
import storage.postgres.catalogue
import storage.postgres.changes
import storage.postgres.comments
import storage.postgres.corrections
import storage.postgres.coverage_boards
import storage.postgres.document_projects
import storage.postgres.embedding_models
import storage.postgres.enrichments
import storage.postgres.entities
import storage.postgres.evaluation
import storage.postgres.idempotency
import storage.postgres.insights
import storage.postgres.meetings
import storage.postgres.notifications
import storage.postgres.recent_searches
import storage.postgres.saved_searches
import storage.postgres.shortlists
import storage.postgres.sources
import storage.postgres.trash
import storage.postgres.upload_queue
import storage.postgres.usage
import storage.postgres.versions
import storage.postgres.vocabularies
import storage.postgres.word_vectors  # noqa: F401 - all of these register their tables
from storage.postgres.corrections import CORRECTION_TRIGGERS
from storage.postgres.database import APP_ROLE, PURGE_ROLE, QUEUE_ROLE
from storage.postgres.document_projects import DOCUMENT_PROJECT_TRIGGERS
from storage.postgres.tables import Base
from storage.postgres.trash import quoting_columns

__all__ = ["METADATA", "all_tenants", "create_missing", "renew_scope"]

METADATA = Base.metadata
"""All tables of the product, except those of the job queue's library."""

# Roles belong to the whole server, so another database or process may have created it already. A login without
# CREATEROLE gets a clear error; then an administrator creates fivefold_app once.
_ROLE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, '{role}', 'SET') THEN
        EXECUTE format('GRANT {role} TO %I', current_user);
    END IF;
END $$;
"""

# Triggers write `library_changes`, one row per document whose passages were ever stored, changed or deleted, so that no
# code path can omit it. A transaction records each document once, however many of its passages it writes. Deleting a
# tenant deletes its documents and records nothing: the tenant's row is already gone. Every transaction generates a new
# `version`: equal versions mean equal passages, also after a backup was restored. `changed_by` is the transaction id: a
# reader that has seen everything committed in a snapshot finds later changes among the rows from the snapshot's oldest
# running transaction on. PostgreSQL casts a transaction id to bigint only through text.
_TRIGGER = """
CREATE OR REPLACE FUNCTION note_library_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    tenant text;
    document bigint;
    ours bigint := pg_current_xact_id()::text::bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        tenant := OLD.tenant_id;
        document := OLD.document_id;
    ELSE
        tenant := NEW.tenant_id;
        document := NEW.document_id;
    END IF;
    IF NOT EXISTS (
        SELECT FROM library_changes AS noted
        WHERE noted.tenant_id = tenant AND noted.document_id = document AND noted.changed_by = ours
    ) THEN
        INSERT INTO library_changes (tenant_id, document_id, version, changed_by)
        SELECT known.tenant_id, document, gen_random_uuid(), ours FROM tenants AS known WHERE known.tenant_id = tenant
        ON CONFLICT ON CONSTRAINT library_changes_pkey
        DO UPDATE SET version = excluded.version, changed_by = excluded.changed_by;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON knowledge_chunks
    FOR EACH ROW EXECUTE FUNCTION note_library_change();
"""

_EVERYTHING = "(SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')"
"""Whether the transaction's scope is the whole library; as a subquery it is computed once per statement."""

_COMPLETE_IN = "schema complete in"
"""The transaction of a connection in which nothing is missing any more."""

_OF_TENANT = "tenant_id = current_setting('fivefold.tenant', true)"


@contextmanager
def all_tenants(connection: Connection, *tables: Table) -> Iterator[None]:
    """Makes rows of all tenants readable and writable inside: forced row-level security applies to the tables' owner
    too."""
    for table in tables:
        connection.execute(text(f"ALTER TABLE {table.name} NO FORCE ROW LEVEL SECURITY"))
    yield
    for table in tables:
        connection.execute(text(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"))


def create_missing(connection: Connection, *, earlier: bool) -> None:
    """Create missing tables, columns and indexes, and apply rights, row-level security and triggers to all tables.

    Does so once in a transaction: the first revision of an upgrade creates what all later ones need.

    earlier: the database has an earlier version of this schema. If it has none, a table with one of these names
    belongs to another program, and creating ours fails.
    """
    transaction = connection.get_transaction()
    if transaction is not None and connection.info.get(_COMPLETE_IN) is transaction:
        return
    connection.info[_COMPLETE_IN] = transaction
    connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    for role in (APP_ROLE, PURGE_ROLE, QUEUE_ROLE):
        connection.execute(text(_ROLE.format(role=role)))
    if earlier:
        _add_columns(connection)
    METADATA.create_all(connection, checkfirst=earlier)
    if earlier:
        for table in METADATA.sorted_tables:
            for index in table.indexes:
                index.create(connection, checkfirst=True)
    policies = set(connection.scalars(text("SELECT policyname FROM pg_policies WHERE schemaname = current_schema()")))
    for table in METADATA.sorted_tables:
        _guard(connection, table, policies)
        for column in table.columns:
            _add_column(connection, table, column)
    _let_purge(connection, policies)
    connection.execute(text(_TRIGGER))
    connection.exec_driver_sql(DOCUMENT_PROJECT_TRIGGERS)
    connection.exec_driver_sql(CORRECTION_TRIGGERS)
    _create_job_queue(connection)


def _add_columns(connection: Connection) -> None:
    """Add missing columns to tables that exist; existing rows get the column's default."""
    there = inspect(connection)
    names = set(there.get_table_names())
    for table in METADATA.sorted_tables:
        if table.name in names:
            known = {column["name"] for column in there.get_columns(table.name)}
            for column in table.columns:
                if column.name not in known:
                    definition = CreateColumn(column).compile(dialect=connection.dialect)
                    connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")


def _guard(connection: Connection, table: Table, policies: set[str]) -> None:
    """Enable row-level security, also for the table's owner, and grant the application's role its rights."""
    connection.exec_driver_sql(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY")
    connection.exec_driver_sql(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY")
    policy = f"{table.name}_of_tenant"
    if policy not in policies:
        rule = f"CREATE POLICY {policy} ON {table.name} USING ({_OF_TENANT}) WITH CHECK ({_OF_TENANT})"
        connection.exec_driver_sql(rule)
    if table.info["seen"] and f"{table.name}_of_scope" not in policies:
        _add_scope(connection, table)
    connection.exec_driver_sql(f"GRANT {table.info['rights']} ON {table.name} TO {APP_ROLE}")


def _add_scope(connection: Connection, table: Table) -> None:
    """Add the policy of what a person with some projects sees."""
    seen = f"{_EVERYTHING} OR ({table.info['seen']})"
    connection.exec_driver_sql(f"CREATE POLICY {table.name}_of_scope ON {table.name} AS RESTRICTIVE USING ({seen})")


def renew_scope(connection: Connection, *tables: Table) -> None:
    """Replace that policy of tables whose condition has changed."""
    for table in tables:
        connection.exec_driver_sql(f"DROP POLICY {table.name}_of_scope ON {table.name}")
        _add_scope(connection, table)


def _let_purge(connection: Connection, policies: set[str]) -> None:
    """Grant the role that deletes for good its rights: to change what may quote a document, and to see of every tenant
    which originals are used."""
    for table, columns in quoting_columns().items():
        connection.exec_driver_sql(f"GRANT SELECT, UPDATE ({', '.join(columns)}) ON {table.name} TO {PURGE_ROLE}")
    connection.exec_driver_sql(
        f"GRANT SELECT (tenant_id, document_id, project) ON document_projects TO {PURGE_ROLE}"  # policies read them
    )
    read = "tenant_id, project, sha256, readable"  # the policies read the first two
    for name, seen in (("documents", f"{read}, id"), ("trash", f"{read}, purging")):
        connection.exec_driver_sql(f"GRANT SELECT ({seen}) ON {name} TO {PURGE_ROLE}")
        if f"{name}_of_purge" not in policies:
            connection.exec_driver_sql(
                f"CREATE POLICY {name}_of_purge ON {name} FOR SELECT TO {PURGE_ROLE} USING (true)"
            )


def _add_column(connection: Connection, table: Table, column: Column[object]) -> None:
    """Set what PostgreSQL stores about a column beyond its type: its sequence, and how long values are stored.

    Vectors have no HNSW index: below some 100,000 passages an exact scan of the admissible rows is fast and misses
    nothing; PostgreSQL would choose the index even where filters leave too few rows; and inserting into it runs at 201
    rows per second.
    """
    change = f"ALTER TABLE {table.name} ALTER COLUMN {column.name}"
    if isinstance(column.default, Sequence):
        sequence = column.default.name
        connection.exec_driver_sql(f"{change} SET DEFAULT nextval('{sequence}')")
        connection.exec_driver_sql(f"ALTER SEQUENCE {sequence} OWNED BY {table.name}.{column.name}")
        connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE {sequence} TO {APP_ROLE}")
    if storage := column.info.get("storage"):
        connection.exec_driver_sql(f"{change} SET STORAGE {storage}")


def _create_job_queue(connection: Connection) -> None:
    """Create the tables of the job queue (procrastinate 3.10), unless its own command line has."""
    from procrastinate.schema import SchemaManager

    if connection.scalar(text("SELECT to_regclass('procrastinate_jobs')")) is None:
        # Straight to the driver, so that per-cent signs in the schema are not read as parameters.
        cursor = connection.connection.cursor()
        cursor.execute(SchemaManager.get_schema())
        cursor.close()
    names = connection.scalars(text("SELECT tablename FROM pg_tables WHERE tablename LIKE 'procrastinate\\_%'"))
    for name in names.all():
        connection.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO {QUEUE_ROLE}")
    sequences = "SELECT sequencename FROM pg_sequences WHERE sequencename LIKE 'procrastinate\\_%'"
    for name in connection.scalars(text(sequences)).all():
        connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE {name} TO {QUEUE_ROLE}")
    connection.exec_driver_sql(f"GRANT SELECT ON alembic_version TO {QUEUE_ROLE}")
