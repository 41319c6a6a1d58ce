"""Team: people, API tokens and the audit log; rows are visible by project."""

from alembic import op
from sqlalchemy import text

from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.document_projects import DOCUMENT_PROJECTS
from storage.postgres.documents import DOCUMENTS
from storage.postgres.insights import EPISODES, INSIGHTS, LINKS
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES
from storage.postgres.tables import TenantRow, table_of

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

# The same as core.insights.indexer: the searchable copy of an insight or episode belongs to its project and to those of
# the documents it cites.
_PLACES = """
WITH places AS (
    SELECT item.tenant_id, item.document_id, string_agg(DISTINCT place.project, ' + ' ORDER BY place.project) AS project
    FROM (
        SELECT tenant_id, id AS insight_id, NULL AS episode_id, document_id, project FROM insights
        UNION ALL SELECT tenant_id, NULL, id, document_id, project FROM episodes
    ) AS item
    CROSS JOIN LATERAL (
        SELECT item.project
        UNION SELECT cited.project FROM links JOIN documents AS cited
            ON cited.tenant_id = links.tenant_id AND cited.id = links.document_id
        WHERE links.tenant_id = item.tenant_id
            AND (links.insight_id = item.insight_id OR links.episode_id = item.episode_id)
    ) AS place
    GROUP BY 1, 2
)
UPDATE {table} AS copy SET project = places.project FROM places
WHERE copy.tenant_id = places.tenant_id AND copy.{id} = places.document_id
    AND copy.project IS DISTINCT FROM places.project
"""


def upgrade() -> None:
    """Add the tables, the columns with who added a row, and the policies of what a person sees."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    tables = (CHUNKS, DOCUMENTS, INSIGHTS, EPISODES, LINKS, LIBRARY_CHANGES, DOCUMENT_PROJECTS, table_of(TenantRow))
    with all_tenants(connection, *tables):
        connection.execute(text(_PLACES.format(table="knowledge_chunks", id="document_id")))
        connection.execute(text(_PLACES.format(table="documents", id="id")))
