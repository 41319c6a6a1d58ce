"""The registry of Reality tables, and what was typed into the SQL box. The tables themselves stand in a schema per
tenant, made when its first table is loaded (storage/table_access.py)."""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = {"reality_tables": "SELECT, INSERT, UPDATE, DELETE", "sql_history": "SELECT, INSERT"}

_REALITY = """
CREATE SEQUENCE reality_tables_id_seq AS bigint;
CREATE TABLE reality_tables (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('reality_tables_id_seq'),
    document_id bigint NOT NULL,
    name text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    current boolean NOT NULL,
    data jsonb NOT NULL,
    rejects jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE reality_tables_id_seq OWNED BY reality_tables.id;
CREATE UNIQUE INDEX reality_tables_versions ON reality_tables (tenant_id, name, version);
CREATE UNIQUE INDEX reality_tables_current ON reality_tables (tenant_id, name) WHERE current;
CREATE INDEX reality_tables_of_document ON reality_tables (tenant_id, document_id);

CREATE SEQUENCE sql_history_id_seq AS bigint;
CREATE TABLE sql_history (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('sql_history_id_seq'),
    at timestamptz NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE sql_history_id_seq OWNED BY sql_history.id;
CREATE INDEX sql_history_newest ON sql_history (tenant_id, id DESC);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute(_REALITY)
    lock_to_tenant(_TABLES)
    for table in _TABLES:
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
