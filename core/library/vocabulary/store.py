"""Saved versions of a vocabulary, runs that classify the library again, and the port of their store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.domain.errors import NotFound, Outdated
from core.domain.vocabulary import Vocabulary

__all__ = ["VocabularyRun", "VocabularyStore", "VocabularyVersion", "no_application", "outdated_vocabulary"]


@dataclass(frozen=True, slots=True)
class VocabularyVersion:
    """A saved version of a vocabulary. number: from 1, without gaps; who, note: "" when not given."""

    number: int
    vocabulary: Vocabulary
    who: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class VocabularyRun:
    """One run that classifies the whole library again. id: 0 until stored.

    version: of the vocabulary at its start. total, done, changed: documents; changed: those with a different domain,
    authority or jurisdiction. reached: id of the last document processed, until: of the last one there was at the
    start. ended: None while it runs or waits. stopped: a stop was requested."""

    version: int
    who: str
    at: datetime
    total: int
    until: int
    id: int = 0
    done: int = 0
    changed: int = 0
    reached: int = 0
    stopped: bool = False
    ended: datetime | None = None


class VocabularyStore(Protocol):
    """Stores the vocabularies of one tenant; versions are only ever added. Every method raises StoreFailed."""

    def newest(self) -> VocabularyVersion | None:
        """The current version; None when none was saved."""
        ...

    def versions(self) -> Sequence[VocabularyVersion]:
        """All of them, newest first."""
        ...

    def add(self, version: VocabularyVersion) -> None:
        """Store a new version. Raises Outdated when its number is not the next one, because of a concurrent save."""
        ...

    def begin(self, application: VocabularyRun) -> VocabularyRun:
        """Store a new run; returns it with its id."""
        ...

    def advance(self, application: VocabularyRun) -> VocabularyRun:
        """Store the progress of a run (done, changed, reached, ended); returns its current state, including `stopped`.

        Raises NotFound.
        """
        ...

    def stop(self, application_id: int) -> None:
        """Request a run to stop. Raises NotFound."""
        ...

    def application(self, application_id: int) -> VocabularyRun:
        """Raises NotFound."""
        ...

    def latest_application(self) -> VocabularyRun | None:
        """The latest run; None when there is none."""
        ...


def outdated_vocabulary(newest: int) -> Outdated:
    """Someone has saved a version meanwhile."""
    return Outdated(
        f"Someone else has saved version {newest} of the vocabulary meanwhile; nothing was overwritten.",
        "Look at what they changed, then make your changes again.",
    )


def no_application(application_id: int) -> NotFound:
    """The application is not stored."""
    return NotFound(f"Run {application_id} over the library is not (or no longer) here.", "Look at the page again.")
