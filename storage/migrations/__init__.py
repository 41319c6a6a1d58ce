"""Bringing a database up to this version's tables; called at every start, from any number of processes at once."""

from pathlib import Path

from sqlalchemy import Engine, text

from storage.failures import store_failures

__all__ = ["migrate"]

_LOCK = 5_005_005
"""Any number, the same for all processes of the product."""


def migrate(engine: Engine) -> None:
    """Apply what is missing, all or nothing. Others wait their turn and then find nothing to do. Raises StoreFailed."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with store_failures("bringing its tables up to date"), engine.begin() as connection:
        # Held until the transaction ends: whoever comes second sees what the first one made.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
