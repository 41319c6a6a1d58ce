"""Scripts that run in the browser: components, the keys "/" and "?", and the keys of the Judge view."""

from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["browser_component", "leave_fields", "listen_to_keys"]


@cache
def browser_component(name: str, file: str) -> Any:
    """A script as a Streamlit component, registered once per process. file: its path in this folder; dom.js is put in
    front of it, and a style sheet of the same name is applied to what it draws."""
    from streamlit.components.v2 import component

    folder = Path(__file__).parent
    script = folder / file
    styles = script.with_suffix(".css")
    css = styles.read_text("utf-8") if styles.exists() else None
    return component(name, js=(folder / "dom.js").read_text("utf-8") + script.read_text("utf-8"), css=css)


def listen_to_keys(on_help: Callable[[], None]) -> None:
    """Let the key "/" move to the question field, and "?" ask for help. Streamlit's own shortcuts press buttons."""
    browser_component("fivefold_keys", "keys.js")(key="keys", on_help_change=on_help)


def leave_fields(state: Hashable) -> None:
    """Take the keyboard from the field that has it whenever `state` changes, and count a held key once."""
    browser_component("fivefold_judge_focus", "judge_focus.js")(key="judge.focus", data=str(state))
