"""Applies label changes to documents and to the passages that follow them, and undoes them exactly."""
# Over 300 lines: a change is computed, counted and applied by the same rows.

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.domain.documents import (
    LABEL_FIELDS,
    Authority,
    Document,
    DocumentState,
    EvidenceSource,
    Label,
    Passage,
    TemporalClass,
    Truth,
)
from core.domain.errors import BadRequest, NotFound
from core.ingestion.classification.relabel import possible_labels, relabel
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.neighbours import LEARNED_FIELDS
from core.library.active_learning.store import (
    ActiveLearningStore,
    DivergentPassage,
    LabelMove,
    LearningAction,
    LearningActionKind,
    TrainingRecord,
    TrainingRecords,
)
from core.library.active_learning.training import LabelPredictor, TrainedClassifier
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex

__all__ = [
    "AppliedLabelChanges",
    "LabelChange",
    "LabelChangePreview",
    "LabelChangeService",
    "change_labels",
    "restore_labels",
]

_TYPES: Mapping[str, type[Truth] | type[Authority] | type[TemporalClass]] = {
    "truth": Truth,
    "authority": Authority,
    "temporal_class": TemporalClass,
}


def change_labels(
    document: Document, passages: Sequence[Passage], labels: Mapping[str, Label], terms: WorkspaceTerms
) -> tuple[Document, tuple[Passage, ...], tuple[LabelMove, ...]]:
    """The document with these labels, its passages, and a move per field. Raises BadRequest as `relabel` does."""
    moves: list[LabelMove] = []
    now = tuple(passages)
    for field, label in labels.items():
        was, before = document, now
        document, now = relabel(was, before, {field: label}, terms)
        old: Label = getattr(was.labels, field)
        went = [one for one, other in zip(before, now, strict=True) if one != other]
        document_truth = (old.probability, old.evidence)
        odd = [
            each
            for each in went
            if field == "truth" and (each.truth_probability, each.truth_evidence) != document_truth
        ]
        divergent = tuple(DivergentPassage(each.id, each.truth_probability, each.truth_evidence) for each in odd)
        ids = tuple(each.id for each in went)
        moves.append(LabelMove(was.id, was.name, field, old, label, ids, divergent, was.date))
    return document, now, tuple(moves)


def restore_labels(
    document: Document, passages: Sequence[Passage], move: LabelMove, terms: WorkspaceTerms
) -> tuple[Document, tuple[Passage, ...]]:
    """The document with its previous label, and the passages that moved along restored. Where these were replaced since
    (the document was read again), the passages that now have its label move instead.
    """
    if move.passages and not {each.id for each in passages} & set(move.passages):
        return relabel(document, passages, {move.field: move.before}, terms)
    labels = replace(document.labels, **{move.field: move.before})
    changed = replace(document, labels=labels)
    if move.field == "effective_date":
        changed = replace(changed, date=move.date)
    went, odd = set(move.passages), {each.id: each for each in move.odd}
    back = [_restore_passage(each, move, odd.get(each.id)) if each.id in went else each for each in passages]
    return changed, tuple(replace(each, possible_labels=possible_labels(labels, each)) for each in back)


def _restore_passage(passage: Passage, move: LabelMove, odd: DivergentPassage | None) -> Passage:
    if move.field == "effective_date":
        return replace(passage, date=move.date)
    value = move.before.value
    typed = _TYPES[move.field](value) if move.field in _TYPES and value is not None else value
    back = replace(passage, **{move.field: typed})  # type: ignore[arg-type]
    if move.field != "truth":
        return back
    truth = (odd.probability, odd.evidence) if odd else (move.before.probability, move.before.evidence)
    return replace(back, truth_probability=truth[0], truth_evidence=truth[1])


_AT_ONCE = 20  # documents whose change is stored in one act: what is written first, so that it can always be undone

_FOLLOWING = tuple(field for field in LABEL_FIELDS if field != "language")

OnDocument = Callable[[int, int, str], None]
"""Hears (documents done, documents to do, name of the next)."""


@dataclass(frozen=True, slots=True)
class LabelChange:
    """One label that would change. `reason` says why."""

    document_id: int
    name: str
    field: str
    before: Label
    after: Label

    @property
    def reason(self) -> str:
        """The confirmed document it resembles, or why the label changes without one."""
        for each in self.after.evidence:
            if each.source is EvidenceSource.CORRECTION:
                return each.rule
        trained = [each for each in self.before.evidence if each.source is EvidenceSource.CORRECTION]
        return "its lesson was taken back" if trained else "follows from its other labels"


@dataclass(frozen=True, slots=True)
class LabelChangePreview:
    """The changes one training version would make. changes: what would change; considered: how many documents have an
    unconfirmed label; left: how many documents were not examined because the preview was stopped.
    """

    version: int
    considered: int
    changes: tuple[LabelChange, ...]
    left: int = 0


