"""Vocabulary packs, import and export files, and the saved versions."""

from itertools import pairwise

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.library.vocabulary.edits import differences, merge_vocabularies
from core.library.vocabulary.store import VocabularyVersion
from core.library.vocabulary.toml_csv import VocabularyPack, from_file, packs, to_csv, to_toml
from pages.components import notices
from pages.components.settings.vocabulary_state import change, desk, did, draft, key, saved
from pages.components.user_name import who
from pages.components.wording import count, day, plain

__all__ = ["draw_files", "draw_versions"]

_SHOWN = 8  # words of a pack

_FILE_CHANGES_SHOWN = 12  # changes of a file


def draw_files() -> None:
    """The packs side by side, then files in and out."""
    st.markdown("**Packs**")
    st.caption("Added to your changes, to be looked at, tried and saved; you can edit them like words of your own.")
    for column, pack in zip(st.columns(len(packs())), packs().values(), strict=True):
        with column:
            _pack(pack)
    st.markdown("**Files**")
    out, into = st.columns([4, 7], gap="large")
    with out:
        _out()
    with into:
        _in()


def _pack(pack: VocabularyPack) -> None:
    both = merge_vocabularies(draft(), pack.vocabulary)
    words = [word for domain in pack.vocabulary.domains for word in domain.keywords]
    with st.container(border=True, gap="small", height="stretch", vertical_alignment="distribute"):
        with st.container(gap="small"):
            st.markdown(f"**{plain(pack.title)}**")
            st.markdown(plain(pack.about))
            st.caption(plain(f"{', '.join(words[:_SHOWN])} and {len(words) - _SHOWN} more words"))
        held = both == draft()
        st.button(
            "Is there" if held else "Add", key=f"settings.pack.{pack.name}", disabled=held,
            icon=":material/check:" if held else ":material/add:", on_click=change, args=(both,),
        )  # fmt: skip


def _out() -> None:
    st.caption("What your workspace adds and changes, with what is not saved yet. Others can import it.")
    with st.container(horizontal=True, gap="small"):
        words = draft()
        st.download_button(
            "TOML", lambda: to_toml(words), "vocabulary.toml", "application/toml", key="settings.out.toml",
            icon=":material/download:", on_click="ignore", disabled=words == Vocabulary(),
        )  # fmt: skip
        st.download_button(
            "CSV", lambda: to_csv(words), "vocabulary.csv", "text/csv", key="settings.out.csv",
            icon=":material/download:", on_click="ignore", disabled=words == Vocabulary(),
        )  # fmt: skip


def _in() -> None:
    given = st.file_uploader("Import words", type=["toml", "csv"], key=key("file"), max_upload_size=2)
    if given is None:
        return
    try:
        brought = from_file(given.getvalue(), given.name)
    except FivefoldError as problem:
        notices.error(problem)
        return
    both = merge_vocabularies(draft(), brought)
    found = differences(draft(), both)
    st.markdown(f"**{plain(given.name)}** brings {count(len(found), 'change')}")
    rest = [f"{len(found) - _FILE_CHANGES_SHOWN} more"] if len(found) > _FILE_CHANGES_SHOWN else []
    st.caption("  \n".join([*(plain(each) for each in found[:_FILE_CHANGES_SHOWN]), *rest]))
    with st.container(horizontal=True, gap="small"):
        st.button("Add them", key=key("take"), type="primary", icon=":material/add:", disabled=not found,
                  on_click=change, args=(both,))  # fmt: skip
        st.button(
            "Replace everything by the file", key=key("replace"), icon=":material/swap_horiz:", type="tertiary",
            help="Words of yours that the file does not have go.", on_click=change, args=(brought,),
            disabled=brought == draft(),
        )  # fmt: skip


_LISTED = 12

_VERSION_CHANGES_SHOWN = 8  # changes of one version


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
        rest = [f"{len(found) - _VERSION_CHANGES_SHOWN} more"] if len(found) > _VERSION_CHANGES_SHOWN else []
        st.caption("  \n".join([*(plain(each) for each in found[:_VERSION_CHANGES_SHOWN]), *rest]))
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
