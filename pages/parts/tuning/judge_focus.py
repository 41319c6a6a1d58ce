"""Hands the keyboard back from a field to the keys that grade."""

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["leave_fields"]


@cache
def _component() -> Any:
    from streamlit.components.v2 import component

    return component("fivefold_judge_focus", js=Path(__file__).with_name("judge_focus.js").read_text("utf-8"))


def leave_fields(about: Hashable) -> None:
    """Leave the field that has the keyboard, whenever `about` is another than before; a held key counts once.

    Shows nothing.
    """
    _component()(key="judge.focus", data=str(about))
