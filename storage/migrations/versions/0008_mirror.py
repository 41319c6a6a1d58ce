"""What a copy of the vectors and labels needs to follow the library: which documents' passages changed, and when.

A row per document whose passages were ever stored, changed or deleted, written by triggers, so that no way of writing
can forget it. `version` is drawn anew by every transaction that changes passages: equal versions, equal passages, also
after a backup was restored. `changed_by` is the number of that transaction: whoever has seen everything that was
committed in a snapshot finds what came later among the rows from the snapshot's oldest running transaction on.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLE = """
CREATE TABLE library_changes (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    version uuid NOT NULL,
    changed_by bigint NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
CREATE INDEX library_changes_latest ON library_changes (tenant_id, changed_by);
"""

# A transaction notes each document once, however many of its passages it writes. A tenant that is being deleted, and
# its documents with it, notes nothing: its row is already gone. PostgreSQL has no cast from a transaction's number to
# bigint but by way of text.
_TRIGGER = """
CREATE FUNCTION note_library_change() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON knowledge_chunks
    FOR EACH ROW EXECUTE FUNCTION note_library_change();
"""

# Passages of all tenants are read, which nobody may while row-level security binds the table's owner too.
_STORED_BEFORE = """
ALTER TABLE knowledge_chunks NO FORCE ROW LEVEL SECURITY;
INSERT INTO library_changes
    SELECT tenant_id, document_id, gen_random_uuid(), pg_current_xact_id()::text::bigint
    FROM (SELECT DISTINCT tenant_id, document_id FROM knowledge_chunks) AS stored;
ALTER TABLE knowledge_chunks FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Make the table, note every document that has passages, then lock the table to the tenant a transaction names."""
    op.execute(_TABLE)
    op.execute(_STORED_BEFORE)
    op.execute(_TRIGGER)
    lock_to_tenant({"library_changes": "SELECT, INSERT, UPDATE"})
