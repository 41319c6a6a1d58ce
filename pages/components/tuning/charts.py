"""Charts of measures and of the classifier: labels, intervals, colours, figures. `dark`: whether the theme is dark."""
# Longer than 300 lines: the figures share their colours and number formats.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any

from core.domain.evaluation import Experiment, Interval
from core.evaluation.metrics.classifier_report import ABSTAINED, Abstention, CalibrationBin, Confusion, LabelRate
from core.evaluation.metrics.comparison import ExperimentComparison, OutcomeChange, TrendLine, TrendPoint
from pages.components.styles import truth_style
from pages.components.wording import chart_text, count, shorten

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "LABELS",
    "MOST_LINES",
    "OUTCOME_SIGNS",
    "SIDES",
    "SYMBOLS",
    "Palette",
    "abstention_curve",
    "confusion_map",
    "decimal",
    "interval_dots",
    "interval_text",
    "measure_label",
    "p_words",
    "palette",
    "percent",
    "reliability_diagram",
    "set_frame",
    "side_label",
    "signed",
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
OUTCOME_SIGNS: Mapping[OutcomeChange, tuple[str, str]] = {
    OutcomeChange.BETTER: ("▲", "green"),
    OutcomeChange.WORSE: ("▼", "red"),
    OutcomeChange.CHANCE: ("≈", "gray"),
    OutcomeChange.SAME: ("=", "gray"),
}
"""What a difference comes to → its symbol and colour."""

_JOINER = "\u2060"  # forbids a line break
_CLEAR = "rgba(0,0,0,0)"

SIDES = "ABCDEFGH"
"""What experiments side by side are called; no more can be."""


def measure_label(measure: str) -> str:
    """What a measure is called."""
    return LABELS.get(measure, measure)


def side_label(index: int, experiment: Experiment, length: int = 24) -> str:
    """An experiment among others, as safe text for charts and tables: "A balanced"."""
    return f"{SIDES[index]} {shorten(experiment.profile.ref, length)}"


def decimal(value: float) -> str:
    """
    >>> decimal(0.5), decimal(1.0)
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


def interval_text(interval: Interval, *, sign: bool = False) -> str:
    """The ends of an interval, which stay on one line.

    >>> interval_text(Interval(0.5, 0.41, 0.6, 9)).replace("\u2060", "")
    '0.41–0.60'
    >>> interval_text(Interval(0.0, -0.1, 0.1, 9), sign=True).split()
    ['−0.10', 'to', '+0.10']
    """
    if not interval.is_reliable or not sign:
        return f"{interval.low:.2f}{_JOINER}–{_JOINER}{interval.high:.2f}" if interval.is_reliable else ""
    ends = (
        f"{'−' if end <= -0.005 else '+' if end >= 0.005 else ''}{abs(end):.2f}"
        for end in (interval.low, interval.high)
    )
    return "\u00a0to\u00a0".join(ends)


def p_words(p_value: float) -> str:
    """
    >>> p_words(0.0002), p_words(0.0312), p_words(1.0)
    ('<0.001', '0.031', '1.000')
    """
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def percent(part: float | None) -> str:
    """A share as a whole percentage that never hides a little.

    >>> percent(0.874), percent(0.002), percent(0.0), percent(None)
    ('87%', '<1%', '0%', '–')
    """
    if part is None:
        return "–"
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"


@dataclass(frozen=True, slots=True)
class Palette:
    """ink: text. grid: lines behind. quiet: what stands beside. sides: one colour per experiment, each with a symbol
    beside it; the first also draws what is measured of the classifier. on_side: text on that colour. band: an interval
    around it. good, bad: relevant and irrelevant. mark: what the product does; offer: what is suggested.
    right, wrong, abstained: tiles from none to many of a row."""

    ink: str
    grid: str
    quiet: str
    sides: tuple[str, ...]
    on_side: str
    band: str
    good: str
    bad: str
    mark: str
    offer: str
    right: tuple[str, str]
    wrong: tuple[str, str]
    abstained: tuple[str, str]


SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "cross", "star", "hexagon")
"""The mark of each experiment side by side, so that no colour speaks alone."""

_LIGHT = Palette(
    ink="#1f2733", grid="#e3e7ec", quiet="#68707d",
    sides=("#34558b", "#c9631c", "#0f9173", "#8e2c8a", "#68707d", "#a97f00", "#2f6fde", "#b5400a"),
    on_side="#ffffff", band="rgba(91,132,184,0.20)",
    good="#5b84b8", bad="#de9574", mark="#c62f3b", offer="#0f7a62",
    right=("#eef2f8", "#5b84b8"), wrong=("#f4f5f7", "#de9574"), abstained=("#f4f5f7", "#aeb6c1"),
)  # fmt: skip

_DARK = Palette(
    ink="#e4e8ee", grid="#2c3440", quiet="#aab3c0",
    sides=("#8fb2ea", "#f0a06a", "#45c4a1", "#d786d8", "#aab3c0", "#f0d15c", "#66a3ff", "#f0824a"),
    on_side="#14181f", band="rgba(143,178,234,0.22)",
    good="#5f86c0", bad="#b06a46", mark="#f2808a", offer="#52cfac",
    right=("#1d2632", "#44638c"), wrong=("#1d232c", "#9f5a3b"), abstained=("#1d232c", "#59636f"),
)  # fmt: skip


def palette(*, dark: bool) -> Palette:
    """The colours of a theme."""
    return _DARK if dark else _LIGHT


def whiskers(values: Sequence[Interval], colour: str) -> dict[str, Any]:
    """The ends of intervals, as error bars of a chart."""
    return _error_bars([(each.ends[0], each.mean, each.ends[1]) for each in values], colour, thickness=1.6)


def _error_bars(values: Sequence[tuple[float, float, float]], colour: str, *, thickness: float) -> dict[str, Any]:
    """values: low end, middle and high end of each."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - middle for _, middle, high in values],
        "arrayminus": [middle - low for low, middle, _ in values],
        "color": colour,
        "thickness": thickness,
        "width": 4,
    }


