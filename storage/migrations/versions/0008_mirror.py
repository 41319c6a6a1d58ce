"""What a copy of the vectors and labels needs to follow the library."""

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing stored changes."""
