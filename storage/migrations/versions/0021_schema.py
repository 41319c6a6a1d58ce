"""The whole schema, for an empty database and for one at any of the earlier revisions 0001 to 0020.

Those only added tables, columns, indexes, policies and triggers, so creating what is missing gives the same schema
from any of them; their changes to stored rows are repeated here.

A later revision that adds to the schema calls `create_missing` again, so that tables are declared only once. One that
renames or removes must use IF EXISTS, because an empty database runs 0021 with the newest tables.
"""

from alembic import context, op
from sqlalchemy import Connection, Table, inspect, select, text, update

from core.domain.profiles import with_current_factor_names
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.documents import DOCUMENTS
from storage.postgres.evaluation import EXPERIMENTS, PROFILES
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES

revision = "0021"
down_revision = None
branch_labels = None
depends_on = None

# The remedy of a failed document was not stored before 0019; a password-protected file is recognised by its message.
_PASSWORD_CURES = """
UPDATE documents SET cure = 'password' WHERE state = 'failed' AND failure LIKE '%is protected by a password.'
"""

# Passages stored before 0008 were never recorded as changed; caches of the library need these rows to find them.
_NOTE_PASSAGES = """
INSERT INTO library_changes (tenant_id, document_id, version, changed_by)
    SELECT tenant_id, document_id, gen_random_uuid(), pg_current_xact_id()::text::bigint
    FROM (SELECT DISTINCT tenant_id, document_id FROM knowledge_chunks) AS stored
"""


def upgrade() -> None:
    """Create what is missing, then upgrade the rows of an earlier revision."""
    connection = op.get_bind()
    earlier: bool = context.config.attributes["earlier"]
    there = inspect(connection)
    without_cures = earlier and "cure" not in {column["name"] for column in there.get_columns("documents")}
    without_changes = earlier and "library_changes" not in there.get_table_names()
    create_missing(connection, earlier=earlier)
    if without_cures:
        with all_tenants(connection, DOCUMENTS):
            connection.execute(text(_PASSWORD_CURES))
    if without_changes:
        with all_tenants(connection, CHUNKS, LIBRARY_CHANGES):
            connection.execute(text(_NOTE_PASSAGES))
    if earlier:
        with all_tenants(connection, PROFILES, EXPERIMENTS):
            for table in (PROFILES, EXPERIMENTS):
                _rename_factors(connection, table)


def _rename_factors(connection: Connection, table: Table) -> None:
    """Rename score factors in stored profiles and experiments from the names used before 0019 to the current ones."""
    keys = tuple(table.primary_key.columns)
    for row in connection.execute(select(*keys, table.c.data)).mappings().all():
        current = with_current_factor_names(row["data"])
        if current != row["data"]:
            own = [key == row[key] for key in keys]
            connection.execute(update(table).where(*own).values(data=current))
