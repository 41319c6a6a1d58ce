"""What was not read when a board was assessed, as every answer and export says it."""

from typing import Any

from core.coverage.board_view import unread_in_words, waiting_in_words
from core.domain.coverage import Board

__all__ = ["unread_files_data", "unread_files_in_words"]


def unread_files_in_words(board: Board) -> str:
    """The documents that could not be read and the files not read yet, one sentence each; "" without any."""
    return " ".join(filter(None, (unread_in_words(board), waiting_in_words(board))))


def unread_files_data(board: Board) -> dict[str, Any]:
    """The same as JSON-compatible data: names, a number, and both in words."""
    return {"unread": list(board.unread), "waiting": board.waiting, "not_read": unread_files_in_words(board)}
