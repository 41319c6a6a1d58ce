"""The choice of a project on pages that show one project or the whole library."""

from collections.abc import Callable, Iterable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components import notices, session
from pages.components.wording import shorten_middle

__all__ = ["project_choice"]


def project_choice(
    place: DeltaGenerator, used: Iterable[str | None], on_change: Callable[[], None] | None = None
) -> str | None:
    """The chosen project, which the address names; None for the whole library. used: projects that this page has
    something of, beside those of documents. A project of the address that is not there is named in a notice."""
    known = {*filter(None, used), *session.workbench().upload_queue.projects()}
    named = st.query_params.get("project", "")  # the choice takes a value that it does not have out of the address
    chosen: str | None = place.selectbox(
        "Project",
        sorted(known),
        index=None,
        key="project",
        bind="query-params",
        placeholder="The whole library",
        icon=":material/folder:",
        on_change=on_change,
        label_visibility="collapsed",
    )
    if named and named not in known:
        notices.degraded(
            [f"There is no project “{shorten_middle(named, 60)}” here, so this page shows the whole library."]
        )
    return chosen
