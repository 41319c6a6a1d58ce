"""What many documents need: their sureness as a column, and indexes that find the newest of those with one name."""

from alembic import op

from storage.migrations.schema import create_missing

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which PostgreSQL computes for every document, and the indexes."""
    create_missing(op.get_bind(), earlier=True)
    for name in ("signatures_named", "signatures_titled", "signatures_from"):
        op.drop_index(name, "signatures", if_exists=True)
