"""What people say in a meeting about a cell: the list, and the seat from which one proposes and comments."""

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from core.coverage.board_view import kind_in_words
from core.coverage.meetings.meeting import (
    Contribution,
    ContributionKind,
    ContributionState,
    MeetingView,
    attendee_key,
)
from core.domain.coverage import Board, Cell, ReviewVerdict
from core.domain.errors import FivefoldError
from pages.components import browser_scripts, session
from pages.components.coverage import state
from pages.components.coverage.decision_form import VERDICTS, fill_words
from pages.components.user_name import who
from pages.components.wording import plain, shorten

__all__ = ["accepted_verdict", "draw_contributions", "draw_seat"]

_PROPOSED = "meeting.proposed"
_ICONS = {
    ContributionKind.PROPOSAL: ":material/how_to_vote:",
    ContributionKind.COMMENT: ":material/chat_bubble:",
    ContributionKind.OPEN_POINT: ":material/assignment_late:",
}


def accepted_verdict(cell: Cell) -> ReviewVerdict | None:
    """The verdict of the proposal that the presenter put into the form of this cell."""
    key, verdict = st.session_state.get(_PROPOSED, ("", None))
    return verdict if key == state.cell_key(cell) else None


def draw_contributions(view: MeetingView, cell: Cell, *, presents: bool) -> None:
    """What was said about the cell, oldest first; the presenter can put a proposal into the form."""
    key = state.cell_key(cell)
    for each in view.contributions:
        if each.cell == key and each.state is not ContributionState.WITHDRAWN:
            _draw_contribution(each, cell, presents=presents)


def _draw_contribution(each: Contribution, cell: Cell, *, presents: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{_ICONS[each.kind]} {_in_words(each)}", width="stretch")
        if presents and each.kind is ContributionKind.PROPOSAL and each.state is ContributionState.OPEN:
            st.button(
                "Use", key=f"meeting.use.{each.id}", icon=":material/edit_note:", on_click=_use, args=(each, cell),
                help="Puts it into the form above; the decision is recorded when you press it there.",
            )  # fmt: skip
        elif each.state is ContributionState.ACCEPTED:
            st.caption("in the form", width="content")
        elif attendee_key(each.who) == attendee_key(who()):
            st.button(
                "Withdraw", key=f"meeting.withdraw.{each.id}", type="tertiary", icon=":material/undo:",
                on_click=_withdraw, args=(each,),
            )  # fmt: skip


def _in_words(each: Contribution) -> str:
    words = f"“{plain(each.words)}”"
    if each.verdict is not None:
        return f"**{plain(each.who)}** proposes **{VERDICTS[each.verdict].words}**: {words}"
    if each.kind is ContributionKind.OPEN_POINT:
        to = [f"owner {plain(each.owner)}"] if each.owner else []
        to += [f"due {each.due}"] if each.due else []
        return " · ".join([f"**{plain(each.who)}**, open point: {words}", *to])
    return f"**{plain(each.who)}**: {words}"


def _use(each: Contribution, cell: Cell) -> None:
    def take() -> None:
        session.workbench().meetings.accept(each.meeting_id, each.id, who())
        fill_words(cell, f"{each.words} (proposed by {each.who})")
        st.session_state[_PROPOSED] = (state.cell_key(cell), each.verdict)

    _try(take)


def _withdraw(each: Contribution) -> None:
    _try(lambda: session.workbench().meetings.withdraw(each.meeting_id, each.id, who()))


def _try(change: Callable[[], object]) -> bool:
    try:
        change()
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
        return False
    return True


def draw_seat(view: MeetingView, board: Board, cell: Cell) -> None:
    """The field to speak from. What is being typed stays with its cell until it is sent, whatever the page shows."""
    key, known = f"meeting.say.{view.meeting.id}", st.session_state
    here, people = list(view.present), [*view.meeting.invited, *state.coverage_service().people(board.project)]
    data = {
        "meeting": view.meeting.id,
        "cell": state.cell_key(cell),
        "topic": f"“{shorten(cell.topic, 70)}” · {kind_in_words(cell.kind)}",
        "kinds": [
            {"value": ContributionKind.COMMENT.value, "words": "Comment"},
            {"value": ContributionKind.OPEN_POINT.value, "words": "Open point"},
            *({"value": verdict.value, "words": f"Propose: {offer.words}"} for verdict, offer in VERDICTS.items()),
        ],
        "people": list(dict.fromkeys([*here, *people])),
        "placeholder": "Comment, propose, or name an open point. @Name tells somebody. Ctrl+Enter sends.",
        "stored": known.get(f"{key}.stored", 0),
        "refused": known.get(f"{key}.refused", 0),
    }
    draw = browser_scripts.browser_component("fivefold_meeting_say", "coverage/meeting_say.js")
    draw(key=key, data=data, on_said_change=partial(_say, key, view.meeting.id))


def _say(key: str, meeting_id: int) -> None:
    sent: Any = st.session_state[key].said
    if sent is None:
        return
    done = _try(lambda: _record(meeting_id, sent))
    st.session_state[f"{key}.{'stored' if done else 'refused'}"] = sent["at"]


def _record(meeting_id: int, sent: Any) -> None:
    meetings, cell, words = session.workbench().meetings, sent["cell"], sent["words"]
    if sent["kind"] == ContributionKind.OPEN_POINT.value:
        due = date.fromisoformat(sent["due"]) if sent["due"] else None
        meetings.raise_point(meeting_id, cell, words, who(), sent["owner"], due)
    elif sent["kind"] == ContributionKind.COMMENT.value:
        meetings.comment(meeting_id, cell, words, who())
    else:
        meetings.propose(meeting_id, cell, ReviewVerdict(sent["kind"]), words, who())
