"""Keyword search on disk: one folder per tenant, shared by every process on the machine.

    manifest.json        which segments there are, with their checksums and deleted rows; replaced as a whole
    <checksum>.segment   passages indexed together; written once, never changed

A process keeps the segments in memory and looks at the manifest before each search, so that an upload by a worker is
found at once. Writers of all processes take turns by a lock file; readers never wait for them. The files are a copy:
what is missing or damaged is indexed again from the catalogue, and all of it when a new version cuts words
in another way.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import numpy as np

from core.documents import Passage
from core.errors import StoreFailed
from core.filters import SearchFilters
from core.ports import Catalogue, PassageIds
from core.results import LegHits, TermScore
from storage.bm25_manifest import checked, digest, live_rows, sealed
from storage.bm25_scores import Bm25
from storage.bm25_segments import Segment, build, from_bytes, mark_of, settled, to_bytes, without
from storage.whole_files import replace_file

__all__ = ["Bm25Files"]

_BATCH = 2000  # passages read from the catalogue at a time
_SPOT_CHECKS = 64  # passages whose words are compared with the catalogue at start
_PATIENCE_SECONDS = 300.0  # how long a search waits for the first opening: half a million passages take a minute


@dataclass(frozen=True, slots=True)
class _Held:
    """What this process has read: the manifest's text as found, and its segments."""

    manifest: bytes
    bm25: Bm25