def set_frame(drawn: "Figure", height: int, *, dark: bool, legend: bool = False) -> "Figure":
    """Lay out a figure: transparent background, margins, and the legend above it."""
    colours = palette(dark=dark)
    drawn.update_layout(
        height=height,
        margin={"l": 8, "r": 16, "t": 34 if legend else 12, "b": 8},
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 13}},
        font={"color": colours.ink},
        hoverlabel={"align": "left"},
    )
    drawn.update_xaxes(fixedrange=True, zeroline=False, gridcolor=colours.grid, tickfont={"size": 12})
    drawn.update_yaxes(fixedrange=True, zeroline=False, gridcolor=colours.grid, tickfont={"size": 13})
    return drawn


MOST_LINES = 8  # as many as there are colours and symbols
_APART = 0.17  # rows between the marks of two experiments; chosen by hand, as are the two below
_MOST_TICKS = 8  # more dates would touch each other
_ROW = 48  # pixels


def interval_dots(found: ExperimentComparison, *, dark: bool = False) -> "Figure":
    """One row per measure, and on it a mark with its 95% interval for every experiment."""
    from plotly.graph_objects import Figure, Scatter

    colours, sides = palette(dark=dark), len(found.experiments)
    drawn = Figure()
    for index, experiment in enumerate(found.experiments):
        off = (index - (sides - 1) / 2) * min(_APART, 0.6 / max(1, sides - 1))
        some = [(n, row.values[index], row.measure.name) for n, row in enumerate(found.rows)]
        known = [(n, interval, name) for n, interval, name in some if interval is not None]
        values = [interval for _, interval, _ in known]
        colour, called = colours.sides[index], chart_text(side_label(index, experiment, 18))
        drawn.add_trace(
            Scatter(
                x=[interval.mean for interval in values], y=[n + off for n, _, _ in known], mode="markers",
                name=f"{called} · {percent(experiment.unjudged)} unjudged",
                marker={"color": colour, "size": 10, "symbol": SYMBOLS[index]}, error_x=whiskers(values, colour),
                customdata=[_dot_words(called, name, interval) for _, interval, name in known],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )  # fmt: skip
    set_frame(drawn, 52 + _ROW * len(found.rows), dark=dark, legend=True)
    drawn.update_xaxes(range=[-0.02, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".2f")
    drawn.update_yaxes(
        tickvals=list(range(len(found.rows))), ticktext=[f"{measure_label(row.measure.name)} " for row in found.rows],
        range=[len(found.rows) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    return drawn


def _dot_words(called: str, measure: str, interval: Interval) -> str:
    ends = f", 95% interval {interval_text(interval)}" if interval.is_reliable else ""
    name = measure_label(measure)
    return f"{called}<br>{name} {decimal(interval.mean)}{ends}<br>over {count(interval.n, 'question')}"


def trend_lines(lines: Sequence[TrendLine], *, dark: bool = False) -> "Figure":
    """One line per profile over time, with intervals; an open mark says that something else has changed with it.

    At most MOST_LINES of them, the ones measured last.
    """
    from plotly.graph_objects import Figure, Scatter

    colours = palette(dark=dark)
    drawn = Figure()
    for index, line in enumerate(lines[:MOST_LINES]):
        colour, symbol = colours.sides[index], SYMBOLS[index]
        values = [point.value for point in line.points]
        drawn.add_trace(
            Scatter(
                x=[point.at for point in line.points], y=[interval.mean for interval in values], mode="lines+markers",
                name=chart_text(shorten(line.profile, 24)), line={"color": colour, "width": 2},
                marker={
                    "size": 9, "color": colour, "line": {"width": 2, "color": colour},
                    "symbol": [f"{symbol}-open" if _otherwise_changed(point) else symbol for point in line.points],
                },
                error_y=whiskers(values, colour), customdata=[_point_words(point) for point in line.points],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )  # fmt: skip
    set_frame(drawn, 300, dark=dark, legend=True)
    low = min((point.value.low for line in lines for point in line.points), default=0.0)
    drawn.update_yaxes(range=[max(0.0, low - 0.1), 1.02], tickformat=".2f")
    drawn.update_xaxes(showgrid=False, **_dates(lines))
    return drawn


def _otherwise_changed(point: TrendPoint) -> bool:
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
    value = f"{chart_text(point.ref)} on {point.at:%Y-%m-%d %H:%M}<br>{decimal(point.value.mean)}, 95% interval"
    changed = f"<br>with {' and '.join(point.changed)}" if point.changed else ""
    return f"{value} {interval_text(point.value)}, {percent(point.unjudged)} unjudged{changed}"


def confusion_map(confusion: Confusion, *, dark: bool = False) -> "Figure":
    """Confirmed truths as rows, what the classifier says as columns; the count stands in every tile.

    A tile's strength is its share of the row: blue on the diagonal, orange beside it, gray for abstentions. Beside the
    diagonal half a row is full strength, so that no mistake is pale.
    """
    from plotly.graph_objects import Figure, Heatmap

    colours = palette(dark=dark)
    rows, columns = range(len(confusion.rows)), range(len(confusion.columns))
    figure = Figure()
    for kind, (fills, full) in enumerate(((colours.right, 1.0), (colours.wrong, 0.5), (colours.abstained, 0.5))):
        figure.add_trace(
            Heatmap(zmin=0.0, zmax=full, colorscale=[[0.0, fills[0]], [1.0, fills[1]]], **_tiles(confusion, kind))
        )
    for i in rows:
        for j in columns:
            number = confusion.counts[i][j]
            font = {"color": colours.ink if number else colours.quiet, "size": 15 if number else 12}
            figure.add_annotation(x=j, y=i, text=f"{number:,}", showarrow=False, font=font)
    _set_classifier_frame(figure, colours, height=106 + 46 * len(rows))
    figure.update_layout(margin={"l": 8, "r": 8, "t": 92, "b": 8})
    figure.update_xaxes(
        tickvals=list(columns),
        ticktext=[f"{_symbol(column)}<br>{column}" for column in confusion.columns],
        side="top",
        title={"text": "The classifier says", "standoff": 12},
        showgrid=False,
    )
    figure.update_yaxes(
        tickvals=list(rows),
        ticktext=[f"{_symbol(row)} {row} " for row in confusion.rows],
        autorange="reversed",
        title={"text": "Confirmed", "standoff": 14},
        showgrid=False,
    )
    return figure


def _tiles(confusion: Confusion, kind: int) -> dict[str, Any]:
    """The tiles of one kind: 0 on the diagonal, 1 beside it, 2 abstentions."""
    last = len(confusion.columns) - 1
    shares: list[list[float | None]] = []
    for i, row in enumerate(confusion.counts):
        kinds = [2 if j == last else int(i != j) for j in range(len(row))]
        shares.append([_tile_share(confusion, i, j) if each == kind else None for j, each in enumerate(kinds)])
    return {
        "z": shares,
        "customdata": [[_tile_words(confusion, i, j) for j in range(last + 1)] for i in range(len(shares))],
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
    }


def _symbol(name: str) -> str:
    return "–" if name == ABSTAINED else truth_style(name).symbol


def _tile_share(confusion: Confusion, row: int, column: int) -> float:
    return confusion.counts[row][column] / max(1, sum(confusion.counts[row]))


def _tile_words(confusion: Confusion, row: int, column: int) -> str:
    number, total = confusion.counts[row][column], sum(confusion.counts[row])
    truth, predicted = confusion.rows[row], confusion.columns[column]
    verb = "the classifier abstained" if predicted == ABSTAINED else f"said to be {predicted}"
    share = f" ({_tile_share(confusion, row, column):.0%})" if total else ""
    return f"Confirmed {truth}, {verb}:<br>{number:,} of {count(total, 'document')}{share}"


def reliability_diagram(bins: Sequence[CalibrationBin], *, dark: bool = False) -> "Figure":
    """How often it was right over how sure it was: one dot per bin, with its interval and its number of documents.

    On the dashed line it is exactly as good as it says; below it is too sure of itself. Dots that would cover each
    other are small and bare. bins: at least one.
    """
    from plotly.graph_objects import Figure, Scatter

    colours = palette(dark=dark)
    left = max(0.0, floor(20 * min(each.low for each in bins) - 0.5) / 20)
    line = {"color": colours.quiet, "width": 1.5, "dash": "dash"}
    crowded = [any(_covers(each, other, 1 - left) for other in bins if other is not each) for each in bins]
    figure = Figure(Scatter(x=[left, 1.0], y=[left, 1.0], mode="lines", line=line, hoverinfo="skip"))
    figure.add_trace(
        Scatter(
            x=[each.confidence for each in bins],
            y=[each.right.share for each in bins],
            mode="markers+text",
            marker={"size": [9 if tight else 24 for tight in crowded], "color": colours.sides[0], "opacity": 1.0},
            text=["" if tight else f"{each.right.n:,}" for each, tight in zip(bins, crowded, strict=True)],
            textfont={"color": colours.on_side, "size": 12},
            error_y=_error_bars(
                [(each.right.low, each.right.share, each.right.high) for each in bins], colours.sides[0], thickness=1.5
            ),
            customdata=[_bin_words(each) for each in bins],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
    _set_classifier_frame(figure, colours, height=330)
    _shares_axis(figure)
    figure.update_xaxes(range=[left - 0.01, 1.02], tickformat=".2f", title="Stated probability")
    figure.update_yaxes(title="How often it was right")
    return figure


def _covers(one: CalibrationBin, other: CalibrationBin, span: float) -> bool:
    """Whether two dots with numbers in them would touch, in a plot about 440 by 250 pixels."""
    return abs(one.confidence - other.confidence) < 0.06 * span and abs(one.right.share - other.right.share) < 0.11


def _bin_words(each: CalibrationBin) -> str:
    range_text = f"It said {each.low:.2f} to {each.high:.2f}, {each.confidence:.2f} on average"
    return f"{range_text}<br>and had {each.right.right} of {each.right.n} right: {_rate_words(each.right)}"


def _rate_words(rate: LabelRate) -> str:
    return f"{rate.share:.0%} ({rate.low:.0%} to {rate.high:.0%})" if rate.n else "none"


def abstention_curve(curve: Sequence[Abstention], threshold: float, *, dark: bool = False) -> "Figure":
    """What abstaining below a probability leaves: the share decided (dotted), and the share of it that is right (solid)
    with its interval (band). threshold: the product's own, marked.
    """
    from plotly.graph_objects import Figure, Scatter

    colours = palette(dark=dark)
    some = [each for each in curve if each.right.n]
    over = [each.threshold for each in some]
    ends = [*(each.right.high for each in some), *(each.right.low for each in reversed(some))]
    decided, right = [each.decided.share for each in curve], [each.right.share for each in some]
    figure = Figure()
    figure.add_trace(
        Scatter(
            x=[*over, *reversed(over)], y=ends, mode="lines", line={"width": 0}, fill="toself", fillcolor=colours.band,
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        Scatter(
            x=[each.threshold for each in curve], y=decided, mode="lines", hoverinfo="skip",
            line={"color": colours.quiet, "width": 2, "dash": "dot", "shape": "hv"},
        )
    )  # fmt: skip
    figure.add_trace(
        Scatter(
            x=over, y=right, mode="lines", line={"color": colours.sides[0], "width": 2.5, "shape": "hv"},
            customdata=[_threshold_words(each) for each in some], hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    _set_classifier_frame(figure, colours, height=330)
    _shares_axis(figure)
    figure.update_layout(hovermode="x")
    figure.update_xaxes(range=[curve[0].threshold, 1.0], tickformat=".2f", title="Abstain below this probability")
    figure.add_vline(threshold, line={"color": colours.mark, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=threshold, y=1.0, yref="paper", yanchor="bottom", text=f"in use {threshold:.2f}", showarrow=False,
        font={"color": colours.mark, "size": 12},
    )  # fmt: skip
    return figure


def _threshold_words(each: Abstention) -> str:
    decided = f"{each.decided.share:.0%} decided ({each.decided.right:,} of {each.decided.n:,})"
    return f"Abstaining below {each.threshold:.2f}:<br>{decided}<br>of these {_rate_words(each.right)} right"


def _shares_axis(figure: "Figure") -> None:
    figure.update_yaxes(range=[-0.02, 1.06], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])


def _set_classifier_frame(figure: "Figure", colours: Palette, *, height: int) -> None:
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 26, "b": 8},
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        showlegend=False,
        font={"color": colours.ink},
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(fixedrange=True, zeroline=False, ticks="", tickfont={"size": 13})
    figure.update_yaxes(fixedrange=True, zeroline=False, ticks="", tickfont={"size": 13})
