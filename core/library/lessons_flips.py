"""What new lessons would change in documents read before: looked at first, then applied, then, if wanted, undone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.documents import LABEL_FIELDS, Document, DocumentState, EvidenceSource, Label, Passage
from core.errors import BadRequest, NotFound
from core.ingest.lessons import LEARNED_FIELDS
from core.ingest.lessons_taught import TaughtClassifier, Teacher
from core.library.lessons_moves import moved, moved_back
from core.library.lessons_records import Records
from core.library.lessons_store import Act, ActKind, LessonStore, Move, Record
from core.ports import Catalogue, VectorIndex

__all__ = ["Applied", "Flip", "FlipDesk", "Preview"]

_AT_ONCE = 20  # documents whose change is stored in one act: what is written first, so that it can always be undone
_FOLLOWING = tuple(field for field in LABEL_FIELDS if field != "language")
OnDocument = Callable[[int, int, str], None]
"""Hears (documents done, documents to do, name of the next)."""


@dataclass(frozen=True, slots=True)
class Flip:
    """One label that would change. lesson: what did it, in words."""

    document_id: int
    name: str
    field: str
    before: Label
    after: Label

    @property
    def lesson(self) -> str:
        """The confirmed document it reads like, or why it changes without one."""
        for each in self.after.evidence:
            if each.source is EvidenceSource.CORRECTION:
                return each.rule
        told = [each for each in self.before.evidence if each.source is EvidenceSource.CORRECTION]
        return "its lesson was taken back" if told else "follows from its other labels"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a version of the lessons would change. considered: documents with a label nobody confirmed; left: those not
    looked at, because it was stopped."""

    version: int
    considered: int
    flips: tuple[Flip, ...]
    left: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of applying or undoing. number: of the application, 0 when nothing changed; left: what was left as it
    is, each with why."""

    number: int
    labels: int
    documents: int
    left: tuple[str, ...] = ()


class FlipDesk:
    """Previews, applications and their undoing, of one tenant."""

    def __init__(
        self,
        store: LessonStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        records: Records,
        classifier: TaughtClassifier,
        newest: Callable[[], Teacher],
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._vectors = store, catalogue, vectors
        self._records, self._classifier, self._newest, self._now = records, classifier, newest, now

    def preview(
        self,
        on_document: OnDocument = lambda done, whole, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Preview:
        """What the newest lessons would change of labels nobody confirmed, those surest first.

        Documents no lesson speaks of are passed over by their records; the others are labelled again from their stored
        pages. Raises StoreFailed, ModelUnavailable.
        """
        teacher = self._newest()
        ready = [each for each in self._catalogue.documents() if each.state is DocumentState.READY]
        considered = {each.id: each for each in ready if any(not _held(each, name) for name in LEARNED_FIELDS)}
        likely, missing = self._likely(considered, teacher)
        flips: list[Flip] = []
        whole = len(likely) + len(missing)
        for done, document in enumerate([*likely, *missing]):
            if stop():
                return Preview(teacher.lessons.version, len(considered), _ordered(flips), whole - done)
            on_document(done, whole, document.name)
            record = None if done < len(likely) else self._records.made(document)
            if done < len(likely) or (record is not None and _may_change(record, document, teacher)):
                flips += self._flips(document, teacher)
        return Preview(teacher.lessons.version, len(considered), _ordered(flips))

    def _likely(self, documents: Mapping[int, Document], teacher: Teacher) -> tuple[list[Document], list[Document]]:
        """Those that may change, by their records, and those that have no record yet."""
        recorded: set[int] = set()
        likely = []
        for block in self._records.all():
            for record in block:
                document = documents.get(record.document_id)
                recorded.add(record.document_id)
                if document is not None and _may_change(record, document, teacher):
                    likely.append(document)
        return likely, [each for each in documents.values() if each.id not in recorded]

    def _flips(self, document: Document, teacher: Teacher) -> Iterator[Flip]:
        """The labels that change because of lessons, and only because of them."""
        read = self._records.reading(document)
        if read is None:
            return
        fixed = {name: label for name, label in document.labels.items() if label.confirmed}
        own = self._classifier.own.labels(*read, {})
        alone = self._classifier.own.labels(*read, fixed) if fixed else own
        after = self._classifier.labels(*read, fixed, teacher, own)
        for name in _FOLLOWING:
            was, now = getattr(document.labels, name), getattr(after, name)
            moved_by_lessons = now.value != getattr(alone, name).value or _taught(was)
            if name not in fixed and now.value != was.value and moved_by_lessons:
                yield Flip(document.id, document.name, name, was, now)

    def apply(
        self,
        preview: Preview,
        who: str,
        on_document: OnDocument = lambda done, whole, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Applied:
        """Change the labels of a preview; the passages follow, and the index. A label that was confirmed, or changed,
        since it was looked at is left. What is done when it stops stays done, and can be undone."""
        wanted: dict[int, list[Flip]] = {}
        for flip in preview.flips:
            wanted.setdefault(flip.document_id, []).append(flip)
        act = Act(ActKind.APPLIED, self._now(), who, preview.version)
        left: list[str] = []
        labels = documents = 0
        waiting = list(wanted.items())
        for start in range(0, len(waiting), _AT_ONCE):
            if stop():
                break
            on_document(start, len(waiting), waiting[start][1][0].name)
            made = [each for pair in waiting[start : start + _AT_ONCE] if (each := self._made(*pair, left)) is not None]
            moves = tuple(move for *_, own in made for move in own)
            if moves:
                act = replace(act, number=self._store.add_act(replace(act, moves=moves)).number)
                self._keep([(document, passages) for document, passages, _ in made])
            labels, documents = labels + len(moves), documents + len(made)
        return Applied(act.number, labels, documents, tuple(left))

    def _made(
        self, document_id: int, flips: Sequence[Flip], left: list[str]
    ) -> tuple[Document, Sequence[Passage], tuple[Move, ...]] | None:
        """One document with its labels changed; None when none of them can be."""
        try:
            document = self._catalogue.document(document_id)
        except NotFound:
            left.append(f"{flips[0].name} is no longer in the library.")
            return None
        labels: dict[str, Label] = {}
        for each in flips:
            now: Label = getattr(document.labels, each.field)
            if now.confirmed or now.value != each.before.value:
                said = "was confirmed" if now.confirmed else "has changed"
                left.append(f"{document.name}: its {each.field.replace('_', ' ')} {said} meanwhile.")
            else:
                labels[each.field] = each.after
        return moved(document, self._catalogue.passages_of(document_id), labels) if labels else None

    def _keep(self, changed: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
        for document, passages in changed:
            self._catalogue.save_labels(document, passages)
        self._vectors.update([each for _, passages in changed for each in passages])

    def undo(self, number: int, who: str) -> Applied:
        """Take an application back: every label that is still as it made it gets what it was, and so do the passages
        that had followed. Raises NotFound, and BadRequest when it is undone already."""
        acts = self._store.application(number)
        if not acts:
            raise NotFound(f"There is no application {number} of lessons.", "Look at the list again.")
        if any(each.kind is ActKind.UNDONE for each in acts):
            raise BadRequest("These changes are undone already.", "Look at the list again.")
        by_document: dict[int, list[Move]] = {}
        for act in reversed(acts):
            for move in reversed(act.moves):
                by_document.setdefault(move.document_id, []).append(move)
        left: list[str] = []
        labels = documents = 0
        for document_id, moves in by_document.items():
            back = self._taken_back(document_id, moves, left)
            labels, documents = labels + back, documents + bool(back)
        self._store.add_act(Act(ActKind.UNDONE, self._now(), who, acts[0].version, number))
        return Applied(number, labels, documents, tuple(left))

    def _taken_back(self, document_id: int, moves: Sequence[Move], left: list[str]) -> int:
        try:
            document = self._catalogue.document(document_id)
        except NotFound:
            left.append(f"{moves[0].name} is no longer in the library.")
            return 0
        passages = tuple(self._catalogue.passages_of(document_id))
        done = 0
        for move in moves:
            now: Label = getattr(document.labels, move.field)
            if now.confirmed or now.value != move.after.value:
                left.append(f"{document.name}: its {move.field.replace('_', ' ')} was changed again since.")
                continue
            document, passages = moved_back(document, passages, move)
            done += 1
        if done:
            self._keep([(document, passages)])
        return done


def _held(document: Document, name: str) -> bool:
    label: Label = getattr(document.labels, name)
    return label.confirmed


def _taught(label: Label) -> bool:
    return any(each.source is EvidenceSource.CORRECTION for each in label.evidence)


def _may_change(record: Record, document: Document, teacher: Teacher) -> bool:
    """Whether lessons give a label nobody confirmed another value, or gave one they no longer give."""
    foreseen = teacher.foreseen(record.traits)
    for name in LEARNED_FIELDS:
        now: Label = getattr(document.labels, name)
        own: Label = getattr(record.traits.own, name)
        if not now.confirmed and foreseen.get(name, own.value if _taught(now) else now.value) != now.value:
            return True
    return False


def _ordered(flips: Sequence[Flip]) -> tuple[Flip, ...]:
    """By document, the surest first; a document's own in the order of the fields."""
    sure: dict[int, float] = {}
    for each in flips:
        sure[each.document_id] = max(sure.get(each.document_id, 0.0), each.after.probability)
    return tuple(sorted(flips, key=lambda each: (-sure[each.document_id], each.name, each.document_id)))
