"""Active learning: trains on confirmed labels in the background; label changes are previewed, then applied."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from threading import Lock

from core.domain.documents import Document, DocumentState
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.sample import DocumentSample
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.corrections import LabelCorrector, Period, accuracy_over_time
from core.library.active_learning.label_changes import LabelChangeService
from core.library.active_learning.neighbours import LEARNED_FIELDS, Example, TrainedNeighbours
from core.library.active_learning.store import (
    ActiveLearningStore,
    ConfirmedLabel,
    LabelChoice,
    LabelVerdict,
    LearningAction,
    LearningActionKind,
    TrainingRecord,
    TrainingRecords,
    TrainingVersion,
)
from core.library.active_learning.training import LabelPredictor, TrainedClassifier, train_neighbours
from core.ports.catalogue import Catalogue, DocumentContent
from core.ports.job_queue import JobKind, JobQueue
from core.ports.stores import VectorIndex, Vectors

__all__ = ["ActiveLearningService"]

# A phrase found in a fifth of a library of 25 documents or more is uninformative. Chosen by hand, not fitted.
_COMMON_SHARE, _COMMON_FROM = 0.2, 25
_ACTS = 50  # actions a page lists; chosen by hand
_RENEWED = 25  # records made again per job: some seconds, then uploads get their turn


class ActiveLearningService:
    """Active learning for one tenant; a Follower (core.library.documents) of its documents.

    `classifier` uses the trained model; `label_changes` previews, applies and undoes changes; `corrector` sets manual
    labels. own: the classifier without training. model: gives the name of the embedding model.
    """

    def __init__(
        self,
        store: ActiveLearningStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        own: TruthClassifier,
        jobs: JobQueue,
        model: Callable[[], str],
        terms: Callable[[], WorkspaceTerms],
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._jobs, self._model, self._now = store, catalogue, jobs, model, now
        self._records = TrainingRecords(store, catalogue, own, model, terms)
        self._lock = Lock()
        self._predictors: dict[int, LabelPredictor] = {}
        self.classifier = TrainedClassifier(own, self._predictor_in_use, self._records.remember)
        self.label_changes = LabelChangeService(
            store, catalogue, vectors, self._records, self.classifier, self._newest_predictor, now, terms
        )
        self.corrector = LabelCorrector(store, catalogue, vectors, self._defer, now, terms)

    # Following documents

    def follow(self, read: Sequence[DocumentContent]) -> None:
        """Documents were read: they are recorded as the classifier saw them."""
        self._records.record([(each.document, each.pages) for each in read])

    def reading(self, document: Document) -> tuple[DocumentSample, Vectors] | None:
        """What the classifier reads of a stored document, with the vectors that it read; None when its pages are gone.

        Raises ModelUnavailable.
        """
        return self._records.reading(document)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents are deleted: their records go."""
        self._store.forget(document_ids)

    def deleted(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted permanently: the next training leaves them out."""
        newest = self.newest()
        if newest is not None and {each.document_id for each in newest.confirmed} & set(document_ids):
            self._defer()

    def restored(self, document_ids: Sequence[int]) -> None:
        """Documents came back: the next training learns from them again."""
        self._defer()

    def renew_records(self) -> bool:
        """Make some of the records again that belong to another embedding model; whether any is left.

        A document without a readable page has none."""
        ready = [each for each in self._catalogue.documents(archived=None) if each.state is DocumentState.READY]
        model = self._model()
        current = {each.document_id for block in self._store.records(model) for each in block}
        stale = [each for each in ready if each.id not in current and each.pages > 0]
        made = [self._records.record_stored(each) for each in stale[:_RENEWED]]
        return len(stale) > _RENEWED and any(made)

    # Learning

    def learn(self) -> TrainingVersion | None:
        """Train on the labels confirmed now; run by jobs, idempotent. The newest version stays current when its
        training data has not changed. Returns None when nobody has confirmed a label. Raises StoreFailed,
        ModelUnavailable.
        """
        documents, records = self._confirmed()
        fingerprint = _fingerprint(documents, records)
        newest = self.newest()
        if newest is None and not records:
            return None
        if newest is not None and newest.fingerprint == fingerprint:
            return newest
        examples = [
            Example(each.id, each.name, _values(each), records[each.id].traits)
            for each in documents
            if each.id in records
        ]
        number = 1 + (newest.number if newest else 0)
        neighbours, outcomes = train_neighbours(examples, number, self._common(examples))
        version = TrainingVersion(
            number=number,
            at=self._now(),
            fingerprint=fingerprint,
            model=self._model(),
            confirmed=tuple(ConfirmedLabel(e.document_id, e.name, e.values, e.group) for e in neighbours.examples),
            outcomes=outcomes,
            common=tuple(sorted(neighbours.common)),
        )
        return version if self._store.add_version(version) else self.learn()

    def _confirmed(self) -> tuple[Sequence[Document], Mapping[int, TrainingRecord]]:
        """The documents with a confirmed label, oldest first, and their records; missing ones are made."""
        ready = [each for each in self._catalogue.documents(archived=None) if each.state is DocumentState.READY]
        documents = sorted((each for each in ready if _values(each)), key=lambda each: each.id)
        records = dict(self._store.records_of([each.id for each in documents], self._model()) if documents else {})
        for each in documents:
            made = None if each.id in records else self._records.record_stored(each)
            if made is not None:
                records[each.id] = made
        return documents, records

    def _common(self, examples: Sequence[Example]) -> frozenset[str]:
        """Those marks of the examples that so many documents of the library share that they tell nothing."""
        marks = {mark for each in examples for mark in each.traits.marks}
        counts: Counter[str] = Counter()
        total = 0
        for block in self._records.all():
            total += len(block)
            counts.update(mark for each in block for mark in marks.intersection(each.traits.marks))
        least = max(_COMMON_FROM * _COMMON_SHARE, total * _COMMON_SHARE)
        return frozenset(mark for mark, count in counts.items() if total >= _COMMON_FROM and count > least)

    def _defer(self) -> None:
        self._jobs.defer(JobKind.LEARN, [0])

    # What holds

    def newest(self) -> TrainingVersion | None:
        """The newest training version; None before the first."""
        number = self._store.newest()
        return self._store.version(number) if number else None

    def choice(self) -> LabelChoice:
        """Which training version labels new documents."""
        return self._store.choice()

    def choose(self, *, at_once: bool, who: str) -> None:
        """Set whether new documents are labelled by the newest training version, or by the one applied last."""
        if self.choice().at_once is not at_once:
            kind = LearningActionKind.AT_ONCE if at_once else LearningActionKind.WHEN_APPLIED
            self._store.add_act(LearningAction(kind, self._now(), who))

    def acts(self) -> Sequence[LearningAction]:
        """Applications and undos, newest first, without the moves."""
        return self._store.acts(_ACTS)

    def accuracy(self, field: str | None, *, by_month: bool = False) -> Sequence[Period]:
        """How often people found the automatic labels right, over time; field None: all fields."""
        return accuracy_over_time(self._store.verdicts(), field, by_month=by_month)

    def recent_verdicts(self, limit: int) -> Sequence[tuple[LabelVerdict, Document]]:
        """Current verdicts on labels, newest first, with their documents; deleted documents are left out."""
        latest = {(each.document_id, each.field): each for each in self._store.verdicts()}
        newest = [each for each in reversed(latest.values()) if each.value]
        newest.sort(key=lambda each: each.at, reverse=True)
        documents = self._catalogue.documents_by_id(sorted({each.document_id for each in newest}))
        known = [(each, documents[each.document_id]) for each in newest if each.document_id in documents]
        return [pair for pair in known if getattr(pair[1].labels, pair[0].field).confirmed][:limit]

    def _newest_predictor(self) -> LabelPredictor:
        return self._predictor(self._store.newest())

    def _predictor_in_use(self) -> LabelPredictor:
        return self._predictor(self._store.choice().in_use)

    def _predictor(self, number: int) -> LabelPredictor:
        """The prepared model of a training version; the last two are cached."""
        with self._lock:
            known = self._predictors.get(number)
        if known is not None:
            return known
        version = self._store.version(number) if number else None
        if version is None or version.model != self._model():
            return LabelPredictor(TrainedNeighbours(number))
        made = LabelPredictor(self._neighbours_of(version))
        with self._lock:
            self._predictors = {**dict(list(self._predictors.items())[-1:]), number: made}
        return made

    def _neighbours_of(self, version: TrainingVersion) -> TrainedNeighbours:
        records = self._store.records_of([each.document_id for each in version.confirmed], version.model)
        examples = tuple(
            Example(each.document_id, each.name, each.values, records[each.document_id].traits, each.kin)
            for each in version.confirmed
            if each.document_id in records
        )
        strengths = {each.field: each.strength for each in version.outcomes}
        unused = {each.field: each.unused for each in version.outcomes if each.unused}
        return TrainedNeighbours(version.number, examples, strengths, unused, frozenset(version.common))


def _values(document: Document) -> Mapping[str, str]:
    """The learned fields a person confirmed, with their values."""
    labels = ((name, getattr(document.labels, name)) for name in LEARNED_FIELDS)
    return {name: label.value for name, label in labels if label.confirmed and label.value is not None}


def _fingerprint(documents: Sequence[Document], records: Mapping[int, TrainingRecord]) -> str:
    digest = sha256()
    for each in documents:
        if each.id in records:
            traits = records[each.id].traits
            digest.update(repr((each.id, each.name, _values(each), records[each.id].model, traits)).encode())
            digest.update(traits.mean.tobytes())
    return digest.hexdigest()
