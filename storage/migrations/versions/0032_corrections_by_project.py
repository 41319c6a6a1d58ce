"""A correction counts in the project where it was made, not for the same file in every project."""

from alembic import op
from sqlalchemy import text

from storage.migrations.schema import all_tenants, create_missing, renew_scope
from storage.postgres.active_learning import VERDICTS
from storage.postgres.corrections import CORRECTIONS
from storage.postgres.document_projects import DOCUMENT_PROJECTS
from storage.postgres.documents import DOCUMENTS
from storage.postgres.trash import CONTENTS

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_SHARE = """
WITH places AS (
    SELECT tenant_id, project, sha256, label.key AS field FROM documents, jsonb_each(labels) AS label
    WHERE (label.value ->> 'confirmed')::boolean
    UNION SELECT tenant_id, data ->> 'project', data ->> 'sha256', label.key
    FROM trash_contents, jsonb_each((data -> 'labels')::jsonb) AS label
    WHERE origin = 'documents' AND (label.value ->> 'confirmed')::boolean
    UNION SELECT tenant_id, project, sha256, field
    FROM label_verdicts JOIN document_projects USING (tenant_id, document_id)
)
INSERT INTO corrections (tenant_id, project, sha256, field, value, who, at)
SELECT made.tenant_id, places.project, made.sha256, made.field, made.value, made.who, made.at
FROM corrections AS made JOIN places USING (tenant_id, sha256, field) ORDER BY made.id
"""
_REPLACE = """
DELETE FROM corrections WHERE id <= :last AND (tenant_id, sha256, field) IN (
    SELECT tenant_id, sha256, field FROM corrections WHERE id > :last
)
"""
_HIDE = """
UPDATE corrections SET project = 'unknown project' WHERE id <= :last AND tenant_id IN (
    SELECT tenant_id FROM document_projects WHERE project IS NOT NULL
)
"""


def upgrade() -> None:
    """Add the column. Every project gets the corrections that a document of it shows, or that were made on one, also in
    the trash. Of files that were deleted for good before, no project is known: their corrections count nowhere, or in
    the whole library where it has no projects."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    with all_tenants(connection, CORRECTIONS, DOCUMENTS, CONTENTS, VERDICTS, DOCUMENT_PROJECTS):
        last = {"last": connection.scalar(text("SELECT coalesce(max(id), 0) FROM corrections"))}
        for statement in (_SHARE, _REPLACE, _HIDE):
            connection.execute(text(statement), last if ":last" in statement else {})
    renew_scope(connection, CORRECTIONS)
