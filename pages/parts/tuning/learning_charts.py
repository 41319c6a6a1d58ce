"""How often automatic labels were found right, over time: a pure function from periods to a picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.library.lessons_accuracy import ENOUGH, Period

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["accuracy_chart"]

_MOST = 26


# One picture, told from top to bottom.
def accuracy_chart(periods: Sequence[Period], *, by_month: bool, dark: bool = False) -> "Figure":
    """One dot per period, oldest left, at most the last 26, with its plausible interval and how many labels it rests
    on. Periods of fewer than ten labels are hollow."""
    from plotly.graph_objects import Figure, Scatter

    shown = periods[-_MOST:]
    ink, line, ground = ("#e4e8ee", "#8fb2ea", "#14181f") if dark else ("#1f2733", "#34558b", "#ffffff")
    rates = [each.right for each in shown]
    names = [f"{each.start:%b %Y}" if by_month else f"Week of {each.start:%b %d, %Y}" for each in shown]
    figure = Figure(
        Scatter(
            x=list(range(len(shown))),
            y=[rate.share for rate in rates],
            mode="lines+markers",
            line={"color": line, "width": 1.5},
            marker={
                "size": 11,
                "color": [line if rate.n >= ENOUGH else ground for rate in rates],
                "line": {"color": line, "width": 2},
                "opacity": 1.0,
            },
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [rate.high - rate.share for rate in rates],
                "arrayminus": [rate.share - rate.low for rate in rates],
                "color": line,
                "thickness": 1.2,
                "width": 4,
            },
            customdata=[
                f"{name}<br>{rate.right:,} of {rate.n:,} right: {rate.share:.0%} ({rate.low:.0%} to {rate.high:.0%})"
                for name, rate in zip(names, rates, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
    ticks = [f"{each.start:{'%b<br>%Y' if by_month else '%b %d'}}<br>n {each.right.n:,}" for each in shown]
    figure.update_layout(height=250, margin={"l": 8, "r": 8, "t": 14, "b": 8}, paper_bgcolor="rgba(0,0,0,0)")
    figure.update_layout(plot_bgcolor="rgba(0,0,0,0)", showlegend=False, font={"color": ink})
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], fixedrange=True)
    figure.update_xaxes(
        tickvals=list(range(len(shown))), ticktext=ticks, range=[-0.5, max(3.5, len(shown) - 0.5)], fixedrange=True
    )
    return figure
