"""Filters and sort orders of the coverage board."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.coverage.gaps import ASSESSED
from core.domain.coverage import Board, Cell, CellState, Decision, Gap, GapKind, Topic
from core.knowledge.gaps import SEVERITIES

__all__ = ["NO_OWNER", "BoardView", "TopicOrder", "VisibleBoard", "looked_at", "owner_of", "values_of"]

NO_OWNER = "nobody"
"""Value of the owner filter for cells without an owner."""

Held = Mapping[tuple[int, str], Decision]


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

    find: text that the topic's name must contain, ignoring case.
    """

    states: tuple[CellState, ...] = ()
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


def looked_at(board: Board, view: BoardView, held: Held) -> VisibleBoard:
    """Topics with at least one matching cell. A topic without cells is never shown."""
    gaps = {(gap.topic, gap.kind): gap for gap in board.gaps}
    rows: dict[int, list[Cell]] = {}
    for cell in board.cells:
        rows.setdefault(cell.topic_id, []).append(cell)
    lit: set[tuple[int, str]] = set()
    kept = []
    for topic in board.topics:
        if not _topic_meets(topic, view):
            continue
        met = [cell for cell in rows.get(topic.id, []) if _cell_meets(cell, topic, view, gaps, held)]
        if met:
            kept.append(topic)
            lit |= {(cell.topic_id, cell.kind.value) for cell in met}
    worth = _ORDERS[view.order]
    kept.sort(key=lambda topic: worth(topic, rows[topic.id], gaps))  # type: ignore[arg-type, return-value]
    return VisibleBoard(tuple(kept), frozenset(lit))


def owner_of(cell: Cell, topic: Topic, held: Held) -> str:
    """Owner of a cell: the owner in its decision, else the topic's owner, else NO_OWNER."""
    decision = held.get((cell.topic_id, cell.kind.value))
    return (decision.owner if decision else "") or topic.owner or NO_OWNER


def values_of(board: Board, held: Held) -> Mapping[str, tuple[str, ...]]:
    """Filter field → the values that occur on the board, in order."""
    topics = {topic.id: topic for topic in board.topics}
    owners = {owner_of(cell, topics[cell.topic_id], held) for cell in board.cells if cell.topic_id in topics}
    states = {cell.state for cell in board.cells}
    severities = {gap.severity for gap in board.gaps}
    return {
        "states": tuple(state for state in CellState if state in states),
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


def _cell_meets(cell: Cell, topic: Topic, view: BoardView, gaps: Mapping[tuple[str, GapKind], Gap], held: Held) -> bool:
    gap = gaps.get((cell.topic, cell.kind))
    return (
        (not view.states or cell.state in view.states)
        and (not view.severities or (gap is not None and gap.severity in view.severities))
        and (not view.owners or owner_of(cell, topic, held) in view.owners)
    )


_Worth = Callable[[Topic, list[Cell], Mapping[tuple[str, GapKind], Gap]], object]


def _holes(topic: Topic, cells: list[Cell], gaps: Mapping[tuple[str, GapKind], Gap]) -> list[int]:
    """Sort key: negated gap counts by severity, highest severity first."""
    found = [gaps[cell.topic, cell.kind].severity for cell in cells if (cell.topic, cell.kind) in gaps]
    return [-found.count(severity) for severity in SEVERITIES]


def _strength(topic: Topic, cells: list[Cell], gaps: object) -> float:
    assessed = [cell.evidence_score for cell in cells if cell.state in ASSESSED]
    return sum(assessed) / len(assessed) if assessed else 1.0


_ORDERS: Mapping[TopicOrder, _Worth] = {
    TopicOrder.ADDED: lambda topic, cells, gaps: 0,
    TopicOrder.WORST: _holes,
    TopicOrder.WEAKEST: _strength,
    TopicOrder.NAME: lambda topic, cells, gaps: topic.name.casefold(),
    TopicOrder.OWNER: lambda topic, cells, gaps: (not topic.owner, topic.owner.casefold()),
    TopicOrder.DOMAIN: lambda topic, cells, gaps: (topic.domain is None, topic.domain or ""),
}
