"""Saving a profile in one row: its name, a note, and a button. Used by Sliders, Optimise and Threshold."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.queries import ScoreProfile
from pages.components import notices, rights
from pages.components.tuning.state import evaluation_service
from pages.components.user_name import who
from pages.components.wording import plain

__all__ = ["draw_save", "suggested_name"]

_MOST_NAME, _MOST_NOTE = 60, 300
"""Characters: as the registry takes them."""


def suggested_name(base: str, versions: Mapping[str, int]) -> str:
    """The name offered: the base's own if it is one of the user's profiles, else a free one made from it.

    versions: names of the user's profiles → their newest versions.

    >>> suggested_name("mine", {"mine": 2}), suggested_name("balanced", {}), suggested_name("balanced", {
    ...     "Balanced tuned": 1})
    ('mine', 'balanced tuned', 'balanced tuned 2')
    """
    if base in versions:
        return base
    taken, name, number = {each.casefold() for each in versions}, f"{base} tuned", 1
    while name.casefold() in taken:
        number += 1
        name = f"{base} tuned {number}"
    return name


def draw_save(
    made: ScoreProfile,
    base: ScoreProfile,
    key: str,
    label: str = "Save",
    *,
    note: str = "",
    ready: bool = True,
    on_saved: Callable[[ScoreProfile], None],
) -> None:
    """The row that saves `made` with its origin `base`; Enter in a field saves too.

    note: offered as the reason. ready: whether it may be saved yet. on_saved: called with the saved profile.
    """
    versions = {each.name: each.version for each in evaluation_service().profiles.choices().values() if each.version}
    _offer_name(base, versions, key, note)
    with st.form(f"{key}.form", border=False):
        name, why, press = st.columns([5, 5, 3], vertical_alignment="bottom")
        name.text_input("Save as", key=f"{key}.name", max_chars=_MOST_NAME, persist_state="page")
        why.text_input("Note", key=f"{key}.note", placeholder="Why", max_chars=_MOST_NOTE, persist_state="page")
        rights.submit_button(
            "evaluation.profiles.save",
            label, key=f"{key}.save", type="primary", icon=":material/save:", width="stretch", disabled=not ready,
            on_click=_save, args=(made, base, key, versions, on_saved), on=press,
        )  # fmt: skip
    hints = (
        [f"It becomes version {versions[base.name] + 1} of **{plain(base.name)}**."] if base.name in versions else []
    )
    hints += [] if who() else [":material/person: Enter your name above first."]
    if hints:
        st.caption(" ".join(hints))
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)
    _draw_clash(made, base, key, versions, on_saved)


def _offer_name(base: ScoreProfile, versions: Mapping[str, int], key: str, note: str) -> None:
    """Fill in name and note when another profile or another result is about to be saved."""
    state, about = st.session_state, (base.ref, note)
    if state.get(f"{key}.about") != about:
        state[f"{key}.about"] = about
        state[f"{key}.name"], state[f"{key}.note"] = suggested_name(base.name, versions), note[:_MOST_NOTE]
        state.pop(f"{key}.clash", None)


def _draw_clash(
    made: ScoreProfile,
    base: ScoreProfile,
    key: str,
    versions: Mapping[str, int],
    on_saved: Callable[[ScoreProfile], None],
) -> None:
    """The question whether another profile of this name is meant."""
    known: str = st.session_state.get(f"{key}.clash", "")
    if known not in versions:
        return
    st.warning(
        f"**There is another profile named {plain(known)}.** Save this as its next version, or choose another name.",
        icon=":material/content_copy:",
    )
    rights.button(
        "evaluation.profiles.save",
        f"Save as version {versions[known] + 1} of {plain(known)}", key=f"{key}.version", icon=":material/save:",
        on_click=_save, args=(made, base, key, versions, on_saved), kwargs={"agreed": known},
    )  # fmt: skip


def _save(
    made: ScoreProfile,
    base: ScoreProfile,
    key: str,
    versions: Mapping[str, int],
    on_saved: Callable[[ScoreProfile], None],
    *,
    agreed: str = "",
) -> None:
    """Save under the name in the field. versions: when it was drawn. agreed: another profile that was agreed to."""
    state = st.session_state
    name, note = ((state[f"{key}.{field}"] or "").strip() for field in ("name", "note"))
    known = next((each for each in versions if each.casefold() == name.casefold()), "")
    if known and known not in (base.name, agreed):
        state[f"{key}.clash"] = known
        return
    try:
        saved = evaluation_service().profiles.save(
            replace(made, name=name), who(), note=note, origin=base.ref, after=versions.get(known, 0)
        )
    except FivefoldError as problem:
        state[f"{key}.problem"] = problem
        return
    for field in ("about", "clash"):
        state.pop(f"{key}.{field}", None)
    on_saved(saved.profile)
