"""Settings of this workspace. Each part has its own file in pages/components/settings."""

import streamlit as st

from pages.components.user_name import name_input

_PARTS = {"vocabulary": "Vocabulary", "model": "Embedding model"}
"""The parts: how the URL names them, and how the switch does."""


def draw() -> None:
    """The page: the user's name, and the chosen part."""
    title, name = st.columns([6, 3], vertical_alignment="bottom")
    title.subheader("Settings", anchor=False)
    with name:
        name_input("Written into what you save")
    part = st.segmented_control(
        "Part",
        list(_PARTS),
        default="vocabulary",
        required=True,
        key="part",
        bind="query-params",
        format_func=_PARTS.__getitem__,
        label_visibility="collapsed",
    )
    match part:
        case "model":
            from pages.components.settings.embedding_model import draw_embedding_model

            draw_embedding_model()
        case _:
            from pages.components.settings.vocabulary import draw_vocabulary

            draw_vocabulary()


draw()
