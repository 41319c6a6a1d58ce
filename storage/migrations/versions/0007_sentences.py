"""Room for the meaning of each sentence, beside the meaning of its passage."""

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing stored changes."""
