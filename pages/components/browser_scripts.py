"""Scripts that run in the browser and show nothing: the key "/", the keys of the Judge view, scrolling to a place."""

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["focus_question_on_slash", "leave_fields", "scroll_here"]


@cache
def _component(name: str, file: str, *, isolate_styles: bool = True) -> Any:
    """The script as a Streamlit component, registered once per process. file: its name in this folder."""
    from streamlit.components.v2 import component

    script = Path(__file__).with_name(file).read_text("utf-8")
    return component(name, js=script, isolate_styles=isolate_styles)


def focus_question_on_slash() -> None:
    """Let the key "/" move to the question field. Streamlit's own shortcuts only press buttons."""
    _component("fivefold_keys", "keys.js")(key="keys")


def leave_fields(state: Hashable) -> None:
    """Take the keyboard from the field that has it whenever `state` changes, and count a held key once."""
    _component("fivefold_judge_focus", "judge_focus.js")(key="judge.focus", data=str(state))


def scroll_here(page: str) -> None:
    """Scroll to this place of the page. page: the page of results just opened; "" does not scroll."""
    # With isolated styles the place would not be an element of the page, and could not be scrolled to.
    _component("fivefold_results_top", "top.js", isolate_styles=False)(key="search.top", data=page)