@dataclass(frozen=True, slots=True)
class AppliedLabelChanges:
    """The outcome of applying or undoing. number: of the application, 0 when nothing changed; left: one sentence for
    each label that was not changed, with the reason.
    """

    number: int
    labels: int
    documents: int
    left: tuple[str, ...] = ()


class LabelChangeService:
    """Previews, applies and undoes label changes for one tenant."""

    def __init__(
        self,
        store: ActiveLearningStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        records: TrainingRecords,
        classifier: TrainedClassifier,
        newest: Callable[[], LabelPredictor],
        now: Callable[[], datetime],
        terms: Callable[[], WorkspaceTerms],
    ) -> None:
        self._store, self._catalogue, self._vectors = store, catalogue, vectors
        self._records, self._classifier, self._newest_predictor, self._now = records, classifier, newest, now
        self._terms = terms

    def preview(
        self,
        on_document: OnDocument = lambda done, total, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> LabelChangePreview:
        """Which unconfirmed labels the newest training version would change, most certain first.

        Documents that no example affects are skipped by their training records; the others are labelled again from
        their stored pages. Raises StoreFailed, ModelUnavailable.
        """
        predictor, terms = self._newest_predictor(), self._terms()
        ready = [each for each in self._catalogue.documents() if each.state is DocumentState.READY]
        considered = {each.id: each for each in ready if any(not _is_confirmed(each, name) for name in LEARNED_FIELDS)}
        likely, missing = self._split_by_record(considered, predictor)
        changes: list[LabelChange] = []
        total = len(likely) + len(missing)
        for done, document in enumerate([*likely, *missing]):
            if stop():
                return LabelChangePreview(
                    predictor.neighbours.version, len(considered), _sort_changes(changes), total - done
                )
            on_document(done, total, document.name)
            record = None if done < len(likely) else self._records.record_stored(document)
            if done < len(likely) or (record is not None and _may_change(record, document, predictor)):
                changes += self._changes_of(document, predictor, terms)
        return LabelChangePreview(predictor.neighbours.version, len(considered), _sort_changes(changes))

    def _split_by_record(
        self, documents: Mapping[int, Document], predictor: LabelPredictor
    ) -> tuple[list[Document], list[Document]]:
        """Those that may change, by their records, and those that have no record yet."""
        recorded: set[int] = set()
        likely = []
        for block in self._records.all():
            for record in block:
                document = documents.get(record.document_id)
                recorded.add(record.document_id)
                if document is not None and _may_change(record, document, predictor):
                    likely.append(document)
        return likely, [each for each in documents.values() if each.id not in recorded]

    def _changes_of(
        self, document: Document, predictor: LabelPredictor, terms: WorkspaceTerms
    ) -> Iterator[LabelChange]:
        """The label changes caused by training, and only those."""
        read = self._records.reading(document)
        if read is None:
            return
        fixed = {name: label for name, label in document.labels.items() if label.confirmed}
        own = self._classifier.own.labels(*read, {}, terms)
        alone = self._classifier.own.labels(*read, fixed, terms) if fixed else own
        after = self._classifier.adjusted(*read, fixed, predictor, terms, own)
        for name in _FOLLOWING:
            was, now = getattr(document.labels, name), getattr(after, name)
            moved_by_lessons = now.value != getattr(alone, name).value or _has_training_evidence(was)
            if name not in fixed and now.value != was.value and moved_by_lessons:
                yield LabelChange(document.id, document.name, name, was, now)

    def apply(
        self,
        preview: LabelChangePreview,
        who: str,
        on_document: OnDocument = lambda done, total, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> AppliedLabelChanges:
        """Apply the changes of a preview to the labels, the passages and the index. A label that was confirmed or
        changed since the preview is skipped. When stopped, the changes made so far remain, and can be undone.
        """
        by_document: dict[int, list[LabelChange]] = {}
        for change in preview.changes:
            by_document.setdefault(change.document_id, []).append(change)
        act = LearningAction(LearningActionKind.APPLIED, self._now(), who, preview.version)
        left: list[str] = []
        labels = documents = 0
        waiting, terms = list(by_document.items()), self._terms()
        for start in range(0, len(waiting), _AT_ONCE):
            if stop():
                break
            on_document(start, len(waiting), waiting[start][1][0].name)
            made = [
                (changes, own)
                for document_id, changes in waiting[start : start + _AT_ONCE]
                if (own := self._moves(document_id, changes, left, terms))
            ]
            moves = tuple(move for _, own in made for move in own)
            if moves:
                act = replace(act, number=self._store.add_act(replace(act, moves=moves)).number)
                self._vectors.update([each for changes, _ in made for each in self._change_document(changes, terms)])
            labels, documents = labels + len(moves), documents + len(made)
        return AppliedLabelChanges(act.number, labels, documents, tuple(left))

    def _moves(
        self, document_id: int, changes: Sequence[LabelChange], left: list[str], terms: WorkspaceTerms
    ) -> tuple[LabelMove, ...]:
        """What changes one document; empty when no label of it can be changed."""
        try:
            document = self._catalogue.document(document_id)
        except NotFound:
            left.append(f"{changes[0].name} is no longer in the library.")
            return ()
        for each in changes:
            if not _applies(each, document):
                why = "was confirmed" if _is_confirmed(document, each.field) else "has changed"
                left.append(f"{document.name}: its {each.field.replace('_', ' ')} {why} meanwhile.")
        labels = _labels_after(changes, document)
        return change_labels(document, self._catalogue.passages_of(document_id), labels, terms)[2] if labels else ()

    def _change_document(self, changes: Sequence[LabelChange], terms: WorkspaceTerms) -> Sequence[Passage]:
        """Change one document as it is now: a label that somebody has just set stays. Returns its passages."""

        def change(document: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            return change_labels(document, passages, _labels_after(changes, document), terms)[:2]

        return self._catalogue.edit_labels(changes[0].document_id, change)

    def undo(self, number: int, who: str) -> AppliedLabelChanges:
        """Undo an application: every label that still has the value it set, and the passages that followed, are
        restored.

        Raises NotFound, and BadRequest when it is undone already.
        """
        acts = self._store.application(number)
        if not acts:
            raise NotFound(f"There is no application {number} of lessons.", "Look at the list again.")
        if any(each.kind is LearningActionKind.UNDONE for each in acts):
            raise BadRequest("These changes are undone already.", "Look at the list again.")
        by_document: dict[int, list[LabelMove]] = {}
        for act in reversed(acts):
            for move in reversed(act.moves):
                by_document.setdefault(move.document_id, []).append(move)
        left: list[str] = []
        terms = self._terms()
        labels = documents = 0
        for document_id, moves in by_document.items():
            back = self._restore_document(document_id, moves, left, terms)
            labels, documents = labels + back, documents + bool(back)
        self._store.add_act(LearningAction(LearningActionKind.UNDONE, self._now(), who, acts[0].version, number))
        return AppliedLabelChanges(number, labels, documents, tuple(left))

    def _restore_document(
        self, document_id: int, moves: Sequence[LabelMove], left: list[str], terms: WorkspaceTerms
    ) -> int:
        restored: list[LabelMove] = []

        def restore(document: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            for move in moves:
                now: Label = getattr(document.labels, move.field)
                if now.confirmed or now.value != move.after.value:
                    left.append(f"{document.name}: its {move.field.replace('_', ' ')} was changed again since.")
                    continue
                document, passages = restore_labels(document, passages, move, terms)
                restored.append(move)
            return document, passages

        try:
            passages = self._catalogue.edit_labels(document_id, restore)
        except NotFound:
            left.append(f"{moves[0].name} is no longer in the library.")
            return 0
        if restored:
            self._vectors.update(passages)
        return len(restored)


def _applies(change: LabelChange, document: Document) -> bool:
    """Whether the label is still what it was, and nobody confirmed it."""
    now: Label = getattr(document.labels, change.field)
    return not now.confirmed and now.value == change.before.value


def _labels_after(changes: Sequence[LabelChange], document: Document) -> dict[str, Label]:
    return {each.field: each.after for each in changes if _applies(each, document)}


def _is_confirmed(document: Document, name: str) -> bool:
    label: Label = getattr(document.labels, name)
    return label.confirmed


def _has_training_evidence(label: Label) -> bool:
    return any(each.source is EvidenceSource.CORRECTION for each in label.evidence)


def _may_change(record: TrainingRecord, document: Document, predictor: LabelPredictor) -> bool:
    """Whether training gives an unconfirmed label another value, or gave one that it no longer gives."""
    predicted = predictor.predict(record.traits)
    for name in LEARNED_FIELDS:
        now: Label = getattr(document.labels, name)
        own: Label = getattr(record.traits.own, name)
        if (
            not now.confirmed
            and predicted.get(name, own.value if _has_training_evidence(now) else now.value) != now.value
        ):
            return True
    return False


def _sort_changes(changes: Sequence[LabelChange]) -> tuple[LabelChange, ...]:
    """By document, the surest first; a document's own in the order of the fields."""
    sure: dict[int, float] = {}
    for each in changes:
        sure[each.document_id] = max(sure.get(each.document_id, 0.0), each.after.probability)
    return tuple(sorted(changes, key=lambda each: (-sure[each.document_id], each.name, each.document_id)))
