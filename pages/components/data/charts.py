"""Charts of rows: pure functions from an answer to a figure. `dark`: whether the theme is dark."""

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from core.domain.dataset_queries import Aggregation, Rows, TableQuery
from core.table_qa.query_description import format_cell
from pages.components.data.rows import HEAD_PIXELS, LISTED, ROW_PIXELS
from pages.components.wording import chart_text, shorten

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["KINDS", "MOST_BARS", "MOST_POINTS", "group_bars", "has_bars", "picked_chart"]

MOST_BARS = 24  # more bars than that are thinner than their labels
MOST_POINTS = 1_000  # more points slow the browser down; chosen by hand
KINDS = ("Bars", "Line", "Points")
_LETTERS = 30  # characters of a label
_CLOSE_PIXELS, _LEAST_STANDING, _MOST_STANDING = (
    26,
    260,
    420,
)  # pixels of a bar, and of a chart at least and at most; chosen by hand
_BAR, _BAR_DARK = "#5b84b8", "#7da2dc"
_GRID, _GRID_DARK = "#dde1e7", "#323a46"


def has_bars(query: TableQuery, rows: Rows) -> bool:
    """Whether an answer is one number for each of some groups."""
    shape = len(query.groups) == 1 and len(query.measures) == 1
    return shape and len(rows.rows) > 1 and all(_is_number(row[1]) for row in rows.rows if row[1] is not None)


def group_bars(query: TableQuery, rows: Rows, *, dark: bool = False) -> "Figure":
    """One bar per group: the first MOST_BARS lying in the answer's order, or the latest standing in time's."""
    from plotly.graph_objects import Bar, Figure

    in_time = query.groups[0].part is not None
    shown = _shown(rows, in_time=in_time)
    labels = [_label(row[0], in_time=in_time) for row in shown]
    sizes = [float(str(row[1])) for row in shown]
    share = query.measures[0].aggregation is Aggregation.SHARE
    texts = [f"{size:.1%}" if share else format_cell(row[1]) for size, row in zip(sizes, shown, strict=True)]
    positions = list(range(len(shown)))
    figure = Figure(
        Bar(
            orientation="v" if in_time else "h",
            x=positions if in_time else sizes,
            y=sizes if in_time else positions,
            text=texts,
            textposition="outside",
            textfont={"size": 13},
            cliponaxis=False,
            customdata=labels,
            hovertemplate="%{customdata}: %{text}<extra></extra>",
            marker={"color": _BAR_DARK if dark else _BAR, "cornerradius": 2},
        )
    )
    figure.update_layout(**_beside_rows(len(shown), standing=in_time), bargap=0.35)
    _name_bars(figure, labels, standing=in_time)
    return figure


def _shown(rows: Rows, *, in_time: bool) -> list[tuple[object, ...]]:
    filled = [row for row in rows.rows if row[1] is not None]
    if not in_time:
        return filled[:MOST_BARS]
    return sorted((row for row in filled if row[0] is not None), key=lambda row: str(row[0]))[-MOST_BARS:]


def _name_bars(figure: "Figure", labels: list[str], *, standing: bool) -> None:
    """Names beside the bars, and no numbers but those on them."""
    names, sizes = figure.update_yaxes, figure.update_xaxes
    if standing:
        names, sizes = sizes, names
    else:
        names(range=[len(labels) - 0.5, -0.5])
    positions = list(range(len(labels)))
    names(tickvals=positions, ticktext=labels, tickfont={"size": 13}, showgrid=False, zeroline=False, fixedrange=True)
    sizes(showgrid=False, showticklabels=False, zeroline=False, fixedrange=True)


def picked_chart(rows: Rows, kind: str, x: str, y: str, *, dark: bool = False) -> "Figure":
    """Two columns of a result as bars, a line or points, in the order of its rows. At most MOST_POINTS rows; those
    without a number in `y` are left out."""
    from plotly.graph_objects import Bar, Figure, Scatter

    colour = _BAR_DARK if dark else _BAR
    pairs = [pair for pair in zip(rows.column(x), rows.column(y), strict=True) if _is_number(pair[1])][:MOST_POINTS]
    across: list[Any] = [_point(pair[0]) for pair in pairs]
    up = [float(str(pair[1])) for pair in pairs]
    hover = {"hovertemplate": "%{x}: %{y}<extra></extra>"}
    if kind == "Bars":
        drawn = Bar(x=across, y=up, marker={"color": colour, "cornerradius": 2}, **hover)
    else:
        mode = "lines+markers" if kind == "Line" else "markers"
        drawn = Scatter(x=across, y=up, mode=mode, line={"color": colour, "width": 2}, marker={"size": 7}, **hover)
    figure = Figure(drawn)
    figure.update_layout(**_plain(360), bargap=0.3)
    grid = _GRID_DARK if dark else _GRID
    figure.update_xaxes(title=chart_text(x), showgrid=kind == "Points", gridcolor=grid, zeroline=False)
    figure.update_yaxes(title=chart_text(y), gridcolor=grid, zeroline=kind != "Points", zerolinecolor=grid)
    if any(isinstance(each, str) for each in across):
        figure.update_xaxes(type="category")
    return figure


def _plain(height: int) -> dict[str, Any]:
    margin = {"l": 8, "r": 48, "t": 20, "b": 12}
    return {"height": height, "margin": margin, "showlegend": False, "hoverlabel": {"align": "left"}}


def _beside_rows(bars: int, *, standing: bool) -> dict[str, Any]:
    """As tall as the table beside it; lying bars each beside their row."""
    if standing:
        return _plain(max(_LEAST_STANDING, min(HEAD_PIXELS + ROW_PIXELS * bars, _MOST_STANDING)))
    each = ROW_PIXELS if bars <= LISTED else _CLOSE_PIXELS
    return _plain(HEAD_PIXELS + each * bars) | {"margin": {"l": 8, "r": 48, "t": HEAD_PIXELS, "b": 0}}


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) and cell == cell


def _label(cell: object, *, in_time: bool) -> str:
    """A group's name; a year is no amount."""
    words = str(cell) if in_time and cell is not None else format_cell(cell)
    return chart_text(shorten(words, _LETTERS))


def _point(cell: object) -> object:
    if _is_number(cell):
        return float(str(cell))
    return cell.isoformat() if isinstance(cell, date) else chart_text(shorten(format_cell(cell), _LETTERS))
