"""A review meeting: who is there, the agenda, and the cell that the presenter shows, with a seat to speak from."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.coverage.meetings.meeting import (
    ContributionState,
    Meeting,
    MeetingState,
    MeetingView,
    attendee_key,
)
from core.coverage.meetings.service import MeetingService
from core.domain.coverage import Board, Decision, ReviewedCell
from core.domain.errors import FivefoldError, NotFound
from pages.components import browser_scripts, notices, session
from pages.components.coverage import meeting_bar, meeting_seat, state
from pages.components.coverage.cell import (
    draw_best_evidence,
    draw_decision,
    draw_evidence,
    draw_headline,
    draw_history,
)
from pages.components.coverage.decision_form import REVIEW_AT, decision_line, draw_form
from pages.components.coverage.minutes import draw_minutes
from pages.components.coverage.review import queue_rows
from pages.components.user_name import name_input, who
from pages.components.wording import count, plain

__all__ = ["draw_room"]

_AWAY = "meeting.look"
"""The session key of the cell that a person looks at on their own; "" while they follow the presenter."""

_DECIDED, _SEEN = "meeting.decided", "meeting.seen"


def draw_room(meeting_id: int) -> None:
    """The meeting as it is now; its minutes when it has ended."""
    service = session.workbench().meetings
    try:
        view = service.view(meeting_id)
    except NotFound as problem:
        notices.error(problem)
        st.button("Back to Coverage", icon=":material/arrow_back:", on_click=meeting_bar.close, args=(None,))
        return
    if view.meeting.state is MeetingState.ENDED:
        draw_minutes(view.meeting)
    elif not who():
        _door(view)
    else:
        _draw_seat(service, _joined(service, view))


def _door(view: MeetingView) -> None:
    """What a person sees before they have given their name."""
    st.markdown(f"### {plain(view.meeting.title)}", anchors=False)
    st.caption(f"A review meeting is under way. {meeting_bar.people_line(view)}")
    with st.container(width=360):
        name_input("So that the others see who joins")
        st.button("Join", key="meeting.enter", type="primary", icon=":material/login:")


def _joined(service: MeetingService, view: MeetingView) -> MeetingView:
    """The meeting with this person in it; a page that takes long to draw reports them too."""
    if attendee_key(who()) not in {attendee_key(name) for name in view.present}:
        service.beat(view.meeting.id, who())
        return service.view(view.meeting.id)
    meeting_bar.report(view.meeting.id)
    return view


def _draw_seat(service: MeetingService, view: MeetingView) -> None:
    meeting = view.meeting
    if st.session_state.get(_DECIDED) != (meeting.id, meeting.decided):
        st.session_state[_DECIDED] = (meeting.id, meeting.decided)
        state.clear_cache()
    board = state.board(meeting.project)
    items = [] if board is None else agenda_items(board, meeting)
    if board is None or not items:
        st.warning("The cells of this agenda are no longer on the board.", icon=":material/grid_off:")
        meeting_bar.draw_bar(view, [], following=True, on_follow=_follow)
    else:
        _draw_agenda(service, view, board, items)


def agenda_items(board: Board, meeting: Meeting) -> list[ReviewedCell]:
    """The cells of the agenda that are still on the board, in its order."""
    queued = {state.cell_key(item.cell): item for item in state.coverage_service().queue(board)}
    cells = {state.cell_key(cell): cell for cell in board.cells}
    topics = {topic.id: topic for topic in board.topics}
    decisions = state.coverage_service().current_decisions(board.project)
    found = []
    for entry in meeting.agenda:
        if entry.key in queued:
            found.append(queued[entry.key])
        elif entry.key in cells:
            decision = decisions.get((entry.topic_id, entry.kind))
            found.append(ReviewedCell(cells[entry.key], topics[entry.topic_id], None, decision))
    return found


def _draw_agenda(service: MeetingService, view: MeetingView, board: Board, items: Sequence[ReviewedCell]) -> None:
    meeting = _moved_on(service, view.meeting, items)
    keys = [state.cell_key(item.cell) for item in items]
    presents = meeting.is_presenter(who())
    look = "" if presents else st.session_state.get(_AWAY, "")
    following = look not in keys
    target = meeting.at if following else look
    at = keys.index(target) if target in keys else 0
    problem = st.session_state.pop("coverage.problem", None)
    if message := st.session_state.pop("review.said", ""):
        st.toast(message, icon=":material/undo:")
    log = state.coverage_service().log(board.project)
    last = next((each for each in reversed(log) if each.meeting_id == meeting.id), None)
    now = replace(view, meeting=meeting)
    meeting_bar.draw_bar(now, items, last, following=following, on_follow=_follow)
    if problem is not None:
        notices.error(problem)
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="review_panes"):
        with st.container(key="review_list"):
            _draw_list(view, items, at)
        with st.container(border=True, gap="small", key="review_pane"):
            _draw_cell(view, board, items[at], log, presents=presents)


def _moved_on(service: MeetingService, meeting: Meeting, items: Sequence[ReviewedCell]) -> Meeting:
    """After a decision of the presenter everyone moves to the next open cell, after an undo back to what was undone."""
    decided, undone = st.session_state.pop("coverage.decided", None), st.session_state.pop(REVIEW_AT, None)
    keys = [state.cell_key(item.cell) for item in items]
    goal = None
    if undone in keys:
        goal = undone
    elif decided in keys:
        after = [*items[keys.index(decided) + 1 :], *items[: keys.index(decided)]]
        still_open = [item for item in after if item.decision is None]
        goal = state.cell_key(still_open[0].cell) if still_open else None
    if goal is None or not meeting.is_presenter(who()):
        return meeting
    return service.show(meeting.id, goal, who())


def _draw_list(view: MeetingView, items: Sequence[ReviewedCell], at: int) -> None:
    """The agenda, in which the presenter moves everyone and others look around."""
    st.session_state["meeting.round"] = st.session_state.get("meeting.round", 0) + 1
    open_cells = [each.cell for each in view.contributions if each.state is ContributionState.OPEN]
    rows = queue_rows(items)
    for row in rows:
        row["note"] = f"{open_cells.count(row['id'])} said" if row["id"] in open_cells else ""
    key = f"meeting.queue.{view.meeting.id}"
    data = {
        "label": "Agenda",
        "head": f"{at + 1} of {count(len(items), 'cell')}",
        "rows": rows,
        "chosen": state.cell_key(items[at].cell),
        "ticked": [],
        "ticks": False,
        "more": 0,
        "seen": {"chosen": st.session_state.get(_SEEN, 0), "ticked": 0},
        "round": st.session_state["meeting.round"],
    }
    draw = browser_scripts.browser_component("fivefold_review_queue", "coverage/review_queue.js")
    draw(key=key, data=data, on_chosen_change=partial(_go, key, view.meeting))


def _go(key: str, meeting: Meeting) -> None:
    """The presenter moves everyone; anybody else looks at a cell on their own."""
    sent: Any = st.session_state[key].chosen
    if sent is None:
        return
    st.session_state[_SEEN] = sent["at"]
    service = session.workbench().meetings
    try:
        if service.meeting(meeting.id).is_presenter(who()):
            service.show(meeting.id, sent["value"], who())
        else:
            st.session_state[_AWAY] = sent["value"]
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem


def _follow() -> None:
    st.session_state[_AWAY] = ""


def _draw_cell(view: MeetingView, board: Board, item: ReviewedCell, log: Sequence[Decision], *, presents: bool) -> None:
    """The cell, the form of the presenter, what people say about it, and the seat to speak from."""
    cell = item.cell
    about = [each for each in log if each.topic_id == cell.topic_id and each.kind == cell.kind.value]
    with st.container(gap="xsmall", key=f"review_{cell.kind.value}_{cell.topic_id}"):  # keys wait for it by this name
        draw_headline(cell, item.gap)
        draw_best_evidence(cell)
        if presents:
            draw_decision(board, cell, item.decision, log)
        elif item.decision is not None:
            st.markdown(f":material/gavel: {decision_line(item.decision)}")
    with st.container(gap="small"):
        if presents:
            draw_form(board, [cell], log, item.decision, proposed=meeting_seat.accepted_verdict(cell))
    with st.container(gap="xsmall", key="meeting_said"):
        meeting_seat.draw_contributions(view, cell, presents=presents)
    with st.container(key="meeting_say"):
        meeting_seat.draw_seat(view, board, cell)
    with st.container(gap="small"):
        draw_evidence(cell)
        with st.expander("History", icon=":material/history:"):
            draw_history(state.coverage_service().history(cell.topic_id, cell.kind, board.project), about)
