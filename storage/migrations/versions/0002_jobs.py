"""The job queue's own tables (procrastinate 3.10)."""

from alembic import op
from sqlalchemy import text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply procrastinate's schema, unless someone has already (its own command line does the same)."""
    from procrastinate.schema import SchemaManager

    connection = op.get_bind()
    if connection.scalar(text("SELECT to_regclass('procrastinate_jobs')")) is None:
        # Straight to the driver: the schema's per-cent signs are no parameters.
        cursor = connection.connection.cursor()
        cursor.execute(SchemaManager.get_schema())
        cursor.close()
