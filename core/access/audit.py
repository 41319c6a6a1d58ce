"""The audit log: who did what to which object, when, and by which door. Entries are only added."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.access.action_words import action_words, actions_with
from core.domain.people import Door
from core.formats.spreadsheet import csv_bytes

__all__ = ["AuditEntry", "AuditLog", "AuditOutcome", "AuditPage", "AuditQuery", "AuditService"]


class AuditOutcome(StrEnum):
    """What became of it."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action. login: "" when nobody was signed in. action: "service.method", or "sign in", "sign out". object: what
    it was done to. project: None for what all projects share. detail: the error's message. id: 0 until stored."""

    at: datetime
    login: str
    name: str
    door: Door
    action: str
    object: str
    outcome: AuditOutcome = AuditOutcome.DONE
    project: str | None = None
    detail: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which entries; "" and None restrict nothing. words: part of the action, object or detail, in any case; actions:
    those that people call by these words. since: inclusive; until: exclusive."""

    login: str = ""
    action: str = ""
    door: Door | None = None
    outcome: AuditOutcome | None = None
    words: str = ""
    actions: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, newest first, and how many match in all."""

    entries: Sequence[AuditEntry]
    total: int


class AuditLog(Protocol):
    """Stores the entries of one tenant."""

    def add(self, entry: AuditEntry) -> None: ...
    def page(self, query: AuditQuery, limit: int, offset: int) -> AuditPage: ...
    def values(self) -> tuple[Sequence[str], Sequence[str]]:
        """The logins and the actions there are, each ascending."""
        ...


_EXPORTED = 100_000  # entries of one export, so that it fits into memory. Chosen by hand.
_COLUMNS = ("at", "login", "name", "door", "action", "object", "project", "outcome", "detail", "code")
"""action: in words. code: the action's name in the program, which stays the same when its words are improved."""


class AuditService:
    """Writes and reads the audit log of one tenant."""

    def __init__(self, log: AuditLog, now: Callable[[], datetime]) -> None:
        self._log, self._now = log, now

    def record(
        self,
        *,
        login: str,
        name: str,
        door: Door,
        action: str,
        object: str,
        outcome: AuditOutcome = AuditOutcome.DONE,
        project: str | None = None,
        detail: str = "",
    ) -> None:
        """Add an entry as of now. Raises StoreFailed."""
        self._log.add(AuditEntry(self._now(), login, name, door, action, object, outcome, project, detail))

    def page(self, query: AuditQuery, limit: int = 50, offset: int = 0) -> AuditPage:
        """Matching entries, newest first. Raises StoreFailed."""
        return self._log.page(_in_words(query), limit, offset)

    def values(self) -> tuple[Sequence[str], Sequence[str]]:
        """The logins and the actions of the log, to filter by. Raises StoreFailed."""
        return self._log.values()

    def csv(self, query: AuditQuery) -> bytes:
        """The newest 100,000 matching entries as CSV. Raises StoreFailed."""
        found = self._log.page(_in_words(query), _EXPORTED, 0).entries
        return csv_bytes(_COLUMNS, [_row(each) for each in found])


def _in_words(query: AuditQuery) -> AuditQuery:
    """The same query, which also finds actions by what people call them."""
    return replace(query, actions=actions_with(query.words)) if query.words else query


def _row(entry: AuditEntry) -> list[object]:
    shown = {"action": action_words(entry.action), "code": entry.action}
    return [shown[name] if name in shown else getattr(entry, name) for name in _COLUMNS]
