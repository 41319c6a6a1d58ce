"""Gives passages the keywords of documents that were enriched before passages stored them, as edited by hand."""

from typing import Any

from alembic import op
from sqlalchemy import Connection, Table, cast, select, update

from core.library.enrichment.store import edited
from core.library.enrichment.values import EnrichmentEdit, Keywords, Operation
from storage.migrations.schema import all_tenants
from storage.postgres.enrichments import ENRICHMENT_EDITS, ENRICHMENTS
from storage.postgres.json_records import from_json
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES
from storage.postgres.tables import TenantRow, table_of

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Write the keywords of every document with its passages; their trigger records the documents as changed."""
    connection = op.get_bind()
    with all_tenants(connection, ENRICHMENTS, ENRICHMENT_EDITS, CHUNKS, LIBRARY_CHANGES, table_of(TenantRow)):
        found, edits = _of_keywords(connection, ENRICHMENTS), _of_keywords(connection, ENRICHMENT_EDITS)
        for tenant, document_id in found | edits:
            data, edit = found.get((tenant, document_id)), edits.get((tenant, document_id))
            keywords = Keywords() if data is None else from_json(Keywords, data)
            shown = edited(keywords, None if edit is None else from_json(EnrichmentEdit, edit))
            assert isinstance(shown, Keywords)
            own = (CHUNKS.c.tenant_id == tenant, CHUNKS.c.document_id == document_id)
            words = cast(list(shown.words), CHUNKS.c.keywords.type)
            connection.execute(update(CHUNKS).where(*own, CHUNKS.c.keywords != words).values(keywords=words))


def _of_keywords(connection: Connection, table: Table) -> dict[tuple[str, int], Any]:
    """(tenant, document id) → the stored JSON of the keywords; None after a failure."""
    query = select(table.c.tenant_id, table.c.document_id, table.c.data).where(
        table.c.operation == Operation.KEYWORDS.value
    )
    return {(row.tenant_id, row.document_id): row.data for row in connection.execute(query)}
