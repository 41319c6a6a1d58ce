"""The one clock of core. Whatever needs the time takes it as a parameter, whose default is this one."""

from datetime import UTC, datetime

__all__ = ["right_now"]


def right_now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
