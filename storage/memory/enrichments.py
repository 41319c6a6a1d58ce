"""What is drawn from documents, in dicts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from threading import RLock

from core.enrich.values import Edit, Operation, Outcome
from core.ports import Catalogue

__all__ = ["MemoryEnrichmentStore"]


class MemoryEnrichmentStore:
    """core.library.enrichment_store.EnrichmentStore; every method is one step for all threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._lock, self._catalogue = RLock(), catalogue
        self._outcomes: dict[tuple[int, Operation], Outcome] = {}
        self._edits: dict[tuple[int, Operation], Edit] = {}

    def save(self, outcomes: Sequence[Outcome]) -> None:
        """Keep outcomes of documents that are still there."""
        living = self._catalogue.documents_by_id([each.document_id for each in outcomes])
        with self._lock:
            self._outcomes |= {(e.document_id, e.operation): e for e in outcomes if e.document_id in living}

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[Outcome]]:
        """Document → its outcomes of these operations, in the order of Operation."""
        wanted = [each for each in Operation if each in operations]
        with self._lock:
            found = {i: [self._outcomes.get((i, operation)) for operation in wanted] for i in document_ids}
        kept = {i: [each for each in told if each is not None] for i, told in found.items()}
        return {i: told for i, told in kept.items() if told}

    def all_outcomes(self) -> Sequence[Outcome]:
        """How every operation on every document ended, without results."""
        with self._lock:
            documents = sorted({document_id for document_id, _ in self._outcomes})
        found = self.outcomes(documents)
        return [replace(each, result=None) for i in documents for each in found.get(i, ())]

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes of documents; edits stay."""
        with self._lock:
            self._outcomes = {key: each for key, each in self._outcomes.items() if key[0] not in document_ids}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes and edits of documents."""
        with self._lock:
            self.forget(document_ids)
            self._edits = {key: each for key, each in self._edits.items() if key[0] not in document_ids}

    def save_edit(self, edit: Edit) -> None:
        """Keep an edit in place of the one before. Raises NotFound."""
        self._catalogue.document(edit.document_id)
        with self._lock:
            self._edits[edit.document_id, edit.operation] = edit

    def reset(self, document_id: int, operation: Operation) -> None:
        """Drop an edit."""
        with self._lock:
            self._edits.pop((document_id, operation), None)

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Edit]]:
        """Document → its edits, in the order of Operation."""
        with self._lock:
            found = {i: [self._edits.get((i, operation)) for operation in Operation] for i in document_ids}
        kept = {i: [each for each in told if each is not None] for i, told in found.items()}
        return {i: told for i, told in kept.items() if told}
