"""A board added up: by column, by domain."""

from collections.abc import Callable
from dataclasses import dataclass

from core.boards import Board, Cell, CellState
from core.coverage.gaps import ASSESSED

__all__ = ["Share", "by_domain", "by_kind"]

NO_DOMAIN = "no domain"


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a board. coverage = covered ÷ assessed, in [0, 1]; None when nothing of it was assessed."""

    name: str
    covered: int
    assessed: int

    @property
    def coverage(self) -> float | None:
        return self.covered / self.assessed if self.assessed else None


def by_kind(board: Board) -> tuple[Share, ...]:
    """One share per column, in the board's order."""
    return tuple(_share(kind.value, board, lambda cell, kind=kind: cell.kind is kind) for kind in board.kinds)  # type: ignore[misc]


def by_domain(board: Board) -> tuple[Share, ...]:
    """One share per domain of the topics, over the five truths, the worst first; topics without one come last."""
    domains = {topic.id: topic.domain or NO_DOMAIN for topic in board.topics}
    names = sorted(set(domains.values()) - {NO_DOMAIN}) + ([NO_DOMAIN] if NO_DOMAIN in domains.values() else [])
    shares = [
        _share(name, board, lambda cell, name=name: not cell.configuration and domains.get(cell.topic_id) == name)  # type: ignore[misc]
        for name in names
    ]
    return tuple(sorted(shares, key=lambda share: (share.name == NO_DOMAIN, share.coverage is None, share.coverage)))


def _share(name: str, board: Board, belongs: Callable[[Cell], bool]) -> Share:
    cells = [cell for cell in board.cells if cell.state in ASSESSED and belongs(cell)]
    return Share(name, sum(cell.state is CellState.COVERED for cell in cells), len(cells))
