"""The name written into decisions, judgments and notes: of the person signed in, or typed and kept in the browser."""

from urllib.parse import unquote

import streamlit as st

from pages.components.browser_scripts import browser_component

__all__ = ["SIGNED_IN", "give_name", "keep_in_browser", "name_input", "restore_name", "typed_name", "who"]

SIGNED_IN = "signed_in.person"
"""The session's key of the person who signed in, with the time of the last check; `sign_in` writes it."""

_COOKIE = "fivefold_name"  # browser_memory.js writes it
_RESTORED = "person.restored"
_GIVEN = "person.given"
_LONGEST = 80  # characters


def name_input(help_text: str = "Written into every decision", *, compact: bool = False) -> None:
    """Ask for the name; it is stored for the session, on every page. Nothing is asked of somebody who signed in.

    compact: without its label in sight, for the line above a page; help_text then names the field, too.
    """
    if _signed_in_name():
        return
    st.text_input(
        "Your name",
        _restored(),
        key="person",
        placeholder=help_text,
        label_visibility="collapsed" if compact else "visible",
        icon=":material/person:",
        persist_state="session",
        max_chars=_LONGEST,
    )


def who() -> str:
    """The name of the person who signed in, or the one typed; "" until given."""
    return _signed_in_name() or typed_name()


def typed_name() -> str:
    """The name that was typed, "" until given."""
    typed: str = st.session_state.get("person", _restored())
    given: str = st.session_state.get(_GIVEN, "")
    return typed.strip() or given.strip()


def give_name(name: str) -> None:
    """Take a name that was typed in a form of its own; one typed into `name_input` replaces it."""
    st.session_state[_GIVEN] = name[:_LONGEST]


def restore_name() -> None:
    """Take up the name that this browser kept; called when a session begins."""
    if _RESTORED not in st.session_state:
        st.session_state[_RESTORED] = unquote(st.context.cookies.get(_COOKIE, ""))[:_LONGEST]


def _restored() -> str:
    """The name that the session began with. It is the field's default, which every run sends: a value that is set once
    can be overtaken by the next run and not be shown."""
    name: str = st.session_state.get(_RESTORED, "")
    return name


def keep_in_browser() -> None:
    """Keep the typed name in this browser for the next visit, and whose theme it uses."""
    _, person = st.session_state.get(SIGNED_IN, (0.0, None))
    data = {"name": typed_name(), "person": "" if person is None else person.login}
    browser_component("fivefold_memory", "browser_memory.js")(key="browser_memory", data=data)


def _signed_in_name() -> str:
    """The name of the person who signed in; "" without sign-in."""
    _, person = st.session_state.get(SIGNED_IN, (0.0, None))
    return "" if person is None else str(person.name)
