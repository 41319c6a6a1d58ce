"""Keyboard shortcut: "/" focuses the question field. Streamlit's own shortcuts only press buttons."""

from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["listen"]


@cache
def _component() -> Any:
    from streamlit.components.v2 import component

    return component("fivefold_keys", js=Path(__file__).with_name("keys.js").read_text("utf-8"))


def listen() -> None:
    """Listen on this page; drawn last, because it shows nothing."""
    _component()(key="keys")
