"""From judged cells to the list of holes: how bad each is, and what to obtain."""

from collections.abc import Iterable, Mapping
from math import floor

from core.boards import Cell, CellState, Gap
from core.queries import Route
from core.tables.gaps import SEVERITIES, GapTable, gap_table

__all__ = ["ASSESSED", "coverage_of", "gaps_of", "place_in_words", "score_in_words", "state_of"]

ASSESSED = frozenset({CellState.COVERED, CellState.PARTIAL, CellState.GAP, CellState.SUSPECT, CellState.WAIVED})
"""States that count in coverage; error and not assessed do not."""

_HOLES = frozenset({CellState.PARTIAL, CellState.GAP})


def state_of(score: float, table: GapTable | None = None) -> CellState:
    """Covered from 0.5 on, partial below it, gap below the partial threshold. score in [0, 1].

    >>> state_of(0.5).value, state_of(0.0).value
    ('covered', 'gap')
    """
    row = (table or gap_table()).evidence
    if score >= row.covered:
        return CellState.COVERED
    return CellState.PARTIAL if score >= row.partial else CellState.GAP


def coverage_of(cells: Iterable[Cell]) -> float | None:
    """covered ÷ assessed, in [0, 1]; None when nothing could be assessed."""
    assessed = [cell for cell in cells if cell.state in ASSESSED]
    return sum(cell.state is CellState.COVERED for cell in assessed) / len(assessed) if assessed else None


def gaps_of(cells: Iterable[Cell], routes: Mapping[str, Route] | None = None) -> tuple[Gap, ...]:
    """One gap per assessed cell below the threshold, worst first, else in the board's order.

    routes: topic → what was read from it; its jurisdiction goes into the recommendation.
    """
    table, known = gap_table(), routes or {}
    found = [
        Gap(
            cell.topic,
            cell.truth,
            table.truths[cell.truth].severity,
            _recommendation(cell, known.get(cell.topic), table),
        )
        for cell in cells
        if cell.state in _HOLES
    ]
    return tuple(sorted(found, key=lambda gap: SEVERITIES.index(gap.severity)))


def _recommendation(cell: Cell, route: Route | None, table: GapTable) -> str:
    row = table.truths[cell.truth]
    place = place_in_words(route.jurisdiction if route else None)
    obtain = f"Obtain {row.obtain}{f' for {place}' if place else ''} on {cell.topic}; ask {row.source}."
    if cell.state is CellState.PARTIAL:
        obtain = f"What is here only touches {cell.topic}. {obtain}"
    if not cell.near_misses:
        return f"{obtain} Nothing in the library comes near."
    nearest = cell.near_misses[0]
    page = f", p. {nearest.page}" if nearest.page else ""
    return f"{obtain} Nearest: “{_short(nearest.quote)}” ({nearest.document_name}{page})."


def place_in_words(jurisdiction: str | None) -> str:
    """A jurisdiction for a sentence; a state's topic may also be answered federally.

    >>> place_in_words("federal"), place_in_words("state:CA"), place_in_words(None)
    ('the US federal level', 'CA or the US federal level', '')
    """
    kind, _, code = (jurisdiction or "").partition(":")
    words = {"": "", "global": "any country", "federal": "the US federal level", "country": code}
    return words.get(kind, f"{code} or the US federal level")


def score_in_words(score: float) -> str:
    """Two places, cut and not rounded, so that a score below the threshold never reads as the threshold.

    >>> score_in_words(0.4996), score_in_words(0.5)
    ('0.49', '0.50')
    """
    return f"{floor(score * 100 + 1e-9) / 100:.2f}"


def _short(quote: str, longest: int = 160) -> str:
    tidy = " ".join(quote.split())
    return tidy if len(tidy) <= longest else f"{tidy[: longest - 1].rstrip()}…"
