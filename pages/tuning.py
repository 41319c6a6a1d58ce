"""Tuning: what each number of a score does, and whether a change improves results – tried, judged, measured, saved."""

import streamlit as st

from pages.components import session
from pages.components.user_name import name_input
from pages.components.view_switch import view_switch

_VIEWS = {
    "tune": "Tune",
    "judge": "Judge",
    "measure": "Measure",
    "optimise": "Optimise",
    "threshold": "Threshold",
    "profiles": "Profiles",
    "classifier": "Classifier",
}
"""The views: how the URL names them, and how the switch does."""


def draw() -> None:
    """The page: project, the user's name, and the chosen view."""
    title, whose, name = st.columns([2, 4, 3], vertical_alignment="bottom")
    title.subheader("Tuning", anchor=False)
    known = {each.project for each in session.workbench().documents.list()}
    project = whose.selectbox(
        "Project",
        sorted(each for each in known if each),
        index=None,
        key="project",
        bind="query-params",
        placeholder="The whole library",
        icon=":material/folder:",
    )
    with name:
        name_input("Written into what you keep")
    _draw_view(view_switch(_VIEWS, "tuning.view", "view"), project)


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
