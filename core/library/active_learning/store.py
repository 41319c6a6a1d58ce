"""Data of active learning (records, training versions, verdicts, actions) and the port that stores it."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from threading import Lock
from typing import Protocol

from core.domain.documents import Document, DocumentState, Evidence, Label, Labels, Origin, Page
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.sample import DocumentSample, read_for_classifying
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.neighbours import DocumentTraits, traits_of
from core.library.active_learning.training import TrainingResult
from core.ports.catalogue import Catalogue
from core.ports.stores import Vectors

__all__ = [
    "ActiveLearningStore",
    "ConfirmedLabel",
    "DivergentPassage",
    "LabelChoice",
    "LabelMove",
    "LabelVerdict",
    "LearningAction",
    "LearningActionKind",
    "TrainingRecord",
    "TrainingRecords",
    "TrainingVersion",
]


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """A document as the classifier saw it when it was read. model: the embedding model of its vectors; different models
    never mix.
    """

    document_id: int
    model: str
    traits: DocumentTraits


@dataclass(frozen=True, slots=True)
class ConfirmedLabel:
    """A document one training version used. values: field → the confirmed value. kin: `Example.group`, under
    the name it is stored by."""

    document_id: int
    name: str
    values: Mapping[str, str]
    kin: int


@dataclass(frozen=True, slots=True)
class TrainingVersion:
    """The result of one training run; the vectors are in the records. fingerprint: of all the training data."""

    number: int
    at: datetime
    fingerprint: str
    model: str
    confirmed: tuple[ConfirmedLabel, ...] = ()
    outcomes: tuple[TrainingResult, ...] = ()
    common: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DivergentPassage:
    """A passage whose truth had other evidence than its document's, as it was before it moved with the document."""

    id: int
    probability: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class LabelMove:
    """One changed label field of one document, with everything needed to restore it exactly. name: the document's.
    passages: ids of those that moved along; date: the document's own before the change.
    """

    document_id: int
    name: str
    field: str
    before: Label
    after: Label
    passages: tuple[int, ...] = ()
    odd: tuple[DivergentPassage, ...] = ()
    date: datetime | None = None


class LearningActionKind(StrEnum):
    """The kind of a learning action. The last two set which training version labels new documents."""

    APPLIED = "applied"
    UNDONE = "undone"
    AT_ONCE = "at once"
    WHEN_APPLIED = "when applied"


@dataclass(frozen=True, slots=True)
class LearningAction:
    """One action; actions are append-only. number: of the application it belongs to, the id of its first action (0
    until stored). version: the training version applied. labels: how many were moved, also where the moves are not
    loaded.
    """

    kind: LearningActionKind
    at: datetime
    who: str
    version: int = 0
    number: int = 0
    moves: tuple[LabelMove, ...] = ()
    id: int = 0
    labels: int = 0


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """at_once: new documents are labelled by the newest training version, else by the one applied last. applied,
    newest: the numbers of these versions, 0 when there is none.
    """

    at_once: bool = True
    applied: int = 0
    newest: int = 0

    @property
    def in_use(self) -> int:
        """The number of the version that labels new documents.

        >>> LabelChoice(True, 2, 3).in_use, LabelChoice(False, 2, 3).in_use
        (3, 2)
        """
        return self.newest if self.at_once else self.applied


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """A person's verdict on one label. given: the value it had; automatic: whether the classifier gave it. said: the
    new value; "" withdraws the earlier verdict, so the label is the classifier's again.
    """

    document_id: int
    sha256: str
    field: str
    value: str
    who: str
    at: datetime
    given: str | None = None
    automatic: bool = True
    move: LabelMove | None = None


