"""Passages record which labels they may have beside their own, so that a filter need not hide them."""

from alembic import op
from sqlalchemy import text

from core.domain.documents import POSSIBLE_FROM
from core.domain.filters import FIELDS
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.documents import DOCUMENTS
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES
from storage.postgres.tables import TenantRow, table_of

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# The same as core.ingestion.classification.relabel.possible_labels, for passages stored before.
_POSSIBLE = """
CASE WHEN p.{field} IS NOT DISTINCT FROM d.labels -> '{field}' ->> 'value' THEN
    CASE WHEN NOT (d.labels -> '{field}' ->> 'confirmed')::boolean
          AND (d.labels -> '{field}' ->> 'runner_up_probability')::float >= {least}
    THEN '{field}:' || (d.labels -> '{field}' ->> 'runner_up') END
WHEN '{field}' = 'truth' AND 1 - p.truth_probability >= {least} THEN '{field}:' || (d.labels -> '{field}' ->> 'value')
END
"""


def upgrade() -> None:
    """Add the column, and fill it from the labels of the documents."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    each = ", ".join(_POSSIBLE.format(field=f.attribute, least=POSSIBLE_FROM) for f in FIELDS if f.classified)
    fill = f"""
        UPDATE {CHUNKS.name} AS p SET possible_labels = array_remove(ARRAY[{each}], NULL)
        FROM {DOCUMENTS.name} AS d WHERE d.tenant_id = p.tenant_id AND d.id = p.document_id
    """
    with all_tenants(connection, CHUNKS, DOCUMENTS, LIBRARY_CHANGES, table_of(TenantRow)):
        connection.execute(text(fill))
