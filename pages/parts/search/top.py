"""Brings the reader to the top of the results when their page was turned from below them."""

from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["begin_here"]


@cache
def _component() -> Any:
    from streamlit.components.v2 import component

    script = Path(__file__).with_name("top.js").read_text("utf-8")
    return component("fivefold_results_top", js=script, isolate_styles=False)  # or its place is no element of the page


def begin_here(turned: str) -> None:
    """Scroll to where this stands. turned: what was just turned to, "" when nothing was. Shows nothing."""
    _component()(key="search.top", data=turned)
