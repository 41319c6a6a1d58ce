"""What is kept of learning: a record of each document as the classifier saw it, what was learned, what was done."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.documents import Evidence, Label
from core.ingest.lessons import Traits
from core.ingest.lessons_learned import Learned
from core.ports import Vectors

__all__ = [
    "Act",
    "ActKind",
    "Choice",
    "Confirmed",
    "LessonStore",
    "LessonVersion",
    "Move",
    "OddPassage",
    "Record",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Record:
    """A document as the classifier saw it when it was read. model: of its vectors; different models never mix."""

    document_id: int
    model: str
    traits: Traits


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A document a version of the lessons was learned from. values: field → what a person said."""

    document_id: int
    name: str
    values: Mapping[str, str]
    kin: int


@dataclass(frozen=True, slots=True)
class LessonVersion:
    """What was learned at a time; the vectors stand in the records. fingerprint: of all it was learned from."""

    number: int
    at: datetime
    fingerprint: str
    model: str
    confirmed: tuple[Confirmed, ...] = ()
    outcomes: tuple[Learned, ...] = ()
    common: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OddPassage:
    """A passage whose truth had other evidence than its document's, before it moved with it."""

    id: int
    probability: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """One label field of one document changed, with all it takes to change it back exactly. name: the document's.
    passages: ids of those that moved along; date: the document's own before."""

    document_id: int
    name: str
    field: str
    before: Label
    after: Label
    passages: tuple[int, ...] = ()
    odd: tuple[OddPassage, ...] = ()
    date: datetime | None = None


class ActKind(StrEnum):
    """What a person did with lessons. The last two say what new documents are labelled by."""

    APPLIED = "applied"
    UNDONE = "undone"
    AT_ONCE = "at once"
    WHEN_APPLIED = "when applied"


@dataclass(frozen=True, slots=True)
class Act:
    """One act; acts are only ever added. number: of the application it belongs to, the id of its first act (0 until
    stored). version: of the lessons applied. labels: how many were moved, also where the moves are not read."""

    kind: ActKind
    at: datetime
    who: str
    version: int = 0
    number: int = 0
    moves: tuple[Move, ...] = ()
    id: int = 0
    labels: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """at_once: new documents are labelled by the newest lessons, else by those applied last. applied: their version,
    0 when none is."""

    at_once: bool = True
    applied: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person said of one label. given: the value it had; automatic: that the classifier gave it. said "": the
    person took back what was said before, and the label is the classifier's again."""

    document_id: int
    sha256: str
    field: str
    said: str
    who: str
    at: datetime
    given: str | None = None
    automatic: bool = True
    move: Move | None = None


class LessonStore(Protocol):
    """Everything kept of learning, of one tenant. Versions, acts and verdicts are added, never changed."""

    def save_record(self, record: Record, segments: Vectors) -> None:
        """Store or replace a document's record; segments: its sampled sentences' vectors, shape (n, dim)."""
        ...

    def records(self, model: str) -> Iterator[Sequence[Record]]:
        """All records of a model, some hundred at a time, document ids ascending over all of them."""
        ...

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, Record]:
        """The records of these documents; missing ones are absent."""
        ...

    def segments(self, document_id: int) -> Vectors | None:
        """The vectors kept with a record, to some 0.001; None without a record."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop records."""
        ...

    def add_version(self, version: LessonVersion) -> bool:
        """Store a version; False when its number is taken."""
        ...

    def newest(self) -> int:
        """The number of the newest version, 0 without any."""
        ...

    def version(self, number: int) -> LessonVersion | None: ...

    def add_act(self, act: Act) -> Act:
        """Store an act (id 0) and give it back with its id."""
        ...

    def acts(self, limit: int) -> Sequence[Act]:
        """The newest acts of application and undoing, newest first, without their moves."""
        ...

    def application(self, number: int) -> Sequence[Act]:
        """All acts of an application, its undoing included, oldest first."""
        ...

    def choice(self) -> Choice: ...

    def add_verdicts(self, verdicts: Sequence[Verdict]) -> None: ...

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[Verdict]:
        """What was said, oldest first; without a document: of all, and without their moves."""
        ...
