"""A search for weights drawn: what it is worth, and what it would change. `dark` says which theme it stands on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.experiments import Optimised
from core.search.sums import factor_label
from core.tuning.optimise import WeightChange
from pages.parts.tuning.measure_looks import figure, framed, name_of, paint, span, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["weight_bars", "worth"]


def worth(found: Optimised, measure: str, *, dark: bool = False) -> "Figure":
    """The measure with its interval: under the weights in use, under the found ones on the questions they were found
    on, and on questions they had not seen. The last decides."""
    from plotly.graph_objects import Figure, Scatter

    colours = paint(dark=dark)
    rows = (
        ("In use now", found.baseline, colours.quiet, "circle", "the weights in use, on all questions"),
        (
            "Found, on what it<br>was found on",
            found.training,
            colours.quiet,
            "circle-open",
            "flatters: it has seen them",
        ),
        ("Found, on questions<br>it had not seen", found.held_out, colours.sides[0], "diamond", "this one counts"),
    )
    drawn = Figure()
    for place, (label, held, colour, symbol, told) in enumerate(rows):
        drawn.add_trace(
            Scatter(
                x=[held.mean], y=[place], mode="markers+text", text=[figure(held.mean)], textposition="top right",
                textfont={"size": 13, "color": colours.ink}, error_x=whiskers([held], colour),
                marker={"size": 12, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate=f"{label.replace('<br>', ' ')}: {figure(held.mean)}, plausibly {span(held)}<br>{told}"
                "<extra></extra>",
            )
        )  # fmt: skip
    drawn.add_vline(found.baseline.mean, line={"color": colours.quiet, "width": 1, "dash": "dot"})
    framed(drawn, 60 + 58 * len(rows), dark=dark)
    ends = [end for _, held, *_ in rows for end in (held.low, held.high)]
    drawn.update_xaxes(range=[max(0.0, min(ends) - 0.06), min(1.02, max(ends) + 0.06)], tickformat=".2f")
    drawn.update_xaxes(title={"text": name_of(measure), "standoff": 6})
    drawn.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[f"{label} " for label, *_ in rows], showgrid=False,
        range=[len(rows) - 0.5, -0.6],
    )  # fmt: skip
    return drawn


def weight_bars(changes: Sequence[WeightChange], *, dark: bool = False) -> "Figure":
    """The found weights as bars, the weights in use as lines across them, and how far the folds differ as a thin line.

    changes: heaviest first.
    """
    from plotly.graph_objects import Bar, Figure, Scatter

    colours, places = paint(dark=dark), list(range(len(changes)))
    drawn = Figure(
        Bar(
            orientation="h", x=[each.after for each in changes], y=places, width=0.56, name="found",
            marker={"color": colours.good, "cornerradius": 2}, customdata=[_words(each) for each in changes],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    _spread(drawn, changes, colours.ink)
    drawn.add_trace(
        Scatter(
            x=[each.before for each in changes], y=places, mode="markers", name="in use now", hoverinfo="skip",
            marker={
                "symbol": "line-ns-open", "size": 24, "color": colours.mark, "line": {"width": 3, "color": colours.mark}
            },
        )
    )  # fmt: skip
    framed(drawn, 60 + 34 * len(changes), dark=dark, legend=True)
    drawn.update_xaxes(range=[-0.01, None], tickformat=".2f", rangemode="tozero")
    drawn.update_yaxes(
        tickvals=places, ticktext=[f"{factor_label(each.factor)} " for each in changes],
        range=[len(changes) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    return drawn


def _spread(drawn: "Figure", changes: Sequence[WeightChange], ink: str) -> None:
    """A thin line per factor, from the least to the most it got over the folds."""
    from plotly.graph_objects import Scatter

    for place, each in enumerate(changes):
        drawn.add_trace(
            Scatter(
                x=[each.low, each.high], y=[place, place], mode="lines+markers", line={"width": 1.4, "color": ink},
                marker={"symbol": "line-ns-open", "size": 9, "color": ink, "line": {"width": 1.4, "color": ink}},
                showlegend=False, hoverinfo="skip",
            )
        )  # fmt: skip


def _words(each: WeightChange) -> str:
    said = f"{factor_label(each.factor)}: {each.before:.3f} → {each.after:.3f}"
    return f"{said}<br>{each.low:.3f} to {each.high:.3f} over the folds"
