"""Recent searches belong to one person each, and can be deleted."""

from alembic import op
from sqlalchemy import update

from core.domain.people import LOCAL_LOGIN
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.recent_searches import SEARCHES

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index and the right to delete; what nobody signed in for belongs to the owner of the machine."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    op.drop_index("searches_newest", "searches", if_exists=True)
    with all_tenants(connection, SEARCHES):
        connection.execute(update(SEARCHES).where(SEARCHES.c.login == "").values(login=LOCAL_LOGIN))
