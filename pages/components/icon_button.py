"""A button that shows an icon alone; its words are its name for screen readers, and a tooltip."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

__all__ = ["KEY", "icon_button"]

KEY = "icon."
"""How the keys of such buttons begin: frame.css hides the words of what is named so."""


def icon_button(
    icon: str,
    words: str,
    key: str,
    work: Callable[..., None],
    args: Sequence[Any] = (),
    *,
    help_text: str = "",
    disabled: bool = False,
) -> None:
    """Draw it. help_text: the tooltip, where it says more than the words."""
    st.button(
        words,
        key=f"{KEY}{key}",
        icon=icon,
        type="tertiary",
        help=help_text or words,
        disabled=disabled,
        on_click=work,
        args=tuple(args),
    )
