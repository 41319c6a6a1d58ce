"""What is drawn from documents: keywords, summaries, questions.

One row per document and operation says how it ended; what an analyst changed stands in a table of its own, so that
drawing again touches no edit. Both go with their document.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TABLES = {
    "enrichments": "SELECT, INSERT, UPDATE (version, reading, at, problem, hint, data), DELETE",
    "enrichment_edits": "SELECT, INSERT, UPDATE (data), DELETE",
}

_MADE = """
CREATE TABLE enrichments (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    operation text NOT NULL,
    version integer NOT NULL,
    reading bigint NOT NULL,
    at timestamptz NOT NULL,
    problem text NOT NULL,
    hint text NOT NULL,
    data json,
    PRIMARY KEY (tenant_id, document_id, operation),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE enrichment_edits (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    operation text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, document_id, operation),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute(_MADE)
    lock_to_tenant(_TABLES)
