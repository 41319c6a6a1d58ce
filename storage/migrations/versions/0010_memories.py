"""Insights and episodes: what analysts noted, and what became of their questions."""

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing stored changes."""
