"""What filters read of passages, as arrays side by side, so that a filter is a comparison of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.filters import FIELDS
from core.ports import PassageIds

__all__ = ["LISTED", "SINGLE", "UNDATED", "Columns", "Postings", "Words", "merged"]

SINGLE = tuple(field.attribute for field in FIELDS if not field.many and field.name != "documents")
"""Attributes with one word or none, in the order of the rows of `Columns.words`."""

LISTED = tuple(field.attribute for field in FIELDS if field.many)
"""Attributes with any number of words, in the order of `Columns.listed`."""

UNDATED = np.iinfo(np.int64).min
"""Stands for "no date" among the moments, which are microseconds since 2000-01-01 in UTC, as PostgreSQL keeps them."""


class Words:
    """A number for each word that labels, tags and entities use. Words are only added, so that readers need no lock."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self._numbers)

    def all(self) -> list[str]:
        """The words, in the order of their numbers."""
        return list(self._numbers)

    def known(self, words: Iterable[str]) -> list[int]:
        """Numbers of the words there are; the others are on no passage.

        >>> Words(["taxes", "time"]).known(["time", "benefits"])
        [1]
        """
        return [number for word in words if (number := self._numbers.get(str(word))) is not None]

    def numbers(self, words: Sequence[str | None]) -> NDArray[np.int32]:
        """A number per word, -1 for None; what is new is added."""
        held = self._numbers
        found = [-1 if word is None else held.setdefault(word, len(held)) for word in words]
        return np.array(found, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows hold which words. words: int32, shape (p,), ascending; rows: int32, shape (p,)."""

    words: NDArray[np.int32]
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]], words: Words) -> "Postings":
        """Each row's words; a word that a row repeats counts once."""
        unique = [tuple(dict.fromkeys(held)) for held in lists]
        rows = np.repeat(np.arange(len(unique), dtype=np.int32), [len(held) for held in unique])
        return cls._sorted(words.numbers([word for held in unique for word in held]), rows)

    @classmethod
    def _sorted(cls, words: NDArray[np.int32], rows: NDArray[np.int32]) -> "Postings":
        order = np.argsort(words, kind="stable")
        return cls(words[order], rows[order])

    def holding(self, word: int) -> NDArray[np.int32]:
        """The rows that hold a word."""
        first, end = np.searchsorted(self.words, (word, word + 1))
        return self.rows[first:end]

    def placed(self, places: NDArray[np.int32]) -> "Postings":
        """The same with row n at places[n]; rows at -1 are left out."""
        rows = places[self.rows]
        return Postings(self.words[rows >= 0], rows[rows >= 0])

    @classmethod
    def joined(cls, parts: Sequence["Postings"]) -> "Postings":
        """Postings that share no row as one."""
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
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, places, -1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """By name, for a file."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "listed"}
        for name, held in zip(LISTED, self.listed, strict=True):
            plain |= {f"{name} words": held.words, f"{name} rows": held.rows}
        return plain

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Columns":
        """What `arrays` gave. Raises KeyError."""
        listed = tuple(Postings(arrays[f"{name} words"], arrays[f"{name} rows"]) for name in LISTED)
        return cls(**{f.name: arrays[f.name] for f in fields(cls) if f.name != "listed"}, listed=listed)

    @classmethod
    def none(cls) -> "Columns":
        """No passages."""
        numbers, flags = np.empty(0, np.int64), np.empty(0, np.bool_)
        nothing = Postings(np.empty(0, np.int32), np.empty(0, np.int32))
        words = np.empty((len(SINGLE), 0), np.int32)
        return cls(numbers, numbers, numbers, flags, flags, words, (nothing,) * len(LISTED))


def merged(parts: Sequence[Columns], kept: Sequence[NDArray[np.bool_]]) -> tuple[Columns, NDArray[np.int64]]:
    """The kept rows of several as one, ids ascending, with where each came from: its place among all rows of all parts.

    kept: bool, shape (n,), for each part. No id may be kept twice.
    """
    ids = np.concatenate([part.ids for part in parts])
    chosen = np.flatnonzero(np.concatenate(kept))
    chosen = chosen[np.argsort(ids[chosen], kind="stable")]
    places = np.full(len(ids), -1, dtype=np.int32)
    places[chosen] = np.arange(len(chosen), dtype=np.int32)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    listed = []
    for number in range(len(LISTED)):
        each = [p.listed[number].placed(places[s : s + len(p)]) for s, p in zip(starts, parts, strict=False)]
        listed.append(Postings.joined(each))
    plain = {
        name: np.concatenate([getattr(part, name) for part in parts])[chosen]
        for name in ("documents", "moments", "archived", "embedded")
    }
    words = np.concatenate([part.words for part in parts], axis=1)[:, chosen]
    return Columns(ids=ids[chosen], words=np.ascontiguousarray(words), listed=tuple(listed), **plain), chosen
