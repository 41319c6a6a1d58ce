"""Use events in a list."""

from collections.abc import Mapping, Sequence
from threading import Lock

from core.uses import DocumentUse, UseEvent, UseKind, tallied

__all__ = ["MemoryUseLog"]


class MemoryUseLog:
    """core.uses.UseLog; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events: list[UseEvent] = []

    def record(self, events: Sequence[UseEvent]) -> None:
        """Append events, all or none, in their order."""
        with self._lock:
            self._events += events

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUse]:
        """What `tallied` says of all events of these documents; those never used are absent."""
        wanted = set(document_ids)
        with self._lock:
            found = [event for event in self._events if event.document_id in wanted]
        return tallied(found)

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UseEvent]:
        """The latest `limit` events that are not shown, of a question, of a passage, or of both, in their order."""
        if question is None and passage_id is None:
            raise ValueError("say whose events: of a question, of a passage, or of both")
        with self._lock:
            done = [event for event in self._events if event.kind is not UseKind.SHOWN]
        return [
            event for event in done if question in (None, event.question) and passage_id in (None, event.passage_id)
        ][-limit:]

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget everything about these documents."""
        gone = set(document_ids)
        with self._lock:
            self._events = [event for event in self._events if event.document_id not in gone]
