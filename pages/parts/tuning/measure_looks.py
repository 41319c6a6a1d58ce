"""How measurements look: what measures are called, numbers with their intervals, and the colours of their pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.experiments import Experiment, Interval
from core.tuning.comparison import Turn
from pages.parts.wording import shortened

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "LABELS",
    "SIDES",
    "SYMBOLS",
    "TURNS",
    "Paint",
    "figure",
    "framed",
    "name_of",
    "p_words",
    "paint",
    "share",
    "side",
    "signed",
    "span",
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

TURNS: Mapping[Turn, tuple[str, str]] = {
    Turn.BETTER: ("▲", "green"),
    Turn.WORSE: ("▼", "red"),
    Turn.CHANCE: ("≈", "gray"),
    Turn.SAME: ("=", "gray"),
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
