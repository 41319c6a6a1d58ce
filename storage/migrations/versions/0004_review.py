"""Coverage that is kept: topics, runs with their cells, and the decision log.

Decisions are only ever added. Their unique number per topic, kind and project is what keeps two reviewers from
overwriting each other: the second of two that continue the same count is refused.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = {
    "topics": "SELECT, INSERT, UPDATE",
    "coverage_runs": "SELECT, INSERT, UPDATE, DELETE",
    "cells": "SELECT, INSERT, UPDATE, DELETE",
    "decisions": "SELECT, INSERT",
}

_REVIEW = """
CREATE SEQUENCE topics_id_seq AS bigint;
CREATE TABLE topics (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('topics_id_seq'),
    project text,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE topics_id_seq OWNED BY topics.id;
CREATE UNIQUE INDEX topics_living_names ON topics (tenant_id, project, lower(name)) NULLS NOT DISTINCT
    WHERE NOT retired;

CREATE SEQUENCE coverage_runs_id_seq AS bigint;
CREATE TABLE coverage_runs (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('coverage_runs_id_seq'),
    project text,
    state text NOT NULL,
    finished_at timestamptz,
    data jsonb NOT NULL,
    corpus jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE coverage_runs_id_seq OWNED BY coverage_runs.id;
CREATE INDEX coverage_runs_newest ON coverage_runs (tenant_id, project, id DESC);

CREATE TABLE cells (
    tenant_id text NOT NULL,
    run_id bigint NOT NULL,
    topic_id bigint NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    score double precision NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, run_id, topic_id, kind),
    FOREIGN KEY (tenant_id, run_id) REFERENCES coverage_runs (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX cells_of_topic ON cells (tenant_id, topic_id, kind);

CREATE SEQUENCE decisions_id_seq AS bigint;
CREATE TABLE decisions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('decisions_id_seq'),
    project text,
    topic_id bigint NOT NULL,
    kind text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    at timestamptz NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE decisions_id_seq OWNED BY decisions.id;
CREATE UNIQUE INDEX decisions_count ON decisions (tenant_id, project, topic_id, kind, number) NULLS NOT DISTINCT;
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute(_REVIEW)
    lock_to_tenant(_TABLES)
    for table in ("topics", "coverage_runs", "decisions"):
        op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
