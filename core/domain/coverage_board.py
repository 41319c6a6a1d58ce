"""The coverage board: topics × truths, each cell with its evidence; gaps; and the coverage runs that assess them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.documents import Truth
from core.domain.queries import SearchRequest
from core.domain.results import Citation

__all__ = [
    "Board",
    "Cell",
    "CellState",
    "CoverageRun",
    "Gap",
    "GapKind",
    "Modality",
    "Risk",
    "RiskKind",
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
    """A column of the board: the five truths, in order, and configuration. Equal to the truth's value."""

    REGULATORY = "regulatory"
    COMPLIANCE = "compliance"
    INTENT = "intent"
    REFERENCE = "reference"
    REALITY = "reality"
    CONFIGURATION = "configuration"

    @property
    def truth(self) -> Truth:
        """The truth whose passages can fill the cell; configuration is a part of reality."""
        return Truth.REALITY if self is GapKind.CONFIGURATION else Truth(self.value)


class TopicOrigin(StrEnum):
    """How a topic was created."""

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
    """Reasons why a cell's state may be wrong."""

    UNREADABLE = "unreadable"
    OUT_OF_DATE = "out of date"
    WRONG_JURISDICTION = "wrong jurisdiction"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic a project must cover. `name` is unique per project (case-insensitive) and is the search query.

    id: 0 until stored. project: None = all projects. needs: the truths it requires; others are not assessed. domain,
    jurisdiction: detected from the name, editable. modality, source: of a requirement, with its sentence. keywords: of
    the cluster it was named after. version: for optimistic locking."""

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
    """A reason to doubt a cell, as text."""

    kind: RiskKind
    words: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One topic under one truth. evidence_score: absolute, in [0, 1]; margin = evidence_score - threshold.

    evidence: supporting citations, best first; near_misses: the best below the threshold. request: the exact question,
    filters and profile, so that Search reproduces it. error: set in state error only. configuration: whether it
    requires a configuration row; truth is reality then. topic_id: 0 for a topic not stored. detected: the state found
    by search, where a decision overrides it. carried: reused from an earlier run, because nothing relevant has changed.
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
        """Its column on the board."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap on the board. severity: low, medium or high; recommendation: what to obtain."""

    topic: str
    truth: Truth
    severity: str
    recommendation: str
    configuration: bool = False

    @property
    def kind(self) -> GapKind:
        """Its column on the board."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


@dataclass(frozen=True, slots=True)
class Board:
    """Topics × truths. coverage = covered ÷ assessed cells of the five truths, in [0, 1]; None when none was assessed.

    run_id: 0 for a board that is not stored. configuration_hash: of everything that decides states (thresholds, model,
    profile); corpus_hash: of the documents assessed. Both are hex digests, empty for a board that is not stored.
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
        """The cell of a topic (by name) and column. Raises KeyError for an unknown one."""
        return self._by_key[topic, kind.value]

    @property
    def kinds(self) -> tuple[GapKind, ...]:
        """Its columns: the five truths, and configuration where the board includes it."""
        held = {cell.kind for cell in self.cells}
        return tuple(kind for kind in GapKind if kind is not GapKind.CONFIGURATION or kind in held)


class RunState(StrEnum):
    """State of a coverage run. A `running` run without a heartbeat for a minute was killed and can be resumed."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CoverageRun:
    """One coverage run; a snapshot of the board when done. id: 0 until stored.

    topics: at the time of the run. corpus: document id → digest of everything search reads of it, so that the next run
    reassesses only what may have changed. done, total, carried: numbers of cells. coverage: in [0, 1] by detection
    alone, None until done or when nothing was assessed. name: given by an analyst ("March review")."""

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
