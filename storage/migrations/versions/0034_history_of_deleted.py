"""The history of a deleted document is visible where the document was, as before it was deleted."""

from alembic import op

from storage.migrations.schema import create_missing, renew_scope
from storage.postgres.changes import CHANGES

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Renew the policy of the changes; that of the sets of changes follows it."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    renew_scope(connection, CHANGES)
