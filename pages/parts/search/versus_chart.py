"""The differences of two scores as bars to both sides: right for what speaks for the one, left for the other."""

from html import escape
from typing import TYPE_CHECKING

from core.search.versus import Versus, shown_differences
from pages.parts.wording import shortened

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["versus_bars"]

_LEFT = {"light": "#34558b", "dark": "#7da2dc"}
_RIGHT = {"light": "#b5400a", "dark": "#f0824a"}
_LINE = {"light": "#68707d", "dark": "#8d97a5"}
_ROOM = 1.45
"""How far the axis reaches beyond the longest bar, for the numbers beside it."""


def versus_bars(versus: Versus, names: tuple[str, str], *, dark: bool = False) -> "Figure":
    """One bar per part that makes a difference, the greatest at the top. A bar to the left speaks for the first of the
    two, which stands at the left of the page, a bar to the right for the second; the sign says by how much the first
    gains. Parts that make no difference as it is written are left out."""
    from plotly.graph_objects import Bar, Figure

    theme = "dark" if dark else "light"
    shown = [each for each in zip(versus.parts, shown_differences(versus), strict=True) if each[1]]
    parts = [part for part, _ in shown]
    longest = max((abs(part.difference) for part in parts), default=1.0)
    told = [f"{escape(part.left_reason)}<br>{escape(part.right_reason)}" for part in parts]
    bars = Bar(
        orientation="h",
        y=[escape(part.label) for part in parts],
        x=[-part.difference for part in parts],
        text=[f"{number:+.3f}".replace("-", "−") for _, number in shown],
        textposition="outside",
        cliponaxis=False,
        customdata=told,
        hovertemplate="%{y}: %{text}<br>%{customdata}<extra></extra>",
        marker={"color": [(_LEFT if part.difference > 0 else _RIGHT)[theme] for part in parts]},
    )
    figure = Figure(bars)
    figure.add_vline(0, line={"color": _LINE[theme], "width": 1})
    _heads(figure, names, theme)
    figure.update_layout(
        height=70 + 34 * max(1, len(parts)),
        margin={"l": 8, "r": 8, "t": 32, "b": 24},
        hoverlabel={"align": "left"},
        bargap=0.35,
        showlegend=False,
    )
    figure.update_xaxes(
        range=[-longest * _ROOM, longest * _ROOM], title=None, zeroline=False, showticklabels=False, fixedrange=True
    )
    figure.update_yaxes(autorange="reversed", title=None, fixedrange=True)
    return figure


def _heads(figure: "Figure", names: tuple[str, str], theme: str) -> None:
    """Above each half, whom its bars speak for."""
    for side, (x, anchor, arrow) in enumerate(((0.0, "left", "◀ {}"), (1.0, "right", "{} ▶"))):
        words = arrow.format(escape(shortened(names[side], 34)))
        colour = (_LEFT, _RIGHT)[side][theme]
        place = {"x": x, "xref": "paper", "xanchor": anchor, "y": 1.0, "yref": "paper", "yanchor": "bottom"}
        figure.add_annotation(text=f"<b>{words}</b>", showarrow=False, font={"color": colour}, **place)
