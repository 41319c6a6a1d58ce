"""The bar above a meeting: who is there, who presents, how far the agenda is; and the watch for changes."""

import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import streamlit as st

from core.coverage.board_view import kind_in_words
from core.coverage.meetings.meeting import BEAT_SECONDS, MeetingView, attendee_key
from core.coverage.meetings.minutes import people_in_words
from core.domain.coverage import Decision, ReviewedCell
from core.domain.errors import FivefoldError
from pages.components import notices, rights, session
from pages.components.coverage import state
from pages.components.coverage.decision_form import decision_line, draw_last_decision
from pages.components.coverage.meeting_start import may_present
from pages.components.user_name import name_input, who
from pages.components.wording import count, plain, shorten

__all__ = ["close", "draw_bar", "people_line", "report"]

_MOST_NAMES = 8  # people named in the bar; more would fill a second line
_BEAT, _VIEW, _REDRAW = "meeting.beat", "meeting.view", "meeting.redraw"


def people_line(view: MeetingView) -> str:
    """Who is there, in one sentence of safe markdown."""
    names = [plain(name) for name in view.present]
    verb = "is" if len(names) <= 1 else "are"
    return f"{people_in_words(names).capitalize() if not names else people_in_words(names)} {verb} here."


def report(meeting_id: int) -> int:
    """Report, every BEAT_SECONDS, that this person is there; gives the meeting's version. It reads one number, and
    writes one row when a report is due."""
    meetings = session.workbench().meetings
    if time.monotonic() - st.session_state.get(_BEAT, float("-inf")) < BEAT_SECONDS:
        return meetings.version(meeting_id)
    st.session_state[_BEAT] = time.monotonic()
    return meetings.beat(meeting_id, who())


@st.fragment(run_every=1.0)
def draw_bar(
    drawn: MeetingView,
    items: Sequence[ReviewedCell],
    last: Decision | None = None,
    *,
    following: bool,
    on_follow: Callable[[], None],
) -> None:
    """The bar, which also watches the meeting: it draws the whole page again when more than the bar has changed.

    drawn: the meeting as the page shows it. items: the agenda with its decisions. last: the latest decision of the
    meeting. following: whether this person sees the presented cell.
    """
    with notices.show_errors():
        view = _latest(drawn)
        clicked = st.session_state.pop(_REDRAW, False) or "coverage.problem" in st.session_state
        if clicked or _page_of(view) != _page_of(drawn):
            st.rerun()
        _draw(view, items, last, following=following, on_follow=on_follow)


def _latest(drawn: MeetingView) -> MeetingView:
    """The meeting as it is now, read again only when its version has changed."""
    version = report(drawn.meeting.id)
    known: MeetingView = st.session_state.get(_VIEW, drawn)
    for each in (drawn, known):
        if (each.meeting.id, each.meeting.version) == (drawn.meeting.id, version):
            return each
    view = st.session_state[_VIEW] = session.workbench().meetings.view(drawn.meeting.id)
    return view


def _page_of(view: MeetingView) -> tuple[object, ...]:
    """What the page shows besides the bar; who comes and goes changes only the bar."""
    meeting = view.meeting
    return meeting.id, meeting.at, meeting.presenter, meeting.decided, meeting.state, view.contributions


