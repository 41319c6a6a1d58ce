"""The look of truths and states: one colour, icon and word each. Colour is never the only sign."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.coverage import CellState
from core.domain.documents import DocumentState, Truth

__all__ = ["CELLS", "SEVERITIES", "STATES", "TRUTHS", "UNKNOWN", "Style", "truth_style"]


@dataclass(frozen=True, slots=True)
class Style:
    """`symbol` is a single character for places that hold no icon (charts, tables, downloads)."""

    words: str
    colour: str
    icon: str
    symbol: str
    light: str
    dark: str
    question: str = ""


UNKNOWN = Style("unknown", "gray", ":material/help:", "?", "#68707d", "#8d97a5", "nothing decided it yet")

TRUTHS: Mapping[Truth, Style] = {
    Truth.REGULATORY: Style(
        "regulatory", "violet", ":material/gavel:", "§", "#8e2c8a", "#d786d8", "What does the law require?"
    ),
    Truth.COMPLIANCE: Style(
        "compliance", "blue", ":material/verified_user:", "✓", "#2f6fde", "#66a3ff", "What do our own rules say?"
    ),
    Truth.INTENT: Style(
        "intent", "orange", ":material/flag:", "⚑", "#b5400a", "#f0824a", "What does the customer want?"
    ),
    Truth.REFERENCE: Style(
        "reference", "green", ":material/menu_book:", "❡", "#0f9173", "#45c4a1", "What is recommended?"
    ),
    Truth.REALITY: Style(
        "reality", "yellow", ":material/database:", "▦", "#c29b00", "#f0d15c", "What do the data show?"
    ),
}

STATES: Mapping[DocumentState, Style] = {
    DocumentState.PENDING: Style("in progress", "gray", ":material/hourglass_top:", "…", "#68707d", "#8d97a5"),
    DocumentState.READY: Style("ready", "gray", ":material/check:", "✓", "#68707d", "#8d97a5"),
    DocumentState.FAILED: Style("failed", "red", ":material/error:", "✕", "#c62f3b", "#f2808a"),
}

CELLS: Mapping[CellState, Style] = {
    CellState.COVERED: Style("covered", "blue", ":material/check_circle:", "✓", "#4f77ab", "#4a78b5"),
    CellState.PARTIAL: Style("partial", "yellow", ":material/contrast:", "◐", "#f0dc9a", "#8a7228"),
    CellState.GAP: Style("gap", "red", ":material/cancel:", "✕", "#efb5b9", "#8f434b"),
    CellState.SUSPECT: Style("suspect", "violet", ":material/warning:", "!", "#dcc3e3", "#74507f"),
    CellState.WAIVED: Style("waived", "gray", ":material/event_busy:", "–", "#d3d8df", "#59636f"),
    CellState.NOT_ASSESSED: Style("not assessed", "gray", ":material/remove:", "·", "#e9ecf0", "#262d37"),
    CellState.ERROR: Style("error", "orange", ":material/bolt:", "⚡", "#f4c7a3", "#7a5230"),
}

SEVERITIES: Mapping[str, str] = {"high": "red", "medium": "orange", "low": "gray"}
"""Severity of a gap → its colour, worst first."""


def truth_style(truth: str | None) -> Style:
    """The look of a truth by its value; unknown for None and for a value that is none of the five."""
    return TRUTHS[Truth(truth)] if truth in set(Truth) else UNKNOWN
