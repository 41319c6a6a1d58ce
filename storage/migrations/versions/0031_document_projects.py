"""The project of every document, also of deleted ones: what quotes them stays visible to people of that project."""

from alembic import op
from sqlalchemy import text

from storage.migrations.schema import all_tenants, create_missing, renew_scope
from storage.postgres.coverage_boards import TOPICS
from storage.postgres.document_projects import DOCUMENT_PROJECTS
from storage.postgres.documents import DOCUMENTS
from storage.postgres.insights import EPISODES, INSIGHTS, LINKS
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES
from storage.postgres.shortlists import SHORTLISTS
from storage.postgres.tables import TenantRow, table_of
from storage.postgres.trash import TRASH

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_FILL = """
INSERT INTO document_projects (tenant_id, document_id, project, purged)
SELECT tenant_id, id, project, false FROM documents UNION ALL SELECT tenant_id, document_id, project, purging FROM trash
ON CONFLICT DO NOTHING
"""
# The same as core.insights.indexer: of documents that were deleted for good before, no project is known.
_HIDE = """
UPDATE {table} AS copy SET project = concat_ws(' + ', copy.project, 'unknown project')
WHERE (copy.tenant_id, copy.{id}) IN (
    SELECT links.tenant_id, coalesce(insights.document_id, episodes.document_id) FROM links
    LEFT JOIN insights ON insights.tenant_id = links.tenant_id AND insights.id = links.insight_id
    LEFT JOIN episodes ON episodes.tenant_id = links.tenant_id AND episodes.id = links.episode_id
    WHERE NOT EXISTS (
        SELECT FROM document_projects AS known
        WHERE known.tenant_id = links.tenant_id AND known.document_id = links.document_id
    )
)
"""


def upgrade() -> None:
    """Add the table, fill it from the library and the trash, renew the policies of what quotes documents, and hide the
    searchable copies of notes on documents of an unknown project."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    tables = (DOCUMENTS, TRASH, CHUNKS, INSIGHTS, EPISODES, LINKS, LIBRARY_CHANGES, DOCUMENT_PROJECTS)
    with all_tenants(connection, *tables, table_of(TenantRow)):
        connection.execute(text(_FILL))
        connection.execute(text(_HIDE.format(table="knowledge_chunks", id="document_id")))
        connection.execute(text(_HIDE.format(table="documents", id="id")))
    renew_scope(connection, TOPICS, INSIGHTS, EPISODES, SHORTLISTS)
