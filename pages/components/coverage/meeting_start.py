"""Starting a review meeting, joining one that is under way, and the list of past ones."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.board_view import kind_in_words, with_distinct_names
from core.coverage.meetings.meeting import Meeting, MeetingState
from core.domain.coverage import Board, ReviewedCell
from core.domain.errors import FivefoldError
from core.domain.people import Role
from pages.components import notices, rights, session
from pages.components.coverage import state
from pages.components.user_name import give_name, who
from pages.components.wording import ago, count, day, plain, shorten, shorten_middle

__all__ = ["draw_past", "draw_start", "draw_under_way", "may_present"]

_WORST, _CHOSEN = "Open cells, worst first", "Cells I choose"
_PROBLEM = "meeting.start.problem"
_MOST_PAST = 20  # past meetings listed; the meeting pack offers all of them


def draw_start(board: Board, queue: Sequence[ReviewedCell]) -> None:
    """The button that opens the form for a new meeting, for people who may present it."""
    if not may_present(board.project):
        return
    rights.button(
        "meetings.start",
        "Start a meeting",
        icon=":material/groups:",
        key="meeting.open",
        on_click=_open,
        type="tertiary",
    )
    if st.session_state.pop("meeting.opening", False):
        _dialog(board, queue)


def may_present(project: str | None) -> bool:
    """Whether this person may present a meeting on a project's board, and decide in it."""
    role = session.principal().role_in(project)
    return role is not None and role.covers(Role.REVIEWER)


def _open() -> None:
    st.session_state["meeting.opening"] = True


@st.dialog("Start a review meeting", width="medium")
def _dialog(board: Board, queue: Sequence[ReviewedCell]) -> None:
    """Title, people and agenda."""
    if st.session_state.pop("meeting.started", False):
        st.rerun()  # a click in a dialog draws only the dialog again; now the meeting is there
    if problem := st.session_state.pop(_PROBLEM, None):
        notices.error(problem)
    if not who():  # a field of its own: the review behind this dialog may ask for the name too
        st.text_input(
            "Your name", key="meeting.name", icon=":material/person:", max_chars=80, placeholder="You present"
        )
    st.text_input("Title", key="meeting.title", placeholder=f"Review meeting, {day(state.now())}", max_chars=120)
    team = [each.name for each in session.workbench().people.colleagues()]
    people = [name for name in (*team, *state.coverage_service().people(board.project)) if name != who()]
    st.multiselect(
        "People", list(dict.fromkeys(people)), key="meeting.people", accept_new_options=True,
        placeholder="Who should come; anybody with the link can join",
    )  # fmt: skip
    open_ones = [item for item in queue if item.decision is None]
    how = st.segmented_control(
        "Agenda", [_WORST, _CHOSEN], default=_WORST if open_ones else _CHOSEN, key="meeting.how", required=True
    )
    named = {state.cell_key(cell): cell for cell in with_distinct_names(board).cells}  # equal names would be one choice
    cells = {state.cell_key(item.cell): named[state.cell_key(item.cell)] for item in queue} | named
    if how == _CHOSEN:
        st.multiselect(
            "Cells", list(cells), key="meeting.cells", placeholder="Search for a topic",
            format_func=lambda key: f"{shorten_middle(cells[key].topic, 60)} · {kind_in_words(cells[key].kind)}",
            default=[key for key in st.session_state.get("review.ticked", ()) if key in cells],
        )  # fmt: skip
    else:
        st.caption(f"{count(len(open_ones), 'cell')} without a decision.")
    st.button(
        "Start", type="primary", icon=":material/play_arrow:", key="meeting.start", on_click=_start,
        args=(board, open_ones), disabled=how == _WORST and not open_ones,
    )  # fmt: skip


def _start(board: Board, open_ones: Sequence[ReviewedCell]) -> None:
    chosen = st.session_state.get("meeting.cells", ())
    by_key = {state.cell_key(cell): cell for cell in board.cells}
    agenda = (
        [by_key[key] for key in chosen]
        if st.session_state.get("meeting.how") == _CHOSEN
        else [item.cell for item in open_ones]
    )
    if not who():
        give_name(st.session_state.get("meeting.name") or "")
    title, people = st.session_state.get("meeting.title") or "", st.session_state.get("meeting.people") or ()
    try:
        meeting = session.workbench().meetings.start(board, title, agenda, people, who())
    except FivefoldError as problem:
        st.session_state[_PROBLEM] = problem
        return
    st.session_state["meeting.started"] = True
    _go_to(meeting.id)


def _go_to(meeting_id: int) -> None:
    st.query_params.clear()
    st.query_params["meeting"] = str(meeting_id)


def draw_under_way(project: str | None) -> None:
    """A line for each meeting that goes on, with the way in."""
    for meeting in _meetings(project, MeetingState.OPEN):
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            who_presents = f"{plain(meeting.presenter)} presents" if meeting.presenter else "nobody presents"
            st.markdown(
                f":material/groups: **{plain(shorten(meeting.title, 80))}** is under way · {who_presents} ·"
                f" started {ago(meeting.started_at, state.now())}"
            )
            st.button(
                "Join", key=f"meeting.join.{meeting.id}", icon=":material/login:", on_click=_go_to, args=(meeting.id,)
            )


def draw_past(project: str | None) -> None:
    """Past meetings, newest first, each with its minutes; nothing before the first."""
    past = _meetings(project, MeetingState.ENDED)
    if not past:
        return
    with st.expander(f"Past meetings · {len(past):,}", icon=":material/groups:"):
        for meeting in past[:_MOST_PAST]:
            minutes = meeting.minutes
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                parts = [f"**{plain(shorten(meeting.title, 80))}**", day(meeting.started_at)]
                parts += [count(len(minutes.decisions), "decision")] if minutes else []
                parts += [count(sum(bool(each.who) for each in minutes.points), "open point")] if minutes else []
                st.markdown(" · ".join(parts))
                st.button(
                    "Minutes", key=f"meeting.minutes.{meeting.id}", icon=":material/description:", type="tertiary",
                    on_click=_go_to, args=(meeting.id,),
                )  # fmt: skip


def _meetings(project: str | None, state: MeetingState) -> list[Meeting]:
    return [each for each in session.workbench().meetings.meetings(project) if each.state is state]