def _draw(
    view: MeetingView,
    items: Sequence[ReviewedCell],
    last: Decision | None,
    *,
    following: bool,
    on_follow: Callable[[], None],
) -> None:
    meeting = view.meeting
    presents = meeting.is_presenter(who())
    with st.container(border=True, gap="xsmall", key="meeting_bar"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/groups: **{plain(shorten(meeting.title, 60))}**", width="content")
            st.markdown(_people(view), width="stretch")
            _draw_menu(view, presents=presents)
        decided = sum(item.decision is not None for item in items)
        words = f"**{decided} of {count(len(items), 'cell')} decided** · {_presented(view, items)}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.progress(decided / len(items) if items else 0.0, words)
            _draw_following(view, presents=presents, following=following, on_follow=on_follow)
        _draw_last(last, presents=presents)


def _people(view: MeetingView) -> str:
    """Badges: the presenter first, then everyone else; who is away is named in grey."""
    meeting = view.meeting
    here = sorted(view.present, key=lambda name: not meeting.is_presenter(name))
    marks = [
        f":primary-badge[:material/co_present: {plain(name)}]" if meeting.is_presenter(name) else
        f":gray-badge[:material/person: {plain(name)}]"
        for name in here[:_MOST_NAMES]
    ]  # fmt: skip
    marks += [f"and {len(here) - _MOST_NAMES} more"] if len(here) > _MOST_NAMES else []
    known = {attendee_key(each.name) for each in view.attendees}
    away = [each.name for each in view.attendees if not each.present]
    away += [name for name in meeting.invited if attendee_key(name) not in known]
    marks += [f":gray[not here: {plain(', '.join(away[:_MOST_NAMES]))}]"] if away else []
    return " ".join(marks)


def _presented(view: MeetingView, items: Sequence[ReviewedCell]) -> str:
    """Who shows what."""
    at = next((item.cell for item in items if state.cell_key(item.cell) == view.meeting.at), None)
    what = f" {plain(shorten(at.topic, 50))} · {kind_in_words(at.kind)}" if at else " the agenda"
    if view.meeting.is_presenter(who()):
        return f"you present{what}"
    return f"{plain(view.meeting.presenter)} presents{what}" if view.meeting.presenter else "nobody presents"


def _draw_following(view: MeetingView, *, presents: bool, following: bool, on_follow: Callable[[], None]) -> None:
    """Whether this person follows, and the way back; or the way to present when nobody does."""
    meeting = view.meeting
    if presents:
        return
    if not view.presenter_is_here:
        if meeting.presenter:
            st.markdown(f":orange-badge[:material/wifi_off: {plain(meeting.presenter)} is away]", width="content")
        if may_present(meeting.project):
            rights.button(
                "meetings.present",
                "Present instead" if meeting.presenter else "Present", key="meeting.present", type="primary",
                icon=":material/co_present:", on_click=_change, args=(meeting.id, "present"),
            )  # fmt: skip
    if following:
        st.markdown(":green-badge[:material/visibility: Following]", width="content")
    else:
        st.button(
            "Follow again", key="meeting.follow", type="primary" if view.presenter_is_here else "secondary",
            icon=":material/visibility:", on_click=_and_redraw, args=(on_follow,),
            help="You look around on your own; this brings you back to the presented cell.",
        )  # fmt: skip


def _draw_menu(view: MeetingView, *, presents: bool) -> None:
    """The link to share, and what ends one's part or the whole meeting."""
    meeting = view.meeting
    with st.popover(plain(shorten(who(), 20)), icon=":material/person:", type="tertiary"):
        name_input()
    with st.popover("Invite", icon=":material/link:", type="tertiary"):
        st.markdown("Whoever opens this link joins:")
        st.code(_link(meeting.id), language=None)
    if presents:
        with st.popover("End", icon=":material/flag:", type="tertiary"):
            st.markdown("End the meeting for everyone? Its minutes are made from what was decided and said.")
            rights.button(
                "meetings.end",
                "End meeting",
                key="meeting.end",
                type="primary",
                on_click=_change,
                args=(meeting.id, "end"),
            )
            rights.button(
                "meetings.stop_presenting",
                "Let somebody else present", key="meeting.release", icon=":material/co_present:",
                on_click=_change, args=(meeting.id, "stop_presenting"),
            )  # fmt: skip
            st.button(
                "Leave", key="meeting.leave", icon=":material/logout:", on_click=_leave,
                args=(meeting.id, meeting.project), help="The meeting goes on; somebody else can present.",
            )  # fmt: skip
    else:
        st.button(
            "Leave", key="meeting.leave", icon=":material/logout:", type="tertiary", on_click=_leave,
            args=(meeting.id, meeting.project),
        )  # fmt: skip


def _link(meeting_id: int) -> str:
    parts = urlsplit(st.context.url or "")
    return f"{parts.scheme}://{parts.netloc}{parts.path}?meeting={meeting_id}"


def _draw_last(last: Decision | None, *, presents: bool) -> None:
    """The last decision of the meeting; the presenter can undo it."""
    if presents:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            draw_last_decision()
    elif last is not None:
        st.markdown(f":small[:material/gavel: {plain(shorten(last.topic, 60))}: {decision_line(last)}]")


def _and_redraw(act: Callable[[], None]) -> None:
    """A click in the bar draws only the bar again; this one concerns the whole page."""
    act()
    st.session_state[_REDRAW] = True


def _change(meeting_id: int, action: str) -> None:
    """Present, stop presenting, or end the meeting."""
    st.session_state[_REDRAW] = True
    meetings = session.workbench().meetings
    act = {"present": meetings.present, "stop_presenting": meetings.stop_presenting, "end": meetings.end}[action]
    try:
        act(meeting_id, who())
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem


def _leave(meeting_id: int, project: str | None) -> None:
    try:
        session.workbench().meetings.leave(meeting_id, who())
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    st.session_state[_REDRAW] = True
    close(project)


def close(project: str | None) -> None:
    """Go back to the review of a project's board."""
    st.query_params.clear()
    st.query_params["view"] = "Review"
    if project is not None:
        st.query_params["project"] = project
