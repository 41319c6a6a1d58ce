"""Batches of jobs, watched folders and feeds."""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_BATCH_TABLES = {
    "failed_work": "SELECT, INSERT, UPDATE (at, reason, remedy), DELETE",
    "readings": "SELECT, INSERT, UPDATE (ended), DELETE",
    "watched_folders": "SELECT, INSERT, UPDATE (project, tags, looked, failure, remedy), DELETE",
    "watched_files": "SELECT, INSERT, UPDATE (size, modified, moving, sha256, document_id, failure, remedy), DELETE",
}

_BATCHES = """
CREATE TABLE failed_work (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind text NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    reason text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, kind, number)
);

CREATE TABLE readings (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    ended timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX readings_newest ON readings (tenant_id, ended);

CREATE SEQUENCE watched_folders_id_seq AS bigint;
CREATE TABLE watched_folders (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('watched_folders_id_seq'),
    path text NOT NULL,
    project text,
    tags text[] NOT NULL,
    looked timestamptz,
    failure text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE watched_folders_id_seq OWNED BY watched_folders.id;
CREATE UNIQUE INDEX watched_folders_once ON watched_folders (tenant_id, path);

CREATE TABLE watched_files (
    tenant_id text NOT NULL,
    folder_id bigint NOT NULL,
    path text NOT NULL,
    size bigint NOT NULL,
    modified bigint NOT NULL,
    moving boolean NOT NULL,
    sha256 text NOT NULL,
    document_id bigint,
    failure text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, folder_id, path),
    FOREIGN KEY (tenant_id, folder_id) REFERENCES watched_folders (tenant_id, id) ON DELETE CASCADE
);
"""

_FEED_TABLES = {
    "feeds": "SELECT, INSERT, UPDATE (project, data), DELETE",
    "feed_entries": "SELECT, INSERT, UPDATE (digest), DELETE",
}

_FEEDS = """
CREATE SEQUENCE feeds_id_seq AS bigint;
CREATE TABLE feeds (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('feeds_id_seq'),
    url text NOT NULL,
    project text,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE feeds_id_seq OWNED BY feeds.id;
CREATE UNIQUE INDEX feeds_once ON feeds (tenant_id, url, project) NULLS NOT DISTINCT;

CREATE TABLE feed_entries (
    tenant_id text NOT NULL,
    feed_id bigint NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (tenant_id, feed_id, key),
    FOREIGN KEY (tenant_id, feed_id) REFERENCES feeds (tenant_id, id) ON DELETE CASCADE
);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute(_BATCHES)
    op.execute(_FEEDS)
    op.execute("GRANT USAGE ON SEQUENCE watched_folders_id_seq, feeds_id_seq TO fivefold_app")
    lock_to_tenant(_BATCH_TABLES | _FEED_TABLES)
