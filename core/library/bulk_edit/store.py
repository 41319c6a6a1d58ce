"""Manual changes to documents (who changed what, when, from and to which value, whether it was undone), and the port of
their store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.domain.documents import Label
from core.domain.errors import NotFound

__all__ = ["ChangeLog", "ChangeSet", "LabelEdit", "no_change_set"]


@dataclass(frozen=True, slots=True)
class LabelEdit:
    """A change of one field of one document. before, after: as text, "" for no value. name: the document's name at the
    time. label: the previous label of a label field, so that undo restores it exactly."""

    document_id: int
    name: str
    field: str
    before: str
    after: str
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The changes one person made at once. what: description. id is 0 until stored; undone_at None: not undone.
    hidden: number of further changes, to documents that the reader does not see."""

    at: datetime
    who: str
    what: str
    changes: tuple[LabelEdit, ...]
    id: int = 0
    undone_at: datetime | None = None
    undone_by: str = ""
    hidden: int = 0

    @property
    def closed(self) -> bool:
        """Whether the reader cannot undo it: it is undone, or partly hidden."""
        return self.undone_at is not None or self.hidden > 0


def no_change_set(set_id: int) -> NotFound:
    """The error every ChangeLog raises for an unknown set."""
    return NotFound(f"There is no change {set_id}.", "Look at the list of changes again.")


class ChangeLog(Protocol):
    """Every change set of a tenant. Sets are added and marked as undone, never removed."""

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a change set (id 0) and return it with its id."""
        ...

    def find(self, set_id: int) -> ChangeSet:
        """Raises NotFound."""
        ...

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest change sets, newest first. document_id: only those that changed it, with only its own changes."""
        ...

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Raises NotFound."""
        ...
