"""What is kept of learning, in dicts and lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

import numpy as np

from core.library.lessons_store import Act, ActKind, Choice, LessonVersion, Record, Verdict
from core.ports import Vectors

__all__ = ["MemoryLessonStore"]

_APPLIED = (ActKind.APPLIED, ActKind.UNDONE)


class MemoryLessonStore:
    """core.library.lessons_store.LessonStore; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._records: dict[int, tuple[Record, Vectors]] = {}
        self._versions: dict[int, LessonVersion] = {}
        self._acts: list[Act] = []
        self._verdicts: list[Verdict] = []

    def save_record(self, record: Record, segments: Vectors) -> None:
        """Store or replace a document's record; vectors lose what float16 loses, as everywhere."""
        with self._lock:
            self._records[record.document_id] = (record, segments.astype(np.float16).astype(np.float32))

    def records(self, model: str) -> Iterator[Sequence[Record]]:
        """All records of a model in one block."""
        with self._lock:
            found = [each for _, (each, _) in sorted(self._records.items()) if each.model == model]
        yield from [found] if found else []

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, Record]:
        """The records of these documents; missing ones are absent."""
        with self._lock:
            known = {each: self._records[each][0] for each in document_ids if each in self._records}
        return {each: record for each, record in known.items() if record.model == model}

    def segments(self, document_id: int) -> Vectors | None:
        """The vectors kept with a record."""
        with self._lock:
            return self._records[document_id][1] if document_id in self._records else None

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop records."""
        with self._lock:
            for each in document_ids:
                self._records.pop(each, None)

    def add_version(self, version: LessonVersion) -> bool:
        """Store a version; False when its number is taken."""
        with self._lock:
            return self._versions.setdefault(version.number, version) is version

    def newest(self) -> int:
        """The number of the newest version, 0 without any."""
        with self._lock:
            return max(self._versions, default=0)

    def version(self, number: int) -> LessonVersion | None:
        """One version; None when there is none of this number."""
        with self._lock:
            return self._versions.get(number)

    def add_act(self, act: Act) -> Act:
        """Store an act and give it back with its id; the first of an application gives it its number."""
        with self._lock:
            new_id = next(self._ids)
            self._acts.append(replace(act, id=new_id, number=act.number or new_id, labels=len(act.moves)))
            return self._acts[-1]

    def acts(self, limit: int) -> Sequence[Act]:
        """The newest acts of application and undoing, newest first, without their moves."""
        with self._lock:
            found = [replace(each, moves=()) for each in reversed(self._acts) if each.kind in _APPLIED]
        return found[:limit]

    def application(self, number: int) -> Sequence[Act]:
        """All acts of an application, oldest first."""
        with self._lock:
            return [each for each in self._acts if each.number == number and each.kind in _APPLIED]

    def choice(self) -> Choice:
        """What new documents are labelled by."""
        with self._lock:
            chosen = [each.kind for each in self._acts if each.kind not in _APPLIED]
            undone = {each.number for each in self._acts if each.kind is ActKind.UNDONE}
            applied = [e.version for e in self._acts if e.kind is ActKind.APPLIED and e.number not in undone]
        return Choice(chosen[-1:] != [ActKind.WHEN_APPLIED], max(applied, default=0))

    def add_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Keep what people said, in this order."""
        with self._lock:
            self._verdicts += verdicts

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[Verdict]:
        """What was said, oldest first; without a document: of all, without their moves."""
        with self._lock:
            found = [each for each in self._verdicts if document_id in (None, each.document_id)]
        found = [each for each in found if field in (None, each.field)]
        return found if document_id is not None else [replace(each, move=None) for each in found]
