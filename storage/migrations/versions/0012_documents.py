"""Documents: who owns one, where it came from, what it came in, what it replaced, the unlocked copy of a locked one.

`parent` and `version_of` are no references: what a document came in, or replaced, may be deleted before it.
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; rows there are get what nobody has said."""
    op.execute(
        """
ALTER TABLE documents
    ADD COLUMN owner text NOT NULL DEFAULT '',
    ADD COLUMN url text NOT NULL DEFAULT '',
    ADD COLUMN parent bigint,
    ADD COLUMN version_of bigint,
    ADD COLUMN readable text NOT NULL DEFAULT ''
"""
    )
