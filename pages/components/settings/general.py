"""General settings: the default profile of the library and of each project, what a new search starts with, and the
theme."""

from collections.abc import Sequence

import streamlit as st

from core.domain.filters import SearchFilters
from core.knowledge.glossary import meaning
from core.knowledge.rerankers import rerank_table
from pages.components import session
from pages.components.browser_scripts import browser_component
from pages.components.notices import apply_change, show_outcome
from pages.components.rights import may, refusal
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import plain

__all__ = ["draw_general"]

_AREA = "settings.general"
_FIELD_WIDTH = 320  # pixels: the longest name of a built-in profile with its arrow fits


def draw_general() -> None:
    """Each setting with what it does."""
    show_outcome(_AREA)
    st.markdown("##### Default profile", anchors=False, help=meaning("profile"))
    st.caption(
        "Searches use it unless another profile is chosen. A project without a choice follows the whole library."
    )
    _default_profile(None)
    for project in session.workbench().upload_queue.projects():
        _default_profile(project)
    if not may("evaluation.profiles.choose"):
        st.caption(f":material/lock: {refusal('evaluation.profiles.choose')}")
    elif not who():
        st.caption(":material/person: Enter your name above to change it.")
    st.page_link(
        page_path("tuning"), label="Compare profiles", icon=":material/tune:", query_params={"view": "profiles"}
    )
    _default_reranker()
    _default_filters()
    st.markdown("##### Theme", anchors=False)
    browser_component("fivefold_theme", "settings/theme.js")(
        key=f"{_AREA}.theme", data={"label": "Colours of the pages"}
    )
    st.caption("This browser remembers the choice for you.")


def _default_profile(project: str | None) -> None:
    """The choice for a project, or for the whole library."""
    registry = session.workbench().evaluation.profiles
    names: Sequence[str] = list(registry.choices())
    holds, key = registry.default(project).name, f"{_AREA}.profile.{project or ''}"
    if st.session_state.get(f"{key}.shown") != holds:  # also when it was changed elsewhere
        st.session_state[key] = st.session_state[f"{key}.shown"] = holds
    st.selectbox(
        plain(project or "The whole library"),
        names,
        key=key,
        width=_FIELD_WIDTH,
        on_change=_choose,
        args=(project, key),
        disabled=not may("evaluation.profiles.choose"),
    )


def _default_reranker() -> None:
    """The choice for new searches."""
    st.markdown("##### Default reranker", anchors=False, help=meaning("reranker"))
    st.caption("New searches on the Search page start with it. Links and saved searches keep their own.")
    rows, registry, key = rerank_table().rows, session.workbench().evaluation.profiles, f"{_AREA}.reranker"
    holds = registry.default_reranker()
    if st.session_state.get(f"{key}.shown") != holds:  # also when it was changed elsewhere
        st.session_state[key] = st.session_state[f"{key}.shown"] = holds
    st.selectbox(
        "Default reranker",
        ["", *rows],
        key=key,
        format_func=lambda name: rows[name].label if name else "No reranker",
        label_visibility="collapsed",
        width=_FIELD_WIDTH,
        on_change=_choose_reranker,
        args=(key,),
        disabled=not may("evaluation.profiles.choose_reranker"),
    )


def _choose_reranker(key: str) -> None:
    name, registry = st.session_state[key], session.workbench().evaluation.profiles
    with_it = f"with the reranker {rerank_table().rows[name].label}" if name else "without a reranker"
    if not apply_change(_AREA, lambda: registry.choose_reranker(name, who()), f"New searches start {with_it}."):
        st.session_state[f"{key}.shown"] = None  # the field shows again what holds


def _default_filters() -> None:
    """What a new search starts with, and how to change it."""
    st.markdown("##### Default filters", anchors=False)
    library = session.workbench()
    chosen = library.evaluation.profiles.default_filters()
    if chosen == SearchFilters():
        st.caption(
            "New searches start without filters. To change this, set filters on Search and press *Make default*."
        )
        return
    st.caption("New searches start with these filters. Links and saved searches keep their own.")
    for words in session.filters_in_words(chosen):
        st.markdown(f"- {plain(words)}")
    st.button(
        "Remove default filters", key=f"{_AREA}.filters.remove", icon=":material/close:", on_click=_remove_filters,
        disabled=not who() or not may("evaluation.profiles.choose_filters"),
    )  # fmt: skip


def _remove_filters() -> None:
    registry = session.workbench().evaluation.profiles
    apply_change(_AREA, lambda: registry.choose_filters(SearchFilters(), who()), "New searches start without filters.")


def _choose(project: str | None, key: str) -> None:
    name = st.session_state[key]
    whose = project or "The whole library"
    registry = session.workbench().evaluation.profiles
    message = plain(f"{whose} now searches with {name}.")
    if not apply_change(_AREA, lambda: registry.choose(project, name, who()), message):
        st.session_state[f"{key}.shown"] = ""  # the field shows again what holds
