"""Room for the meaning of each sentence beside its passage, and for the words of a library with theirs."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_WORDS = """
CREATE SEQUENCE words_id_seq AS bigint;
CREATE TABLE words (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    model text NOT NULL,
    stem text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('words_id_seq'),
    word text NOT NULL,
    codes bytea NOT NULL,
    PRIMARY KEY (tenant_id, model, stem)
);
ALTER SEQUENCE words_id_seq OWNED BY words.id;
CREATE INDEX words_newest ON words (tenant_id, model, id);
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE words FORCE ROW LEVEL SECURITY;
CREATE POLICY words_of_tenant ON words USING (tenant_id = current_setting('fivefold.tenant', true))
    WITH CHECK (tenant_id = current_setting('fivefold.tenant', true));
GRANT SELECT, INSERT ON words TO fivefold_app;
GRANT USAGE ON SEQUENCE words_id_seq TO fivefold_app;
"""


def upgrade() -> None:
    """Passages stored before have no meanings until their document is read again; search does without."""
    op.execute("ALTER TABLE knowledge_chunks ADD COLUMN meanings bytea NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE knowledge_chunks ALTER COLUMN meanings SET STORAGE EXTERNAL")
    op.execute(_WORDS)