class ActiveLearningStore(Protocol):
    """Stores the learning data of one tenant. Versions, actions and verdicts are append-only."""

    def save_records(self, records: Sequence[tuple[TrainingRecord, Vectors]]) -> None:
        """Store or replace documents' records, each with its sampled sentences' vectors, shape (n, dim)."""
        ...

    def records(self, model: str) -> Iterator[Sequence[TrainingRecord]]:
        """All records of a model, some hundred at a time, document ids ascending over all of them."""
        ...

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, TrainingRecord]:
        """The records of these documents; missing ones are absent."""
        ...

    def segments(self, document_id: int, model: str) -> Vectors | None:
        """The vectors stored with a record of this model, accurate to about 0.001; None without one."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop records."""
        ...

    def add_version(self, version: TrainingVersion) -> bool:
        """Store a version; False when its number is taken."""
        ...

    def newest(self) -> int:
        """The number of the newest version, 0 without any."""
        ...

    def version(self, number: int) -> TrainingVersion | None: ...

    def add_act(self, act: LearningAction) -> LearningAction:
        """Store an action (id 0) and return it with its id."""
        ...

    def acts(self, limit: int) -> Sequence[LearningAction]:
        """The newest applications and undos, newest first, without their moves."""
        ...

    def application(self, number: int) -> Sequence[LearningAction]:
        """All actions of an application, its undo included, oldest first."""
        ...

    def choice(self) -> LabelChoice: ...

    def add_verdicts(self, verdicts: Sequence[LabelVerdict]) -> None: ...

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[LabelVerdict]:
        """Verdicts, oldest first; without a document: on all documents, and without their moves."""
        ...


_REMEMBERED = 64  # documents between their classification and their storing


class TrainingRecords:
    """The training records of one tenant. `seen` receives each fresh classification, so recording it needs no second
    pass.
    """

    def __init__(
        self,
        store: ActiveLearningStore,
        catalogue: Catalogue,
        own: TruthClassifier,
        model: Callable[[], str],
        terms: Callable[[], WorkspaceTerms],
    ) -> None:
        self._store, self._catalogue, self._own, self._model = store, catalogue, own, model
        self._terms = terms
        self._lock = Lock()
        self._seen: OrderedDict[str, tuple[str, DocumentSample, Vectors, Labels]] = OrderedDict()

    def remember(self, reading: DocumentSample, vectors: Vectors, own: Labels) -> None:
        """A document was classified. own: labels before training and corrections."""
        with self._lock:
            self._seen[_key(reading)] = (self._model(), reading, vectors, own)
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)

    def record(self, documents: Sequence[tuple[Document, Sequence[Page]]]) -> Sequence[TrainingRecord]:
        """Record documents that were read, with their pages; none is made of a note or of a file without text. Raises
        StoreFailed."""
        read = [each for each in documents if each[0].origin is Origin.DOCUMENT and each[1]]
        keys = [_key(read_for_classifying(each.name, each.title, pages, {})) for each, pages in read]
        made = [self._made(*each, key) for each, key in zip(read, keys, strict=True)]
        if made:
            self._store.save_records(made)
        with self._lock:  # only now: storing may be tried again
            for key in keys:
                self._seen.pop(key, None)
        return [record for record, _ in made]

    def _made(self, document: Document, pages: Sequence[Page], key: str) -> tuple[TrainingRecord, Vectors]:
        with self._lock:
            seen = self._seen.get(key)
        model = self._model()
        known = seen[1:] if seen is not None and seen[0] == model else None
        if known is None:
            reading, vectors = self._own.read(document.name, document.title, pages)
            known = (reading, vectors, self._own.labels(reading, vectors, {}, self._terms()))
        return TrainingRecord(document.id, model, traits_of(*known)), known[1]

    def record_stored(self, document: Document) -> TrainingRecord | None:
        """The record of a document read before records were kept, from its stored pages; None when they are gone."""
        if document.state is not DocumentState.READY:
            return None
        return next(iter(self.record([(document, _pages(self._catalogue, document))])), None)

    def all(self) -> Iterator[Sequence[TrainingRecord]]:
        """Every record, some hundred at a time."""
        return self._store.records(self._model())

    def reading(self, document: Document) -> tuple[DocumentSample, Vectors] | None:
        """What was read of a stored document, and its sentences' vectors as they are kept; None when its pages are
        gone."""
        pages = _pages(self._catalogue, document)
        if not pages:
            return None
        reading = read_for_classifying(document.name, document.title, pages, {})
        vectors = self._store.segments(document.id, self._model())
        if vectors is None or len(vectors) != len(reading.segments):
            return self._own.read(document.name, document.title, pages)
        return reading, vectors


def _key(reading: DocumentSample) -> str:
    digest = sha256()
    for text in (reading.name, reading.title, reading.body):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _pages(catalogue: Catalogue, document: Document) -> Sequence[Page]:
    numbers = range(1, document.pages + 1)
    texts = catalogue.page_texts([(document.id, number) for number in numbers])
    return [Page(number, texts[document.id, number]) for number in numbers] if len(texts) == len(numbers) else []
