"""The minutes of an ended meeting: attendance, decisions with their quotes, open points and what was said."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.board_view import about_in_words
from core.coverage.meetings.meeting import Contribution, Meeting, Minutes, MinutesDecision, MinutesPoint
from core.coverage.meetings.minutes import people_in_words
from core.domain.results import Citation
from core.search.citations.cite import display_quote
from pages.components import notices
from pages.components.citation_places import cited_place
from pages.components.coverage import meeting_bar, state
from pages.components.coverage.decision_form import VERDICTS, decision_line
from pages.components.coverage.pack import draw_downloads
from pages.components.wording import count, day, plain, shorten, shorten_middle

__all__ = ["draw_minutes"]

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
        parts = [f"**{plain(shorten(point.topic, 100))}** · {about_in_words(point.kind)}", plain(point.words)]
        parts += [f"owner {plain(point.owner)}"] if point.owner else []
        parts += [f"due {point.due}"] if point.due else []
        st.markdown("- " + " · ".join([*parts, f":gray[raised by {plain(point.who)}]"]))
    if undecided:
        with st.expander(
            f"{count(len(undecided), 'cell')} of the agenda without a decision", icon=":material/pending:"
        ):
            for point in undecided[:_MOST_POINTS]:
                st.markdown(f"{plain(shorten(point.topic, 100))} · {about_in_words(point.kind)}")
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
