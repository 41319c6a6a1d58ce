"""A switch between the views of a page; the URL names the open view."""

from collections.abc import Mapping

import streamlit as st

from pages.components import urls

__all__ = ["view_switch"]


def view_switch(views: Mapping[str, str], key: str, param: str, first: str = "") -> str:
    """The view, as the URL says it; a link or a button elsewhere on the page may have changed it there.

    views: name in the URL → words on the switch. key: of the switch. param: of the URL. first: the view
    that is open by default, "" for the first on the switch.
    """
    state, usual = st.session_state, first or next(iter(views))
    name = st.query_params.get(param, usual)
    known = name if name in views else usual
    if state.get(key) not in views or urls.is_new_request(key, name):
        state[key] = known
    view: str = (
        st.segmented_control(
            "View",
            list(views),
            key=key,
            required=True,
            format_func=views.__getitem__,
            label_visibility="collapsed",
        )
        or known
    )  # a run that is broken off may leave none chosen
    urls.record(key, view)
    if view != name:
        st.query_params[param] = view
    return view
