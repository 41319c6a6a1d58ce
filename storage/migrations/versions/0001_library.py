"""The library: tenants, documents, pages, passages with their vectors, corrections, searches.

Plain SQL, because a migration says what was done then, whatever the models say by now.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# What a role of ours may do, table by table; corrections and searches are only ever added.
_TABLES = {
    "tenants": "SELECT, INSERT",
    "documents": "SELECT, INSERT, UPDATE, DELETE",
    "pages": "SELECT, INSERT, UPDATE, DELETE",
    "knowledge_chunks": "SELECT, INSERT, UPDATE, DELETE",
    "corrections": "SELECT, INSERT",
    "searches": "SELECT, INSERT",
}

# Roles belong to the whole server, so another database or a process beside us may have made it already. A role that may
# not create roles gets a clear error; then an administrator makes fivefold_app once.
_ROLE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'fivefold_app') THEN
        CREATE ROLE fivefold_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'fivefold_app', 'SET') THEN
        EXECUTE format('GRANT fivefold_app TO %I', current_user);
    END IF;
END $$;
"""

_LIBRARY = """
CREATE TABLE tenants (
    tenant_id text PRIMARY KEY CHECK (tenant_id <> ''),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE SEQUENCE documents_id_seq AS bigint;
CREATE TABLE documents (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('documents_id_seq'),
    name text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'ready', 'failed')),
    uploaded_at timestamptz NOT NULL,
    media_type text NOT NULL,
    paged boolean NOT NULL,
    title text NOT NULL,
    project text,
    source_type text NOT NULL,
    labels jsonb NOT NULL,
    date timestamptz,
    tags text[] NOT NULL,
    pages integer NOT NULL,
    passages integer NOT NULL,
    warnings text[] NOT NULL,
    step text NOT NULL,
    failure text NOT NULL,
    remedy text NOT NULL,
    archived boolean NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE documents_id_seq OWNED BY documents.id;
CREATE UNIQUE INDEX documents_living_bytes ON documents (tenant_id, sha256, project)
    NULLS NOT DISTINCT WHERE NOT archived;
CREATE INDEX documents_newest ON documents (tenant_id, uploaded_at DESC, id DESC);

CREATE TABLE pages (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    number integer NOT NULL,
    text text NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (tenant_id, document_id, number),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);

CREATE SEQUENCE knowledge_chunks_id_seq AS bigint;
CREATE TABLE knowledge_chunks (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('knowledge_chunks_id_seq'),
    document_id bigint NOT NULL,
    document_name text NOT NULL,
    position integer NOT NULL,
    page integer NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    text text NOT NULL,
    sentences integer[] NOT NULL,
    section text NOT NULL,
    context text NOT NULL,
    table_rows integer[],
    truth text,
    truth_probability double precision NOT NULL,
    evidence jsonb NOT NULL,
    domain text,
    authority text,
    jurisdiction text,
    date timestamptz,
    temporal_class text,
    source_type text NOT NULL,
    origin text NOT NULL,
    sector text,
    table_role text,
    project text,
    tags text[] NOT NULL,
    entities text[] NOT NULL,
    keywords text[] NOT NULL,
    archived boolean NOT NULL,
    embedding vector,
    embedded_by text,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE knowledge_chunks_id_seq OWNED BY knowledge_chunks.id;
CREATE INDEX knowledge_chunks_reading_order ON knowledge_chunks (tenant_id, document_id, position);

CREATE SEQUENCE corrections_id_seq AS bigint;
CREATE TABLE corrections (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('corrections_id_seq'),
    sha256 text NOT NULL,
    field text NOT NULL,
    value text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE corrections_id_seq OWNED BY corrections.id;
CREATE INDEX corrections_of_bytes ON corrections (tenant_id, sha256, field, id DESC);

CREATE SEQUENCE searches_id_seq AS bigint;
CREATE TABLE searches (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('searches_id_seq'),
    question text NOT NULL,
    hits integer NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE searches_id_seq OWNED BY searches.id;
CREATE INDEX searches_newest ON searches (tenant_id, id DESC);
"""

# Vectors stay in the row's page and everything long goes aside first, so that an exact scan reads vectors and filter
# columns, and no text. There is no HNSW index: below some 100k passages an exact scan of the admissible rows is fast
# and misses nothing, PostgreSQL would pick the index even where filters leave too few rows, and inserting into a live
# one runs at 201 rows a second.
_PLACEMENT = """
ALTER TABLE knowledge_chunks ALTER COLUMN embedding SET STORAGE MAIN;
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.execute(_ROLE)
    op.execute(_LIBRARY)
    op.execute(_PLACEMENT)
    lock_to_tenant(_TABLES)
    for table in ("documents", "knowledge_chunks", "corrections", "searches"):
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
