"""Shortlists: named working sets of results."""

from alembic import op

from storage.migrations.schema import create_missing

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    create_missing(op.get_bind(), earlier=True)
