"""Upgrades a database to this version's schema; runs at every start, in any number of processes at once."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, text

from storage.postgres.database import store_failures

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["head", "is_known", "migrate"]

_LOCK = 5_005_005
"""Arbitrary, but the same for all processes of the product."""

_REPLACED = [f"{number:04}" for number in range(1, 21)]
"""Revisions that were replaced by 0021, which upgrades databases at any of them."""


def migrate(engine: Engine) -> None:
    """Apply missing revisions, all or none. Other processes wait, then find nothing to do. Raises StoreFailed."""
    from alembic import command

    config = _config()
    with store_failures("bringing its tables up to date"), engine.begin() as connection:
        # Locked until the transaction ends: a second process then sees the tables that the first one created.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        config.attributes["connection"] = connection
        config.attributes["earlier"] = _take_replaced_revision(connection)
        command.upgrade(config, "head")


def head() -> str:
    """The newest revision."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def is_known(revision: str) -> bool:
    """Whether a database at this revision can be brought up to date: a newer version's cannot."""
    from alembic.script import ScriptDirectory

    return revision in {
        *_REPLACED,
        *(each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()),
    }


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def _take_replaced_revision(connection: Connection) -> bool:
    """Remove a replaced revision from the database, so that Alembic runs 0021; returns whether there was one."""
    if connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
        return False
    taken = text("DELETE FROM alembic_version WHERE version_num = ANY(:replaced)")
    return connection.execute(taken, {"replaced": _REPLACED}).rowcount > 0
