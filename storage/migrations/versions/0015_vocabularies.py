"""The words of a tenant: domains, keywords, authorities, jurisdictions."""

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
