"""The name of the user: asked once per session, stored with every decision, judgment and profile."""

import streamlit as st

__all__ = ["name_input", "who"]


def name_input(help_text: str = "Written into every decision") -> None:
    """Ask for the name; it is stored for the session, on every page."""
    st.text_input(
        "Your name",
        key="person",
        placeholder=help_text,
        icon=":material/person:",
        persist_state="session",
        max_chars=80,
    )


def who() -> str:
    """The name, "" until given."""
    name: str = st.session_state.get("person", "")
    return name.strip()
