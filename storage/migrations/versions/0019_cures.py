"""What can help a document that failed: trying again, its password, or only another file.

Of those that failed before nobody knows, so they may be tried again, and then it is known; a file under a password said
so in the only words there were for it.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

# Documents of all tenants are changed, which nobody may while row-level security binds the table's owner too.
_LOCKED_BEFORE = """
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
UPDATE documents SET cure = 'password' WHERE state = 'failed' AND failure LIKE '%is protected by a password.';
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Add the column, and fill it where what there is tells."""
    op.execute("ALTER TABLE documents ADD COLUMN cure text NOT NULL DEFAULT 'again'")
    op.execute(_LOCKED_BEFORE)
