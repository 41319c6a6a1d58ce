"""What was used, and the views people saved.

Use events are only ever added and go with their document; what they come to per document stands beside them, because
every search reads it. A document's id in them is no reference: insights and episodes are used too. Saved views are
never deleted, only retired, so that a deletion can be taken back.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLES = {
    "use_events": "SELECT, INSERT, DELETE",
    "document_uses": "SELECT, INSERT, UPDATE (uses, last, questions), DELETE",
    "saved_views": "SELECT, INSERT, UPDATE (project, owner, name, retired, version, data)",
    "view_looks": "SELECT, INSERT, UPDATE (at, data)",
}

_USES = """
CREATE SEQUENCE use_events_id_seq AS bigint;
CREATE TABLE use_events (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('use_events_id_seq'),
    kind text NOT NULL,
    document_id bigint NOT NULL,
    passage_id bigint NOT NULL,
    question text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE use_events_id_seq OWNED BY use_events.id;
CREATE INDEX use_events_of_document ON use_events (tenant_id, document_id, kind);
CREATE INDEX use_events_of_question ON use_events (tenant_id, question, id) WHERE kind <> 'shown';
CREATE INDEX use_events_of_passage ON use_events (tenant_id, passage_id, id) WHERE kind <> 'shown';

CREATE TABLE document_uses (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    uses integer NOT NULL,
    last timestamptz,
    questions text[] NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
"""

_VIEWS = """
CREATE SEQUENCE saved_views_id_seq AS bigint;
CREATE TABLE saved_views (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('saved_views_id_seq'),
    project text,
    owner text NOT NULL,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE saved_views_id_seq OWNED BY saved_views.id;
CREATE UNIQUE INDEX saved_views_living_names ON saved_views (tenant_id, project, owner, name) NULLS NOT DISTINCT
    WHERE NOT retired;

CREATE TABLE view_looks (
    tenant_id text NOT NULL,
    who text NOT NULL,
    view_id bigint NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, who, view_id),
    FOREIGN KEY (tenant_id, view_id) REFERENCES saved_views (tenant_id, id) ON DELETE CASCADE
);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    for statements in (_USES, _VIEWS):
        op.execute(statements)
    lock_to_tenant(_TABLES)
    for table in ("use_events", "saved_views"):
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
