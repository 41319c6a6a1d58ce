"""State shared by the views of the Coverage page: the service, the current board, and the user."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.coverage.board_view import kind_in_words
from core.coverage.service import CoverageService
from core.domain.coverage import Board, Cell, CoverageRun, Decision, GapKind, Topic
from pages.components import session
from pages.components.styles import TRUTHS

__all__ = [
    "KIND_WORDS",
    "board",
    "cell_key",
    "clear_cache",
    "coverage_service",
    "decision_of",
    "find_cell",
    "kind_words",
    "now",
    "open_cell",
    "snapshots",
    "topics",
]

_FRESH_SECONDS = 15.0  # others review beside us: a board is read again after this long, or after a word of ours

KIND_WORDS = {
    kind: f"{'⚙' if kind is GapKind.CONFIGURATION else TRUTHS[kind.truth].symbol} {kind_in_words(kind)}"
    for kind in GapKind
}
"""Column → its symbol and word, for headings and lists."""


def kind_words(kind: GapKind) -> str:
    """A column's symbol and word."""
    return KIND_WORDS[kind]


def coverage_service() -> CoverageService:
    """The coverage service."""
    return session.workbench().coverage


def now() -> datetime:
    """For relative times ("3 min ago"); the coverage service dates the decisions."""
    return datetime.now(UTC)


def board(project: str | None, run_id: int | None = None) -> Board | None:
    """The board of a snapshot (the latest unless named) under the decisions that hold; None when there is none.

    Raises NotFound for a snapshot that is not this project's.
    """
    cache: dict[object, tuple[float, Board | None]] = st.session_state.setdefault("coverage.boards", {})
    until, known = cache.get((project, run_id), (float("-inf"), None))
    if known is None or time.monotonic() > until:
        started = time.monotonic()
        known = coverage_service().board(project, run_id)
        spent = time.monotonic() - started  # a large board is kept longer, so that reading it stays a small part
        cache[project, run_id] = (started + spent + max(_FRESH_SECONDS, 20 * spent), known)
    return known


def changed_documents(run_id: int) -> int:
    """Number of documents added, removed or changed since a snapshot. Raises NotFound."""
    mark = run_id, session.workbench().documents.last_change()
    return session.count_once("changed documents", mark, lambda: coverage_service().runs.changed_documents(run_id))


_CACHES = ("coverage.boards", "coverage.topics", "coverage.snapshots", "coverage.conflicts", "trace.orphans")


def clear_cache() -> None:
    """Drop cached results after a decision, an edit or a run."""
    for name in _CACHES:
        st.session_state.pop(name, None)


def topics(project: str | None) -> Sequence[Topic]:
    """The board's living topics; None: those of all projects."""
    found: Sequence[Topic] = _cached("coverage.topics", project, coverage_service().topics)
    return found


def snapshots(project: str | None) -> Sequence[CoverageRun]:
    """The board's runs, newest first."""
    found: Sequence[CoverageRun] = _cached("coverage.snapshots", project, coverage_service().snapshots)
    return found


def _cached(name: str, project: str | None, read: Callable[[str | None], Any]) -> Any:
    """Data of a project, read again after _FRESH_SECONDS or an edit."""
    cache: dict[str | None, tuple[float, Any]] = st.session_state.setdefault(name, {})
    if project not in cache or time.monotonic() - cache[project][0] > _FRESH_SECONDS:
        cache[project] = (time.monotonic(), read(project))
    return cache[project][1]


def decision_of(project: str | None, cell: Cell) -> Decision | None:
    """The decision in force for a cell."""
    return coverage_service().current_decisions(project).get((cell.topic_id, cell.kind.value))


def cell_key(cell: Cell) -> str:
    """A cell in a URL."""
    return f"{cell.kind.value}:{cell.topic_id}"


def find_cell(board: Board, key: str) -> Cell | None:
    """The cell named by the URL, None if the board lacks it."""
    return next((cell for cell in board.cells if cell_key(cell) == key), None)


def open_cell(key: str) -> None:
    """Open the details of a cell and write it to the URL; an empty key closes it."""
    st.session_state["coverage.open"] = key
    if key:
        st.query_params["cell"] = key
    elif "cell" in st.query_params:
        del st.query_params["cell"]
