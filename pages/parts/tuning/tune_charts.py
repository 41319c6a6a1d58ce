"""Rank-change lines: one question's ranking under two profiles, joined passage by passage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from core.tuning.trial import Move, Trial
from pages.parts.wording import shortened, squeezed

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["KINDS", "Kind", "kind_of", "rank_lines"]

_NAME = 17
_ROW = 27
_WIDE, _GAP, _FAR = 1.55, 0.11, 0.2
"""How far the picture reaches beyond its two sides, and where ranks and names stand there, in gaps between them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of move looks: never by its colour alone."""

    words: str
    sign: str
    symbol: str
    dash: str
    width: float
    light: str
    dark: str


KINDS = {
    "enters": Kind("enters", "+", "diamond", "dash", 2.5, "#34558b", "#7da2dc"),
    "up": Kind("moves up", "▲", "triangle-up", "solid", 2.5, "#5b84b8", "#5378a6"),
    "same": Kind("stays", "=", "circle", "solid", 1.5, "#aeb6c1", "#66707e"),
    "down": Kind("moves down", "▼", "triangle-down", "solid", 2.5, "#d8747c", "#b0606a"),
    "leaves": Kind("leaves", "−", "x", "dot", 2.5, "#c62f3b", "#f2808a"),
    "after": Kind("after the last one shown", "·", "circle-open", "dot", 1.0, "#c8cdd5", "#46505d"),
}
"""What can become of a passage."""


def kind_of(move: Move) -> Kind:
    """What became of a passage."""
    if not move.shown:
        return KINDS["after"]
    if move.before is None or move.after is None:
        return KINDS["enters" if move.before is None else "leaves"]
    return KINDS["same" if not move.up else "up" if move.up > 0 else "down"]


def rank_lines(trial: Trial, heads: tuple[str, str], placed: Callable[[Move], str], *, dark: bool = False) -> "Figure":
    """One line per passage, from its rank under the base at the left to its rank under the trial at the right.

    What is not ranked among the first `trial.depth` on a side comes from, or goes, below. heads: what stands above the
    two sides; placed: where in its document a passage stands, in words.
    """
    from plotly.graph_objects import Figure

    rows = max((place for move in trial.moves for place in _ends(move, trial.depth) if place), default=1)
    traces = [
        _lines(kind, [move for move in trial.moves if kind_of(move) is kind], trial.depth, rows, dark=dark)
        for kind in KINDS.values()
        if any(kind_of(move) is kind for move in trial.moves)
    ]
    traces += [_words(trial, placed, rows, side) for side in (0, 1)]
    layout = {
        "height": 64 + _ROW * (rows + 1),
        "margin": {"l": 4, "r": 4, "t": 28, "b": 28},
        "hoverlabel": {"align": "left"},
        "legend": {"orientation": "h", "y": 0, "yanchor": "top", "x": 0.5, "xanchor": "center", "itemclick": False},
        "xaxis": {"range": [-_WIDE, 1 + _WIDE], "tickvals": [0, 1], "ticktext": [escape(head) for head in heads],
                  "side": "top", "showgrid": False, "zeroline": False, "fixedrange": True},
        "yaxis": {"range": [rows + 1.4, 0.4], "visible": False, "fixedrange": True},
    }  # fmt: skip
    return Figure(data=traces, layout=layout)  # at once: to update a figure takes longer than to make it


def _ends(move: Move, depth: int) -> tuple[int | None, int | None]:
    """Its places on both sides, None below the last row."""
    before, after = (place if place and place <= depth else None for place in (move.place_before, move.place_after))
    return before, after


def _lines(kind: Kind, moves: Sequence[Move], depth: int, rows: int, *, dark: bool) -> dict[str, Any]:
    """All moves of one kind as one trace, its lines apart."""
    x: list[int | None] = []
    y: list[int | None] = []
    told: list[str] = []
    for move in moves:
        ends = [None if place is None and not move.shown else place or rows + 1 for place in _ends(move, depth)]
        x += [0, 1, None]
        y += [*ends, None]
        told += [_hover(move)] * 2 + [""]
    colour = kind.dark if dark else kind.light
    return {
        "type": "scatter", "mode": "lines+markers", "name": kind.words, "x": x, "y": y,
        "line": {"color": colour, "width": kind.width, "dash": kind.dash},
        "marker": {"symbol": kind.symbol, "size": 9, "color": colour},
        "hovertext": told, "hovertemplate": "%{hovertext}<extra></extra>",
    }  # fmt: skip


def _words(trial: Trial, placed: Callable[[Move], str], rows: int, side: int) -> dict[str, Any]:
    """Rank, document and place beside every end that has a rank; what the row below means, where an end lies there."""
    ends = [(_ends(move, trial.depth)[side], move) for move in trial.moves]
    ranked = [(place, move) for place, move in ends if place is not None]
    below = [_below(move, side) for place, move in ends if place is None and move.shown]
    near, far, beside = (-_GAP, -_FAR, "middle left") if side == 0 else (1 + _GAP, 1 + _FAR, "middle right")
    spots: list[tuple[float, int, str, str]] = []
    for place, move in ranked:
        name = _short(move.candidate.passage.document_name, placed(move))
        spots += [(near, place, f"<b>{place}</b>", "middle center"), (far, place, escape(name), beside)]
    if below:
        spots.append((far, rows + 1, f"<i>{' or '.join(sorted(set(below)))}</i>", beside))
    x, y, words, where = ([spot[part] for spot in spots] for part in range(4))
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False,
        "x": x, "y": y, "text": words, "textposition": where, "textfont": {"size": 12},
    }  # fmt: skip


def _below(move: Move, side: int) -> str:
    """What became of a passage that is not among the first."""
    return "left out" if (move.place_before if side == 0 else move.place_after) is None else "further down"


def _short(name: str, place: str) -> str:
    """A document's name without its ending, cut in its middle, and where in it: "Overtime…g_Policy p. 1"."""
    return f"{squeezed(name.rpartition('.')[0] or name, _NAME)} {shortened(place.replace('page ', 'p. '), 12)}".strip()


def _hover(move: Move) -> str:
    before, after = (f"{score.total:.3f}" if score else "no score" for score in (move.score_before, move.score_after))
    ranks = " → ".join(str(place) if place else "not ranked" for place in (move.place_before, move.place_after))
    name = escape(squeezed(move.candidate.passage.document_name, 60))
    return f"<b>{name}</b><br>rank {ranks} · score {before} → {after}<br>{escape(shortened(move.why, 140))}"
