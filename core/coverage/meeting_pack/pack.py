"""The meeting pack: a board with its decisions, conflicts and changes, as a value, as JSON data and as HTML."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.coverage.board_view import (
    STATES_IN_WORDS,
    about_in_words,
    board_data,
    by_domain,
    by_kind,
    kind_in_words,
    needs_in_words,
    share_in_words,
)
from core.coverage.gaps import score_beside_state, score_in_words
from core.coverage.meetings.meeting import Minutes
from core.coverage.meetings.minutes import day_in_words, decision_facts, minutes_data, people_in_words
from core.coverage.review import DecisionsByCell, current_decisions
from core.coverage.traceability import TraceRow
from core.coverage.unread_files import unread_files_data, unread_files_in_words
from core.domain.coverage import (
    Board,
    BoardChanges,
    Cell,
    CellState,
    Conflict,
    CoverageRun,
    Decision,
    ReviewedCell,
    Topic,
)
from core.domain.results import Citation
from core.search.citations.cite import citation_data, display_quote

__all__ = [
    "LEGEND",
    "SCHEMA",
    "STATE_LOOKS",
    "MeetingPack",
    "StateStyle",
    "cell_in_words",
    "conflict_data",
    "decision_data",
    "pack_data",
    "pack_html",
    "topic_data",
]

SCHEMA = "fivefold.meeting-pack/1"


@dataclass(frozen=True, slots=True)
class StateStyle:
    """Print style of a state: fill and text colour as RRGGBB, and a symbol, so that colour is not the only signal."""

    fill: str
    ink: str
    symbol: str


STATE_LOOKS: Mapping[CellState, StateStyle] = {
    CellState.COVERED: StateStyle("4f77ab", "ffffff", "✓"),
    CellState.PARTIAL: StateStyle("f0dc9a", "1f2733", "◐"),
    CellState.GAP: StateStyle("efb5b9", "1f2733", "✕"),
    CellState.SUSPECT: StateStyle("dcc3e3", "1f2733", "!"),
    CellState.WAIVED: StateStyle("d3d8df", "1f2733", "–"),
    CellState.NOT_ASSESSED: StateStyle("e9ecf0", "5a626e", "·"),
    CellState.ERROR: StateStyle("f4c7a3", "1f2733", "⚡"),
}

LEGEND: Mapping[str, StateStyle] = {words: STATE_LOOKS[state] for words, state in STATES_IN_WORDS.items()}
"""Every state as people read it → its print style."""


@dataclass(frozen=True, slots=True)
class MeetingPack:
    """Contents of a meeting pack. board: with the current decisions applied. decisions: the complete log, oldest first.
    queue: cells to review, worst first. changes: since the chosen snapshot, None without one. domain_titles: name of
    a domain → its title. minutes: of the chosen past meetings."""

    board: Board
    run: CoverageRun
    decisions: tuple[Decision, ...]
    queue: tuple[ReviewedCell, ...]
    conflicts: tuple[Conflict, ...]
    trace: tuple[TraceRow, ...]
    changes: BoardChanges | None
    made_at: datetime
    made_by: str = ""
    domain_titles: Mapping[str, str] = field(default_factory=dict)
    minutes: tuple[Minutes, ...] = ()

    @property
    def current_decisions(self) -> DecisionsByCell:
        """(topic id, kind) → the current decision."""
        return current_decisions(self.decisions, self.board.topics)

    def domain_title(self, domain: str) -> str:
        """The title of a domain; its name where it has none."""
        return self.domain_titles.get(domain, domain)

    @property
    def title(self) -> str:
        """Title with the project's name."""
        return self.board.project or "The whole library"

    @property
    def coverage_in_words(self) -> str:
        """The share covered as text, or a note that nothing could be assessed."""
        return "nothing could be assessed" if self.board.coverage is None else f"{self.board.coverage:.0%} covered"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Metadata of the pack as (name, value): enough to create the same pack again."""
        board, run = self.board, self.run
        not_read = unread_files_in_words(board)
        return (
            ("Project", self.title),
            ("Snapshot", f"{run.name or f'run {run.id}'}, taken {board.taken_at:%Y-%m-%d %H:%M} UTC"),
            ("Coverage", f"{self.coverage_in_words}, {len(board.topics)} topics"),
            ("To obtain", needs_in_words(board)),
            ("Made", f"{self.made_at:%Y-%m-%d %H:%M} UTC" + (f" by {self.made_by}" if self.made_by else "")),
            *((("Not read", not_read),) if not_read else ()),
            ("Profile", board.profile),
            ("Settings fingerprint", board.configuration_hash[:16]),
            ("Library fingerprint", board.corpus_hash[:16]),
        )

    def gap_counts(self) -> Mapping[str, int]:
        """Severity → number of cells that need evidence."""
        counts: dict[str, int] = {}
        for gap in self.board.gaps:
            counts[gap.severity] = counts.get(gap.severity, 0) + 1
        return counts


def pack_data(pack: MeetingPack) -> dict[str, Any]:
    """The pack as JSON-compatible data; schema: docs/meeting-pack.schema.json."""
    board = pack.board
    return {
        "schema": SCHEMA,
        "made_at": pack.made_at.isoformat(),
        "made_by": pack.made_by,
        "snapshot": {"id": pack.run.id, "name": pack.run.name, "taken_at": board.taken_at.isoformat()},
        "configuration_hash": board.configuration_hash,
        "corpus_hash": board.corpus_hash,
        "board": board_data(board) | unread_files_data(board),
        "topics": [topic_data(topic) for topic in board.topics],
        "coverage_by_kind": {share.name: share.coverage for share in by_kind(board)},
        "coverage_by_domain": {share.name: share.coverage for share in by_domain(board)},
        "decisions": [decision_data(decision) for decision in pack.decisions],
        "conflicts": [conflict_data(conflict) for conflict in pack.conflicts],
        "traceability": [{"topic_id": row.topic.id, "holes": [kind.value for kind in row.holes]} for row in pack.trace],
        "changes": None if pack.changes is None else _changes_data(pack.changes),
        "meetings": [minutes_data(minutes) for minutes in pack.minutes],
    }


def topic_data(topic: Topic) -> dict[str, Any]:
    """A topic as JSON-compatible data."""
    return {
        "id": topic.id,
        "name": topic.name,
        "project": topic.project,
        "origin": topic.origin.value,
        "needs": [truth.value for truth in topic.needs],
        "owner": topic.owner,
        "domain": topic.domain,
        "jurisdiction": topic.jurisdiction,
        "modality": topic.modality.value if topic.modality else None,
        "source": _cited(topic.source),
    }


def _cited(citation: Citation | None) -> dict[str, Any] | None:
    return None if citation is None else citation_data(citation)


def decision_data(decision: Decision) -> dict[str, Any]:
    """A decision as JSON-compatible data."""
    return decision_facts(decision) | {
        "number": decision.number,
        "state": decision.state.value if decision.state else None,
        "score": decision.score,
        "pinned": [citation_data(citation) for citation in decision.pinned],
        "meeting_id": decision.meeting_id or None,
    }


def conflict_data(conflict: Conflict) -> dict[str, Any]:
    """A conflict as JSON-compatible data."""
    return {
        "key": conflict.key,
        "topic_id": conflict.topic.id,
        "kind": conflict.kind.value,
        "words": conflict.words,
        "first": {"said": conflict.first.text, **citation_data(conflict.first.citation)},
        "second": {"said": conflict.second.text, **citation_data(conflict.second.citation)},
        "verdict": conflict.decision.verdict.value if conflict.decision else None,
    }


def _changes_data(changes: BoardChanges) -> dict[str, Any]:
    return {
        "since": {"id": changes.before.id, "name": changes.before.name, "at": changes.before.started_at.isoformat()},
        "coverage_before": changes.coverage_before,
        "coverage_after": changes.coverage_after,
        "topics_added": list(changes.topics_added),
        "topics_gone": list(changes.topics_gone),
        "cells": [
            {
                "topic": change.topic,
                "kind": change.kind.value,
                "before": change.before.value if change.before else None,
                "after": change.after.value if change.after else None,
                "score_before": change.score_before,
                "score_after": change.score_after,
                "why": change.why,
            }
            for change in changes.cells
        ],
    }


_TEMPLATE = Path(__file__).with_name("meeting_pack.html")


def pack_html(pack: MeetingPack) -> str:
    """The pack as an HTML page."""
    from jinja2 import Environment, StrictUndefined

    names = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    names.filters |= {"score": score_in_words, "quote": display_quote, "percent": _percent}
    template = names.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(
        pack=pack,
        board=pack.board,
        held=pack.current_decisions,
        looks=STATE_LOOKS,
        legend=LEGEND,
        states=STATES_IN_WORDS,
        share_words=lambda kind: share_in_words(pack.board, kind),
        cell_words=cell_in_words,
        beside=score_beside_state,
        kind_words=kind_in_words,
        about_words=about_in_words,
        people_words=people_in_words,
        day_words=day_in_words,
        domains=by_domain(pack.board),
        evidenced=[cell for cell in pack.board.cells if cell.evidence or cell.near_misses],
    )


def cell_in_words(cell: Cell) -> str:
    """Its state with symbol and score."""
    return (
        f"{STATE_LOOKS[cell.state].symbol} {cell.state_in_words}{score_beside_state(cell.state, cell.evidence_score)}"
    )


def _percent(share: Any) -> str:
    return "–" if share is None else f"{share:.0%}"
