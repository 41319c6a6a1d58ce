"""A person's own saved searches and visits belong to a login: a name may be another person's, and may change."""

from alembic import op
from sqlalchemy import text

from core.domain.people import LOCAL_LOGIN
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.access import PEOPLE
from storage.postgres.saved_searches import SAVED_SEARCH_VISITS, SAVED_SEARCHES

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

# The names as people saw them: a login stands for an empty one.
_NAMED = """
WITH known AS (
    SELECT tenant_id, trim(coalesce(nullif(data ->> 'name', ''), login)) AS name, min(login) AS login
    FROM people GROUP BY 1, 2 HAVING count(*) = 1
)
UPDATE {table} AS own SET login = known.login, {name} = known.login,
    data = (own.data::jsonb || jsonb_build_object('login', known.login, '{name}', known.login))::json
FROM known WHERE known.tenant_id = own.tenant_id AND known.name = own.{name} AND own.{name} <> ''
"""
_LOCAL = """
UPDATE {table} AS own SET login = :local,
    data = (own.data::jsonb || jsonb_build_object('login', CAST(:local AS text)))::json
WHERE NOT EXISTS (SELECT FROM people WHERE people.tenant_id = own.tenant_id) {own}
"""


def upgrade() -> None:
    """Add the login to the rows and the keys. Rows of a name that exactly one person has become that person's; the
    others stay, and nobody sees them. Where nobody signs in, names stay what tells people apart."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    op.drop_index("saved_views_living_names", "saved_views")
    for index in SAVED_SEARCHES.indexes:
        index.create(connection, checkfirst=True)
    op.drop_constraint("view_looks_pkey", "view_looks")
    op.create_primary_key("view_looks_pkey", "view_looks", ["tenant_id", "login", "who", "view_id"])
    with all_tenants(connection, SAVED_SEARCHES, SAVED_SEARCH_VISITS, PEOPLE):
        for table, name, own in (("saved_views", "owner", "AND own.owner <> ''"), ("view_looks", "who", "")):
            connection.execute(text(_NAMED.format(table=table, name=name)))
            connection.execute(text(_LOCAL.format(table=table, own=own)), {"local": LOCAL_LOGIN})
