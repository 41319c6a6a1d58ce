"""What was found, kept as a profile: the next version of the base, or a new one of a base that never changes."""

from dataclasses import replace

import streamlit as st

from core.queries import ScoreProfile
from pages.parts.person import who
from pages.parts.tuning.lab_state import did, go, tuning
from pages.parts.wording import plain

__all__ = ["keep"]

_SAVED = "lab.saved"


def keep(made: ScoreProfile, base: ScoreProfile, note: str, key: str, label: str, *, ready: bool = True) -> None:
    """A button that saves `made` with where it comes from and why; a field for its name when the base is built in or
    was put aside. Afterwards it says how to go back.

    note: why, kept beside the version. ready: whether it may be saved yet.
    """
    book = tuning().profiles
    past = book.versions(base.name)
    own = bool(past) and not past[0].retired
    with st.container(horizontal=True, vertical_alignment="center" if own else "bottom"):
        if own:
            name = base.name
            st.caption(f"It becomes version {past[0].profile.version + 1} of **{plain(name)}**.", width="content")
        else:
            name = st.text_input(
                "Name", key=f"{key}.name", placeholder=f"{base.name} tuned", max_chars=60, width=260,
                help=f"{base.name} does not change, so what was found becomes a profile of your own.",
            ).strip()  # fmt: skip
        st.button(
            label,
            key=f"{key}.save",
            type="primary",
            icon=":material/save:",
            disabled=not (ready and name),
            on_click=_save,
            args=(replace(made, name=name), base, note, key),
        )
    _saved(key)


def _save(made: ScoreProfile, base: ScoreProfile, note: str, key: str) -> None:
    def work() -> None:
        book = tuning().profiles
        past = book.versions(made.name)
        saved = book.save(made, who(), note=note, origin=base.ref, after=past[0].profile.version if past else 0)
        st.session_state[_SAVED] = (key, saved.profile.ref)

    did(work)


def _saved(key: str) -> None:
    """What was just saved, and where it can be taken back or made the default."""
    about, ref = st.session_state.get(_SAVED, ("", ""))
    if about != key:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(
            f"Saved as **{plain(ref)}**. In *Profiles* it can be made the default, compared, and rolled back.",
            icon=":material/check:",
        )
        if st.button("Open in Profiles", key=f"{key}.open", icon=":material/history:"):
            go("profiles", profile=ref)
            st.rerun()  # also from within a fragment
