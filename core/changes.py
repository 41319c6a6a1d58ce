"""What was changed of documents by hand: who, when, from what to what; and whether it was taken back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.documents import Label
from core.errors import NotFound

__all__ = ["Change", "ChangeLog", "ChangeSet", "no_change_set"]


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one document. before, after: as people write them, "" for nothing. name: the document's, when it was
    changed. label: of a label field the label before, whole, so that taking back restores it exactly."""

    document_id: int
    name: str
    field: str
    before: str
    after: str
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one person changed at once. what: in words. id is 0 until stored; undone_at None: it holds."""

    at: datetime
    who: str
    what: str
    changes: tuple[Change, ...]
    id: int = 0
    undone_at: datetime | None = None
    undone_by: str = ""


class ChangeLog(Protocol):
    """Every change set of a tenant; sets are added and marked as undone, never removed."""

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a set (id 0) and give it back with its id."""
        ...

    def find(self, set_id: int) -> ChangeSet:
        """Raises NotFound."""
        ...

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest sets, newest first; of a document: those that changed it, with its own changes only."""
        ...

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Raises NotFound."""
        ...


def no_change_set(set_id: int) -> NotFound:
    """The error every log raises for an unknown set."""
    return NotFound(f"There is no change {set_id}.", "Look at the list of changes again.")
