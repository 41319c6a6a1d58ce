"""Recent searches belong to one person each, and can be deleted."""

from alembic import op
from sqlalchemy import delete, select, update

from core.domain.people import LOCAL_LOGIN
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.access import PEOPLE
from storage.postgres.recent_searches import SEARCHES

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index and the right to delete. Searches without a person belong to the owner of the machine; where people
    sign in, they were made by any of those who see all projects, and are deleted."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    op.drop_index("searches_newest", "searches", if_exists=True)
    with all_tenants(connection, SEARCHES, PEOPLE):
        shared = SEARCHES.c.tenant_id.in_(select(PEOPLE.c.tenant_id))
        connection.execute(delete(SEARCHES).where(SEARCHES.c.login == "", shared))
        connection.execute(update(SEARCHES).where(SEARCHES.c.login == "").values(login=LOCAL_LOGIN))
