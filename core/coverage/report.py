"""A board as rows, data and text, for what leaves the product."""

import csv
import io
from dataclasses import dataclass, fields
from typing import Any

from core.boards import Board, Cell, Gap
from core.coverage.gaps import ASSESSED, score_in_words
from core.printed import aligned
from core.search.report import citation_data

__all__ = ["BoardRow", "board_csv", "board_data", "board_rows", "board_text", "inert", "restored"]

_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One cell of the board as one line of a spreadsheet. Scores are in [0, 1]."""

    topic: str
    truth: str
    state: str
    evidence_score: float
    threshold: float
    margin: float
    severity: str
    reason: str
    recommendation: str
    evidence: str
    document: str
    page: int | None


def board_rows(board: Board) -> tuple[BoardRow, ...]:
    """One row per cell, in the board's order; severity and recommendation are empty where there is no gap."""
    gaps = {(gap.topic, gap.kind): gap for gap in board.gaps}
    rows = []
    for cell in board.cells:
        gap = gaps.get((cell.topic, cell.kind))
        best = next(iter(cell.evidence or cell.near_misses), None)
        rows.append(
            BoardRow(
                topic=cell.topic,
                truth=cell.kind.value,
                state=cell.state.value,
                evidence_score=round(cell.evidence_score, 4),
                threshold=cell.threshold,
                margin=round(cell.margin, 4),
                severity=gap.severity if gap else "",
                reason=cell.error or cell.reason,
                recommendation=gap.recommendation if gap else "",
                evidence=best.quote if best else "",
                document=best.document_name if best else "",
                page=best.page if best else None,
            )
        )
    return tuple(rows)


def board_csv(board: Board) -> str:
    """The rows as CSV with a header. Text a spreadsheet would run as a formula is made inert."""
    names = [field.name for field in fields(BoardRow)]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    for row in board_rows(board):
        writer.writerow([inert(getattr(row, name)) for name in names])
    return out.getvalue()


def inert(value: Any) -> Any:
    """A cell value no spreadsheet runs: text that starts like a formula gets a leading apostrophe.

    Source: OWASP, CSV Injection.

    >>> inert("=1+1"), inert(" @SUM(A1)"), inert("minimum wage"), inert(-0.2)
    ("'=1+1", "' @SUM(A1)", 'minimum wage', -0.2)
    """
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_MARKS):
        return f"'{value}"
    return value


def restored(value: str) -> str:
    """What `inert` was given.

    >>> restored("'=1+1"), restored("'tis")
    ('=1+1', "'tis")
    """
    return value[1:] if value.startswith("'") and inert(value[1:]) == value else value


def board_data(board: Board) -> dict[str, Any]:
    """The whole board as plain data for JSON."""
    return {
        "taken_at": board.taken_at.isoformat(),
        "project": board.project,
        "profile": board.profile,
        "coverage": board.coverage,
        "milliseconds": round(board.milliseconds, 1),
        "topics": [topic.name for topic in board.topics],
        "cells": [_cell_data(cell) for cell in board.cells],
        "gaps": [
            {
                "topic": gap.topic,
                "truth": gap.kind.value,
                "severity": gap.severity,
                "recommendation": gap.recommendation,
            }
            for gap in board.gaps
        ],
    }


def _cell_data(cell: Cell) -> dict[str, Any]:
    return {
        "topic": cell.topic,
        "truth": cell.kind.value,
        "state": cell.state.value,
        "evidence_score": cell.evidence_score,
        "threshold": cell.threshold,
        "margin": cell.margin,
        "reason": cell.reason,
        "error": cell.error,
        "evidence": [citation_data(citation) for citation in cell.evidence],
        "near_misses": [citation_data(citation) for citation in cell.near_misses],
    }


def board_text(board: Board) -> str:
    """The board as a table of states with scores, then the gaps with what to obtain."""
    rows = [[topic.name, *(_cell_text(board.cell(topic.name, kind)) for kind in board.kinds)] for topic in board.topics]
    share = "nothing could be assessed" if board.coverage is None else f"{board.coverage:.0%} covered"
    table = aligned(["topic", *(kind.value for kind in board.kinds)], rows)
    errors = dict.fromkeys(cell.error for cell in board.cells if cell.error)
    parts = [table, f"{share}, {len(board.gaps)} gaps.", *(f"! {error}" for error in errors)]
    return "\n".join([*parts, *(_gap_text(gap) for gap in board.gaps)])


def _cell_text(cell: Cell) -> str:
    return f"{cell.state} {score_in_words(cell.evidence_score)}" if cell.state in ASSESSED else str(cell.state)


def _gap_text(gap: Gap) -> str:
    return f"- {gap.severity}: {gap.topic} / {gap.kind}. {gap.recommendation}"
