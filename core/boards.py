"""What coverage answers: topics × truths, each cell with its evidence, the gaps, and the runs that judged them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.documents import Truth
from core.queries import SearchRequest
from core.results import Citation

__all__ = [
    "Board",
    "Cell",
    "CellState",
    "Gap",
    "GapKind",
    "Modality",
    "Risk",
    "RiskKind",
    "Run",
    "RunState",
    "Topic",
    "TopicOrigin",
]


class CellState(StrEnum):
    """State of one topic × truth."""

    COVERED = "covered"
    PARTIAL = "partial"
    GAP = "gap"
    SUSPECT = "suspect"
    WAIVED = "waived"
    NOT_ASSESSED = "not assessed"
    ERROR = "error"


class GapKind(StrEnum):
    """A column of the board: the five truths, in their order, and what is configured. Equal to the truth's value."""

    REGULATORY = "regulatory"
    COMPLIANCE = "compliance"
    INTENT = "intent"
    REFERENCE = "reference"
    REALITY = "reality"
    CONFIGURATION = "configuration"

    @property
    def truth(self) -> Truth:
        """The truth whose passages can fill the cell: what is configured is a part of what is."""
        return Truth.REALITY if self is GapKind.CONFIGURATION else Truth(self.value)


class TopicOrigin(StrEnum):
    """Where a topic comes from."""

    TYPED = "typed"
    CSV = "csv"
    REQUIREMENT = "requirement"
    CLUSTER = "cluster"


class Modality(StrEnum):
    """How binding a requirement sentence is, strongest first."""

    SHALL = "shall"
    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class RiskKind(StrEnum):
    """What may make a cell's state false."""

    UNREADABLE = "unreadable"
    OUT_OF_DATE = "out of date"
    WRONG_JURISDICTION = "wrong jurisdiction"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Topic:
    """What a project must answer. `name` is unique per project (case-insensitive) and is what is searched.

    id: 0 until stored. project: None = of all projects. needs: the truths it must have; others are not assessed.
    domain, jurisdiction: read from the name, editable. modality, source: of a requirement, with the sentence that
    says it. keywords: that named a cluster. version: counts changes, so that nobody overwrites another's.
    """

    name: str
    id: int = 0
    project: str | None = None
    origin: TopicOrigin = TopicOrigin.TYPED
    needs: tuple[Truth, ...] = tuple(Truth)
    owner: str = ""
    domain: str | None = None
    jurisdiction: str | None = None
    modality: Modality | None = None
    source: Citation | None = None
    keywords: tuple[str, ...] = ()
    retired: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class Risk:
    """A reason to doubt a cell, in words."""

    kind: RiskKind
    words: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One topic under one truth. evidence_score: absolute, in [0, 1]; margin = evidence_score - threshold.

    evidence: the citations that carry it, best first; near_misses: the best that did not reach the threshold.
    request: the exact question, filters and profile, so that Search reproduces it. error: set in state error only.
    configuration: whether it asks for a set-up row; then truth is reality. topic_id: 0 for a topic not stored.
    detected: what the search alone said, where a decision made it another state. carried: taken over from an earlier
    run, because nothing that could change it has changed.
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
    configuration: bool = False
    topic_id: int = 0
    risks: tuple[Risk, ...] = ()
    detected: CellState | None = None
    carried: bool = False

    @property
    def margin(self) -> float:
        """How far the evidence is above (+) or below (-) the threshold."""
        return self.evidence_score - self.threshold

    @property
    def kind(self) -> GapKind:
        """The column it stands in."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


@dataclass(frozen=True, slots=True)
class Gap:
    """A hole in the board: severity is low, medium or high; recommendation names what to obtain."""

    topic: str
    truth: Truth
    severity: str
    recommendation: str
    configuration: bool = False

    @property
    def kind(self) -> GapKind:
        """The column it stands in."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


@dataclass(frozen=True, slots=True)
class Board:
    """Topics × truths. coverage = covered ÷ assessed of the five truths, in [0, 1]; None when nothing was assessed.

    run_id: 0 for a board that was not kept. configuration_hash: of everything that decides states (thresholds, model,
    profile); corpus_hash: of the documents it was judged on. Both are hex digests, empty for a board not kept.
    """

    topics: tuple[Topic, ...]
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    coverage: float | None
    profile: str
    project: str | None
    taken_at: datetime
    milliseconds: float = 0.0
    run_id: int = 0
    configuration_hash: str = ""
    corpus_hash: str = ""
    _by_key: Mapping[tuple[str, str], Cell] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {(cell.topic, cell.kind.value): cell for cell in self.cells})

    def cell(self, topic: str, kind: GapKind | Truth) -> Cell:
        """The cell of a topic's name and column. Raises KeyError when the board has none."""
        return self._by_key[topic, kind.value]

    @property
    def kinds(self) -> tuple[GapKind, ...]:
        """Its columns: the five truths, and what is configured where the board asks for it."""
        held = {cell.kind for cell in self.cells}
        return tuple(kind for kind in GapKind if kind is not GapKind.CONFIGURATION or kind in held)


class RunState(StrEnum):
    """Where a coverage run is. A run that is `running` but has not beaten for a minute was killed; it can go on."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Run:
    """One coverage run: a snapshot of the board when done. id: 0 until stored.

    topics: as they were then. corpus: document id → digest of all that search reads of it, so that the next run
    touches only what could have changed. done, total, carried: cells. coverage: in [0, 1] by detection alone, None
    until done or when nothing was assessed. name: given by an analyst ("March review").
    """

    id: int
    project: str | None
    state: RunState
    topics: tuple[Topic, ...]
    total: int
    started_at: datetime
    beat_at: datetime
    done: int = 0
    carried: int = 0
    finished_at: datetime | None = None
    milliseconds: float = 0.0
    coverage: float | None = None
    profile: str = ""
    configuration_hash: str = ""
    corpus: Mapping[int, str] = field(default_factory=dict)
    problem: str = ""
    name: str = ""
