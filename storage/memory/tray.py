"""The list of files on their way, over the documents in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.documents import Document, DocumentState
from core.errors import Cure
from core.jobs import STOPPED, WAITING
from core.library.intray import STOPPED_BY_HAND, Shown, TrayCounts
from core.library.members import is_container
from storage.memory.catalogue import MemoryCatalogue

__all__ = ["MemoryTrayStore"]


class MemoryTrayStore:
    """core.library.intray.TrayStore."""

    def __init__(self, catalogue: MemoryCatalogue) -> None:
        self._catalogue = catalogue
        self._ends: dict[int, datetime] = {}

    def counts(self, sure: float, words: str = "") -> TrayCounts:
        """How many there are of each kind whose name holds the words."""
        kinds = [(_kind(each, sure), _waits(each)) for each in self._listed(words)]
        held = [kind for kind, _ in kinds]
        return TrayCounts(
            running=held.count(Shown.RUNNING),
            waiting=sum(kind is Shown.RUNNING and waits for kind, waits in kinds),
            failed=held.count(Shown.FAILED),
            again=sum(_worth_again(each) for each in self._listed(words)),
            doubtful=held.count(Shown.DOUBTFUL),
            done=held.count(Shown.DONE),
        )

    def page(self, shown: Shown, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """Some of the files, those that need a look first."""
        found = [each for each in self._listed(words) if shown in (Shown.ALL, _kind(each, sure))]
        return sorted(found, key=lambda each: (_ease(each, sure), -each.id))[offset : offset + limit]

    def reading(self, limit: int) -> Sequence[Document]:
        """Those being read at this moment, the oldest first."""
        running = [each for each in self._listed("") if each.state is DocumentState.PENDING and not _waits(each)]
        return sorted(running, key=lambda each: each.id)[:limit]

    def members(self, parents: Sequence[int]) -> Sequence[Document]:
        """The living documents that came in these ones."""
        return sorted((each for each in self._listed("") if each.parent in parents), key=lambda each: each.id)

    def projects(self) -> Sequence[str]:
        """Every project that has a living document, by name."""
        return sorted({each.project for each in self._listed("") if each.project is not None})

    def oldest(self) -> datetime | None:
        """When the first of those that are not read yet was uploaded."""
        pending = [each.uploaded_at for each in self._listed("") if each.state is DocumentState.PENDING]
        return min(pending, default=None)

    def to_try_again(self) -> Sequence[int]:
        """Ids, ascending, of all that were stopped, or failed in a way that trying again can help."""
        return sorted(each.id for each in self._all() if _worth_again(each))

    def pending(self) -> Sequence[int]:
        """Ids, ascending, of all that are not read yet."""
        return self._in_state(DocumentState.PENDING)

    def _in_state(self, state: DocumentState) -> list[int]:
        return sorted(each.id for each in self._all() if each.state is state)

    def _all(self) -> Sequence[Document]:
        return self._catalogue.documents(archived=None, origin=None)

    def requeue(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Mark those of them that failed as waiting; which they are."""
        chosen = sorted(set(self._in_state(DocumentState.FAILED)) & set(document_ids))
        for document_id in chosen:
            self._catalogue.mark(document_id, step=WAITING)
        return chosen

    def stop(self, document_ids: Sequence[int] | None) -> Sequence[int]:
        """Stop what is not read yet; which documents were stopped."""
        chosen = [each for each in self.pending() if document_ids is None or each in document_ids]
        for document_id in chosen:
            document = self._catalogue.document(document_id)
            if document.passages:
                self._catalogue.save_labels(replace(document, state=DocumentState.READY, step=STOPPED), [])
            else:
                failure, remedy = STOPPED_BY_HAND
                self._catalogue.fail(document_id, step=STOPPED, reason=failure, remedy=remedy)
        return chosen

    def ended(self, document_id: int, at: datetime) -> None:
        """Note that a document was read to its end; one deleted meanwhile is left."""
        if document_id in self._catalogue.documents_by_id([document_id]):
            self._ends[document_id] = at

    def ends(self, since: datetime) -> tuple[int, datetime | None]:
        """How many were read to their end since then and are not to be read again, and when the first of them was."""
        known = self._catalogue.documents_by_id(list(self._ends))
        read = {number for number, each in known.items() if each.state is not DocumentState.PENDING}
        recent = [at for number, at in self._ends.items() if at >= since and number in read]
        return len(recent), min(recent, default=None)

    def _listed(self, words: str) -> list[Document]:
        wanted = words.strip().lower()
        return [each for each in self._catalogue.documents() if wanted in each.name.lower()]


def _worth_again(document: Document) -> bool:
    return document.state is DocumentState.FAILED and document.cure is Cure.AGAIN


def _waits(document: Document) -> bool:
    return document.step in ("", WAITING)


def _kind(document: Document, sure: float) -> Shown:
    if document.state is DocumentState.PENDING:
        return Shown.RUNNING
    if document.state is DocumentState.FAILED:
        return Shown.FAILED
    label = document.labels.truth
    if is_container(document):
        return Shown.DONE
    unsure = not label.confirmed and (label.value is None or label.probability < sure)
    return Shown.DOUBTFUL if unsure else Shown.DONE


def _ease(document: Document, sure: float) -> float:
    """Low for what needs a look most."""
    label = document.labels.truth
    probability = label.probability if label.value else 0.0
    match _kind(document, sure):
        case Shown.FAILED:
            return 0.0
        case Shown.RUNNING:
            return 3.0 if _waits(document) else 1.0
        case Shown.DOUBTFUL:
            return 2.0 + probability / 2
    return 6.0 if label.confirmed or is_container(document) else 4.0 + probability
