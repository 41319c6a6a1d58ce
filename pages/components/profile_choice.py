"""The choice of the score profile: the default of the project, or a chosen one."""

import streamlit as st

from pages.components import session

__all__ = ["profile_choice"]


def profile_choice(key: str, project: str | None) -> str:
    """A choice among all profiles, "" being the default; a version that a link names stays in the choice.

    What session state holds under `key` and is no profile (any more) becomes the default, and is given back; else "".
    """
    book = session.workbench().evaluation.profiles
    offered, chosen = ["", *book.choices()], st.session_state.get(key) or ""
    if chosen not in offered and chosen in book.every():
        offered.append(chosen)
    gone = "" if chosen in offered else chosen
    if gone:
        st.session_state[key] = ""
    default = book.default(project).ref
    st.selectbox(
        "Profile",
        offered,
        key=key,
        format_func=lambda ref: ref or f"Default: {default}",
        help="How results are scored. Profiles are made and chosen on Tuning.",
    )
    return gone
