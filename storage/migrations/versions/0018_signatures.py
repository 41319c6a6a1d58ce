"""What tells near-duplicates and versions: signatures with the buckets they are found by, pairs that are alike, and
what analysts said of versions.

Signatures and pairs go with their documents. Decisions are only ever added, and name files by their bytes, so that they
outlast the documents. Buckets are rows, not an array: see 0009.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_TABLES = {
    "signatures": "SELECT, INSERT, UPDATE (triples, minima, name_key, title_key, url), DELETE",
    "signature_buckets": "SELECT, INSERT, DELETE",
    "document_pairs": "SELECT, INSERT, UPDATE (same, first_kept, second_kept, suggested), DELETE",
    "version_decisions": "SELECT, INSERT",
}

_SIGNATURES = """
CREATE TABLE signatures (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    triples integer NOT NULL,
    minima bytea NOT NULL,
    name_key text NOT NULL,
    title_key text NOT NULL,
    url text NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX signatures_named ON signatures (tenant_id, name_key) WHERE name_key <> '';
CREATE INDEX signatures_titled ON signatures (tenant_id, title_key) WHERE title_key <> '';
CREATE INDEX signatures_from ON signatures (tenant_id, url) WHERE url <> '';

CREATE TABLE signature_buckets (
    tenant_id text NOT NULL,
    bucket bigint NOT NULL,
    document_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, bucket, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE
);
CREATE INDEX signature_buckets_of_document ON signature_buckets (tenant_id, document_id);

CREATE TABLE document_pairs (
    tenant_id text NOT NULL,
    first bigint NOT NULL,
    second bigint NOT NULL,
    same double precision NOT NULL,
    first_kept double precision NOT NULL,
    second_kept double precision NOT NULL,
    suggested boolean NOT NULL,
    PRIMARY KEY (tenant_id, first, second),
    FOREIGN KEY (tenant_id, first) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, second) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE,
    CONSTRAINT document_pairs_in_order CHECK (first < second)
);
CREATE INDEX document_pairs_of_second ON document_pairs (tenant_id, second);
"""

_DECISIONS = """
CREATE SEQUENCE version_decisions_id_seq AS bigint;
CREATE TABLE version_decisions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('version_decisions_id_seq'),
    one text NOT NULL,
    other text NOT NULL,
    number integer NOT NULL,
    verdict text NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE version_decisions_id_seq OWNED BY version_decisions.id;
CREATE UNIQUE INDEX version_decisions_counted ON version_decisions (tenant_id, one, other, number);

CREATE INDEX documents_replaced ON documents (tenant_id, version_of) WHERE version_of IS NOT NULL;
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    for statements in (_SIGNATURES, _DECISIONS):
        op.execute(statements)
    lock_to_tenant(_TABLES)
    op.execute("GRANT USAGE ON SEQUENCE version_decisions_id_seq TO fivefold_app")
