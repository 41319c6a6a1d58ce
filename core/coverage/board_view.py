"""Views of a coverage board: topics filtered and ordered, coverage by part, and exports as CSV, JSON data and text."""

# Over 300 lines: every view reads the same board; the exports are short.

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from core.coverage.gaps import ASSESSED, score_beside_state
from core.coverage.review import DecisionsByCell
from core.domain.coverage import NOT_NEEDED, Board, Cell, CellState, Gap, GapKind, Topic
from core.formats.csv import csv_text
from core.formats.terminal import aligned
from core.knowledge.gaps import SEVERITIES
from core.search.citations.cite import citation_data

__all__ = [
    "NO_OWNER",
    "STATES_IN_WORDS",
    "BoardRow",
    "BoardView",
    "CoverageShare",
    "TopicOrder",
    "VisibleBoard",
    "about_in_words",
    "apply_view",
    "board_csv",
    "board_data",
    "board_rows",
    "board_text",
    "by_domain",
    "by_kind",
    "distinct_names",
    "kind_in_words",
    "kind_of_words",
    "needs_in_words",
    "owner_of",
    "risks_in_words",
    "share_in_words",
    "unread_in_words",
    "values_of",
    "waiting_in_words",
    "with_distinct_names",
]

NO_OWNER = "nobody"
"""Value of the owner filter for cells without an owner."""

STATES_IN_WORDS: Mapping[str, CellState] = {
    **{state.value: state for state in CellState if state is not CellState.ERROR},
    NOT_NEEDED: CellState.NOT_ASSESSED,
    CellState.ERROR.value: CellState.ERROR,
}
"""Every state as people read it (`Cell.state_in_words`), in order → the state whose look it has."""


class TopicOrder(StrEnum):
    """Sort order of the topics of a board."""

    ADDED = "as added"
    WORST = "worst first"
    WEAKEST = "weakest evidence first"
    NAME = "by name"
    OWNER = "by owner"
    DOMAIN = "by domain"


@dataclass(frozen=True, slots=True)
class BoardView:
    """Filters and sort order: OR inside a field, AND across fields; an empty field does not restrict.

    states: as people read them (`Cell.state_in_words`). find: text that the topic's name must contain, ignoring case.
    """

    states: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...] = ()
    find: str = ""
    order: TopicOrder = TopicOrder.ADDED


@dataclass(frozen=True, slots=True)
class VisibleBoard:
    """Result of a view. topics: in the view's order. lit: the cells that match, as (topic id, kind)."""

    topics: tuple[Topic, ...]
    lit: frozenset[tuple[int, str]]


def apply_view(board: Board, view: BoardView, decisions: DecisionsByCell) -> VisibleBoard:
    """Topics with at least one matching cell. A topic without cells is never shown."""
    rows: dict[int, list[Cell]] = {}
    for cell in board.cells:
        rows.setdefault(cell.topic_id, []).append(cell)
    lit: set[tuple[int, str]] = set()
    visible = []
    for topic in board.topics:
        if not _topic_meets(topic, view):
            continue
        met = [cell for cell in rows.get(topic.id, []) if _cell_meets(cell, topic, view, board, decisions)]
        if met:
            visible.append(topic)
            lit |= {(cell.topic_id, cell.kind.value) for cell in met}
    worth = _ORDERS[view.order]
    visible.sort(key=lambda topic: worth(topic, rows[topic.id], board))  # type: ignore[arg-type, return-value]
    return VisibleBoard(tuple(visible), frozenset(lit))


def owner_of(cell: Cell, topic: Topic, decisions: DecisionsByCell) -> str:
    """Owner of a cell: the owner in its decision, else the topic's owner, else NO_OWNER."""
    decision = decisions.get((cell.topic_id, cell.kind.value))
    return (decision.owner if decision else "") or topic.owner or NO_OWNER


def values_of(board: Board, decisions: DecisionsByCell) -> Mapping[str, tuple[str, ...]]:
    """Filter field → the values that occur on the board, in order."""
    topics = {topic.id: topic for topic in board.topics}
    owners = {owner_of(cell, topics[cell.topic_id], decisions) for cell in board.cells if cell.topic_id in topics}
    states = {cell.state_in_words for cell in board.cells}
    severities = {gap.severity for gap in board.gaps}
    return {
        "states": tuple(words for words in STATES_IN_WORDS if words in states),
        "severities": tuple(severity for severity in SEVERITIES if severity in severities),
        "domains": tuple(sorted({topic.domain for topic in board.topics if topic.domain})),
        "owners": tuple(sorted(owners)),
        "jurisdictions": tuple(sorted({topic.jurisdiction for topic in board.topics if topic.jurisdiction})),
    }


