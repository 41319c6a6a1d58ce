"""Scripts that run in the browser and show nothing: the key "/", and the keys of the Judge view."""

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["focus_question_on_slash", "leave_fields"]


@cache
def _component(name: str, file: str) -> Any:
    """The script as a Streamlit component, registered once per process. file: its name in this folder."""
    from streamlit.components.v2 import component

    script = Path(__file__).with_name(file).read_text("utf-8")
    return component(name, js=script)


def focus_question_on_slash() -> None:
    """Let the key "/" move to the question field. Streamlit's own shortcuts only press buttons."""
    _component("fivefold_keys", "keys.js")(key="keys")


def leave_fields(state: Hashable) -> None:
    """Take the keyboard from the field that has it whenever `state` changes, and count a held key once."""
    _component("fivefold_judge_focus", "judge_focus.js")(key="judge.focus", data=str(state))
