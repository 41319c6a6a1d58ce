"""Profiles as files: export of all as TOML, and import with a preview before saving."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.domain.errors import BadRequest, FivefoldError
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileDraft, from_toml, to_toml
from pages.components import notices
from pages.components.tuning.profile_history import book, did
from pages.components.tuning.profile_styles import difference_rows, strip
from pages.components.user_name import who
from pages.components.wording import count, plain

__all__ = ["files"]


def files() -> None:
    """Out at the left, in at the right; below, what a file would do."""
    st.markdown("**Files**")
    out, into = st.columns([4, 7], gap="large")
    with out:
        _out()
    round_ = st.session_state.setdefault("tuning.profiles.round", 0)
    given = into.file_uploader(
        "Import profiles from TOML", type=["toml"], key=f"tuning.profiles.file.{round_}", max_upload_size=1
    )
    if given is not None:
        try:
            brought = from_toml(given.getvalue(), given.name)
        except FivefoldError as problem:
            notices.error(problem)
            return
        _preview(tuple(brought.values()), given.name)


def _out() -> None:
    choices = book().choices()
    own = [profile for profile in choices.values() if profile.version]
    st.caption("Exported in their newest versions; a diff shows what changed, and every library can take them in.")
    with st.container(horizontal=True, gap="small"):
        if own:
            st.download_button(
                f"Your own ({len(own)})", lambda: to_toml(own), "profiles.toml", "application/toml",
                key="tuning.profiles.out.own", icon=":material/download:", on_click="ignore",
            )  # fmt: skip
        st.download_button(
            f"All ({len(choices)})", lambda: to_toml(choices.values()), "all profiles.toml", "application/toml",
            key="tuning.profiles.out.all", icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def _preview(brought: Sequence[ScoreProfile], file: str) -> None:
    """One box per profile of the file, and one button that saves what is ticked."""
    shown = _proposals(brought)
    worth = [each for each in shown if each.worth_saving]
    st.markdown(f"**{plain(file)}** holds {count(len(shown), 'profile')}, {len(worth)} of them worth saving")
    for number, proposal in enumerate(shown):
        with st.container(border=True, gap="small"):
            _proposal(number, brought[number].name, proposal)
    ticked = sum(each.worth_saving and _ticked(number) for number, each in enumerate(shown))
    st.button(
        f"Save {count(ticked, 'profile')}", key="tuning.profiles.import", type="primary", icon=":material/save:",
        disabled=not ticked, on_click=_import, args=(brought, shown, file),
    )  # fmt: skip


def _key(number: int, what: str) -> str:
    return f"tuning.profiles.{what}.{st.session_state['tuning.profiles.round']}.{number}"


def _ticked(number: int) -> bool:
    return bool(st.session_state.get(_key(number, "take")))


def _proposals(brought: Sequence[ScoreProfile]) -> tuple[ProfileDraft, ...]:
    """What saving would do, under the names that are typed beside them."""
    typed = [st.session_state.get(_key(number, "name"), each.name) for number, each in enumerate(brought)]
    return book().proposals(replace(each, name=name) for each, name in zip(brought, typed, strict=True))


def _proposal(number: int, name: str, proposal: ProfileDraft) -> None:
    take, called, does = st.columns([2, 6, 6], vertical_alignment="center")
    take.checkbox("Save as", value=proposal.worth_saving, key=_key(number, "take"), disabled=not proposal.worth_saving)
    called.text_input(
        "Name to save it under", value=name, key=_key(number, "name"), max_chars=60, label_visibility="collapsed"
    )
    words, colour = _effect(proposal)
    does.badge(words, color=colour)  # type: ignore[arg-type]
    if proposal.problem:
        st.caption(f":material/error: {plain(proposal.problem)}")
    elif proposal.known is None:
        with st.columns([2, 6, 6])[1]:
            strip(proposal.profile)
    elif proposal.differences:
        rows = difference_rows(proposal.differences, "Now", "In the file")
        st.dataframe(rows, key=_key(number, "table"), hide_index=True, height="content")


def _effect(proposal: ProfileDraft) -> tuple[str, str]:
    """What saving it would do in a few words, and their colour."""
    if proposal.problem:
        return "cannot be saved", "orange"
    if proposal.known is None:
        return ("comes back" if proposal.after else "new"), "green"
    if not proposal.differences:
        return f"says what {plain(proposal.known.ref)} says", "gray"
    return f"version {proposal.after + 1}, {count(len(proposal.differences), 'change')}", "blue"


def _import(brought: Sequence[ScoreProfile], shown: Sequence[ProfileDraft], file: str) -> None:
    """Save what is ticked as it was shown; a name typed since is looked at first."""
    kept: list[str] = []

    def work() -> None:
        if [each.profile.name for each in _proposals(brought)] != [each.profile.name for each in shown]:
            raise BadRequest("A name was changed since.", "Look at what it would do now, then save.")
        for number, each in enumerate(shown):
            if each.worth_saving and _ticked(number):
                note = f"Imported from {file}."
                kept.append(book().save(each.profile, who(), note=note, after=each.after).profile.ref)
        st.session_state["tuning.profiles.round"] += 1

    did(work, "")
    if kept:
        st.session_state["tuning.profiles.said"] = plain(f"Saved {', '.join(kept)}.")
