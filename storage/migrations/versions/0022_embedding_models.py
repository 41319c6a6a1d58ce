"""The embedding model of a library is stored, with vectors prepared for another one; word vectors may be deleted."""

from alembic import op

from storage.migrations.schema import create_missing

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create what is missing."""
    create_missing(op.get_bind(), earlier=True)
