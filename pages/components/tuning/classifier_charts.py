"""Charts of the classifier evaluation: pure functions from a report to a figure. `dark`: whether the theme is dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any

from core.evaluation.metrics.classifier_report import ABSTAINED, Abstention, CalibrationBin, Confusion, LabelRate
from pages.components.styles import truth_look
from pages.components.wording import count

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["abstention_curve", "confusion_map", "reliability_diagram"]


@dataclass(frozen=True, slots=True)
class _Paint:
    """ink: text. line: what is measured; on_line: text on it; band: its interval. quiet: what stands beside it.
    mark: what the product does. right, wrong, kept_back: tiles from none to many of a row."""

    ink: str
    line: str
    on_line: str
    band: str
    quiet: str
    mark: str
    right: tuple[str, str]
    wrong: tuple[str, str]
    kept_back: tuple[str, str]


_LIGHT = _Paint(
    ink="#1f2733", line="#34558b", on_line="#ffffff", band="rgba(91,132,184,0.20)", quiet="#68707d", mark="#c62f3b",
    right=("#eef2f8", "#5b84b8"), wrong=("#f4f5f7", "#de9574"), kept_back=("#f4f5f7", "#aeb6c1"),
)  # fmt: skip
_DARK = _Paint(
    ink="#e4e8ee", line="#8fb2ea", on_line="#14181f", band="rgba(143,178,234,0.22)", quiet="#aab3c0", mark="#f2808a",
    right=("#1d2632", "#44638c"), wrong=("#1d232c", "#9f5a3b"), kept_back=("#1d232c", "#59636f"),
)  # fmt: skip
_CLEAR = "rgba(0,0,0,0)"


def confusion_map(confusion: Confusion, *, dark: bool = False) -> "Figure":
    """Confirmed truths as rows, what the classifier says as columns; the count stands in every tile.

    A tile's strength is its share of the row: blue on the diagonal, orange beside it, gray for abstentions. Beside the
    diagonal half a row is full strength, so that no mistake is pale.
    """
    from plotly.graph_objects import Figure, Heatmap

    paint = _DARK if dark else _LIGHT
    rows, columns = range(len(confusion.rows)), range(len(confusion.columns))
    figure = Figure()
    for kind, (fills, full) in enumerate(((paint.right, 1.0), (paint.wrong, 0.5), (paint.kept_back, 0.5))):
        figure.add_trace(
            Heatmap(zmin=0.0, zmax=full, colorscale=[[0.0, fills[0]], [1.0, fills[1]]], **_tiles(confusion, kind))
        )
    for i in rows:
        for j in columns:
            number = confusion.counts[i][j]
            font = {"color": paint.ink if number else paint.quiet, "size": 15 if number else 12}
            figure.add_annotation(x=j, y=i, text=f"{number:,}", showarrow=False, font=font)
    _frame(figure, paint, height=106 + 46 * len(rows))
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
    return "–" if name == ABSTAINED else truth_look(name).symbol


def _tile_share(confusion: Confusion, row: int, column: int) -> float:
    return confusion.counts[row][column] / max(1, sum(confusion.counts[row]))


def _tile_words(confusion: Confusion, row: int, column: int) -> str:
    number, whole = confusion.counts[row][column], sum(confusion.counts[row])
    truth, said = confusion.rows[row], confusion.columns[column]
    verb = "the classifier abstained" if said == ABSTAINED else f"said to be {said}"
    share = f" ({_tile_share(confusion, row, column):.0%})" if whole else ""
    return f"Confirmed {truth}, {verb}:<br>{number:,} of {count(whole, 'document')}{share}"


def reliability_diagram(bins: Sequence[CalibrationBin], *, dark: bool = False) -> "Figure":
    """How often it was right over how sure it was: one dot per bin, with its interval and its number of documents.

    On the dashed line it is exactly as good as it says; below it is too sure of itself. Dots that would cover each
    other are small and bare. bins: at least one.
    """
    from plotly.graph_objects import Figure, Scatter

    paint = _DARK if dark else _LIGHT
    left = max(0.0, floor(20 * min(each.low for each in bins) - 0.5) / 20)
    line = {"color": paint.quiet, "width": 1.5, "dash": "dash"}
    crowded = [any(_covers(each, other, 1 - left) for other in bins if other is not each) for each in bins]
    figure = Figure(Scatter(x=[left, 1.0], y=[left, 1.0], mode="lines", line=line, hoverinfo="skip"))
    figure.add_trace(
        Scatter(
            x=[each.said for each in bins],
            y=[each.right.share for each in bins],
            mode="markers+text",
            marker={"size": [9 if tight else 24 for tight in crowded], "color": paint.line, "opacity": 1.0},
            text=["" if tight else f"{each.right.n:,}" for each, tight in zip(bins, crowded, strict=True)],
            textfont={"color": paint.on_line, "size": 12},
            error_y=_whiskers([each.right for each in bins], paint),
            customdata=[_bin_words(each) for each in bins],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
    _frame(figure, paint, height=330)
    _shares_axis(figure)
    figure.update_xaxes(range=[left - 0.01, 1.02], tickformat=".2f", title="How sure it said it was")
    figure.update_yaxes(title="How often it was right")
    return figure


def _covers(one: CalibrationBin, other: CalibrationBin, span: float) -> bool:
    """Whether two dots with numbers in them would touch, in a plot about 440 by 250 pixels."""
    return abs(one.said - other.said) < 0.06 * span and abs(one.right.share - other.right.share) < 0.11


def _whiskers(rates: Sequence[LabelRate], paint: _Paint) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [each.high - each.share for each in rates],
        "arrayminus": [each.share - each.low for each in rates],
        "color": paint.line,
        "thickness": 1.5,
        "width": 4,
    }


def _bin_words(each: CalibrationBin) -> str:
    told = f"It said {each.low:.2f} to {each.high:.2f}, {each.said:.2f} on average"
    return f"{told}<br>and had {each.right.right} of {each.right.n} right: {_rate_words(each.right)}"


def _rate_words(rate: LabelRate) -> str:
    return f"{rate.share:.0%} ({rate.low:.0%} to {rate.high:.0%})" if rate.n else "none"


def abstention_curve(curve: Sequence[Abstention], threshold: float, *, dark: bool = False) -> "Figure":
    """What abstaining below a probability leaves: the share decided (dotted), and the share of it that is right (solid)
    with its interval (band). threshold: the product's own, marked.
    """
    from plotly.graph_objects import Figure, Scatter

    paint = _DARK if dark else _LIGHT
    some = [each for each in curve if each.right.n]
    over = [each.threshold for each in some]
    ends = [*(each.right.high for each in some), *(each.right.low for each in reversed(some))]
    decided, right = [each.decided.share for each in curve], [each.right.share for each in some]
    figure = Figure()
    figure.add_trace(
        Scatter(
            x=[*over, *reversed(over)], y=ends, mode="lines", line={"width": 0}, fill="toself", fillcolor=paint.band,
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        Scatter(
            x=[each.threshold for each in curve], y=decided, mode="lines", hoverinfo="skip",
            line={"color": paint.quiet, "width": 2, "dash": "dot", "shape": "hv"},
        )
    )  # fmt: skip
    figure.add_trace(
        Scatter(
            x=over, y=right, mode="lines", line={"color": paint.line, "width": 2.5, "shape": "hv"},
            customdata=[_point_words(each) for each in some], hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    _frame(figure, paint, height=330)
    _shares_axis(figure)
    figure.update_layout(hovermode="x")
    figure.update_xaxes(range=[curve[0].threshold, 1.0], tickformat=".2f", title="Abstain below this probability")
    figure.add_vline(threshold, line={"color": paint.mark, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=threshold, y=1.0, yref="paper", yanchor="bottom", text=f"in use {threshold:.2f}", showarrow=False,
        font={"color": paint.mark, "size": 12},
    )  # fmt: skip
    return figure


def _point_words(each: Abstention) -> str:
    decided = f"{each.decided.share:.0%} decided ({each.decided.right:,} of {each.decided.n:,})"
    return f"Abstaining below {each.threshold:.2f}:<br>{decided}<br>of these {_rate_words(each.right)} right"


def _shares_axis(figure: "Figure") -> None:
    figure.update_yaxes(range=[-0.02, 1.06], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])


def _frame(figure: "Figure", paint: _Paint, *, height: int) -> None:
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 26, "b": 8},
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        showlegend=False,
        font={"color": paint.ink},
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(fixedrange=True, zeroline=False, ticks="", tickfont={"size": 13})
    figure.update_yaxes(fixedrange=True, zeroline=False, ticks="", tickfont={"size": 13})