def _topic_meets(topic: Topic, view: BoardView) -> bool:
    return (
        (not view.domains or topic.domain in view.domains)
        and (not view.jurisdictions or topic.jurisdiction in view.jurisdictions)
        and view.find.casefold() in topic.name.casefold()
    )


def _cell_meets(cell: Cell, topic: Topic, view: BoardView, board: Board, decisions: DecisionsByCell) -> bool:
    gap = board.gap_of(cell)
    return (
        (not view.states or cell.state_in_words in view.states)
        and (not view.severities or (gap is not None and gap.severity in view.severities))
        and (not view.owners or owner_of(cell, topic, decisions) in view.owners)
    )


_Worth = Callable[[Topic, list[Cell], Board], object]


def _holes(topic: Topic, cells: list[Cell], board: Board) -> list[int]:
    """Sort key: negated gap counts by severity, highest severity first."""
    found = [gap.severity for cell in cells if (gap := board.gap_of(cell)) is not None]
    return [-found.count(severity) for severity in SEVERITIES]


def _strength(topic: Topic, cells: list[Cell], board: Board) -> float:
    assessed = [cell.evidence_score for cell in cells if cell.state in ASSESSED]
    return sum(assessed) / len(assessed) if assessed else 1.0


_ORDERS: Mapping[TopicOrder, _Worth] = {
    TopicOrder.ADDED: lambda topic, cells, board: 0,
    TopicOrder.WORST: _holes,
    TopicOrder.WEAKEST: _strength,
    TopicOrder.NAME: lambda topic, cells, board: topic.name.casefold(),
    TopicOrder.OWNER: lambda topic, cells, board: (not topic.owner, topic.owner.casefold()),
    TopicOrder.DOMAIN: lambda topic, cells, board: (topic.domain is None, topic.domain or ""),
}


def distinct_names(board: Board) -> Mapping[int, str]:
    """Topic id → name with its project, "overtime (Acme)", for the topics of one name (ignoring case)."""
    number = Counter(topic.name.casefold() for topic in board.topics)
    return {
        topic.id: f"{topic.name} ({topic.project or 'all projects'})"
        for topic in board.topics
        if topic.id and number[topic.name.casefold()] > 1
    }


def with_distinct_names(board: Board) -> Board:
    """The board as it is drawn: topics of one name carry their project."""
    names = distinct_names(board)
    if not names:
        return board
    return replace(
        board,
        topics=tuple(replace(topic, name=names.get(topic.id, topic.name)) for topic in board.topics),
        cells=tuple(replace(cell, topic=names.get(cell.topic_id, cell.topic)) for cell in board.cells),
        gaps=tuple(replace(gap, topic=names.get(gap.topic_id, gap.topic)) for gap in board.gaps),
    )


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
    doubts: str


def board_rows(board: Board) -> tuple[BoardRow, ...]:
    """One row per cell, in the board's order; severity and recommendation are empty where there is no gap."""
    rows = []
    for cell in board.cells:
        gap = board.gap_of(cell)
        best = next(iter(cell.evidence or cell.near_misses), None)
        rows.append(
            BoardRow(
                topic=cell.topic,
                truth=cell.kind.value,
                state=cell.state_in_words,
                evidence_score=round(cell.evidence_score, 4),
                threshold=cell.threshold,
                margin=round(cell.margin, 4),
                severity=gap.severity if gap else "",
                reason=cell.error or cell.reason,
                recommendation=gap.recommendation if gap else "",
                evidence=best.quote if best else "",
                document=best.document_name if best else "",
                page=best.page if best else None,
                doubts=risks_in_words(cell),
            )
        )
    return tuple(rows)


def risks_in_words(cell: Cell) -> str:
    """The reasons to doubt a cell, one sentence each; "" without any."""
    return " ".join(f"{risk.kind.value.capitalize()}: {risk.words}" for risk in cell.risks)


def kind_in_words(kind: GapKind) -> str:
    """A column's name, on pages and in exports.

    >>> kind_in_words(GapKind.CONFIGURATION), kind_in_words(GapKind.INTENT)
    ('set-up', 'intent')
    """
    return "set-up" if kind is GapKind.CONFIGURATION else kind.value


