"""Reviews of a coverage board: decisions, changes between runs, orphans and conflicts."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from core.domain.coverage_board import Cell, CellState, CoverageRun, Gap, GapKind, Topic
from core.domain.documents import Truth
from core.domain.results import Citation

__all__ = [
    "BoardChanges",
    "CellChange",
    "Conflict",
    "ConflictKind",
    "Decision",
    "DecisionHistory",
    "Orphan",
    "ReviewVerdict",
    "ReviewedCell",
    "ReviewerOpinion",
    "Statement",
]


class ReviewVerdict(StrEnum):
    """A reviewer's verdict on a cell (the first four), on a conflict (the next two), or on the previous decision."""

    ACCEPTED = "accepted as covered"
    CONFIRMED = "gap confirmed"
    WAIVED = "waived"
    NEEDS_WORK = "needs work"
    CONFLICT = "conflict confirmed"
    NO_CONFLICT = "no conflict"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Decision:
    """One entry of the append-only decision log, for one topic × kind in one project (None: the whole library).

    kind: a GapKind's value, or "conflict:<key>" for a pair of sentences. number: 1, 2, 3 … per topic, kind and project;
    a new decision must have the next number, so that reviewers cannot overwrite each other. Verdict `undone` reverts
    the previous decision. expires: last day of a waiver. pinned: the sentences it is based on. state, score: as
    detected at the time. topic: its name at the time. run_id: the board it was made on."""

    topic_id: int
    kind: str
    project: str | None
    verdict: ReviewVerdict
    who: str
    at: datetime
    number: int
    id: int = 0
    topic: str = ""
    reason: str = ""
    comment: str = ""
    owner: str = ""
    due: date | None = None
    expires: date | None = None
    pinned: tuple[Citation, ...] = ()
    state: CellState | None = None
    score: float = 0.0
    run_id: int = 0


@dataclass(frozen=True, slots=True)
class ReviewerOpinion:
    """A reviewer's verdict to be stored; `after` is the number of the last decision they have seen (0: none)."""

    verdict: ReviewVerdict
    who: str
    after: int = 0
    reason: str = ""
    comment: str = ""
    owner: str = ""
    due: date | None = None
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class DecisionHistory:
    """A cell's state in one finished run."""

    run_id: int
    at: datetime
    state: CellState
    score: float


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell whose state has changed. None: not on the board."""

    topic: str
    kind: GapKind
    before: CellState | None
    after: CellState | None
    score_before: float
    score_after: float
    why: str


@dataclass(frozen=True, slots=True)
class BoardChanges:
    """Differences between two runs. coverage: in [0, 1] or None. documents: names of those added or removed."""

    before: CoverageRun
    after: CoverageRun
    coverage_before: float | None
    coverage_after: float | None
    cells: tuple[CellChange, ...]
    topics_added: tuple[str, ...]
    topics_gone: tuple[str, ...]


class ConflictKind(StrEnum):
    """What two sentences disagree about."""

    NUMBER = "number"
    DATE = "date"
    MODALITY = "modality"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence and its statement. said: the differing words exactly as quoted ("14 days")."""

    citation: Citation
    truth: Truth
    said: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two contradictory sentences of different truths on one topic.

    key: hex digest of both quotes, the same in every run. words: the disagreement, as text. strength: in [0, 1].
    """

    key: str
    topic: Topic
    kind: ConflictKind
    first: Statement
    second: Statement
    words: str
    strength: float
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Orphan:
    """A policy section or configuration row without a matching requirement. nearest: the closest requirement, and its
    evidence score in [0, 1], below the threshold."""

    citation: Citation
    kind: GapKind
    section: str
    nearest: Topic | None
    score: float


@dataclass(frozen=True, slots=True)
class ReviewedCell:
    """A cell with its gap, its current decision, and its topic."""

    cell: Cell
    topic: Topic
    gap: Gap | None
    decision: Decision | None
