"""Where to cut, drawn: scores of relevant and irrelevant results, and what every threshold keeps. `dark` says which
theme it stands on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.tuning.thresholds import ThresholdHelp
from pages.parts.tuning.measure_looks import framed, paint

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Mark", "threshold_picture"]

_HEIGHT = 470
_CLOSE = 0.09


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold to be marked. kind: "use" (the profile's), "offer" (suggested) or "try" (the slider's)."""

    value: float
    words: str
    kind: str


_DASHES = {"use": "dash", "offer": "dot", "try": "solid"}


def threshold_picture(found: ThresholdHelp, marks: Sequence[Mark], *, dark: bool = False) -> "Figure":
    """Above: how many relevant results (up) and irrelevant ones (down) have which score. Below: precision and recall of
    keeping what scores at least so much; left out where there is no curve. Thresholds go through both."""
    from plotly.subplots import make_subplots

    curve = bool(found.thresholds)
    drawn = make_subplots(
        rows=2 if curve else 1, cols=1, shared_xaxes=True, vertical_spacing=0.13,
        row_heights=[0.55, 0.45] if curve else [1.0],
    )  # fmt: skip
    framed(drawn, _HEIGHT if curve else _HEIGHT // 2, dark=dark)
    _histogram(drawn, found, dark=dark)
    if curve:
        _curves(drawn, found, dark=dark)
    _marked(drawn, marks, dark=dark)
    drawn.update_layout(margin={"l": 8, "r": 16, "t": 24 + 18 * _rows(marks), "b": 8}, bargap=0.08, barmode="relative")
    drawn.update_xaxes(range=[found.edges[0], found.edges[-1]], showgrid=False)
    drawn.update_xaxes(title={"text": "Score", "standoff": 4}, row=2 if curve else 1, col=1)
    return drawn


def _histogram(drawn: "Figure", found: ThresholdHelp, *, dark: bool) -> None:
    from plotly.graph_objects import Bar

    colours = paint(dark=dark)
    middles = [(low + high) / 2 for low, high in zip(found.edges, found.edges[1:], strict=False)]
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in zip(found.edges, found.edges[1:], strict=False)]
    for name, counts, sign, colour in (
        ("relevant", found.relevant, 1, colours.good),
        ("irrelevant", found.irrelevant, -1, colours.bad),
    ):
        drawn.add_trace(
            Bar(
                x=middles, y=[sign * number for number in counts], marker={"color": colour}, name=name,
                customdata=[f"{n:,} {name}<br>score {where}" for n, where in zip(counts, ranges, strict=True)],
                hovertemplate="%{customdata}<extra></extra>",
            ),
            row=1, col=1,
        )  # fmt: skip
    most, least = max(found.relevant, default=0), max(found.irrelevant, default=0)
    step = max(1, -(-max(most, least) // 4))
    ticks = list(range(-step * (least // step), most + 1, step))
    drawn.update_yaxes(
        range=[-1.15 * max(least, 1), 1.15 * max(most, 1)], tickvals=ticks,
        ticktext=[f"{abs(tick):,} " for tick in ticks], zeroline=True, zerolinecolor=colours.quiet, row=1, col=1,
    )  # fmt: skip
    for words, y, anchor, colour in (
        ("▲ relevant", 1.0, "top", colours.good),
        ("▼ irrelevant", 0.0, "bottom", colours.bad),
    ):
        drawn.add_annotation(
            text=f"<b>{words}</b>", x=1, xref="x domain", y=y, yref="y domain", xanchor="right", yanchor=anchor,
            showarrow=False, font={"size": 13, "color": colour},
        )  # fmt: skip


def _curves(drawn: "Figure", found: ThresholdHelp, *, dark: bool) -> None:
    from plotly.graph_objects import Scatter

    colours = paint(dark=dark)
    ends = [found.edges[0], *found.thresholds]
    for name, values, colour, dash in (
        ("precision", found.precision, colours.sides[1], "solid"),
        ("recall", found.recall, colours.sides[0], "dashdot"),
    ):
        drawn.add_trace(
            Scatter(
                x=ends, y=[values[0], *values], mode="lines", name=name,
                line={"color": colour, "width": 2.5, "dash": dash, "shape": "vh"},
                hovertemplate=f"from %{{x:.3f}} on: {name} %{{y:.0%}}<extra></extra>",
            ),
            row=2, col=1,
        )  # fmt: skip
    for name, x, colour in (("━━ precision", 0.86, colours.sides[1]), ("━ · recall", 1.0, colours.sides[0])):
        drawn.add_annotation(
            text=name, x=x, xref="x2 domain", y=1.04, yref="y2 domain", xanchor="right", yanchor="bottom",
            showarrow=False, font={"size": 13, "color": colour},
        )  # fmt: skip
    drawn.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], row=2, col=1)


def _rows(marks: Sequence[Mark]) -> int:
    return len({level for _, level in _levels(marks)}) - 1 if marks else 0


def _levels(marks: Sequence[Mark]) -> list[tuple[Mark, int]]:
    """Each mark with how far up its words stand, so that those of near ones do not cover each other."""
    placed: list[tuple[Mark, int]] = []
    for mark in sorted(marks, key=lambda each: each.value):
        near = {level for other, level in placed if abs(other.value - mark.value) < _CLOSE * 2}
        placed.append((mark, next(level for level in range(len(marks)) if level not in near)))
    return placed


def _marked(drawn: "Figure", marks: Sequence[Mark], *, dark: bool) -> None:
    colours = paint(dark=dark)
    inks = {"use": colours.mark, "offer": colours.offer, "try": colours.ink}
    for mark, level in _levels(marks):
        drawn.add_shape(
            type="line", x0=mark.value, x1=mark.value, xref="x", y0=0, y1=1, yref="paper",
            line={"color": inks[mark.kind], "width": 2, "dash": _DASHES[mark.kind]},
        )  # fmt: skip
        drawn.add_annotation(
            text=f"{mark.words} {mark.value:.3f}", x=mark.value, xref="x", y=1, yref="paper", yanchor="bottom",
            yshift=2 + 18 * level, showarrow=False, font={"size": 12, "color": inks[mark.kind]},
        )  # fmt: skip
