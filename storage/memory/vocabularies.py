"""Vocabularies in a list."""

from collections.abc import Sequence
from dataclasses import replace
from threading import RLock

from core.vocabulary import Application, VocabularyVersion, no_application, outdated_vocabulary

__all__ = ["MemoryVocabularyStore"]


class MemoryVocabularyStore:
    """core.vocabulary.VocabularyStore; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._versions: list[VocabularyVersion] = []
        self._applications: list[Application] = []

    def newest(self) -> VocabularyVersion | None:
        """The version that holds; None while there is none."""
        with self._lock:
            return self._versions[-1] if self._versions else None

    def versions(self) -> Sequence[VocabularyVersion]:
        """All of them, newest first."""
        with self._lock:
            return self._versions[::-1]

    def add(self, version: VocabularyVersion) -> None:
        """Keep a new version. Raises Outdated when its number is not the next one."""
        with self._lock:
            if version.number != len(self._versions) + 1:
                raise outdated_vocabulary(max(len(self._versions), version.number))
            self._versions.append(version)

    def begin(self, application: Application) -> Application:
        """Keep a new application; gives it with its id."""
        with self._lock:
            new = replace(application, id=len(self._applications) + 1)
            self._applications.append(new)
            return new

    def advance(self, application: Application) -> Application:
        """Keep how far one has come; gives it as it is now. Raises NotFound."""
        with self._lock:
            known = self.application(application.id)
            told = {name: getattr(application, name) for name in ("done", "changed", "reached", "ended")}
            self._applications[known.id - 1] = replace(known, **told)
            return self._applications[known.id - 1]

    def stop(self, application_id: int) -> None:
        """Ask one to end. Raises NotFound."""
        with self._lock:
            known = self.application(application_id)
            self._applications[known.id - 1] = replace(known, stopped=True)

    def application(self, application_id: int) -> Application:
        """Raises NotFound."""
        with self._lock:
            if not 1 <= application_id <= len(self._applications):
                raise no_application(application_id)
            return self._applications[application_id - 1]

    def latest_application(self) -> Application | None:
        """The one begun last; None when there is none."""
        with self._lock:
            return self._applications[-1] if self._applications else None
