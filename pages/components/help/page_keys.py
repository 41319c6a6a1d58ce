"""The keys of each page: listed on Help, and shown over the open page by the key "?"."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from pages.components.urls import page_path
from pages.components.wording import plain

__all__ = ["ask_for_keys", "draw_keys", "draw_keys_if_asked", "keys_of"]

_ASKED = "help.keys.asked"
"""Session key: whether "?" was pressed."""

_EVERY_PAGE = "Every page"

Keys = Sequence[tuple[str, str]]
"""Each key with what it does."""


@cache
def _all_keys() -> Mapping[str, Keys]:
    """Title of a page → its keys, in the order of the file."""
    read = tomllib.loads(Path(__file__).with_name("keys.toml").read_text("utf-8"))
    return {page["title"]: [(key, does) for key, does in page["keys"]] for page in read["pages"]}


def keys_of(title: str) -> Keys:
    """The keys that act on a page: its own, then those of every page that it does not use itself."""
    own = _all_keys().get(title, [])
    used = {key for key, _ in own}
    return [*own, *(each for each in _all_keys()[_EVERY_PAGE] if each[0] not in used)]


def draw_keys() -> None:
    """The keys of all pages."""
    with st.grid("auto", min_column_width=270, gap="large"):
        for title, keys in _all_keys().items():
            with st.container(gap="xsmall"):
                st.markdown(f"##### {title}", anchors=False)
                _draw(keys)
    st.caption("Keys do nothing while you type in a field.")


def draw_keys_if_asked(title: str) -> None:
    """Show the keys of the page over it after "?" was pressed."""
    if st.session_state.pop(_ASKED, False):
        _open(title)


def ask_for_keys() -> None:
    """Show the keys when the page is drawn next; a callback of the key "?"."""
    st.session_state[_ASKED] = True


@st.dialog("Keys")
def _open(title: str) -> None:
    _draw(keys_of(title))
    st.page_link(page_path("help"), label="All help", icon=":material/help:", query_params={"view": "keys"})


def _draw(keys: Keys) -> None:
    rows = [{"Key": " ".join(f"`{key}`" for key in each.split()), "Does": plain(does)} for each, does in keys]
    st.table(rows, border="horizontal", hide_index=True, hide_header=True)
