"""The log of revisions of coverage topics."""

from alembic import op

from storage.migrations.schema import create_missing

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    create_missing(op.get_bind(), earlier=True)
