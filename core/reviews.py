"""What people decide about a board, and what follows from it: decisions, changes, traces, conflicts."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from core.boards import Cell, CellState, Gap, GapKind, Run, Topic
from core.documents import Truth
from core.results import Citation

__all__ = [
    "CellChange",
    "Changes",
    "Conflict",
    "ConflictKind",
    "Decision",
    "Opinion",
    "Orphan",
    "Past",
    "Reviewed",
    "Statement",
    "Verdict",
]


class Verdict(StrEnum):
    """What a reviewer says of a cell (the first four), of a conflict (the next two), or of the decision before."""

    ACCEPTED = "accepted as covered"
    CONFIRMED = "gap confirmed"
    WAIVED = "waived"
    NEEDS_WORK = "needs work"
    CONFLICT = "conflict confirmed"
    NO_CONFLICT = "no conflict"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the log, never changed. It is about one topic × kind in one project (None: the whole library).

    kind: a GapKind's value, or "conflict:<key>" for a pair of sentences. number: 1, 2, 3 … per topic, kind and
    project; a new decision must continue the count, so that two reviewers cannot overwrite each other. Verdict
    `undone` takes back the decision that held before it. expires: last day of a waiver. pinned: the sentences it rests
    on. state, score: what detection said then. topic: its name then. run_id: the board it was taken on.
    """

    topic_id: int
    kind: str
    project: str | None
    verdict: Verdict
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
class Opinion:
    """What a reviewer wants to say of a cell; `after` is the number of the last decision they have seen (0: none)."""

    verdict: Verdict
    who: str
    after: int = 0
    reason: str = ""
    comment: str = ""
    owner: str = ""
    due: date | None = None
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What one finished run said of a cell."""

    run_id: int
    at: datetime
    state: CellState
    score: float


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell whose state is another than before. None: the board did not have it."""

    topic: str
    kind: GapKind
    before: CellState | None
    after: CellState | None
    score_before: float
    score_after: float
    why: str


@dataclass(frozen=True, slots=True)
class Changes:
    """From one snapshot to another. coverage: in [0, 1] or None. documents: names that came or went."""

    before: Run
    after: Run
    coverage_before: float | None
    coverage_after: float | None
    cells: tuple[CellChange, ...]
    topics_added: tuple[str, ...]
    topics_gone: tuple[str, ...]


class ConflictKind(StrEnum):
    """What two sentences disagree in."""

    NUMBER = "number"
    DATE = "date"
    MODALITY = "modality"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence and what it states. said: the words that differ, letter for letter in the quote ("14 days")."""

    citation: Citation
    truth: Truth
    said: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences of different truths on one topic that disagree.

    key: hex digest of both quotes, the same in every run. words: what disagrees, for a reader. strength: in [0, 1].
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
    """A policy section or set-up row that no requirement asks for. nearest: the requirement that comes nearest, and
    its evidence score in [0, 1], below the threshold."""

    citation: Citation
    kind: GapKind
    section: str
    nearest: Topic | None
    score: float


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A cell with its gap, the decision that holds, and the topic's row."""

    cell: Cell
    topic: Topic
    gap: Gap | None
    decision: Decision | None
