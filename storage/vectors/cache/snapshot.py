# Longer than 300 lines: the columns, the filters over them and the search over both are one data structure.
"""A library's vectors and filter columns in memory, as of one moment; searches read it.

Filter fields of passages are stored in columns of numbers, so that a filter is a comparison of arrays. Filters mean
the same as SearchFilters.admits: both are driven by core.domain.filters.FIELDS.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.filters import FIELDS, FilterField, SearchFilters
from core.domain.frozen import maker_of
from core.domain.results import LegHit, LegHits
from core.ports.stores import PassageIds, Vectors
from storage.vectors.cache.array_files import ArrayFile
from storage.vectors.cache.quantized_vectors import QuantizedVectors, contained_in, cosines, nearest, quantize

__all__ = [
    "LISTED",
    "SINGLE",
    "UNDATED",
    "Columns",
    "Mask",
    "Postings",
    "Snapshot",
    "SnapshotPart",
    "StringColumn",
    "admitted_rows",
    "merge_columns",
    "part_in_memory",
]

SINGLE = tuple(field.attribute for field in FIELDS if not field.many and field.name != "documents")
"""Attributes with at most one value, in the order of the rows of `Columns.words`."""

LISTED = (*(field.attribute for field in FIELDS if field.many), "possible_labels")
"""Attributes with any number of values, in the order of `Columns.listed`."""

UNDATED = np.iinfo(np.int64).min
""""No date" among the moments, which are microseconds since 2000-01-01 in UTC, as PostgreSQL stores them."""


class StringColumn:
    """Dictionary encoding: a number for each value of labels, tags and entities.

    Values are only added, so that readers need no lock.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self._numbers)

    def all(self) -> list[str]:
        """The words, in the order of their numbers."""
        return list(self._numbers)

    def known(self, words: Iterable[str]) -> list[int]:
        """The numbers of the words that exist; the others are on no passage.

        >>> StringColumn(["taxes", "time"]).known(["time", "benefits"])
        [1]
        """
        return [number for word in words if (number := self._numbers.get(str(word))) is not None]

    def numbers(self, words: Sequence[str | None]) -> NDArray[np.int32]:
        """A number per word, -1 for None; new words are added."""
        numbers_by_word = self._numbers
        found = [-1 if word is None else numbers_by_word.setdefault(word, len(numbers_by_word)) for word in words]
        return np.array(found, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows have which words. words: int32, shape (p,), ascending; rows: int32, shape (p,)."""

    words: NDArray[np.int32]
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]], words: StringColumn) -> "Postings":
        """Each row's words; a word that a row repeats counts once."""
        unique = [tuple(dict.fromkeys(listed)) for listed in lists]
        rows = np.repeat(np.arange(len(unique), dtype=np.int32), [len(listed) for listed in unique])
        return cls._sorted(words.numbers([word for listed in unique for word in listed]), rows)

    @classmethod
    def _sorted(cls, words: NDArray[np.int32], rows: NDArray[np.int32]) -> "Postings":
        order = np.argsort(words, kind="stable")
        return cls(words[order], rows[order])

    def rows_with(self, word: int) -> NDArray[np.int32]:
        """The rows that have a word."""
        first, end = np.searchsorted(self.words, (word, word + 1))
        return self.rows[first:end]

    def moved(self, new_rows: NDArray[np.int32]) -> "Postings":
        """The same with row n moved to places[n]; rows at -1 are left out."""
        rows = new_rows[self.rows]
        return Postings(self.words[rows >= 0], rows[rows >= 0])

    @classmethod
    def concatenate(cls, parts: Sequence["Postings"]) -> "Postings":
        """The union of postings that share no row."""
        return cls._sorted(np.concatenate([p.words for p in parts]), np.concatenate([p.rows for p in parts]))


@dataclass(frozen=True, slots=True)
class Columns:
    """n passages, ids ascending.

    ids, documents: int64, shape (n,). moments: int64, shape (n,), `UNDATED` where there is no date. archived, embedded:
    bool, shape (n,); embedded: has a vector of the model in use. words: int32, shape (len(SINGLE), n), -1 for none.
    listed: one per attribute of LISTED.
    """

    ids: PassageIds
    documents: NDArray[np.int64]
    moments: NDArray[np.int64]
    archived: NDArray[np.bool_]
    embedded: NDArray[np.bool_]
    words: NDArray[np.int32]
    listed: tuple[Postings, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def rows_of(self, ids: PassageIds) -> NDArray[np.int64]:
        """The row of each id, -1 for one that is not here."""
        if not len(self.ids):
            return np.full(len(ids), -1, dtype=np.int64)
        indices = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[indices] == ids, indices, -1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, for a file."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "listed"}
        for name, postings in zip(LISTED, self.listed, strict=True):
            plain |= {f"{name} words": postings.words, f"{name} rows": postings.rows}
        return plain

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Columns":
        """The columns that `arrays` wrote. Raises KeyError."""
        listed = tuple(Postings(arrays[f"{name} words"], arrays[f"{name} rows"]) for name in LISTED)
        return cls(**{f.name: arrays[f.name] for f in fields(cls) if f.name != "listed"}, listed=listed)

    @classmethod
    def none(cls) -> "Columns":
        """No passages."""
        numbers, flags = np.empty(0, np.int64), np.empty(0, np.bool_)
        nothing = Postings(np.empty(0, np.int32), np.empty(0, np.int32))
        words = np.empty((len(SINGLE), 0), np.int32)
        return cls(numbers, numbers, numbers, flags, flags, words, (nothing,) * len(LISTED))


def merge_columns(parts: Sequence[Columns], retained: Sequence[NDArray[np.bool_]]) -> tuple[Columns, NDArray[np.int64]]:
    """The retained rows of several columns, ids ascending, and where each came from: its row counted over all parts.

    retained: bool, shape (n,), for each part. No id may be retained twice.
    """
    ids = np.concatenate([part.ids for part in parts])
    chosen = np.flatnonzero(np.concatenate(retained))
    chosen = chosen[np.argsort(ids[chosen], kind="stable")]
    new_rows = np.full(len(ids), -1, dtype=np.int32)
    new_rows[chosen] = np.arange(len(chosen), dtype=np.int32)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    listed = []
    for number in range(len(LISTED)):
        each = [p.listed[number].moved(new_rows[s : s + len(p)]) for s, p in zip(starts, parts, strict=False)]
        listed.append(Postings.concatenate(each))
    plain = {
        name: np.concatenate([getattr(part, name) for part in parts])[chosen]
        for name in ("documents", "moments", "archived", "embedded")
    }
    words = np.concatenate([part.words for part in parts], axis=1)[:, chosen]
    return Columns(ids=ids[chosen], words=np.ascontiguousarray(words), listed=tuple(listed), **plain), chosen


_FEW = 8  # up to so many words are compared one by one: ten times as fast as a table look-up per row
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Mask = NDArray[np.bool_]


def admitted_rows(columns: Columns, words: StringColumn, filters: SearchFilters) -> Mask:
    """Which rows the filters admit: bool, shape (n,). `recency_months` must have been resolved."""
    mask = np.ones(len(columns), dtype=np.bool_)
    if filters.archived is not None:
        mask &= columns.archived == filters.archived
    if filters.dated:
        mask &= _date_mask(columns.moments, filters)
    for each in FIELDS:
        if getattr(filters, each.name) or getattr(filters, f"exclude_{each.name}"):
            mask &= _field_mask(each, columns, words, filters)
    return mask


def _date_mask(moments: NDArray[np.int64], filters: SearchFilters) -> Mask:
    within: Mask = moments != UNDATED
    if filters.date_from is not None:
        within &= moments >= (filters.date_from - _EPOCH) // _MICROSECOND
    if filters.date_to is not None:
        within &= moments <= (filters.date_to - _EPOCH) // _MICROSECOND
    return within | (moments == UNDATED) if filters.include_undated else within


def _field_mask(field: FilterField, columns: Columns, words: StringColumn, filters: SearchFilters) -> Mask:
    included, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    if field.many:
        return _list_mask(field, columns, words, filters)
    if field.name == "documents":
        column, numbers, nothing = columns.documents, (list(included), list(unwanted)), np.False_
    else:
        column = columns.words[SINGLE.index(field.attribute)]
        numbers, nothing = (words.known(included), words.known(unwanted)), column == -1
    mask = _is_one_of(column, numbers[0]) if included else np.ones(len(columns), dtype=np.bool_)
    if possible := words.known(filters.possible_values(field)):
        postings = columns.listed[LISTED.index("possible_labels")]
        mask |= _rows_mask(columns, [postings.rows_with(number) for number in possible])
    if unwanted:
        mask &= ~_is_one_of(column, numbers[1])
    # A passage without a project belongs to every project.
    return mask | nothing if field.name == "projects" else mask


def _is_one_of(column: NDArray[Any], numbers: Sequence[int]) -> Mask:
    """Where the column has one of these numbers."""
    if len(numbers) > _FEW:
        return np.isin(column, np.array(numbers, dtype=column.dtype))
    found = np.zeros(len(column), dtype=np.bool_)
    for number in numbers:
        found |= column == number
    return found


def _list_mask(field: FilterField, columns: Columns, words: StringColumn, filters: SearchFilters) -> Mask:
    postings = columns.listed[LISTED.index(field.attribute)]
    included, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    mask = np.ones(len(columns), dtype=np.bool_)
    if included and getattr(filters, f"{field.name}_mode") == "all":
        for word in included:
            mask &= _rows_mask(columns, [postings.rows_with(number) for number in words.known([word])])
    elif included:
        mask &= _rows_mask(columns, [postings.rows_with(number) for number in words.known(included)])
    for number in words.known(unwanted):
        mask[postings.rows_with(number)] = False
    return mask


def _rows_mask(columns: Columns, rows: Sequence[NDArray[np.int32]]) -> Mask:
    mask = np.zeros(len(columns), dtype=np.bool_)
    for each in rows:
        mask[each] = True
    return mask


_BLOCK = 8192  # vectors per block, some 12 MB
_MASKS = 8  # cached masks, and arrays of ids, per part: half a megabyte and up to four at half a million passages
_FEW_AMONG = 16  # ids are looked up one by one when there are so many times more rows


@dataclass(frozen=True, slots=True)
class SnapshotPart:
    """Passages with their vectors. live: bool, shape (n,), False for those changed or deleted since. masks, ids: the
    latest filters with the rows and the ids they admit: a search asks twice, and most searches share their filters with
    another."""

    columns: Columns
    coded: QuantizedVectors
    live: Mask
    masks: dict[SearchFilters, Mask] = field(default_factory=dict, repr=False)
    ids: dict[SearchFilters, PassageIds] = field(default_factory=dict, repr=False)

    def admitted(self, words: StringColumn, filters: SearchFilters, among: PassageIds | None = None) -> Mask:
        """Which rows the filters admit, among these ids only: bool, shape (n,), not to be written to."""
        mask = self.masks.get(filters)
        if mask is None:
            mask = self.live & admitted_rows(self.columns, words, filters)
            if len(self.masks) >= _MASKS:
                self.masks.clear()
            self.masks[filters] = mask
        if among is None:
            return mask
        if len(among) * _FEW_AMONG > len(self.columns):
            return mask & contained_in(self.columns.ids, among)
        rows = self.columns.rows_of(among)
        chosen = np.zeros(len(mask), dtype=np.bool_)
        chosen[rows[rows >= 0]] = True
        return mask & chosen

    def admitted_ids(self, words: StringColumn, filters: SearchFilters) -> PassageIds:
        """The ids the filters admit, ascending; not to be written to."""
        found = self.ids.get(filters)
        if found is None:
            found = self.columns.ids[self.admitted(words, filters)]
            if len(self.ids) >= _MASKS:
                self.ids.clear()
            self.ids[filters] = found
        return found


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Two parts without a common live passage: the file, and what changed since it was written.

    model: whose vectors. versions: document id → version of its passages. next, started: where the database is asked
    for later changes.
    """

    parts: tuple[SnapshotPart, ...]
    words: StringColumn
    versions: Mapping[int, bytes]
    file: ArrayFile
    next: int = 0
    started: datetime | None = None
    model: str = ""

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 when there is none."""
        return int(max(part.coded.vectors.shape[1] for part in self.parts))

    @property
    def changed(self) -> int:
        """Passages that differ from the file."""
        return sum(len(part.columns) for part in self.parts[1:]) + int(np.count_nonzero(~self.parts[0].live))

    def count(self) -> int:
        """Passages with a vector."""
        return sum(int(np.count_nonzero(part.live & part.columns.embedded)) for part in self.parts)

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending; not to be written to."""
        found = [part.admitted_ids(self.words, filters) for part in self.parts]
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
        self, query: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None
    ) -> LegHits:
        """The nearest admissible passages, best first; ties by passage id. asked: shape (dim,), length 1 or 0."""
        ids, scores, after = [np.empty(0, np.int64)], [np.empty(0)], 0
        for part in self.parts:
            rows = part.admitted(self.words, filters, among) & part.columns.embedded
            admitted = int(np.count_nonzero(rows))
            after += admitted
            if admitted and top_k > 0:
                near = nearest(part.coded, rows, query, top_k)
                ids.append(part.columns.ids[near])
                scores.append(cosines(part.coded, near, query))
        found, measured = np.concatenate(ids), np.concatenate(scores)
        best = np.lexsort((found, -measured))[: max(top_k, 0)]
        scores_of_best = np.clip(measured[best], -1, 1).tolist()
        return LegHits(tuple(map(maker_of(LegHit), found[best].tolist(), scores_of_best)), self.count(), after)

    def similarities(self, query: NDArray[np.float32], passage_ids: Sequence[int]) -> dict[int, float]:
        """Exact cosine per passage; ids without a vector here are absent."""
        found: dict[int, float] = {}
        for part, ids, rows in self._rows_of(passage_ids):
            measured = np.clip(cosines(part.coded, rows, query), -1, 1)
            found |= dict(zip(ids.tolist(), measured.tolist(), strict=True))
        return found

    def vectors(self, passage_ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors as they were stored; ids without one here are absent."""
        found: dict[int, NDArray[np.float32]] = {}
        for part, ids, rows in self._rows_of(passage_ids):
            found |= dict(zip(ids.tolist(), part.coded.vectors[rows], strict=True))
        return found

    def _rows_of(self, passage_ids: Sequence[int]) -> Iterator[tuple[SnapshotPart, PassageIds, NDArray[np.int64]]]:
        """For each part, which of the passages have a vector there, and in which rows."""
        ids = np.unique(np.asarray(passage_ids, dtype=np.int64))
        for part in self.parts:
            rows = part.columns.rows_of(ids)
            rows[rows >= 0] = np.where((part.live & part.columns.embedded)[rows[rows >= 0]], rows[rows >= 0], -1)
            if (rows >= 0).any():
                yield part, ids[rows >= 0], rows[rows >= 0]

    def versions_of(self, passage_ids: Sequence[int], filters: SearchFilters) -> dict[int, bytes]:
        """For each of these passages that the filters admit, the version of its document."""
        ids = np.asarray(passage_ids, dtype=np.int64)
        found: dict[int, bytes] = {}
        for part in self.parts:
            rows = part.columns.rows_of(ids)
            here = np.flatnonzero(rows >= 0)
            here = here[part.admitted(self.words, filters)[rows[here]]]
            documents = part.columns.documents[rows[here]].tolist()
            for passage_id, document in zip(ids[here].tolist(), documents, strict=True):
                if (version := self.versions.get(document)) is not None:
                    found[passage_id] = version
        return found

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
                in_part = owners[chosen] == number
                if in_part.any():
                    vectors[in_part] = part.coded.vectors[rows[chosen[in_part]]]
            yield ids[chosen], vectors


def part_in_memory(columns: Columns, vectors: Vectors, mean: NDArray[np.float32]) -> SnapshotPart:
    """A part with passages that are in no file yet. mean: shape (dim,), of the file's vectors, for their bits."""
    if mean.shape[0] != vectors.shape[1]:
        mean = np.zeros(vectors.shape[1], dtype=np.float32)
    return SnapshotPart(columns, quantize(vectors, mean), np.ones(len(columns), dtype=np.bool_))
