"""What was changed of documents by hand, and whether it was taken back.

Documents are no references: what was changed of a deleted one stays told.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLES = {
    "change_sets": "SELECT, INSERT, UPDATE (undone_at, undone_by)",
    "changes": "SELECT, INSERT",
}

_CHANGES = """
CREATE SEQUENCE change_sets_id_seq AS bigint;
CREATE TABLE change_sets (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('change_sets_id_seq'),
    at timestamptz NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    undone_at timestamptz,
    undone_by text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE change_sets_id_seq OWNED BY change_sets.id;

CREATE TABLE changes (
    tenant_id text NOT NULL,
    set_id bigint NOT NULL,
    position integer NOT NULL,
    document_id bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, set_id, position),
    FOREIGN KEY (tenant_id, set_id) REFERENCES change_sets (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX changes_of_document ON changes (tenant_id, document_id, set_id);
"""


def upgrade() -> None:
    """Make the tables, then lock each to the tenant the transaction names."""
    op.execute(_CHANGES)
    lock_to_tenant(_TABLES)
    op.execute("GRANT USAGE ON SEQUENCE change_sets_id_seq TO fivefold_app")
