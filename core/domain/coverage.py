"""The coverage board (topics × truths, each cell with its evidence), its gaps and runs, and the review of a board:
decisions, changes between runs, orphans and conflicts.
"""

# Over 300 lines: board and review are one set of values; neither says much without the other.

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar

from core.domain.documents import Truth
from core.domain.queries import SearchRequest
from core.domain.results import Citation

__all__ = [
    "NOT_NEEDED",
    "Board",
    "BoardChanges",
    "Cell",
    "CellChange",
    "CellState",
    "Conflict",
    "ConflictKind",
    "CoverageRun",
    "Decision",
    "DecisionHistory",
    "Gap",
    "GapKind",
    "Modality",
    "Orphan",
    "ReviewVerdict",
    "ReviewedCell",
    "ReviewerOpinion",
    "Risk",
    "RiskKind",
    "RunState",
    "Statement",
    "Topic",
    "TopicOrigin",
    "topics_by_id",
]

NOT_NEEDED = "not needed"
"""What people read where a topic does not need a truth; the cell's state is `not assessed`."""


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

    OUT_OF_DATE = "out of date"
    WRONG_JURISDICTION = "wrong jurisdiction"
    SUPERSEDED = "superseded"
    NOT_IN_FORCE = "not yet in force"
    REMOVED = "no longer in the library"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic a project must cover. `name` is unique per project (case-insensitive) and is the search query.

    id: 0 until stored. project: None = all projects. needs: the truths it requires; others are not assessed. domain,
    jurisdiction: detected from the name, editable. modality, source: of a requirement, with its sentence. keywords: of
    the cluster it was named after. version: for optimistic locking. merged: ids of the topics merged into it."""

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
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicRevision:
    """One topic as one edit found and left it. edit: a number shared by the topics changed together. before: None for
    a new topic. hidden: number of topics of the edit that the reader does not see."""

    edit: int
    at: datetime
    who: str
    before: Topic | None
    after: Topic
    hidden: int = 0


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
    needed: False where the topic does not need this truth; such a cell is not assessed, but keeps evidence found.
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
    needed: bool = True

    @property
    def margin(self) -> float:
        """How far the evidence is above (+) or below (-) the threshold."""
        return self.evidence_score - self.threshold

    @property
    def state_in_words(self) -> str:
        """Its state as people read it: "not needed" where the topic does not need the truth."""
        return self.state.value if self.needed else NOT_NEEDED

    @property
    def kind(self) -> GapKind:
        """Its column on the board."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap on the board. severity: low, medium or high; recommendation: what to obtain, in full sentences.

    to_obtain: only what to obtain ("an internal policy on overtime"); source: who is likely to have it. topic_id: 0
    for a topic not stored."""

    topic: str
    truth: Truth
    severity: str
    recommendation: str
    configuration: bool = False
    to_obtain: str = ""
    source: str = ""
    topic_id: int = 0

    @property
    def kind(self) -> GapKind:
        """Its column on the board."""
        return GapKind.CONFIGURATION if self.configuration else GapKind(self.truth.value)


def topics_by_id(topics: Sequence[Topic]) -> Mapping[int | str, Topic]:
    """Topic id → topic, and name → topic for cells without a topic id."""
    names: dict[int | str, Topic] = {topic.name: topic for topic in reversed(topics)}
    return names | {topic.id: topic for topic in topics if topic.id}


_Part = TypeVar("_Part", Cell, Gap)

_Key = tuple[int | str, str]
"""Topic id or name, and column."""


def _by_key(parts: Iterable[_Part]) -> Mapping[_Key, _Part]:
    """Each part under its topic's id, if it has one, and the first of each name under the name."""
    found: dict[_Key, _Part] = {}
    for part in parts:
        found.setdefault((part.topic, part.kind.value), part)
        if part.topic_id:
            found[part.topic_id, part.kind.value] = part
    return found


def _find(parts: Mapping[_Key, _Part], topic_id: int, name: str, kind: GapKind | Truth) -> _Part | None:
    """The part of this topic and column, by name only if one of the two has no topic id."""
    if topic_id and (topic_id, kind.value) in parts:
        return parts[topic_id, kind.value]
    named = parts.get((name, kind.value))
    return None if named is None or (topic_id and named.topic_id) else named


@dataclass(frozen=True, slots=True)
class Board:
    """Topics × truths. coverage = covered ÷ assessed cells of the five truths, in [0, 1]; None when none was assessed.

    run_id: 0 for a board that is not stored. configuration_hash: of everything that decides states (thresholds, model,
    profile); corpus_hash: of the documents assessed. Both are hex digests, empty for a board that is not stored.
    unread: names of documents that could not be read in full and may hold what a gap misses. waiting: number of
    documents not read yet when it was assessed; as of now if `configuration_hash` is empty.

    Names of topics are unique per project only. A part without a topic id, or of a topic without one, is found by name.
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
    unread: tuple[str, ...] = ()
    waiting: int = 0
    _cells: Mapping[_Key, Cell] = field(init=False, repr=False, compare=False)
    _gaps: Mapping[_Key, Gap] = field(init=False, repr=False, compare=False)
    _topics: Mapping[int | str, Topic] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cells", _by_key(self.cells))
        object.__setattr__(self, "_gaps", _by_key(self.gaps))
        object.__setattr__(self, "_topics", topics_by_id(self.topics))

    def cell(self, topic: Topic | str, kind: GapKind | Truth) -> Cell:
        """The cell of a topic and column; of a name alone, that of the first such topic. Raises KeyError for an
        unknown one."""
        if isinstance(topic, str):
            return self._cells[topic, kind.value]
        found = _find(self._cells, topic.id, topic.name, kind)
        if found is None:
            raise KeyError((topic.id, topic.name, kind.value))
        return found

    def gap_of(self, cell: Cell) -> Gap | None:
        """The gap of a cell; None without one."""
        return _find(self._gaps, cell.topic_id, cell.topic, cell.kind)

    def topic_of(self, part: Cell | Gap) -> Topic:
        """The topic of a cell or gap. Raises KeyError when the board lacks it."""
        topic = self._topics.get(part.topic_id) or self._topics[part.topic]
        if part.topic_id and topic.id not in (0, part.topic_id):
            raise KeyError(part.topic_id)
        return topic

    @property
    def kinds(self) -> tuple[GapKind, ...]:
        """Its columns: the five truths, and configuration where the board includes it."""
        present = {cell.kind for cell in self.cells}
        return tuple(kind for kind in GapKind if kind is not GapKind.CONFIGURATION or kind in present)


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
    detected at the time. topic: its name at the time. run_id: the board it was made on. meeting_id: the meeting it was
    taken in, 0 without one; present: who was there."""

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
    meeting_id: int = 0
    present: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewerOpinion:
    """A reviewer's verdict to be stored; `after` is the number of the last decision they have seen (0: none).

    meeting_id: the meeting it is taken in, 0 without one; present: who is there."""

    verdict: ReviewVerdict
    who: str
    after: int = 0
    reason: str = ""
    comment: str = ""
    owner: str = ""
    due: date | None = None
    expires: date | None = None
    meeting_id: int = 0
    present: tuple[str, ...] = ()


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
    text: str


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
