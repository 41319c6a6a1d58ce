# Longer than 300 lines: searching, writing and repairing share the lock and the loaded state.
"""Keyword search on disk: one folder per tenant, shared by all processes of the machine.

    manifest.json        lists the segments with their checksums and deleted rows; replaced as a whole
    <checksum>.segment   passages indexed together; written once, never changed

A process keeps the segments in memory and reads the manifest before a search, so that an upload by a worker is
found at once. A lock file allows one writer at a time over all processes; readers never wait for it. The catalogue is
the source of truth: whatever is missing or damaged is indexed again from it, and everything is when the tokeniser
changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.results import LegHits, TermScores
from core.ports.catalogue import Catalogue
from core.ports.stores import PassageIds
from storage.files import replace_file
from storage.keywords.scoring import Bm25Scorer
from storage.keywords.segments import (
    Segment,
    build_segment,
    checksum,
    compact,
    delete_rows,
    has_stem,
    live_rows,
    merge_segments,
    read_manifest,
    segment_from_bytes,
    segment_to_bytes,
    text_checksum,
    write_manifest,
)
from storage.last_look import LastLook

__all__ = ["KeywordIndex"]

_BATCH = 2000
"""Passages read from the catalogue at a time: a few megabytes of text. Chosen by hand, not fitted."""

_SPOT_CHECKS = 64
"""Passages whose text is compared with the catalogue when the index is opened. Chosen by hand: one query of some
milliseconds, while a database restored from a backup differs in all of its latest passages."""

_OPENING_SECONDS = 300.0
"""How long a search waits for the first opening: half a million passages take a minute to index."""


@dataclass(frozen=True, slots=True)
class _LoadedIndex:
    """What this process has read: the bytes of the manifest, and a scorer over the segments it lists."""

    manifest: bytes
    scorer: Bm25Scorer


class KeywordIndex:
    """Implements core.ports.stores.SparseIndex in one folder, and the keyword part of core.library.check. Opened at
    first use. look: when the manifest was last read.
    """

    def __init__(self, folder: Path, catalogue: Catalogue, look: LastLook | None = None) -> None:
        self._folder, self._catalogue, self._look = folder, catalogue, look or LastLook()
        self._lock = Lock()  # one thread of this process reads or writes files at a time
        self._loaded: _LoadedIndex | None = None
        self._unknown = np.empty(0, dtype=np.int64)  # admissible passages the catalogue did not have when asked

    # core.ports.stores.SparseIndex

    def add(self, passages: Sequence[Passage]) -> None:
        """Store or replace; searchable when this returns. Raises StoreFailed."""
        added = build_segment(passages)
        if added.alive:
            with self._latest() as loaded:
                older = [delete_rows(s, np.isin(s.ids, added.ids, assume_unique=True)) for s in loaded.scorer.segments]
                self._publish([*older, added])

    def delete(self, document_ids: Sequence[int]) -> None:
        """Remove all passages of these documents. Raises StoreFailed."""
        deleted = np.asarray(document_ids, dtype=np.int64)
        with self._latest() as loaded:
            segments = loaded.scorer.segments
            if any(np.isin(s.documents, deleted).any() for s in segments):
                self._publish([delete_rows(s, np.isin(s.documents, deleted)) for s in segments])

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """Admissible passages with a score above 0, best first; ties by passage id. Raises StoreFailed."""
        return self.search_many([terms], admissible, top_k)[0]

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` returns for the terms of each question. Raises StoreFailed."""
        scorer = self._current()
        hits = scorer.search_many(questions, admissible, top_k)
        if admissible is None or all(each.rows_after >= len(admissible) for each in hits):
            return hits
        # The admissible passages may be newer than the last look at the manifest.
        newer = self._current(again=True)
        if newer is not scorer:
            hits = newer.search_many(questions, admissible, top_k)
        if any(each.rows_after < len(admissible) for each in hits) and self._catch_up(admissible):
            return self._current().search_many(questions, admissible, top_k)
        return hits

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> TermScores:
        """Per passage, the share of each term it contains; the shares sum to its score."""
        return self._current().explain(terms, passage_ids)

    def contained_stems(self, stems: Sequence[str], passage_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these stems each indexed passage contains. Raises StoreFailed."""
        return self._current().contained_stems(stems, passage_ids)

    def passages_containing(self, terms: Sequence[str]) -> PassageIds:
        """The passages that contain every word of the terms, by stem. Raises StoreFailed."""
        return self._current().passages_containing(terms)

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term, ≥ 0."""
        return self._current().rarity(terms)

    def count(self) -> int:
        """Passages indexed."""
        return self._current().count()

    def unused(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that no passage contains, order kept. Raises StoreFailed."""
        segments = self._current().segments
        return [each for each in stems if not any(has_stem(segment, each) for segment in segments)]

    def vacuum(self) -> None:
        """Write the segments that hold deleted passages again without them. Raises StoreFailed."""
        with self._latest() as loaded:
            if any(not segment.live.all() for segment in loaded.scorer.segments):
                self._publish([s if s.live.all() else merge_segments([s]) for s in loaded.scorer.segments])

    # core.library.check

    def differences(self) -> tuple[int, int]:
        """(missing, left over): passages that the files lack, and passages that the catalogue lacks; changes nothing.

        A passage whose text differs from the catalogue counts as both. Raises StoreFailed.
        """
        with self._lock, self._only_writer():
            segments, _ = self._readable_segments()
            missing, extra = self._compare(segments)
            return len(missing), len(extra)

    def reconcile(self) -> tuple[int, int]:
        """Make the files agree with the catalogue: (added, removed) passages. Writes nothing when they do agree.

        Raises StoreFailed.
        """
        with self._lock, self._only_writer():
            return self._reconcile()

    def _reconcile(self) -> tuple[int, int]:
        segments, manifest = self._readable_segments()
        missing, extra = self._compare(segments)
        remaining = [delete_rows(s, np.isin(s.ids, extra, assume_unique=True)) for s in segments]
        for start in range(0, len(missing), _BATCH):
            passages = self._catalogue.passages(missing[start : start + _BATCH].tolist())
            remaining = compact([*remaining, build_segment(passages.values())])
        if len(missing) or len(extra) or not manifest:
            self._publish(remaining)
        else:
            self._loaded = _LoadedIndex(manifest, Bm25Scorer(segments))
        return len(missing), len(extra)

    def _readable_segments(self) -> tuple[Sequence[Segment], bytes]:
        """The undamaged segments, and the manifest; b"" if something is missing or damaged."""
        try:
            loaded = self._read(self._loaded)
        except _DamagedIndexError as damaged:
            return damaged.undamaged, b""
        return loaded.scorer.segments, loaded.manifest

    def _compare(self, segments: Sequence[Segment]) -> tuple[PassageIds, PassageIds]:
        """Ids that the segments lack, and ids that they have and should not have; where texts differ, all are both."""
        expected = self._catalogue.admissible(SearchFilters(archived=None))
        indexed = _live_ids(segments)
        if not self._texts_agree(segments, indexed):
            return expected, indexed
        return np.setdiff1d(expected, indexed), np.setdiff1d(indexed, expected)

    def _texts_agree(self, segments: Sequence[Segment], ids: PassageIds) -> bool:
        """Whether a sample of passages has the same text as in the catalogue. A database restored from a backup
        assigns its latest ids again to other passages, so the sample contains the highest ids.
        """
        step = max(1, 2 * len(ids) // _SPOT_CHECKS)
        sample = np.unique(np.concatenate([ids[-_SPOT_CHECKS // 2 :], ids[::step]]))
        stored = self._catalogue.passages(sample.tolist())
        for segment in segments:
            rows = np.flatnonzero(np.isin(segment.ids, sample) & segment.live)
            for i, mark in zip(segment.ids[rows].tolist(), segment.marks[rows].tolist(), strict=True):
                if i in stored and text_checksum(stored[i]) != mark:
                    return False
        return True

    # Following the other processes

    def _current(self, *, again: bool = False) -> Bm25Scorer:
        """again: look at the manifest even after a recent look."""
        recent = not again and self._look.is_recent()  # asked first: what another thread reads meanwhile is newer
        loaded = self._loaded
        if loaded is None:
            return self._open().scorer
        if recent:
            return loaded.scorer
        begun = self._look.begin()
        if self._manifest() == loaded.manifest:
            self._look.note(begun)
            return loaded.scorer
        if not self._lock.acquire(blocking=False):
            return loaded.scorer  # another thread is just updating it
        try:
            self._loaded = self._read(loaded)
            self._look.note(begun)
        except _DamagedIndexError:
            pass  # repaired below, once the lock is released
        else:
            return self._loaded.scorer
        finally:
            self._lock.release()
        with self._latest() as repaired:
            return repaired.scorer

    def _open(self) -> _LoadedIndex:
        if not self._lock.acquire(timeout=_OPENING_SECONDS):
            raise StoreFailed("The keyword index is still being built.", "Search again in a moment.")
        try:
            if self._loaded is None:
                with self._only_writer():
                    self._reconcile()
            assert self._loaded is not None
            return self._loaded
        finally:
            self._lock.release()

    @contextmanager
    def _latest(self) -> Iterator[_LoadedIndex]:
        """The newest state, while no other thread or process writes."""
        with self._lock, self._only_writer():
            try:
                if self._loaded is None:
                    self._reconcile()
                elif self._manifest() != self._loaded.manifest:
                    self._loaded = self._read(self._loaded)
            except _DamagedIndexError:
                self._reconcile()
            assert self._loaded is not None
            yield self._loaded

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Holds the lock file: no other process writes meanwhile."""
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

    def _catch_up(self, admissible: PassageIds) -> bool:
        """Index admissible passages that the files lack: another machine stored them, or a writer is about to add
        them. Returns False when that was tried before or a writer is active.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            assert self._loaded is not None
            unknown = np.setdiff1d(admissible, _live_ids(self._loaded.scorer.segments), assume_unique=True)
            if np.isin(unknown, self._unknown).all():
                return False
            self._unknown = unknown
            with self._only_writer():
                return self._reconcile()[0] > 0
        finally:
            self._lock.release()

    # Files

    def _manifest(self) -> bytes:
        try:
            return (self._folder / "manifest.json").read_bytes()
        except FileNotFoundError:
            return b""

    def _read(self, loaded: _LoadedIndex | None) -> _LoadedIndex:
        """What the manifest lists; segments in memory are not read again. Raises _DamagedIndexError."""
        manifest = self._manifest()
        rows = read_manifest(manifest)
        if rows is None:
            raise _DamagedIndexError([])
        in_memory = {s.name: s for s in loaded.scorer.segments} if loaded else {}
        undamaged, damaged = [], False
        for row in rows:
            segment = in_memory.get(row["name"]) or self._segment(row["name"])
            if segment is None:
                damaged = True
            else:
                undamaged.append(replace(segment, live=live_rows(len(segment.ids), row["dead"])))
        if damaged and self._manifest() != manifest:
            return self._read(loaded)  # a writer replaced both meanwhile
        if damaged:
            raise _DamagedIndexError(undamaged)
        return _LoadedIndex(manifest, Bm25Scorer(undamaged))

    def _segment(self, name: str) -> Segment | None:
        try:
            data = (self._folder / f"{name}.segment").read_bytes()
        except FileNotFoundError:
            return None
        if checksum(data) != name:
            return None
        return replace(segment_from_bytes(data), name=name)

    def _publish(self, segments: Sequence[Segment]) -> None:
        """Write new segments, then the manifest that lists them, then delete files that no manifest lists."""
        stored = [self._store(segment) for segment in compact(segments)]
        manifest = write_manifest(stored)
        replace_file(self._folder / "manifest.json", manifest)
        self._loaded = _LoadedIndex(manifest, Bm25Scorer(stored))
        self._look.own.note()
        self._delete_unlisted({s.name for s in stored})

    def _store(self, segment: Segment) -> Segment:
        if segment.name:
            return segment
        data = segment_to_bytes(segment)
        name = checksum(data)
        replace_file(self._folder / f"{name}.segment", data)
        return replace(segment, name=name)

    def _delete_unlisted(self, names: set[str]) -> None:
        for path in self._folder.glob("*.segment"):
            if path.stem not in names:
                try:
                    path.unlink(missing_ok=True)
                except PermissionError:
                    continue  # Windows: another process is reading it; the next writer deletes it


class _DamagedIndexError(Exception):
    """Files are missing or damaged; `undamaged` lists the segments that can still be used."""

    def __init__(self, undamaged: Sequence[Segment]) -> None:
        super().__init__()
        self.undamaged = tuple(undamaged)


def _live_ids(segments: Sequence[Segment]) -> PassageIds:
    return np.sort(np.concatenate([np.empty(0, np.int64), *(s.ids[s.live] for s in segments)]))
