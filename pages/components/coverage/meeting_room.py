"""A review meeting: attendees, agenda, the shown cell, the form to speak from, and the minutes."""

# Over 300 lines: everything people see of one meeting.

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from core.coverage.board_view import about_in_words, distinct_names, kind_in_words
from core.coverage.meetings.meeting import (
    Contribution,
    ContributionKind,
    ContributionState,
    Meeting,
    MeetingState,
    MeetingView,
    Minutes,
    MinutesDecision,
    MinutesPoint,
    attendee_key,
)
from core.coverage.meetings.minutes import people_in_words
from core.coverage.meetings.service import MeetingService
from core.coverage.review import decisions_about
from core.domain.coverage import Board, Cell, Decision, ReviewedCell, ReviewVerdict
from core.domain.errors import FivefoldError, NotFound
from core.domain.results import Citation
from core.search.citations.cite import display_quote
from pages.components import browser_scripts, notices, session
from pages.components.citation_places import cited_place
from pages.components.coverage import meeting_bar, state
from pages.components.coverage.cell import (
    draw_best_evidence,
    draw_decision,
    draw_evidence,
    draw_headline,
    draw_history,
)
from pages.components.coverage.decision_form import REVIEW_AT, VERDICTS, decision_line, draw_form, fill_words
from pages.components.coverage.pack import draw_downloads
from pages.components.coverage.review import queue_rows
from pages.components.user_name import name_input, who
from pages.components.wording import count, day, plain, shorten, shorten_middle

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
            _draw_list(view, board, items, at)
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


def _draw_list(view: MeetingView, board: Board, items: Sequence[ReviewedCell], at: int) -> None:
    """The agenda, in which the presenter moves everyone and others look around."""
    st.session_state["meeting.round"] = st.session_state.get("meeting.round", 0) + 1
    open_cells = [each.cell for each in view.contributions if each.state is ContributionState.OPEN]
    rows = queue_rows(items, distinct_names(board))
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
    about = decisions_about(cell, board.topic_of(cell), log)
    with st.container(gap="xsmall", key=f"review_{cell.kind.value}_{cell.topic_id}"):  # keys wait for it by this name
        draw_headline(cell, item.gap, name=distinct_names(board).get(cell.topic_id, ""))
        draw_best_evidence(cell)
        if presents:
            draw_decision(board, cell, item.decision, log)
        elif item.decision is not None:
            st.markdown(f":material/gavel: {decision_line(item.decision)}")
    with st.container(gap="small"):
        if presents:
            draw_form(board, [cell], log, item.decision, proposed=accepted_verdict(cell))
    with st.container(gap="xsmall", key="meeting_said"):
        draw_contributions(view, cell, presents=presents)
    with st.container(key="meeting_say"):
        draw_seat(view, board, cell)
    with st.container(gap="small"):
        draw_evidence(cell)
        with st.expander("History", icon=":material/history:"):
            runs = state.coverage_service().history(cell.topic_id, cell.kind, board.project)
            draw_history(runs, about, cell.topic_id)


_MOST_POINTS = 30  # undecided cells drawn; the meeting pack lists all of them


def draw_minutes(meeting: Meeting) -> None:
    """The minutes, and the meeting pack with them."""
    minutes = meeting.minutes
    if minutes is None:
        notices.empty(":material/description:", "No minutes", "This meeting was ended without minutes.")
        return
    _draw_head(meeting, minutes)
    _attendance(minutes)
    st.markdown(f"#### {count(len(minutes.decisions), 'decision')}", anchors=False)
    if not minutes.decisions:
        st.caption("Nothing was decided.")
    for each in minutes.decisions:
        _decision(each)
    _points(minutes.points)
    _remarks(minutes.remarks)


def _draw_head(meeting: Meeting, minutes: Minutes) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"### {plain(meeting.title)}", anchors=False)
        st.button(
            "Back to the review", icon=":material/arrow_back:", type="tertiary", on_click=meeting_bar.close,
            args=(meeting.project,),
        )  # fmt: skip
    until = f"{minutes.started_at:%H:%M}–{minutes.ended_at:%H:%M} UTC"
    st.markdown(
        f"Minutes · {day(minutes.started_at)}, {until} · {plain(minutes.project or 'The whole library')} ·"
        f" presented by {plain(people_in_words(minutes.presenters))}"
    )
    board = state.board(meeting.project)
    if board is not None:
        with st.expander("Download with the meeting pack", icon=":material/download:"):
            draw_downloads(board, [minutes])


def _attendance(minutes: Minutes) -> None:
    people = [
        f":gray-badge[:material/person: {plain(each.name)} {each.joined_at:%H:%M}–{each.left_at:%H:%M}]"
        for each in minutes.attendance
    ]
    absent = f" :gray[absent: {plain(', '.join(minutes.absent))}]" if minutes.absent else ""
    st.markdown(" ".join(people) + absent)


def _decision(minuted: MinutesDecision) -> None:
    decision = minuted.decision
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{plain(shorten(decision.topic, 160))}** · {about_in_words(decision.kind)}")
        st.markdown(f":material/gavel: {decision_line(decision)}")
        for citation in minuted.quotes:
            st.markdown(f"“{plain(shorten(display_quote(citation.quote), 400))}” :gray[{plain(_location(citation))}]")
        st.caption(f"Present: {plain(people_in_words(decision.present))}")


def _location(citation: Citation) -> str:
    return ", ".join(filter(None, (shorten_middle(citation.document_name, 50), cited_place(citation))))


def _points(points: Sequence[MinutesPoint]) -> None:
    raised, undecided = [each for each in points if each.who], [each for each in points if not each.who]
    st.markdown(f"#### {count(len(raised), 'open point')}", anchors=False)
    for point in raised:
        parts = [f"**{plain(shorten(point.topic, 160))}** · {about_in_words(point.kind)}", plain(point.words)]
        parts += [f"owner {plain(point.owner)}"] if point.owner else []
        parts += [f"due {point.due}"] if point.due else []
        st.markdown("- " + " · ".join([*parts, f":gray[raised by {plain(point.who)}]"]))
    if undecided:
        with st.expander(
            f"{count(len(undecided), 'cell')} of the agenda without a decision", icon=":material/pending:"
        ):
            for point in undecided[:_MOST_POINTS]:
                st.markdown(f"{plain(shorten(point.topic, 160))} · {about_in_words(point.kind)}")
            if len(undecided) > _MOST_POINTS:
                st.caption(f"… and {len(undecided) - _MOST_POINTS:,} more; the meeting pack lists all.")


def _remarks(remarks: Sequence[Contribution]) -> None:
    if not remarks:
        return
    st.markdown("#### What was said", anchors=False)
    for each in remarks:
        proposed = f" proposes **{VERDICTS[each.verdict].words}**" if each.verdict else ""
        about = f":gray[{plain(shorten(each.topic, 60))} · {about_in_words(each.kind_of_cell)}]"
        st.markdown(f"- **{plain(each.who)}**{proposed}: “{plain(each.words)}” {about}")


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
