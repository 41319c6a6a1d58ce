"""The words of a tenant: domains, keywords, authorities, jurisdictions.

Versions are only ever added. A run over the library is begun, moves on, and may be asked to stop.
"""

from alembic import op

from storage.migrations.locking import lock_to_tenant

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TABLES = {
    "vocabularies": "SELECT, INSERT",
    "vocabulary_applications": "SELECT, INSERT, UPDATE (done, changed, reached, stopped, ended)",
}

_VOCABULARIES = """
CREATE TABLE vocabularies (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    number integer NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

CREATE SEQUENCE vocabulary_applications_id_seq AS bigint;
CREATE TABLE vocabulary_applications (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('vocabulary_applications_id_seq'),
    version integer NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    total integer NOT NULL,
    until bigint NOT NULL,
    done integer NOT NULL,
    changed integer NOT NULL,
    reached bigint NOT NULL,
    stopped boolean NOT NULL,
    ended timestamptz,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE vocabulary_applications_id_seq OWNED BY vocabulary_applications.id;
"""


def upgrade() -> None:
    """Make the tables, then lock every one of them to the tenant the transaction names."""
    op.execute(_VOCABULARIES)
    lock_to_tenant(_TABLES)
    op.execute("GRANT USAGE ON SEQUENCE vocabulary_applications_id_seq TO fivefold_app")
