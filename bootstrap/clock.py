"""The clock of the product: services get it as an argument, pages read it."""

from datetime import UTC, datetime

__all__ = ["utc_now"]


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)
