"""Locks new tables to the tenant a transaction names: one place, so that none is locked by halves."""

from collections.abc import Mapping

from alembic import op

__all__ = ["lock_to_tenant"]


def lock_to_tenant(tables: Mapping[str, str]) -> None:
    """Row-level security on each table, also for its owner, and for the application's role the rights it needs.

    tables: name → rights as GRANT names them. Every table has the column tenant_id.
    """
    for table, rights in tables.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY {table}_of_tenant ON {table} USING (tenant_id = current_setting('fivefold.tenant', true))"
            " WITH CHECK (tenant_id = current_setting('fivefold.tenant', true))"
        )
        op.execute(f"GRANT {rights} ON {table} TO fivefold_app")
