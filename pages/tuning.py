"""Tuning: judge what is found, measure profiles with the grades, and improve them – in three numbered rooms."""

import streamlit as st

from pages.components import session
from pages.components.tuning.rooms import choose_view, draw_purpose
from pages.components.user_name import name_input

_PROJECT_WIDTH, _NAME_WIDTH = 260, 230
"""Pixels: so that rooms, project and name fit beside each other from 800 pixels on."""


def draw() -> None:
    """The page: rooms, project, the user's name, and the open view."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        view = choose_view()
        with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
            with st.container(width=_PROJECT_WIDTH):
                project = _project()
            with st.container(width=_NAME_WIDTH):
                name_input("Your name, shown with changes", compact=True)
    draw_purpose(view)
    _draw_view(view, project)


def _project() -> str | None:
    """The project that is worked on; None for the whole library."""
    return st.selectbox(
        "Project",
        session.workbench().upload_queue.projects(),
        index=None,
        key="project",
        bind="query-params",
        placeholder="The whole library",
        icon=":material/folder:",
        label_visibility="collapsed",
    )


def _draw_view(view: str, project: str | None) -> None:
    """Draw the chosen view; its module is imported only then."""
    match view:
        case "judge":
            from pages.components.tuning import judge

            judge.view(project)
        case "measure":
            from pages.components.tuning import measure

            measure.view(project)
        case "optimise":
            from pages.components.tuning import optimise

            optimise.view(project)
        case "threshold":
            from pages.components.tuning import threshold

            threshold.view(project)
        case "profiles":
            from pages.components.tuning import profiles

            profiles.view(project)
        case "classifier":
            from pages.components.tuning import classifier

            classifier.view()
        case _:
            from pages.components.tuning import tune

            tune.view(project)


draw()
