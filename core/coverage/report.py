"""Exports a coverage board as rows, CSV, JSON data and text, and computes coverage by column and by domain."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from core.coverage.gaps import ASSESSED, score_in_words
from core.domain.coverage import Board, Cell, CellState, Gap
from core.formats.csv import inert
from core.formats.terminal import aligned
from core.search.citations.cite import citation_data

__all__ = ["BoardRow", "CoverageShare", "board_csv", "board_data", "board_rows", "board_text", "by_domain", "by_kind"]


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One cell of the board as a spreadsheet row. Scores are in [0, 1]."""

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
    """The rows as CSV with a header. Text that a spreadsheet would run as a formula is escaped."""
    names = [field.name for field in fields(BoardRow)]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    for row in board_rows(board):
        writer.writerow([inert(getattr(row, name)) for name in names])
    return out.getvalue()


def board_data(board: Board) -> dict[str, Any]:
    """The whole board as JSON-compatible data."""
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
    """The board as a text table of states with scores, followed by the gaps and what to obtain for each."""
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


NO_DOMAIN = "no domain"


@dataclass(frozen=True, slots=True)
class CoverageShare:
    """Coverage of one part of a board: covered ÷ assessed, in [0, 1]; None when no cell of it was assessed."""

    name: str
    covered: int
    assessed: int

    @property
    def coverage(self) -> float | None:
        return self.covered / self.assessed if self.assessed else None


def by_kind(board: Board) -> tuple[CoverageShare, ...]:
    """One share per column, in the board's order."""
    return tuple(_share(kind.value, board, lambda cell, kind=kind: cell.kind is kind) for kind in board.kinds)  # type: ignore[misc]


def by_domain(board: Board) -> tuple[CoverageShare, ...]:
    """One share per topic domain, over the five truths, lowest coverage first; topics without a domain come last."""
    domains = {topic.id: topic.domain or NO_DOMAIN for topic in board.topics}
    names = sorted(set(domains.values()) - {NO_DOMAIN}) + ([NO_DOMAIN] if NO_DOMAIN in domains.values() else [])
    shares = [
        _share(name, board, lambda cell, name=name: not cell.configuration and domains.get(cell.topic_id) == name)  # type: ignore[misc]
        for name in names
    ]
    return tuple(sorted(shares, key=lambda share: (share.name == NO_DOMAIN, share.coverage is None, share.coverage)))


def _share(name: str, board: Board, belongs: Callable[[Cell], bool]) -> CoverageShare:
    cells = [cell for cell in board.cells if cell.state in ASSESSED and belongs(cell)]
    return CoverageShare(name, sum(cell.state is CellState.COVERED for cell in cells), len(cells))
