"""Presentation of measures: names, numbers with confidence intervals, colours and charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from core.domain.evaluation import Experiment, Interval
from core.evaluation.metrics.comparison import ExperimentComparison, OutcomeChange, TrendLine, TrendPoint
from pages.components.wording import shortened

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "LABELS",
    "MOST_LINES",
    "SIDES",
    "SYMBOLS",
    "TURNS",
    "Paint",
    "figure",
    "framed",
    "interval_dots",
    "name_of",
    "p_words",
    "paint",
    "share",
    "side",
    "signed",
    "span",
    "trend_lines",
    "whiskers",
]

LABELS: Mapping[str, str] = {
    "ndcg@10": "nDCG@10",
    "map": "MAP",
    "mrr@10": "MRR@10",
    "recall@20": "Recall@20",
    "p@5": "P@5",
    "hit@5": "Hit@5",
    "answer@5": "Answer@5",
    "refused": "Rightly silent",
    "false_refusal": "Wrongly silent",
}
"""What the measures are called; those that count less as better say so by their name."""

TURNS: Mapping[OutcomeChange, tuple[str, str]] = {
    OutcomeChange.BETTER: ("▲", "green"),
    OutcomeChange.WORSE: ("▼", "red"),
    OutcomeChange.CHANCE: ("≈", "gray"),
    OutcomeChange.SAME: ("=", "gray"),
}
"""What a difference comes to → its symbol and colour."""

_JOINER = "\u2060"

SIDES = "ABCDEFGH"
"""What experiments side by side are called; no more can be."""


def name_of(measure: str) -> str:
    """What a measure is called."""
    return LABELS.get(measure, measure)


def side(place: int, experiment: Experiment, length: int = 24) -> str:
    """An experiment among others, as safe text for charts and tables: "A balanced"."""
    return f"{SIDES[place]} {shortened(experiment.profile.ref, length)}"


def figure(value: float) -> str:
    """
    >>> figure(0.5), figure(1.0)
    ('0.500', '1.000')
    """
    return f"{value:.3f}"


def signed(value: float) -> str:
    """
    >>> signed(0.0312), signed(-0.2), signed(0.0)
    ('+0.031', '−0.200', '0.000')
    """
    shown = f"{abs(value):.3f}"
    return shown if not float(shown) else f"{'−' if value < 0 else '+'}{shown}"


def span(held: Interval, *, sign: bool = False) -> str:
    """The ends of an interval, which stay on one line.

    >>> span(Interval(0.5, 0.41, 0.6, 9)).replace("\u2060", ""), span(Interval(0.0, -0.1, 0.1, 9), sign=True).split()
    ('0.41–0.60', ['−0.10', 'to', '+0.10'])
    """
    if not sign:
        return f"{held.low:.2f}{_JOINER}–{_JOINER}{held.high:.2f}"
    ends = (f"{'−' if end <= -0.005 else '+' if end >= 0.005 else ''}{abs(end):.2f}" for end in (held.low, held.high))
    return "\u00a0to\u00a0".join(ends)


def p_words(p_value: float) -> str:
    """
    >>> p_words(0.0002), p_words(0.0312), p_words(1.0)
    ('<0.001', '0.031', '1.000')
    """
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def share(part: float | None) -> str:
    """A share as a whole percentage that never hides a little.

    >>> share(0.874), share(0.002), share(0.0), share(None)
    ('87%', '<1%', '0%', '–')
    """
    if part is None:
        return "–"
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"


@dataclass(frozen=True, slots=True)
class Paint:
    """ink: text. grid: lines behind. quiet: what stands beside. sides: one colour per experiment, each with a symbol
    beside it. good, bad: relevant and irrelevant. mark: what the product does; offer: what is suggested."""

    ink: str
    grid: str
    quiet: str
    sides: tuple[str, ...]
    good: str
    bad: str
    mark: str
    offer: str


SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "cross", "star", "hexagon")
"""The mark of each experiment side by side, so that no colour speaks alone."""

_LIGHT = Paint(
    ink="#1f2733", grid="#e3e7ec", quiet="#68707d",
    sides=("#34558b", "#c9631c", "#0f9173", "#8e2c8a", "#68707d", "#a97f00", "#2f6fde", "#b5400a"),
    good="#5b84b8", bad="#de9574", mark="#c62f3b", offer="#0f7a62",
)  # fmt: skip

_DARK = Paint(
    ink="#e4e8ee", grid="#2c3440", quiet="#aab3c0",
    sides=("#8fb2ea", "#f0a06a", "#45c4a1", "#d786d8", "#aab3c0", "#f0d15c", "#66a3ff", "#f0824a"),
    good="#5f86c0", bad="#b06a46", mark="#f2808a", offer="#52cfac",
)  # fmt: skip


def paint(*, dark: bool) -> Paint:
    """The colours of a theme."""
    return _DARK if dark else _LIGHT


def whiskers(values: Sequence[Interval], colour: str) -> dict[str, Any]:
    """The ends of intervals, as a picture's error bars."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [held.high - held.mean for held in values],
        "arrayminus": [held.mean - held.low for held in values],
        "color": colour,
        "thickness": 1.6,
        "width": 4,
    }


def framed(drawn: "Figure", height: int, *, dark: bool, legend: bool = False) -> "Figure":
    """A picture without a ground of its own, with room at its edges; the legend lies above it."""
    colours, clear = paint(dark=dark), "rgba(0,0,0,0)"
    drawn.update_layout(
        height=height,
        margin={"l": 8, "r": 16, "t": 34 if legend else 12, "b": 8},
        paper_bgcolor=clear,
        plot_bgcolor=clear,
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 13}},
        font={"color": colours.ink},
        hoverlabel={"align": "left"},
    )
    drawn.update_xaxes(fixedrange=True, zeroline=False, gridcolor=colours.grid, tickfont={"size": 12})
    drawn.update_yaxes(fixedrange=True, zeroline=False, gridcolor=colours.grid, tickfont={"size": 13})
    return drawn


MOST_LINES = 8

_APART = 0.17

_MOST_TICKS = 8

_ROW = 48


def interval_dots(found: ExperimentComparison, *, dark: bool = False) -> "Figure":
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


def trend_lines(lines: Sequence[TrendLine], *, dark: bool = False) -> "Figure":
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


def _moved(point: TrendPoint) -> bool:
    """Whether something other than the profile has changed."""
    return any(words != "another version" for words in point.changed)


def _dates(lines: Sequence[TrendLine]) -> dict[str, Any]:
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


def _point_words(point: TrendPoint) -> str:
    said = f"{escape(point.ref)} on {point.at:%Y-%m-%d %H:%M}<br>{figure(point.value.mean)}, plausibly"
    changed = f"<br>with {' and '.join(point.changed)}" if point.changed else ""
    return f"{said} {span(point.value)}, {share(point.unjudged)} unjudged{changed}"
