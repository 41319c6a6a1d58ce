"""Draws a chart so that its text can be read on both themes."""

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["draw_chart"]

_INK = {"light": "#3d4653", "dark": "#e4e8ee"}
"""Colours of words and numbers: Streamlit's own grey has a contrast of 3.7 on white; WCAG AA asks for 4.5."""


def draw_chart(figure: "Figure", **how: Any) -> Any:
    """Draw it without tools. how: what `st.plotly_chart` takes besides."""
    ink = _INK["dark" if st.context.theme.type == "dark" else "light"]
    figure.update_layout(font_color=ink)
    figure.update_xaxes(tickfont_color=ink, title_font_color=ink)
    figure.update_yaxes(tickfont_color=ink, title_font_color=ink)
    return st.plotly_chart(figure, config={"displayModeBar": False}, **how)
