"""Coverage over time as a line: a pure function from snapshots to a picture."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from core.boards import Run

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["coverage_line"]

_MOST = 30


def coverage_line(runs: Sequence[Run], *, dark: bool = False) -> "Figure":
    """The share covered at each finished snapshot, oldest left, at most the last thirty. runs: newest first."""
    from plotly.graph_objects import Figure, Scatter

    shown = [run for run in reversed(runs[:_MOST]) if run.coverage is not None]
    ink, line = ("#e4e8ee", "#8fb2ea") if dark else ("#1f2733", "#34558b")
    names = [f"{run.name or 'Snapshot'}<br>{run.finished_at or run.started_at:%Y-%m-%d %H:%M}" for run in shown]
    figure = Figure(
        Scatter(
            x=list(range(len(shown))),
            y=[run.coverage for run in shown],
            mode="lines+markers+text",
            text=[f"{run.coverage:.0%}" for run in shown],
            textposition="top center",
            textfont={"color": ink},
            line={"color": line, "width": 2},
            marker={"size": 8},
            hovertext=[f"{escape(name).replace('&lt;br&gt;', '<br>')}" for name in names],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    ticks = [f"{run.finished_at or run.started_at:%b %d}<br>{run.finished_at or run.started_at:%H:%M}" for run in shown]
    figure.update_layout(height=230, margin={"l": 8, "r": 8, "t": 12, "b": 8}, paper_bgcolor="rgba(0,0,0,0)")
    figure.update_layout(plot_bgcolor="rgba(0,0,0,0)", showlegend=False, font={"color": ink})
    figure.update_yaxes(range=[0, 1.12], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], fixedrange=True)
    figure.update_xaxes(
        tickvals=list(range(len(shown))), ticktext=ticks, range=[-0.4, max(0.4, len(shown) - 0.6)], fixedrange=True
    )
    return figure
