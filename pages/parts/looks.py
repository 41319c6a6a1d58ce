"""How a truth and a state look, everywhere: one colour, one icon, one word. Colour never speaks alone.

`colour` is a name of the palette in .streamlit/config.toml, where both themes give it a value; `light` and `dark` are
those values, for charts, which cannot read the theme. A test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.boards import CellState
from core.documents import DocumentState, Truth

__all__ = ["CELLS", "SEVERITIES", "STATES", "TRUTHS", "UNKNOWN", "Look", "truth_look"]


@dataclass(frozen=True, slots=True)
class Look:
    """`symbol` is a single character for places that hold no icon (charts, tables, downloads)."""

    words: str
    colour: str
    icon: str
    symbol: str
    light: str
    dark: str
    question: str = ""


UNKNOWN = Look("unknown", "gray", ":material/help:", "?", "#68707d", "#8d97a5", "nothing decided it yet")

TRUTHS: Mapping[Truth, Look] = {
    Truth.REGULATORY: Look(
        "regulatory", "violet", ":material/gavel:", "§", "#8e2c8a", "#d786d8", "What does the law require?"
    ),
    Truth.COMPLIANCE: Look(
        "compliance", "blue", ":material/verified_user:", "✓", "#2f6fde", "#66a3ff", "What do our own rules say?"
    ),
    Truth.INTENT: Look(
        "intent", "orange", ":material/flag:", "⚑", "#b5400a", "#f0824a", "What does the customer want?"
    ),
    Truth.REFERENCE: Look(
        "reference", "green", ":material/menu_book:", "❡", "#0f9173", "#45c4a1", "What is recommended?"
    ),
    Truth.REALITY: Look("reality", "yellow", ":material/database:", "▦", "#c29b00", "#f0d15c", "What is?"),
}

STATES: Mapping[DocumentState, Look] = {
    DocumentState.PENDING: Look("in progress", "gray", ":material/hourglass_top:", "…", "#68707d", "#8d97a5"),
    DocumentState.READY: Look("ready", "gray", ":material/check:", "✓", "#68707d", "#8d97a5"),
    DocumentState.FAILED: Look("failed", "red", ":material/error:", "✕", "#c62f3b", "#f2808a"),
}

CELLS: Mapping[CellState, Look] = {
    CellState.COVERED: Look("covered", "blue", ":material/check_circle:", "✓", "#5b84b8", "#4a78b5"),
    CellState.PARTIAL: Look("partial", "yellow", ":material/contrast:", "◐", "#f0dc9a", "#8a7228"),
    CellState.GAP: Look("gap", "red", ":material/cancel:", "✕", "#efb5b9", "#8f434b"),
    CellState.SUSPECT: Look("suspect", "violet", ":material/warning:", "!", "#dcc3e3", "#74507f"),
    CellState.WAIVED: Look("waived", "gray", ":material/event_busy:", "–", "#d3d8df", "#59636f"),
    CellState.NOT_ASSESSED: Look("not assessed", "gray", ":material/remove:", "·", "#e9ecf0", "#262d37"),
    CellState.ERROR: Look("error", "orange", ":material/bolt:", "⚡", "#5a4a42", "#7a5230"),
}

SEVERITIES: Mapping[str, str] = {"high": "red", "medium": "orange", "low": "gray"}
"""Severity of a gap → its colour, worst first."""


def truth_look(truth: str | None) -> Look:
    """The look of a truth by its value; unknown for None and for a value that is none of the five."""
    return TRUTHS[Truth(truth)] if truth in set(Truth) else UNKNOWN
