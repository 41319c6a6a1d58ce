"""Settings of this workspace. Each part has its own file in pages/components/settings."""

import streamlit as st

from core.domain.people import Role
from pages.components import session
from pages.components.user_name import name_input
from pages.components.view_switch import view_switch

_PARTS = {
    "general": "General",
    "models": "Models",
    "notifications": "Notifications",
    "storage": "Storage",
    "vocabulary": "Vocabulary",
    "people": "People",
    "tokens": "API tokens",
    "audit": "Audit log",
}
"""The parts: how the URL names them, and how the switch does."""

_FOR_ADMINISTRATORS = ("people", "audit")

_ALIASES = {"Vocabulary": "vocabulary", "Embedding model": "models", "model": "models"}
"""How older links name a part."""

_NAME_WIDTH = 230  # pixels: beside the switch from 800 pixels on


def draw() -> None:
    """The page: the chosen part, and the user's name."""
    params = st.query_params
    if params.get("part", "") in _ALIASES:
        params["part"] = _ALIASES[params["part"]]
    first = "vocabulary" if "words" in params or "domain" in params else "general"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        part = view_switch(_parts(), "settings.part", "part", first)
        with st.container(width=_NAME_WIDTH):
            name_input("Your name, shown with changes", compact=True)
    _draw_part(part)


# Long: one part after the other. Each is imported only when it is drawn.
def _draw_part(part: str) -> None:
    match part:
        case "models":
            from pages.components.settings.installed import draw_models

            draw_models()
        case "notifications":
            from pages.components.settings.notifications import draw_notifications

            draw_notifications()
        case "storage":
            from pages.components.settings.installed import draw_storage

            draw_storage()
        case "vocabulary":
            from pages.components.settings.vocabulary import draw_vocabulary

            draw_vocabulary()
        case "people":
            from pages.components.settings.people import draw_people

            draw_people()
        case "tokens":
            from pages.components.settings.tokens import draw_tokens

            draw_tokens()
        case "audit":
            from pages.components.settings.audit_log import draw_audit_log

            draw_audit_log()
        case _:
            from pages.components.settings.general import draw_general

            draw_general()


def _parts() -> dict[str, str]:
    """The parts this person may see."""
    manages = session.principal().role_in(None) is Role.ADMINISTRATOR
    return {key: title for key, title in _PARTS.items() if manages or key not in _FOR_ADMINISTRATORS}


draw()
