"""How tall tables are drawn."""

from typing import Literal

__all__ = ["HEAD_PIXELS", "LISTED", "ROW_PIXELS", "height"]

HEAD_PIXELS, ROW_PIXELS = 38, 32
LISTED = 14
"""Rows of an answer that are seen without scrolling."""


def height(rows: int, most: int = LISTED) -> int | Literal["content"]:
    """The height of a table of which at most so many rows are seen at once.

    >>> height(3), height(200, 10)
    ('content', 358)
    """
    return "content" if rows <= most else HEAD_PIXELS + ROW_PIXELS * most