class Bm25Files:
    """ports.SparseIndex under one folder. Opened at first use; the catalogue says what belongs in it."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self._folder, self._catalogue = folder, catalogue
        self._turn = Lock()  # one thread of this process reads or writes files at a time
        self._held: _Held | None = None
        self._tried = np.empty(0, dtype=np.int64)  # admissible passages the catalogue did not give when asked

    # ports.SparseIndex

    def add(self, passages: Sequence[Passage]) -> None:
        """Store or replace; findable when this returns. Raises StoreFailed."""
        fresh = build(passages)
        if fresh.alive:
            with self._writing() as held:
                older = [without(s, np.isin(s.ids, fresh.ids, assume_unique=True)) for s in held.bm25.segments]
                self._publish([*older, fresh])

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget every passage of these documents. Raises StoreFailed."""
        gone = np.asarray(document_ids, dtype=np.int64)
        with self._writing() as held:
            if any(np.isin(s.documents, gone).any() for s in held.bm25.segments):
                self._publish([without(s, np.isin(s.documents, gone)) for s in held.bm25.segments])

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """Admissible passages with a score above 0, best first; ties by passage id. Raises StoreFailed."""
        return self.search_many([terms], admissible, top_k)[0]

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for the terms of each question. Raises StoreFailed."""
        hits = self._current().search_many(questions, admissible, top_k)
        behind = admissible is not None and any(each.rows_after < len(admissible) for each in hits)
        if behind and admissible is not None and self._caught_up(admissible):
            return self._current().search_many(questions, admissible, top_k)
        return hits

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, tuple[TermScore, ...]]:
        """Per passage, the share of each term it holds; the shares sum to its score."""
        return self._current().explain(terms, passage_ids)

    def held(self, stems: Sequence[str], passage_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of these stems each indexed passage holds. Raises StoreFailed."""
        return self._current().held(stems, passage_ids)

    def holding(self, terms: Sequence[str]) -> PassageIds:
        """The passages that hold every word of the terms, by stem. Raises StoreFailed."""
        return self._current().holding(terms)

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term, ≥ 0."""
        return self._current().rarity(terms)

    def count(self) -> int:
        """Passages indexed."""
        return self._current().count()

    # Following the other processes

    def _current(self) -> Bm25:
        held = self._held
        if held is None:
            return self._opened().bm25
        if self._manifest() == held.manifest or not self._turn.acquire(blocking=False):
            return held.bm25  # up to date, or another thread is just bringing it up to date
        try:
            self._held = self._read(held)
        except _DamagedError:
            pass  # mended below, once the turn is given back
        else:
            return self._held.bm25
        finally:
            self._turn.release()
        with self._writing() as mended:
            return mended.bm25

    def _opened(self) -> _Held:
        if not self._turn.acquire(timeout=_PATIENCE_SECONDS):
            raise StoreFailed("The keyword index is still being built.", "Search again in a moment.")
        try:
            if self._held is None:
                with self._alone():
                    self._reconcile()
            assert self._held is not None
            return self._held
        finally:
            self._turn.release()

    @contextmanager
    def _writing(self) -> Iterator[_Held]:
        """This process's and this thread's turn, on the newest state."""
        with self._turn, self._alone():
            try:
                if self._held is None:
                    self._reconcile()
                elif self._manifest() != self._held.manifest:
                    self._held = self._read(self._held)
            except _DamagedError:
                self._reconcile()
            assert self._held is not None
            yield self._held

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process writes meanwhile."""
        from filelock import FileLock

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / "lock"):
                yield
        except OSError as error:
            raise StoreFailed(
                f"The keyword index in {self._folder} cannot be used: {error.strerror or error}.",
                "Check that the disk has room and that the folder belongs to the user running the program.",
            ) from error

    def _caught_up(self, admissible: PassageIds) -> bool:
        """The catalogue admits passages these files lack: another machine stored them, or somebody is just about to add
        them. Index them now, unless that was tried before or a writer is at work."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            assert self._held is not None
            unknown = np.setdiff1d(admissible, _ids(self._held.bm25.segments), assume_unique=True)
            if np.isin(unknown, self._tried).all():
                return False
            self._tried = unknown
            with self._alone():
                return self._reconcile()[0] > 0
        finally:
            self._turn.release()

    # The catalogue decides

    def reconcile(self) -> tuple[int, int]:
        """Index what the catalogue has and the files lack, forget what it has not: (added, forgotten) passages."""
        with self._turn, self._alone():
            return self._reconcile()

    def _reconcile(self) -> tuple[int, int]:
        try:
            self._held = self._read(self._held)
        except _DamagedError as damaged:
            self._held = _Held(b"", Bm25(damaged.sound))
        segments = list(self._held.bm25.segments)
        if not self._says_the_same(segments):
            segments = []
        wanted = self._catalogue.admissible(SearchFilters(archived=None))
        known = _ids(segments)
        missing, extra = np.setdiff1d(wanted, known), np.setdiff1d(known, wanted)
        kept = [without(s, np.isin(s.ids, extra, assume_unique=True)) for s in segments]
        for start in range(0, len(missing), _BATCH):
            found = self._catalogue.passages(missing[start : start + _BATCH].tolist())
            kept = settled([*kept, build(found.values())])
        if len(missing) or len(extra) or not self._held.manifest:
            self._publish(kept)
        return len(missing), len(extra)

    def _says_the_same(self, segments: Sequence[Segment]) -> bool:
        """Whether passages have the words the catalogue gives them. A database restored from a backup gives the latest
        ids again, to other passages: so the highest ids are looked at first."""
        ids = _ids(segments)
        spots = np.unique(np.concatenate([ids[-_SPOT_CHECKS // 2 :], ids[:: max(1, 2 * len(ids) // _SPOT_CHECKS)]]))
        stored = self._catalogue.passages(spots.tolist())
        marks = {int(i): int(m) for s in segments for i, m in zip(s.ids, s.marks, strict=True) if int(i) in stored}
        return all(mark_of(stored[i]) == mark for i, mark in marks.items())

    # Files

    def _manifest(self) -> bytes:
        try:
            return (self._folder / "manifest.json").read_bytes()
        except FileNotFoundError:
            return b""

    def _read(self, held: _Held | None) -> _Held:
        """What the manifest names; segments already in memory are not read again. Raises _DamagedError."""
        manifest = self._manifest()
        rows = checked(manifest)
        if rows is None:
            raise _DamagedError([])
        in_memory = {s.name: s for s in held.bm25.segments} if held else {}
        sound, damaged = [], False
        for row in rows:
            segment = in_memory.get(row["name"]) or self._segment(row["name"])
            if segment is None:
                damaged = True
            else:
                sound.append(replace(segment, live=live_rows(len(segment.ids), row["dead"])))
        if damaged and self._manifest() != manifest:
            return self._read(held)  # a writer replaced both while we read
        if damaged:
            raise _DamagedError(sound)
        return _Held(manifest, Bm25(sound))

    def _segment(self, name: str) -> Segment | None:
        try:
            data = (self._folder / f"{name}.segment").read_bytes()
        except FileNotFoundError:
            return None
        if digest(data) != name:
            return None
        return replace(from_bytes(data), name=name)

    def _publish(self, segments: Sequence[Segment]) -> None:
        """Write what is new, then the manifest that names it, then sweep what no manifest names."""
        kept = [self._kept(segment) for segment in settled(segments)]
        manifest = sealed(kept)
        replace_file(self._folder / "manifest.json", manifest)
        self._held = _Held(manifest, Bm25(kept))
        self._sweep({s.name for s in kept})

    def _kept(self, segment: Segment) -> Segment:
        if segment.name:
            return segment
        data = to_bytes(segment)
        name = digest(data)
        replace_file(self._folder / f"{name}.segment", data)
        return replace(segment, name=name)

    def _sweep(self, names: set[str]) -> None:
        for path in self._folder.glob("*.segment"):
            if path.stem not in names:
                try:
                    path.unlink(missing_ok=True)
                except PermissionError:
                    continue  # Windows: another process is reading it; the next writer sweeps it


class _DamagedError(Exception):
    """Files are missing or not what was written; `sound` are the segments that are."""

    def __init__(self, sound: Sequence[Segment]) -> None:
        super().__init__()
        self.sound = tuple(sound)


def _ids(segments: Sequence[Segment]) -> PassageIds:
    return np.sort(np.concatenate([np.empty(0, np.int64), *(s.ids[s.live] for s in segments)]))
