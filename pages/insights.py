"""Insights: insights and episodes that analysts saved; every search finds them."""

import streamlit as st

from pages.components.insights import listing, state
from pages.components.user_name import name_input

_TITLES = {"insights": ":material/edit_note: Insights", "episodes": ":material/history: Episodes"}


def _views() -> None:
    views, name = st.columns([3, 1], vertical_alignment="center")
    views.segmented_control(
        "View",
        list(state.KINDS),
        key="insights.view",
        required=True,
        format_func=lambda view: f"{_TITLES[view]} {state.insight_service().counts(state.KINDS[view]).total:,}",
        label_visibility="collapsed",
        on_change=_other_view,
    )
    with name:
        name_input("Your name, shown with notes", compact=True)


def _other_view() -> None:
    state.close()
    state.edit(None)
    st.session_state["insights.page"] = 1
    st.session_state["insights.tags"] = []
    st.session_state["insights.sectors"] = []


def draw() -> None:
    """The views, the outcome of the last action, and one item or the list."""
    state.read_url()
    _views()
    state.show_outcome()
    memory = state.open_item()
    if memory is None:
        listing.draw_list(st.session_state["insights.view"])
    else:
        st.button("All of them", icon=":material/arrow_back:", type="tertiary", on_click=state.close)
        listing.draw_cards((memory,))
    state.write_url()


draw()
