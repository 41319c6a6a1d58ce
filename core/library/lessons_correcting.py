"""Labels set by hand, one or many at once, and taken back: stored for ever, told to the lessons, exactly undone."""

from collections.abc import Callable, Sequence
from datetime import datetime

from core.documents import LABEL_FIELDS, Document, Label, Passage
from core.errors import BadRequest
from core.library.lessons_moves import moved, moved_back
from core.library.lessons_store import LessonStore, Move, Verdict
from core.ports import Catalogue, VectorIndex

__all__ = ["TAKEN_BACK", "Corrector"]

TAKEN_BACK = ""
"""The value of a correction that gives a field back to the classifier."""


class Corrector:
    """Corrections of one tenant. defer: has the lessons learned anew, in the background."""

    def __init__(
        self,
        store: LessonStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        defer: Callable[[], None],
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._vectors = store, catalogue, vectors
        self._defer, self._now = defer, now

    def correct_many(self, changes: Sequence[tuple[int, str, str]], who: str) -> Sequence[Document]:
        """Set labels by hand: (document id, field, value) each. All are checked before any is stored; the index is
        told once, and the lessons are learned once. Gives the documents changed, in their order.

        Raises BadRequest for an unknown field or a value outside its set, NotFound for an unknown document.
        """
        wanted: dict[int, dict[str, Label]] = {}
        for document_id, field, value in changes:
            if field not in LABEL_FIELDS:
                raise BadRequest(f"'{field}' is not a label.", f"Labels are: {', '.join(LABEL_FIELDS)}.")
            wanted.setdefault(document_id, {})[field] = Label(value, 1.0, confirmed=True)
        made = [
            moved(self._catalogue.document(document_id), self._catalogue.passages_of(document_id), labels)
            for document_id, labels in wanted.items()
        ]
        now = self._now()
        changed: list[Passage] = []
        for document, passages, moves in made:
            for move in moves:
                self._catalogue.correct(document.sha256, move.field, move.after.value or "", who, now)
            self._catalogue.save_labels(document, passages)
            changed += passages
            self._store.add_verdicts([_verdict(document, move, who, now) for move in moves])
        if changed:
            self._vectors.update(changed)
        if made:
            self._defer()
        return [self._catalogue.document(document.id) for document, _, _ in made]

    def uncorrect(self, document_id: int, field: str, who: str, label: Label | None = None) -> Document:
        """Give a field back to the classifier: it gets the label it had before people set it (or `label`, where the
        caller kept that), and the passages that had moved move back. Nothing is deleted: that it was taken back is one
        more correction.

        Raises BadRequest when nobody has set it, or when what it was is not known.
        """
        document = self._catalogue.document(document_id)
        if field not in LABEL_FIELDS or not getattr(document.labels, field).confirmed:
            raise BadRequest(f"The {field.replace('_', ' ')} of '{document.name}' was not set by hand.", "Look again.")
        moves = self._moves_back(document_id, field)
        passages = tuple(self._catalogue.passages_of(document_id))
        given = getattr(document.labels, field)
        if moves:
            for move in moves:
                document, passages = moved_back(document, passages, move)
        elif label is not None:
            document, passages, _ = moved(document, passages, {field: label})
        else:
            raise BadRequest(
                f"What the classifier said of '{document.name}' before is not known.",
                "Read the document again after choosing another value, or leave it as it is.",
            )
        now = self._now()
        self._catalogue.correct(document.sha256, field, TAKEN_BACK, who, now)
        self._catalogue.save_labels(document, passages)
        self._vectors.update(passages)
        taken = Verdict(document_id, document.sha256, field, TAKEN_BACK, who, now, given.value, automatic=False)
        self._store.add_verdicts([taken])
        self._defer()
        return self._catalogue.document(document_id)

    def _moves_back(self, document_id: int, field: str) -> list[Move]:
        """The moves to undo, newest first, down to the label the classifier gave; none when they are not known."""
        moves: list[Move] = []
        for verdict in reversed(self._store.verdicts(document_id, field)):
            if verdict.said == TAKEN_BACK or verdict.move is None:
                return []
            moves.append(verdict.move)
            if verdict.automatic:
                return moves
        return []


def _verdict(document: Document, move: Move, who: str, now: datetime) -> Verdict:
    return Verdict(
        document_id=document.id,
        sha256=document.sha256,
        field=move.field,
        said=move.after.value or "",
        who=who,
        at=now,
        given=move.before.value,
        automatic=not move.before.confirmed,
        move=move,
    )
