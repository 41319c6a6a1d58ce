"""Help: a tour, the glossary, the keys of each page, and the guide."""

import streamlit as st

from pages.components.view_switch import view_switch

_VIEWS = {"tour": "Tour", "glossary": "Glossary", "keys": "Keys", "guide": "Guide"}
"""The views: how the URL names them, and how the switch does."""

_PURPOSES = {
    "tour": "Five steps on the sample library, about ten minutes.",
    "glossary": "What the words on the pages mean. The question marks beside labels show the same meanings.",
    "keys": "What can be done without the mouse. Press ? on any page for its keys.",
    "guide": "How to do each task, and the reference.",
}


def draw() -> None:
    """The page: the switch, what the view is for, and the view."""
    view = view_switch(_VIEWS, "help.view", "view")
    st.caption(_PURPOSES[view])
    match view:
        case "glossary":
            from pages.components.help.guide import draw_glossary

            draw_glossary()
        case "keys":
            from pages.components.help.page_keys import draw_keys

            draw_keys()
        case "guide":
            from pages.components.help.guide import draw_guide

            draw_guide()
        case _:
            from pages.components.help.tour import draw_tour

            draw_tour()


draw()
