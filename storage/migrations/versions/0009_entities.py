"""What documents name: entities and where they stand.

One row per document and spelling. Row-level security comes before any condition whose operator might tell what it sees,
and those of arrays might: an index on an array of names would never be used. Equal texts tell nothing.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_ENTITIES = """
CREATE TABLE document_entities (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    name text NOT NULL,
    spelling text NOT NULL,
    type text NOT NULL,
    folded text NOT NULL,
    passages bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, document_id, name, spelling),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX document_entities_spelled ON document_entities (tenant_id, folded);
"""


def upgrade() -> None:
    """Make the table, then lock it to the tenant the transaction names."""
    op.execute(_ENTITIES)
    lock_to_tenant({"document_entities": "SELECT, INSERT, UPDATE, DELETE"})
