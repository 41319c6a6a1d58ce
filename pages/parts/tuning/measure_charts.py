"""Measurements drawn: pure functions from values to a picture. `dark` says which theme it stands on."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from core.experiments import Interval
from core.tuning.comparison import Comparison
from core.tuning.trends import Line, Point
from pages.parts.tuning.measure_looks import SYMBOLS, figure, framed, name_of, paint, share, side, span, whiskers
from pages.parts.wording import shortened

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["MOST_LINES", "interval_dots", "trend_lines"]

MOST_LINES = 8
_APART = 0.17
_MOST_TICKS = 8
_ROW = 48


def interval_dots(found: Comparison, *, dark: bool = False) -> "Figure":
    """One row per measure, and on it a mark with its 95 % interval for every experiment."""
    from plotly.graph_objects import Figure, Scatter

    colours, sides = paint(dark=dark), len(found.experiments)
    drawn = Figure()
    for place, experiment in enumerate(found.experiments):
        off = (place - (sides - 1) / 2) * min(_APART, 0.6 / max(1, sides - 1))
        some = [(n, row.values[place], row.measure.name) for n, row in enumerate(found.rows)]
        known = [(n, held, name) for n, held, name in some if held is not None]
        values = [held for _, held, _ in known]
        colour, called = colours.sides[place], escape(side(place, experiment, 18))
        drawn.add_trace(
            Scatter(
                x=[held.mean for held in values], y=[n + off for n, _, _ in known], mode="markers",
                name=f"{called} · {share(experiment.unjudged)} unjudged",
                marker={"color": colour, "size": 10, "symbol": SYMBOLS[place]}, error_x=whiskers(values, colour),
                customdata=[_dot_words(called, name, held) for _, held, name in known],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )  # fmt: skip
    framed(drawn, 52 + _ROW * len(found.rows), dark=dark, legend=True)
    drawn.update_xaxes(range=[-0.02, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".2f")
    drawn.update_yaxes(
        tickvals=list(range(len(found.rows))), ticktext=[f"{name_of(row.measure.name)} " for row in found.rows],
        range=[len(found.rows) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    return drawn


def _dot_words(called: str, measure: str, held: Interval) -> str:
    return f"{called}<br>{name_of(measure)} {figure(held.mean)}, plausibly {span(held)}<br>over {held.n:,} questions"


def trend_lines(lines: Sequence[Line], *, dark: bool = False) -> "Figure":
    """One line per profile over time, with intervals; an open mark says that something else has changed with it.

    At most MOST_LINES of them, the ones measured last.
    """
    from plotly.graph_objects import Figure, Scatter

    colours = paint(dark=dark)
    drawn = Figure()
    for place, line in enumerate(lines[:MOST_LINES]):
        colour, symbol = colours.sides[place], SYMBOLS[place]
        values = [point.value for point in line.points]
        drawn.add_trace(
            Scatter(
                x=[point.at for point in line.points], y=[held.mean for held in values], mode="lines+markers",
                name=escape(shortened(line.profile, 24)), line={"color": colour, "width": 2},
                marker={
                    "size": 9, "color": colour, "line": {"width": 2, "color": colour},
                    "symbol": [f"{symbol}-open" if _moved(point) else symbol for point in line.points],
                },
                error_y=whiskers(values, colour), customdata=[_point_words(point) for point in line.points],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )  # fmt: skip
    framed(drawn, 300, dark=dark, legend=True)
    low = min((point.value.low for line in lines for point in line.points), default=0.0)
    drawn.update_yaxes(range=[max(0.0, low - 0.1), 1.02], tickformat=".2f")
    drawn.update_xaxes(showgrid=False, **_dates(lines))
    return drawn


def _moved(point: Point) -> bool:
    """Whether something other than the profile has changed."""
    return any(words != "another version" for words in point.changed)


def _dates(lines: Sequence[Line]) -> dict[str, Any]:
    """Ticks where something was measured, as far as they do not touch."""
    moments = sorted({point.at for line in lines for point in line.points})
    if not moments:
        return {}
    apart = (moments[-1] - moments[0]) / _MOST_TICKS
    ticks = moments[:1]
    for at in moments[1:]:
        if at - ticks[-1] >= apart:
            ticks.append(at)
    return {"tickvals": ticks, "ticktext": [f"{at:%b %d}<br>{at:%H:%M}" for at in ticks], "tickangle": 0}


def _point_words(point: Point) -> str:
    said = f"{escape(point.ref)} on {point.at:%Y-%m-%d %H:%M}<br>{figure(point.value.mean)}, plausibly"
    changed = f"<br>with {' and '.join(point.changed)}" if point.changed else ""
    return f"{said} {span(point.value)}, {share(point.unjudged)} unjudged{changed}"
