"""Words from elsewhere: packs the project wrote, and files in and out."""

import streamlit as st

from core.errors import FivefoldError
from core.library.vocabulary_edits import differences, joined
from core.library.vocabulary_packs import Pack, packs
from core.library.vocabulary_text import from_file, to_csv, to_toml
from core.vocabulary import Vocabulary
from pages.parts import notices
from pages.parts.settings.vocabulary_state import change, draft, key
from pages.parts.wording import count, plain

__all__ = ["draw_files"]

_SHOWN = 8  # words of a pack
_TOLD = 12  # changes of a file


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


def _pack(pack: Pack) -> None:
    both = joined(draft(), pack.vocabulary)
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
    both = joined(draft(), brought)
    found = differences(draft(), both)
    st.markdown(f"**{plain(given.name)}** brings {count(len(found), 'change')}")
    rest = [f"{len(found) - _TOLD} more"] if len(found) > _TOLD else []
    st.caption("  \n".join([*(plain(each) for each in found[:_TOLD]), *rest]))
    with st.container(horizontal=True, gap="small"):
        st.button("Add them", key=key("take"), type="primary", icon=":material/add:", disabled=not found,
                  on_click=change, args=(both,))  # fmt: skip
        st.button(
            "Replace everything by the file", key=key("replace"), icon=":material/swap_horiz:", type="tertiary",
            help="Words of yours that the file does not have go.", on_click=change, args=(brought,),
            disabled=brought == draft(),
        )  # fmt: skip