def kind_of_words(words: str) -> str:
    """The value of the column of this name; any other text unchanged."""
    return next((kind.value for kind in GapKind if kind_in_words(kind) == words), words)


def about_in_words(kind: str) -> str:
    """What a decision is about: its column's name, or "conflict" for a pair of sentences."""
    return kind_in_words(GapKind(kind)) if kind in set(GapKind) else kind.partition(":")[0]


def needs_in_words(board: Board) -> str:
    """How many cells need evidence, and how many of them are gaps and partial: the same count everywhere."""
    partial = sum(cell.state is CellState.PARTIAL for cell in board.cells)
    gaps = len(board.gaps) - partial
    number = f"{len(board.gaps):,} {'cell needs' if len(board.gaps) == 1 else 'cells need'} evidence"
    return f"{number} ({gaps:,} {'gap' if gaps == 1 else 'gaps'}, {partial:,} partial)" if board.gaps else number


def unread_in_words(board: Board) -> str:
    """The documents behind gaps that could not be read, in one sentence; "" when all were read."""
    if not board.unread:
        return ""
    more = len(board.unread) - _MOST_NAMES
    names = ", ".join(board.unread[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
    number = "1 document" if len(board.unread) == 1 else f"{len(board.unread):,} documents"
    return f"{number} could not be read in full and may fill a gap: {names}."


def waiting_in_words(board: Board) -> str:
    """The files not read yet when the board was assessed, in one sentence that says as of when; "" without one."""
    if not board.waiting:
        return ""
    one = board.waiting == 1
    number = "1 file" if one else f"{board.waiting:,} files"
    if board.configuration_hash:
        return f"{number} {'was' if one else 'were'} not read yet when this was assessed and may fill a gap."
    return f"As of now, {number} {'is' if one else 'are'} not read yet and may fill a gap."


def board_csv(board: Board) -> str:
    """The rows as CSV with a header. Text that a spreadsheet would run as a formula is escaped."""
    names = [field.name for field in fields(BoardRow)]
    return csv_text([names, *([getattr(row, name) for name in names] for row in board_rows(board))])


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
        "needed": cell.needed,
        "evidence_score": cell.evidence_score,
        "threshold": cell.threshold,
        "margin": cell.margin,
        "reason": cell.reason,
        "error": cell.error,
        "risks": [{"kind": risk.kind.value, "words": risk.words} for risk in cell.risks],
        "evidence": [citation_data(citation) for citation in cell.evidence],
        "near_misses": [citation_data(citation) for citation in cell.near_misses],
    }


def board_text(board: Board) -> str:
    """The board as a text table of states with scores, followed by the doubts, the gaps and what to obtain for each."""
    rows = [[topic.name, *(_cell_text(board.cell(topic, kind)) for kind in board.kinds)] for topic in board.topics]
    share = "nothing could be assessed" if board.coverage is None else f"{board.coverage:.0%} covered"
    table = aligned(["topic", *map(kind_in_words, board.kinds)], rows)
    errors = dict.fromkeys(cell.error for cell in board.cells if cell.error)
    parts = [table, f"{share}, {needs_in_words(board)}.", *(f"! {error}" for error in errors)]
    parts += [
        f"⚠ {cell.topic} / {kind_in_words(cell.kind)}. {risks_in_words(cell)}" for cell in board.cells if cell.risks
    ]
    return "\n".join([*parts, *(_gap_text(gap) for gap in board.gaps)])


def _cell_text(cell: Cell) -> str:
    return f"{cell.state_in_words}{score_beside_state(cell.state, cell.evidence_score)}"


def _gap_text(gap: Gap) -> str:
    return f"- {gap.severity}: {gap.topic} / {kind_in_words(gap.kind)}. {gap.recommendation}"


_MOST_NAMES = 3  # documents named in the sentence; chosen by hand

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


def share_in_words(board: Board, kind: GapKind) -> str:
    """The share of a column as text; "not needed" when no topic needs its truth, "error" when every search failed."""
    cells = [cell for cell in board.cells if cell.kind is kind]
    share = _share(kind.value, board, lambda cell: cell.kind is kind).coverage
    if share is not None:
        return f"{share:.0%} covered"
    if cells and not any(cell.needed for cell in cells):
        return NOT_NEEDED
    failed = bool(cells) and all(cell.state is CellState.ERROR for cell in cells if cell.needed)
    return (CellState.ERROR if failed else CellState.NOT_ASSESSED).value


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
