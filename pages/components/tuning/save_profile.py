"""Saving a trial or optimised profile: its name, changes and author; then making it the default."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.queries import ScoreProfile, SearchRequest
from core.evaluation.tuning.profile_registry import differences
from pages.components import notices
from pages.components.tuning import state
from pages.components.tuning.experiment_state import did, go, tuning
from pages.components.tuning.profile_styles import difference_rows
from pages.components.urls import page_path, params_of
from pages.components.user_name import who
from pages.components.wording import count, plain

__all__ = ["keep", "kept", "saving"]

_SAVED_KEY = "lab.saved"


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
            on_click=_save_made,
            args=(replace(made, name=name), base, note, key),
        )
    _saved(key)


def _save_made(made: ScoreProfile, base: ScoreProfile, note: str, key: str) -> None:
    def work() -> None:
        book = tuning().profiles
        past = book.versions(made.name)
        saved = book.save(made, who(), note=note, origin=base.ref, after=past[0].profile.version if past else 0)
        st.session_state[_SAVED_KEY] = (key, saved.profile.ref)

    did(work)


def _saved(key: str) -> None:
    """What was just saved, and where it can be taken back or made the default."""
    about, ref = st.session_state.get(_SAVED_KEY, ("", ""))
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


_LISTED, _HEIGHT = 6, 230


def saving(base: ScoreProfile, trial: ScoreProfile) -> None:
    """As what, in whose name, and what would be saved."""
    own = {each.name: each.version for each in state.desk().profiles.choices().values() if each.version}
    st.session_state.setdefault("tune.save.name", base.name if base.name in own else "")
    called, why = st.columns(2)
    name = called.text_input(
        "Save as", key="tune.save.name", placeholder="A new name, or your own", max_chars=60, persist_state="page"
    )
    why.text_input("Note", key="tune.save.note", placeholder="Why", max_chars=300, persist_state="page")
    known = next((each for each in own if each.casefold() == (name or "").strip().casefold()), None)
    said = [f"Becomes version {own[known] + 1} of {plain(known)}."] if known is not None else []
    said += [f"Your own: {plain(', '.join(own))}."] if own and known is None else []
    said += [f"In the name of {plain(who())}." if who() else ":material/person: Say who you are, above."]
    st.caption(" ".join(said))
    found = differences(base, trial)
    st.markdown(f"**{count(len(found), 'change')}** to {plain(state.called(base))}")
    rows = difference_rows(found, state.called(base), trial.name)
    st.dataframe(rows, key="tune.save.changes", hide_index=True, height="content" if len(rows) <= _LISTED else _HEIGHT)
    if problem := st.session_state.pop("tune.save.problem", None):
        notices.error(problem)
    st.button(
        "Save", key="tune.save.now", type="primary", icon=":material/save:", on_click=_save, args=(trial, base, own)
    )


def _save(trial: ScoreProfile, base: ScoreProfile, seen: Mapping[str, int]) -> None:
    """Save under the name in the field; seen: the versions of the own profiles when that was drawn."""
    session = st.session_state
    name, note = ((session[f"tune.save.{field}"] or "").strip() for field in ("name", "note"))
    after = next((version for known, version in seen.items() if known.casefold() == name.casefold()), 0)
    try:
        book = state.desk().profiles
        saved = book.save(replace(trial, name=name), who(), note=note, origin=base.ref, after=after).profile
    except FivefoldError as problem:
        session["tune.save.problem"] = problem
        return
    state.moved(base, {})
    state.restart(saved, {})
    session["tune.base"], session["tune.save"], session["tune.again"] = saved.ref, False, True
    session["tune.said"] = plain(f"Saved as {saved.ref}.")
    for field in ("name", "note"):
        del session[f"tune.save.{field}"]


def kept(base: ScoreProfile, project: str | None, request: SearchRequest) -> None:
    """What can be done with a profile on which nothing is tried: search with it, by default or now."""
    book = state.desk().profiles
    if book.choices().get(base.name) != base:
        st.caption(f"{plain(state.called(base))} is not the newest version; searches use the newest.")
        return
    open_to = [whose for whose in dict.fromkeys((project, None)) if book.default(whose) != base]
    if open_to:
        with st.popover("Make default", icon=":material/star:"):
            for whose in open_to:
                st.button(
                    f"For {plain(whose or 'the whole library')}", key=f"tune.default.{whose or ''}", width="stretch",
                    on_click=_choose, args=(whose, base.name),
                )  # fmt: skip
            st.caption(f"In the name of {plain(who())}." if who() else ":material/person: Say who you are, above.")
    else:
        st.badge(f"default of {plain(project or 'the library')}", icon=":material/star:", color="primary")
    st.page_link(
        page_path("search"),
        label="Search with it",
        icon=":material/search:",
        query_params=params_of(replace(request, profile=base.name)),
    )


def _choose(project: str | None, name: str) -> None:
    st.session_state["tune.again"] = True
    try:
        state.desk().profiles.choose(project, name, who())
    except FivefoldError as problem:
        state.problem(problem)
    else:
        st.session_state["tune.said"] = plain(f"{project or 'The whole library'} searches with {name} now.")
