"""Storing decisions: alone, or in the meeting that the URL names, where the presenter records them for everyone."""

from collections.abc import Sequence

import streamlit as st

from core.domain.coverage import Board, Cell, Decision, ReviewerOpinion
from pages.components import session, urls
from pages.components.coverage import state
from pages.components.user_name import who

__all__ = ["current_meeting", "record", "undo", "undo_together"]


def current_meeting() -> int | None:
    """The meeting the URL names; None outside of one."""
    return urls.number_in(st.query_params.get("meeting", ""))


def record(board: Board, opinions: Sequence[tuple[Cell, ReviewerOpinion]]) -> Sequence[Decision]:
    """Store decisions, all or none. Raises BadRequest, Outdated."""
    meeting_id = current_meeting()
    if meeting_id is None:
        return state.coverage_service().decide_together(board, opinions)
    return session.workbench().meetings.decide(meeting_id, board, opinions, who())


def undo_together(decisions: Sequence[Decision]) -> Sequence[Decision]:
    """Undo decisions, all or none. Raises BadRequest, Outdated."""
    meeting_id = current_meeting()
    if meeting_id is None:
        return state.coverage_service().undo_together(decisions, who())
    return session.workbench().meetings.undo(meeting_id, decisions, who())


def undo(board: Board, cell: Cell, seen: int) -> Sequence[Decision]:
    """Undo the decision in force for a cell. seen: the number of the last decision the person has seen.

    Raises BadRequest, Outdated.
    """
    meeting_id = current_meeting()
    if meeting_id is None:
        return [state.coverage_service().undo(board, cell, who(), seen)]
    return [session.workbench().meetings.undo_cell(meeting_id, board, cell, seen, who())]
