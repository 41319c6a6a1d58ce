"""Where what was drawn from documents is kept, with what analysts changed of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from core.enrich.values import Edit, Operation, Outcome

__all__ = ["EnrichmentStore"]


class EnrichmentStore(Protocol):
    """Outcomes and edits of one tenant, one of each per document and operation."""

    def save(self, outcomes: Sequence[Outcome]) -> None:
        """Keep outcomes, each in place of the one of its document and operation; a deleted document's are dropped."""
        ...

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[Outcome]]:
        """Document → its outcomes of these operations, in the order of Operation; documents without any are absent."""
        ...

    def all_outcomes(self) -> Sequence[Outcome]:
        """How every operation on every document ended, by document and Operation; without their results."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes of documents; edits stay."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes and edits of documents."""
        ...

    def save_edit(self, edit: Edit) -> None:
        """Keep an edit, in place of the one of its document and operation. Raises NotFound for a deleted document."""
        ...

    def reset(self, document_id: int, operation: Operation) -> None:
        """Drop an edit; harmless when there is none."""
        ...

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Edit]]:
        """Document → its edits, in the order of Operation; documents without any are absent."""
        ...
