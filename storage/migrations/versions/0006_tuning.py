"""What tuning keeps: profiles in versions, question sets, what people judged, experiments.

Profile versions, the choices of a default and judgments are only ever added. A profile's version is its key, so the
second of two people who save the same version is refused. Nothing here but an experiment can be deleted.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLES = {
    "score_profiles": "SELECT, INSERT",
    "default_profiles": "SELECT, INSERT",
    "question_sets": "SELECT, INSERT, UPDATE (project, name, retired, version, data)",
    "questions": "SELECT, INSERT, UPDATE (retired, data)",
    "judgments": "SELECT, INSERT",
    "experiments": "SELECT, INSERT, UPDATE (set_id, data, outcomes), DELETE",
}

_PROFILES = """
CREATE TABLE score_profiles (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    data json NOT NULL,
    PRIMARY KEY (tenant_id, name, version)
);

CREATE SEQUENCE default_profiles_id_seq AS bigint;
CREATE TABLE default_profiles (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('default_profiles_id_seq'),
    project text,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE default_profiles_id_seq OWNED BY default_profiles.id;
CREATE INDEX default_profiles_latest ON default_profiles (tenant_id, project, id DESC);
"""

_QUESTIONS = """
CREATE SEQUENCE question_sets_id_seq AS bigint;
CREATE TABLE question_sets (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('question_sets_id_seq'),
    project text,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE question_sets_id_seq OWNED BY question_sets.id;
CREATE UNIQUE INDEX question_sets_living_names ON question_sets (tenant_id, project, name) NULLS NOT DISTINCT
    WHERE NOT retired;

CREATE SEQUENCE questions_id_seq AS bigint;
CREATE TABLE questions (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('questions_id_seq'),
    set_id bigint NOT NULL,
    key text NOT NULL,
    retired boolean NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, set_id) REFERENCES question_sets (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE questions_id_seq OWNED BY questions.id;
CREATE UNIQUE INDEX questions_of_set ON questions (tenant_id, set_id, id);
CREATE UNIQUE INDEX questions_living_keys ON questions (tenant_id, set_id, key) WHERE NOT retired;
"""

_MEASURED = """
CREATE SEQUENCE judgments_id_seq AS bigint;
CREATE TABLE judgments (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('judgments_id_seq'),
    set_id bigint NOT NULL,
    question_id bigint NOT NULL,
    unit text NOT NULL,
    who text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, set_id, question_id) REFERENCES questions (tenant_id, set_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE judgments_id_seq OWNED BY judgments.id;
CREATE INDEX judgments_latest ON judgments (tenant_id, set_id, question_id, unit, who, id DESC);

CREATE SEQUENCE experiments_id_seq AS bigint;
CREATE TABLE experiments (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('experiments_id_seq'),
    set_id bigint NOT NULL,
    data json NOT NULL,
    outcomes json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE experiments_id_seq OWNED BY experiments.id;
CREATE INDEX experiments_newest ON experiments (tenant_id, set_id, id DESC);
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    for statements in (_PROFILES, _QUESTIONS, _MEASURED):
        op.execute(statements)
    lock_to_tenant(_TABLES)
    for table in _TABLES:
        if table != "score_profiles":  # its key is its name and version
            op.execute(f"GRANT USAGE ON SEQUENCE {table}_id_seq TO fivefold_app")
