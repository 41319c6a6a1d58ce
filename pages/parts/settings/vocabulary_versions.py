"""Versions: who changed which words when and why, and the way back to any."""

from itertools import pairwise

import streamlit as st

from core.library.vocabulary_edits import differences
from core.vocabulary import BUILT_IN, Vocabulary, VocabularyVersion
from pages.parts import notices
from pages.parts.person import who
from pages.parts.settings.vocabulary_state import desk, did, saved
from pages.parts.wording import day, plain

__all__ = ["draw_versions"]

_LISTED = 12
_TOLD = 8  # changes of one version


def draw_versions() -> None:
    """Newest first; the last line is what the product came with."""
    past = desk().versions()
    if not past:
        notices.empty(
            ":material/history:",
            "Nothing has been saved yet",
            "Change a word under *Domains*, or add a pack; each save is a version one can come back to.",
        )
        return
    every = len(past) > _LISTED and st.toggle(f"Show all {len(past)} versions", key="settings.versions.all")
    older = [(new, old.vocabulary) for new, old in pairwise(past)]
    pairs = [*older, (past[-1], BUILT_IN)]
    newest = past[0]
    for version, before in pairs if every else pairs[:_LISTED]:
        _version(version, before, newest)
    if newest.vocabulary != BUILT_IN:
        with st.container(border=True, gap="xsmall"):
            st.markdown("**The product's own words** :gray[· as it came]")
            _restore(0, newest)


def _version(version: VocabularyVersion, before: Vocabulary, newest: VocabularyVersion) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Version {version.number}**", width="content")
            if version is newest:
                st.badge("holds", icon=":material/check:", color="blue")
        said = f"{plain(version.who or 'somebody')}, {day(version.at)} {version.at:%H:%M}"
        st.markdown(said + (f" · “{plain(version.note)}”" if version.note else ""))
        found = differences(before, version.vocabulary)
        rest = [f"{len(found) - _TOLD} more"] if len(found) > _TOLD else []
        st.caption("  \n".join([*(plain(each) for each in found[:_TOLD]), *rest]))
        if version is not newest and version.vocabulary != newest.vocabulary:
            _restore(version.number, newest)


def _restore(number: int, newest: VocabularyVersion) -> None:
    st.button(
        "Restore", key=f"settings.restore.{number}", type="tertiary", icon=":material/settings_backup_restore:",
        help="Saves these words again as the newest version; nothing is lost.",
        on_click=_restored, args=(number, newest.number),
    )  # fmt: skip


def _restored(number: int, after: int) -> None:
    named = f"version {number}" if number else "the product"
    if did(lambda: desk().restore(number, who=who(), after=after), f"Version {after + 1} says what {named} says."):
        saved()
