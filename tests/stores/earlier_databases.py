"""Databases as earlier versions of the product left them, and what PostgreSQL's catalogue says of a schema."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

__all__ = ["REVISIONS", "create_earlier", "schema_of"]

_DATA = Path(__file__).parent / "data"


def create_earlier(engine: Engine, revision: str) -> None:
    """The database as the version of the product with this newest revision left it."""
    from procrastinate.schema import SchemaManager

    with engine.begin() as connection:
        cursor = connection.connection.cursor()
        cursor.execute(_STAMP)
        for number, statements in _earlier_revisions():
            if number > revision:
                break
            cursor.execute(SchemaManager.get_schema() if number == "0002" else statements)
        cursor.execute(f"INSERT INTO alembic_version VALUES ('{revision}')")
        cursor.close()


def _earlier_revisions() -> Iterator[tuple[str, str]]:
    parts = re.split(r"^-- revision (\d{4})\n", (_DATA / "earlier_revisions.sql").read_text("utf-8"), flags=re.M)
    for number, statements in zip(parts[1::2], parts[2::2], strict=True):
        yield number, re.sub(r"^-- guard (\w+): (.+)$", _GUARD, statements, flags=re.M)


_STAMP = """
CREATE TABLE alembic_version (
    version_num varchar(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
"""
_GUARD = r"""ALTER TABLE \1 ENABLE ROW LEVEL SECURITY;
ALTER TABLE \1 FORCE ROW LEVEL SECURITY;
CREATE POLICY \1_of_tenant ON \1 USING (tenant_id = current_setting('fivefold.tenant', true))
    WITH CHECK (tenant_id = current_setting('fivefold.tenant', true));
GRANT \2 ON \1 TO fivefold_app;"""


def schema_of(engine: Engine) -> dict[str, list[Any]]:
    """All that PostgreSQL's catalogue says of the schema, but the order of columns."""
    with engine.begin() as connection:
        return {name: [tuple(row) for row in connection.execute(text(query))] for name, query in _CATALOGUE.items()}


_OURS = "n.nspname = 'public' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"
_CATALOGUE = {
    "relations": f"""SELECT c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, acl::text
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN LATERAL unnest(c.relacl) acl ON true WHERE {_OURS} ORDER BY 1, 2, 5""",
    "columns": f"""SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage,
        a.attacl::text, pg_get_expr(f.adbin, f.adrelid) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
        WHERE {_OURS} AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'p') ORDER BY 1, 2""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "constraints": f"""SELECT c.relname, k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k
        JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OURS}
        ORDER BY 1, 2""",
    "policies": "SELECT tablename, policyname, permissive, roles, cmd, qual, with_check FROM pg_policies ORDER BY 1, 2",
    "triggers": f"""SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t
        JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE {_OURS} AND NOT t.tgisinternal ORDER BY 1, 2""",
    "functions": """SELECT p.proname, pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n
        ON n.oid = p.pronamespace WHERE n.nspname = 'public' AND p.prokind = 'f'
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') ORDER BY 1, 2""",
    "sequences": f"""SELECT c.relname, s.seqtypid::regtype::text, s.seqincrement, s.seqcache,
        o.refobjid::regclass::text, o.refobjsubid > 0 FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_depend o ON o.objid = c.oid AND o.deptype = 'a' WHERE {_OURS} ORDER BY 1""",
}


REVISIONS = tuple(number for number, _ in _earlier_revisions())
"""The newest revision of every earlier version, oldest first."""
