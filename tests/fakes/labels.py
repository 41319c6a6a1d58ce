"""Training data, vocabularies and the log of manual label edits in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from threading import RLock

import numpy as np

from core.library.active_learning.store import (
    LabelChoice,
    LabelVerdict,
    LearningAction,
    LearningActionKind,
    TrainingRecord,
    TrainingVersion,
)
from core.library.bulk_edit.store import ChangeSet, no_change_set
from core.library.vocabulary.store import VocabularyRun, VocabularyVersion, no_application, outdated_vocabulary
from core.ports.stores import Vectors

__all__ = ["FakeActiveLearningStore", "FakeChangeLog", "FakeVocabularyStore"]

_APPLIED = (LearningActionKind.APPLIED, LearningActionKind.UNDONE)


class FakeActiveLearningStore:
    """Implements core.library.active_learning.store.ActiveLearningStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._records: dict[int, tuple[TrainingRecord, Vectors]] = {}
        self._versions: dict[int, TrainingVersion] = {}
        self._acts: list[LearningAction] = []
        self._verdicts: list[LabelVerdict] = []

    def save_records(self, records: Sequence[tuple[TrainingRecord, Vectors]]) -> None:
        """Store or replace documents' records; vectors lose what float16 loses, as everywhere."""
        with self._lock:
            for record, segments in records:
                self._records[record.document_id] = (record, segments.astype(np.float16).astype(np.float32))

    def records(self, model: str) -> Iterator[Sequence[TrainingRecord]]:
        """All records of a model in one block."""
        with self._lock:
            found = [each for _, (each, _) in sorted(self._records.items()) if each.model == model]
        yield from [found] if found else []

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, TrainingRecord]:
        """The records of these documents; missing ones are absent."""
        with self._lock:
            known = {each: self._records[each][0] for each in document_ids if each in self._records}
        return {each: record for each, record in known.items() if record.model == model}

    def segments(self, document_id: int, model: str) -> Vectors | None:
        """The sentence vectors of a record of this model."""
        with self._lock:
            record, vectors = self._records.get(document_id, (None, None))
            return vectors if record is not None and record.model == model else None

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete records."""
        with self._lock:
            for each in document_ids:
                self._records.pop(each, None)

    def add_version(self, version: TrainingVersion) -> bool:
        """Store a version; False when its number is taken."""
        with self._lock:
            return self._versions.setdefault(version.number, version) is version

    def newest(self) -> int:
        """The number of the newest version; 0 without any."""
        with self._lock:
            return max(self._versions, default=0)

    def version(self, number: int) -> TrainingVersion | None:
        """One version; None for an unknown number."""
        with self._lock:
            return self._versions.get(number)

    def add_act(self, act: LearningAction) -> LearningAction:
        """Store an action; returns it with its id. The id of the first action of an application becomes its number."""
        with self._lock:
            new_id = next(self._ids)
            self._acts.append(replace(act, id=new_id, number=act.number or new_id, labels=len(act.moves)))
            return self._acts[-1]

    def acts(self, limit: int) -> Sequence[LearningAction]:
        """The newest actions that applied or undid a version, newest first, without their label changes."""
        with self._lock:
            found = [replace(each, moves=()) for each in reversed(self._acts) if each.kind in _APPLIED]
        return found[:limit]

    def application(self, number: int) -> Sequence[LearningAction]:
        """All actions of one application, oldest first."""
        with self._lock:
            return [each for each in self._acts if each.number == number and each.kind in _APPLIED]

    def choice(self) -> LabelChoice:
        """Whether labels change at once, and which version labels new documents."""
        with self._lock:
            chosen = [each.kind for each in self._acts if each.kind not in _APPLIED]
            undone = {each.number for each in self._acts if each.kind is LearningActionKind.UNDONE}
            applied = [e.version for e in self._acts if e.kind is LearningActionKind.APPLIED and e.number not in undone]
            newest = max(self._versions, default=0)
        return LabelChoice(chosen[-1:] != [LearningActionKind.WHEN_APPLIED], max(applied, default=0), newest)

    def add_verdicts(self, verdicts: Sequence[LabelVerdict]) -> None:
        """Keep what people said, in this order."""
        with self._lock:
            self._verdicts += verdicts

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[LabelVerdict]:
        """What was said, oldest first; without a document: of all, without their moves."""
        with self._lock:
            found = [each for each in self._verdicts if document_id in (None, each.document_id)]
        found = [each for each in found if field in (None, each.field)]
        return found if document_id is not None else [replace(each, move=None) for each in found]


class FakeVocabularyStore:
    """Implements core.library.vocabulary.store.VocabularyStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._versions: list[VocabularyVersion] = []
        self._applications: list[VocabularyRun] = []

    def newest(self) -> VocabularyVersion | None:
        """The current version; None without any."""
        with self._lock:
            return self._versions[-1] if self._versions else None

    def versions(self) -> Sequence[VocabularyVersion]:
        """All versions, newest first."""
        with self._lock:
            return self._versions[::-1]

    def add(self, version: VocabularyVersion) -> None:
        """Store a new version. Raises Outdated when its number is not the next one."""
        with self._lock:
            if version.number != len(self._versions) + 1:
                raise outdated_vocabulary(max(len(self._versions), version.number))
            self._versions.append(version)

    def begin(self, application: VocabularyRun) -> VocabularyRun:
        """Store a new run; returns it with its id."""
        with self._lock:
            new = replace(application, id=len(self._applications) + 1)
            self._applications.append(new)
            return new

    def advance(self, application: VocabularyRun) -> VocabularyRun:
        """Store a run's progress; returns its current state. Raises NotFound."""
        with self._lock:
            known = self.application(application.id)
            values = {name: getattr(application, name) for name in ("done", "changed", "reached", "ended")}
            self._applications[known.id - 1] = replace(known, **values)
            return self._applications[known.id - 1]

    def stop(self, application_id: int) -> None:
        """Ask a run to stop. Raises NotFound."""
        with self._lock:
            known = self.application(application_id)
            self._applications[known.id - 1] = replace(known, stopped=True)

    def application(self, application_id: int) -> VocabularyRun:
        """One run. Raises NotFound."""
        with self._lock:
            if not 1 <= application_id <= len(self._applications):
                raise no_application(application_id)
            return self._applications[application_id - 1]

    def latest_application(self) -> VocabularyRun | None:
        """The run started last; None without any."""
        with self._lock:
            return self._applications[-1] if self._applications else None


class FakeChangeLog:
    """Implements core.library.bulk_edit.store.ChangeLog; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._sets: list[ChangeSet] = []

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a change set; returns it with its id."""
        with self._lock:
            self._sets.append(replace(changed, id=len(self._sets) + 1))
            return self._sets[-1]

    def find(self, set_id: int) -> ChangeSet:
        """One change set. Raises NotFound."""
        with self._lock:
            if not 0 < set_id <= len(self._sets):
                raise no_change_set(set_id)
            return self._sets[set_id - 1]

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest change sets, newest first; for a document, those that changed it, with only its own changes."""
        with self._lock:
            newest = self._sets[::-1]
        if document_id is not None:
            own = [replace(s, changes=tuple(c for c in s.changes if c.document_id == document_id)) for s in newest]
            newest = [each for each in own if each.changes]
        return newest[:limit]

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Mark a change set as undone. Raises NotFound."""
        with self._lock:
            self._sets[set_id - 1] = replace(self.find(set_id), undone_at=at, undone_by=who)
