"""A board as one looks at it: topics narrowed and put in order, and the cells the question is about."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.boards import Board, Cell, CellState, Gap, GapKind, Topic
from core.coverage.gaps import ASSESSED
from core.reviews import Decision
from core.tables.gaps import SEVERITIES

__all__ = ["NO_OWNER", "BoardView", "Order", "Shown", "looked_at", "owner_of", "values_of"]

NO_OWNER = "nobody"
"""What the owner filter calls a cell without an owner."""

Held = Mapping[tuple[int, str], Decision]


class Order(StrEnum):
    """How the topics of a board are put in order."""

    ADDED = "as added"
    WORST = "worst first"
    WEAKEST = "weakest evidence first"
    NAME = "by name"
    OWNER = "by owner"
    DOMAIN = "by domain"


@dataclass(frozen=True, slots=True)
class BoardView:
    """OR inside a field, AND across fields; empty means no restriction. find: words the topic's name must hold."""

    states: tuple[CellState, ...] = ()
    severities: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...] = ()
    find: str = ""
    order: Order = Order.ADDED


@dataclass(frozen=True, slots=True)
class Shown:
    """What a view shows: topics in order, and of their cells those that meet it, as (topic id, kind)."""

    topics: tuple[Topic, ...]
    lit: frozenset[tuple[int, str]]


def looked_at(board: Board, view: BoardView, held: Held) -> Shown:
    """Topics with at least one cell that meets the view. A topic without cells is never shown."""
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
    return Shown(tuple(kept), frozenset(lit))


def owner_of(cell: Cell, topic: Topic, held: Held) -> str:
    """Who has to deal with a cell: named in its decision, else the topic's owner, else NO_OWNER."""
    decision = held.get((cell.topic_id, cell.kind.value))
    return (decision.owner if decision else "") or topic.owner or NO_OWNER


def values_of(board: Board, held: Held) -> Mapping[str, tuple[str, ...]]:
    """Filter field → the values there are to choose from, in order."""
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
    """Gaps by severity, worst first, as a key that sorts the most and worst first."""
    found = [gaps[cell.topic, cell.kind].severity for cell in cells if (cell.topic, cell.kind) in gaps]
    return [-found.count(severity) for severity in SEVERITIES]


def _strength(topic: Topic, cells: list[Cell], gaps: object) -> float:
    assessed = [cell.evidence_score for cell in cells if cell.state in ASSESSED]
    return sum(assessed) / len(assessed) if assessed else 1.0


_ORDERS: Mapping[Order, _Worth] = {
    Order.ADDED: lambda topic, cells, gaps: 0,
    Order.WORST: _holes,
    Order.WEAKEST: _strength,
    Order.NAME: lambda topic, cells, gaps: topic.name.casefold(),
    Order.OWNER: lambda topic, cells, gaps: (not topic.owner, topic.owner.casefold()),
    Order.DOMAIN: lambda topic, cells, gaps: (topic.domain is None, topic.domain or ""),
}
