"""Insights and episodes: what analysts noted, and what became of their questions.

A deleted one keeps its row, so none of them can be removed; links are replaced when their memory is changed.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_CHANGING = "UPDATE (project, sector, tags, words, deleted_at, document_id, version, data)"
_TABLES = {
    "insights": f"SELECT, INSERT, {_CHANGING}",
    "episodes": f"SELECT, INSERT, {_CHANGING}",
    "links": "SELECT, INSERT, DELETE",
}

_MEMORIES = """
CREATE SEQUENCE {table}_id_seq AS bigint;
CREATE TABLE {table} (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('{table}_id_seq'),
    project text,
    sector text NOT NULL,
    tags text[] NOT NULL,
    words text NOT NULL,
    at timestamptz NOT NULL,
    deleted_at timestamptz,
    document_id bigint NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE {table}_id_seq OWNED BY {table}.id;
CREATE INDEX {table}_newest ON {table} (tenant_id, at DESC, id DESC);
CREATE INDEX {table}_of_document ON {table} (tenant_id, document_id);
"""

_LINKS = """
CREATE SEQUENCE links_id_seq AS bigint;
CREATE TABLE links (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('links_id_seq'),
    insight_id bigint,
    episode_id bigint,
    document_id bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, insight_id) REFERENCES insights (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES episodes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT links_of_one_memory CHECK (num_nonnulls(insight_id, episode_id) = 1)
);
ALTER SEQUENCE links_id_seq OWNED BY links.id;
CREATE INDEX links_of_insight ON links (tenant_id, insight_id);
CREATE INDEX links_of_episode ON links (tenant_id, episode_id);
CREATE INDEX links_to_document ON links (tenant_id, document_id);
"""


def upgrade() -> None:
    """Tell documents from what was noted about them; make the tables, each locked to the tenant of the transaction."""
    op.execute("ALTER TABLE documents ADD COLUMN origin text NOT NULL DEFAULT 'document'")
    for table in ("insights", "episodes"):
        op.execute(_MEMORIES.format(table=table))
    op.execute(_LINKS)
    lock_to_tenant(_TABLES)
    for table in _TABLES:
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
