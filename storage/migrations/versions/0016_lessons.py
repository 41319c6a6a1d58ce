"""What the classifier learned from confirmed labels.

A record per document goes with its document; what was learned, done and said is only ever added.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_TABLES = {
    "lesson_records": "SELECT, INSERT, UPDATE (model, data, mean, segments), DELETE",
    "lesson_versions": "SELECT, INSERT",
    "lesson_acts": "SELECT, INSERT",
    "label_verdicts": "SELECT, INSERT",
}

_LESSONS = """
CREATE TABLE lesson_records (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    model text NOT NULL,
    data json NOT NULL,
    mean bytea NOT NULL,
    segments bytea NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE lesson_versions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    number integer NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

CREATE SEQUENCE lesson_acts_id_seq AS bigint;
CREATE TABLE lesson_acts (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('lesson_acts_id_seq'),
    number bigint NOT NULL,
    kind text NOT NULL,
    version integer NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    moves json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE lesson_acts_id_seq OWNED BY lesson_acts.id;
CREATE INDEX lesson_acts_of_application ON lesson_acts (tenant_id, number, id);
"""

_VERDICTS = """
CREATE SEQUENCE label_verdicts_id_seq AS bigint;
CREATE TABLE label_verdicts (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('label_verdicts_id_seq'),
    document_id bigint NOT NULL,
    sha256 text NOT NULL,
    field text NOT NULL,
    said text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    given text,
    automatic boolean NOT NULL,
    move json,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE label_verdicts_id_seq OWNED BY label_verdicts.id;
CREATE INDEX label_verdicts_of_label ON label_verdicts (tenant_id, document_id, field, id);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    for statements in (_LESSONS, _VERDICTS):
        op.execute(statements)
    lock_to_tenant(_TABLES)
    for table in ("lesson_acts", "label_verdicts"):
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
