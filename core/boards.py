"""What coverage answers: topics × truths, each cell with its evidence, and the gaps."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.documents import Truth
from core.queries import SearchRequest
from core.results import Citation

__all__ = ["Board", "Cell", "CellState", "Gap"]


class CellState(StrEnum):
    """State of one topic × truth."""

    COVERED = "covered"
    PARTIAL = "partial"
    GAP = "gap"
    SUSPECT = "suspect"
    WAIVED = "waived"
    NOT_ASSESSED = "not assessed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Cell:
    """One topic under one truth. evidence_score: absolute, in [0, 1]; margin = evidence_score - threshold.

    evidence: the citations that carry it, best first; near_misses: the best that did not reach the threshold.
    request: the exact question, filters and profile, so that Search reproduces it. error: set in state error only.
    """

    topic: str
    truth: Truth
    state: CellState
    evidence_score: float
    threshold: float
    evidence: tuple[Citation, ...] = ()
    near_misses: tuple[Citation, ...] = ()
    request: SearchRequest | None = None
    reason: str = ""
    error: str = ""

    @property
    def margin(self) -> float:
        """How far the evidence is above (+) or below (-) the threshold."""
        return self.evidence_score - self.threshold


@dataclass(frozen=True, slots=True)
class Gap:
    """A hole in the board: severity is low, medium or high; recommendation names what to obtain."""

    topic: str
    truth: Truth
    severity: str
    recommendation: str


@dataclass(frozen=True, slots=True)
class Board:
    """Topics × truths. coverage = covered ÷ assessed, in [0, 1]; None when nothing could be assessed."""

    topics: tuple[str, ...]
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    coverage: float | None
    profile: str
    project: str | None
    taken_at: datetime
    milliseconds: float = 0.0

    def cell(self, topic: str, truth: Truth) -> Cell:
        """The cell of a topic and truth. Raises KeyError when the board has none."""
        for cell in self.cells:
            if cell.topic == topic and cell.truth == truth:
                return cell
        raise KeyError((topic, truth))
