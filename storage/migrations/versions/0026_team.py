"""Team: people, API tokens and the audit log; rows are visible by project."""

from alembic import op

from storage.migrations.schema import create_missing

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables, the columns with who added a row, and the policies of what a person sees."""
    create_missing(op.get_bind(), earlier=True)
