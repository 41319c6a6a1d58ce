"""The vocabulary: which words tell domains, authorities and jurisdictions here; changes are collected, then saved."""

import streamlit as st

from core.library.vocabulary_check import checked
from core.moments import right_now
from pages.parts.person import who
from pages.parts.settings.vocabulary_library import draw_library
from pages.parts.settings.vocabulary_state import base, desk, did, discard, draft, key, saved, tell, unsaved
from pages.parts.view_switch import view_switch
from pages.parts.wording import ago, count, plain

__all__ = ["draw_vocabulary"]

_VIEWS = {
    "domains": "Domains",
    "authorities": "Authorities",
    "places": "Jurisdictions",
    "try": "Try it",
    "packs": "Packs and files",
    "versions": "Versions",
}
_TOLD = 6  # changes that are told in the bar; the rest is counted


def draw_vocabulary() -> None:
    """What holds, what is not saved yet, and the view one is in."""
    tell()
    _heading()
    _bar()
    draw_library()
    _view(view_switch(_VIEWS, "settings.words", "words"))


def _heading() -> None:
    newest = desk().newest()
    held = "Only the product's own words hold."
    if newest is not None:
        by = f" by {plain(newest.who)}" if newest.who else ""
        why = f" · “{plain(newest.note)}”" if newest.note else ""
        held = f"Version {newest.number}, saved{by} {ago(newest.at, right_now())}{why}."
    st.caption(
        f"**Vocabulary** · the words by which documents are labelled, questions read and coverage counted. {held}"
    )


def _bar() -> None:
    """What is not saved yet, what is wrong with it, and the way to save or drop it."""
    changes = unsaved()
    if not changes:
        return
    findings = checked(draft())
    with st.container(border=True, gap="small"):
        st.markdown(f":material/edit: **{count(len(changes), 'change')} not saved yet**")
        rest = [f"{len(changes) - _TOLD} more"] if len(changes) > _TOLD else []
        st.caption("  \n".join([*(plain(each) for each in changes[:_TOLD]), *rest]))
        if findings.problems:
            st.markdown("  \n".join(f":red[:material/error:] {plain(each)}" for each in findings.problems))
        if fresh := [each for each in findings.notices if each not in checked(desk().words()).notices]:
            st.caption("  \n".join(f":material/info: {plain(each)}" for each in fresh))
        note, save, drop = st.columns([6, 2, 2], vertical_alignment="bottom")
        note.text_input("Why", key=key("note"), placeholder="Why, for those who read the versions", max_chars=200)
        save.button(
            "Save",
            key="settings.save",
            type="primary",
            icon=":material/save:",
            width="stretch",
            disabled=bool(findings.problems),
            on_click=_save,
        )
        drop.button("Discard", key="settings.discard", icon=":material/undo:", width="stretch", on_click=discard)


def _save() -> None:
    words, after, note = draft(), base(), str(st.session_state.get(key("note")) or "")
    if did(lambda: desk().save(words, who=who(), note=note, after=after), f"Version {after + 1} holds from now on."):
        saved()


def _view(view: str) -> None:
    """Each view is read in when it is entered."""
    match view:
        case "authorities":
            from pages.parts.settings.vocabulary_names import draw_authorities

            draw_authorities()
        case "places":
            from pages.parts.settings.vocabulary_places import draw_places

            draw_places()
        case "try":
            from pages.parts.settings.vocabulary_trial import draw_trial

            draw_trial()
        case "packs":
            from pages.parts.settings.vocabulary_files import draw_files

            draw_files()
        case "versions":
            from pages.parts.settings.vocabulary_versions import draw_versions

            draw_versions()
        case _:
            from pages.parts.settings.vocabulary_domains import draw_domains

            draw_domains()
