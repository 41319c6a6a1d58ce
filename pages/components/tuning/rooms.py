"""The rooms of Tuning – judge, measure, improve –, what each is for, and what comes after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.components import urls

__all__ = ["ROOMS", "VIEWS", "View", "choose_view", "draw_purpose", "view_named"]


@dataclass(frozen=True, slots=True)
class View:
    """One view of the page. room: where it is found; purpose: in one sentence; next: the view to go on with."""

    title: str
    room: str
    purpose: str
    next: str


ROOMS: Mapping[str, str] = {"judge": "1 Judge", "measure": "2 Measure", "improve": "3 Improve"}
"""The rooms in the order of work."""

VIEWS: Mapping[str, View] = {
    "judge": View(
        ROOMS["judge"],
        "judge",
        "Grade what searches find, blind and one result at a time. Profiles are measured with these grades.",
        "measure",
    ),
    "measure": View(
        ROOMS["measure"],
        "measure",
        "See how well a profile finds what people graded as relevant, and whether two profiles differ by more than"
        " chance.",
        "tune",
    ),
    "tune": View(
        "Sliders",
        "improve",
        "Change any number of a profile, see its effect on one question at once, and save it as a profile.",
        "measure",
    ),
    "optimise": View(
        "Optimise",
        "improve",
        "Search for better weights automatically. They are tested on questions the search has not seen.",
        "measure",
    ),
    "threshold": View(
        "Threshold",
        "improve",
        "Choose the score below which results are not shown, and see what each choice keeps and loses.",
        "measure",
    ),
    "profiles": View(
        "Profiles",
        "improve",
        "Compare profiles and their versions, roll back, and choose the one searches use.",
        "measure",
    ),
    "classifier": View(
        "Classifier",
        "improve",
        "See how often labels are right, and teach the classifier with your corrections.",
        "judge",
    ),
}
"""What the URL calls a view → the view, in the order of the switches."""

_ALIASES = {
    "improve": "tune",
    "sliders": "tune",
    "compare": "profiles",
    "questions": "judge",
    "active-learning": "classifier",
}
"""Other names a link may use."""

_VIEW, _ROOM, _STEP, _LAST = "tuning.view.open", "tuning.room", "tuning.view", "tuning.view.improving"
"""Session keys: the open view, the two switches, and the view that was open last under Improve."""

_TRIAL = ("q", "base", "trial")
"""URL parameters of Sliders: a link with one of them but without a view means that view."""


def view_named(name: str, params: Mapping[str, Any]) -> str:
    """The view a URL asks for. name: its parameter "view", "" for none; params: all its parameters.

    >>> view_named("", {}), view_named("", {"q": "overtime"}), view_named("improve", {}), view_named("nonsense", {})
    ('judge', 'tune', 'tune', 'judge')
    """
    named = _ALIASES.get(name, name)
    if named in VIEWS:
        return named
    return "tune" if any(each in params for each in _TRIAL) else "judge"


def choose_view() -> str:
    """Draw the switch of the rooms and return the open view, as the URL or the switches say."""
    state, requested = st.session_state, view_named(st.query_params.get("view", ""), st.query_params)
    if state.get(_VIEW) not in VIEWS or urls.is_new_request(_VIEW, requested):
        state[_VIEW] = requested
    view: str = state[_VIEW]
    urls.record(_VIEW, view)
    if view != requested or st.query_params.get("view", view) != view:
        st.query_params["view"] = view
    state[_ROOM] = VIEWS[view].room
    if state[_ROOM] == "improve":
        state[_LAST] = view
    st.segmented_control(
        "Room",
        list(ROOMS),
        key=_ROOM,
        required=True,
        format_func=ROOMS.__getitem__,
        label_visibility="collapsed",
        on_change=_room_chosen,
        width="content",
    )
    return view


def draw_purpose(view: str) -> None:
    """The ways to improve, where several share the room; what the open view is for, and what comes next."""
    own = [name for name, each in VIEWS.items() if each.room == VIEWS[view].room]
    if len(own) > 1:
        st.session_state[_STEP] = view
        st.segmented_control(
            "How",
            own,
            key=_STEP,
            required=True,
            format_func=lambda name: VIEWS[name].title,
            label_visibility="collapsed",
            on_change=_step_chosen,
        )
    following = VIEWS[VIEWS[view].next]
    label = following.title if following.room != "improve" else ROOMS["improve"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(VIEWS[view].purpose, width="content")
        st.button(
            f"Next: {label}", key="tuning.next", type="tertiary", icon=":material/arrow_forward:",
            icon_position="right", on_click=_open, args=(VIEWS[view].next,),
        )  # fmt: skip


def _open(view: str) -> None:
    st.session_state[_VIEW] = view


def _room_chosen() -> None:
    """Open the first view of the chosen room, or the one that was open in it last."""
    state = st.session_state
    room = state[_ROOM] or VIEWS[state[_VIEW]].room
    first = next(name for name, each in VIEWS.items() if each.room == room)
    _open(state.get(_LAST, first) if room == "improve" else first)


def _step_chosen() -> None:
    _open(st.session_state[_STEP] or st.session_state[_VIEW])
