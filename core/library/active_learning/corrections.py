"""Sets and withdraws manual labels, and measures how often the automatic labels were right."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from core.domain.documents import LABEL_FIELDS, Document, Label, Passage
from core.domain.errors import BadRequest
from core.evaluation.metrics.classifier_report import LabelRate
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.label_changes import change_labels, restore_labels
from core.library.active_learning.store import ActiveLearningStore, LabelMove, LabelVerdict
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex

__all__ = ["ENOUGH", "TAKEN_BACK", "LabelCorrector", "Period", "accuracy_over_time"]

TAKEN_BACK = ""
"""The value of a correction that gives a field back to the classifier."""


class LabelCorrector:
    """Sets and withdraws manual labels for one tenant. defer: queues a new training run in the background."""

    def __init__(
        self,
        store: ActiveLearningStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        defer: Callable[[], None],
        now: Callable[[], datetime],
        terms: Callable[[], WorkspaceTerms],
    ) -> None:
        self._store, self._catalogue, self._vectors = store, catalogue, vectors
        self._defer, self._now, self._terms = defer, now, terms

    def correct_many(self, changes: Sequence[tuple[int, str, str]], who: str) -> Sequence[Document]:
        """Set labels by hand: one (document id, field, value) each. All are checked before any is stored; the vector
        index is updated once and training is queued once. Returns the changed documents, in order.

        Raises BadRequest for an unknown field or a value outside its set, NotFound for an unknown document.
        """
        by_document: dict[int, dict[str, Label]] = {}
        for document_id, field, value in changes:
            if field not in LABEL_FIELDS:
                raise BadRequest(f"'{field}' is not a label.", f"Labels are: {', '.join(LABEL_FIELDS)}.")
            by_document.setdefault(document_id, {})[field] = Label(value, 1.0, confirmed=True)
        terms, now = self._terms(), self._now()
        documents = [self._catalogue.document(each) for each in by_document]
        for document in documents:  # all are checked before any is stored
            change_labels(document, (), by_document[document.id], terms)
        changed: list[Passage] = []
        for document in documents:
            changed += self._correct(document, by_document[document.id], terms, who, now)
        if changed:
            self._vectors.update(changed)
        if documents:
            self._defer()
        return [self._catalogue.document(document.id) for document in documents]

    def _correct(
        self, document: Document, labels: Mapping[str, Label], terms: WorkspaceTerms, who: str, now: datetime
    ) -> Sequence[Passage]:
        """Set labels of one document, whatever others change of it meanwhile. Returns its passages."""
        moves: list[LabelMove] = []

        def set_labels(current: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            current, passages, made = change_labels(current, passages, labels, terms)
            moves.extend(made)
            return current, passages

        for field, label in labels.items():
            self._catalogue.correct(document.id, field, label.value or "", who, now)
        passages = self._catalogue.edit_labels(document.id, set_labels)
        self._store.add_verdicts([_verdict(document, move, who, now) for move in moves])
        return passages

    def uncorrect(self, document_id: int, field: str, who: str, label: Label | None = None) -> Document:
        """Give a field back to the classifier: it gets the label it had before people set it (or `label`, if the caller
        kept that), and the passages that moved along move back. Nothing is deleted: the withdrawal is one more verdict.

        Raises BadRequest when nobody has set it, or when the previous label is unknown.
        """
        document = self._catalogue.document(document_id)
        if field not in LABEL_FIELDS or not getattr(document.labels, field).confirmed:
            raise BadRequest(f"The {field.replace('_', ' ')} of '{document.name}' was not set by hand.", "Look again.")
        moves, terms = self._moves_back(document_id, field), self._terms()
        given = getattr(document.labels, field)
        if not moves and label is None:
            raise BadRequest(
                f"What the classifier said of '{document.name}' before is not known.",
                "Read the document again after choosing another value, or leave it as it is.",
            )

        def take_back(current: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            for move in moves:
                current, passages = restore_labels(current, passages, move, terms)
            if not moves and label is not None:
                current, passages, _ = change_labels(current, passages, {field: label}, terms)
            return current, passages

        now = self._now()
        self._catalogue.correct(document_id, field, TAKEN_BACK, who, now)
        self._vectors.update(self._catalogue.edit_labels(document_id, take_back))
        taken = LabelVerdict(document_id, document.sha256, field, TAKEN_BACK, who, now, given.value, automatic=False)
        self._store.add_verdicts([taken])
        self._defer()
        return self._catalogue.document(document_id)

    def _moves_back(self, document_id: int, field: str) -> list[LabelMove]:
        """The moves to undo, newest first, down to the label the classifier gave; none when they are not known."""
        moves: list[LabelMove] = []
        for verdict in reversed(self._store.verdicts(document_id, field)):
            if verdict.value == TAKEN_BACK or verdict.move is None:
                return []
            moves.append(verdict.move)
            if verdict.automatic:
                return moves
        return []


def _verdict(document: Document, move: LabelMove, who: str, now: datetime) -> LabelVerdict:
    return LabelVerdict(
        document_id=document.id,
        sha256=document.sha256,
        field=move.field,
        value=move.after.value or "",
        who=who,
        at=now,
        given=move.before.value,
        automatic=not move.before.confirmed,
        move=move,
    )


ENOUGH = 10
"""Labels a period needs before its share is reliable enough to show. Chosen by hand, not fitted."""


@dataclass(frozen=True, slots=True)
class Period:
    """A week (from Monday) or a month: how many automatic labels people reviewed in it, and how many were right."""

    start: date
    right: LabelRate


def accuracy_over_time(
    verdicts: Iterable[LabelVerdict], field: str | None, *, by_month: bool = False
) -> Sequence[Period]:
    """One Period per week or month in which people reviewed automatic labels, oldest first.

    Only the first verdict on each label counts: later ones concern a person's label. A withdrawn verdict does not
    count. A label the classifier left open and a person filled in counts as wrong. field None: all fields.
    """
    standing: dict[tuple[int, str], LabelVerdict] = {}
    for each in verdicts:
        if field is not None and each.field != field:
            continue
        key = (each.document_id, each.field)
        if not each.value:
            standing.pop(key, None)
        elif each.automatic:
            standing[key] = each
    counts: dict[date, list[bool]] = {}
    for each in standing.values():
        counts.setdefault(_start(each.at.date(), by_month), []).append(each.given == each.value)
    return [Period(start, LabelRate(sum(right), len(right))) for start, right in sorted(counts.items())]


def _start(day: date, by_month: bool) -> date:
    """The first day of its month, or the Monday of its week.

    >>> _start(date(2024, 5, 16), True).isoformat(), _start(date(2024, 5, 16), False).isoformat()
    ('2024-05-01', '2024-05-13')
    """
    return day.replace(day=1) if by_month else day - timedelta(days=day.weekday())
