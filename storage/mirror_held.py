"""A library's vectors and labels in memory, as they were at one moment: what searches read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from core.filters import SearchFilters
from core.ports import PassageIds, Vectors
from core.results import LegHit, LegHits
from storage.mirror_columns import UNDATED, Columns, Words
from storage.mirror_files import ArrayFile
from storage.mirror_filters import admitted_rows
from storage.mirror_vectors import Coded, among_ids, coded, cosines, nearest

__all__ = ["Held", "Part", "in_memory"]

_BLOCK = 8192  # vectors given at a time, some 12 MB
_MASKS = 4  # kept of a part: half a megabyte each at half a million passages
_FEW_AMONG = 16  # ids are looked up one by one when there are so many times more rows

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Part:
    """Passages with their vectors. live: bool, shape (n,), False for those that have changed or gone since. masks: the
    latest filters with the rows they admit: a search asks twice, and most searches have the filters of another."""

    columns: Columns
    coded: Coded
    live: Mask
    masks: dict[SearchFilters, Mask] = field(default_factory=dict, repr=False)

    def admitted(self, words: Words, filters: SearchFilters, among: PassageIds | None = None) -> Mask:
        """Which rows the filters admit, of these ids only: bool, shape (n,), not to be written to."""
        mask = self.masks.get(filters)
        if mask is None:
            mask = self.live & admitted_rows(self.columns, words, filters)
            if len(self.masks) >= _MASKS:
                self.masks.clear()
            self.masks[filters] = mask
        if among is None:
            return mask
        if len(among) * _FEW_AMONG > len(self.columns):
            return mask & among_ids(self.columns.ids, among)
        rows = self.columns.rows_of(among)
        chosen = np.zeros(len(mask), dtype=np.bool_)
        chosen[rows[rows >= 0]] = True
        return mask & chosen


@dataclass(frozen=True, slots=True)
class Held:
    """The parts share no living passage: the first is a file's, the other what changed since it was written.

    versions: document id → version of its passages here. next, started: what to ask the database for later changes.
    """

    parts: tuple[Part, ...]
    words: Words
    versions: Mapping[int, bytes]
    file: ArrayFile
    next: int = 0
    started: datetime | None = None

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 when there is none."""
        return int(max(part.coded.vectors.shape[1] for part in self.parts))

    @property
    def changed(self) -> int:
        """Passages that are not in the file as they are now."""
        return sum(len(part.columns) for part in self.parts[1:]) + int(np.count_nonzero(~self.parts[0].live))

    def count(self) -> int:
        """Passages with a vector."""
        return sum(int(np.count_nonzero(part.live & part.columns.embedded)) for part in self.parts)

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending."""
        found = [part.columns.ids[part.admitted(self.words, filters)] for part in self.parts]
        some = [ids for ids in found if len(ids)]
        return np.sort(np.concatenate(some), kind="stable") if len(some) > 1 else (some or found)[0]

    def undated(self, filters: SearchFilters) -> int:
        """Documents left out by the date filter only because they are undated."""
        if not filters.dated or filters.include_undated:
            return 0
        wider, found = filters.replace(include_undated=True), []
        for part in self.parts:
            rows = part.admitted(self.words, wider) & (part.columns.moments == UNDATED)
            found.append(part.columns.documents[rows])
        return int(np.unique(np.concatenate(found)).size)

    def search(
        self, asked: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None
    ) -> LegHits:
        """The nearest admissible passages, best first; ties by passage id. asked: shape (dim,), length 1 or 0."""
        ids, scores, after = [np.empty(0, np.int64)], [np.empty(0)], 0
        for part in self.parts:
            rows = part.admitted(self.words, filters, among) & part.columns.embedded
            admitted = int(np.count_nonzero(rows))
            after += admitted
            if admitted and top_k > 0:
                near = nearest(part.coded, rows, asked, top_k)
                ids.append(part.columns.ids[near])
                scores.append(cosines(part.coded, near, asked))
        found, measured = np.concatenate(ids), np.concatenate(scores)
        best = np.lexsort((found, -measured))[: max(top_k, 0)]
        pairs = zip(found[best].tolist(), np.clip(measured[best], -1, 1).tolist(), strict=True)
        return LegHits(tuple(LegHit(i, score) for i, score in pairs), self.count(), after)

    def similarities(self, asked: NDArray[np.float32], passage_ids: Sequence[int]) -> dict[int, float]:
        """Exact cosine per passage; ids without a vector here are absent."""
        found: dict[int, float] = {}
        for part, ids, rows in self._places(passage_ids):
            measured = np.clip(cosines(part.coded, rows, asked), -1, 1)
            found |= dict(zip(ids.tolist(), measured.tolist(), strict=True))
        return found

    def vectors(self, passage_ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors as they were stored; ids without one here are absent."""
        found: dict[int, NDArray[np.float32]] = {}
        for part, ids, rows in self._places(passage_ids):
            found |= dict(zip(ids.tolist(), part.coded.vectors[rows], strict=True))
        return found

    def _places(self, passage_ids: Sequence[int]) -> Iterator[tuple[Part, PassageIds, NDArray[np.int64]]]:
        """For each part, which of the passages have their vector there, and in which rows."""
        wanted = np.unique(np.asarray(passage_ids, dtype=np.int64))
        for part in self.parts:
            rows = part.columns.rows_of(wanted)
            rows[rows >= 0] = np.where((part.live & part.columns.embedded)[rows[rows >= 0]], rows[rows >= 0], -1)
            if (rows >= 0).any():
                yield part, wanted[rows >= 0], rows[rows >= 0]

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending over all blocks."""
        masks = [part.admitted(self.words, filters) & part.columns.embedded for part in self.parts]
        ids = np.concatenate([part.columns.ids[mask] for part, mask in zip(self.parts, masks, strict=True)])
        owners = np.repeat(np.arange(len(masks)), [np.count_nonzero(mask) for mask in masks])
        rows = np.concatenate([np.flatnonzero(mask) for mask in masks])
        order = np.argsort(ids, kind="stable")
        for start in range(0, len(order), _BLOCK):
            chosen = order[start : start + _BLOCK]
            vectors = np.empty((len(chosen), self.dimensions), dtype=np.float32)
            for number, part in enumerate(self.parts):
                theirs = owners[chosen] == number
                if theirs.any():
                    vectors[theirs] = part.coded.vectors[rows[chosen[theirs]]]
            yield ids[chosen], vectors


def in_memory(columns: Columns, vectors: Vectors, mean: NDArray[np.float32]) -> Part:
    """Passages that are in no file yet. mean: shape (dim,), what the file's vectors are compared with."""
    if mean.shape[0] != vectors.shape[1]:
        mean = np.zeros(vectors.shape[1], dtype=np.float32)
    return Part(columns, coded(vectors, mean), np.ones(len(columns), dtype=np.bool_))
