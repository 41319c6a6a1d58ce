"""Passages indexed together: for every stem, the passages that hold it and how often.

A segment keeps counts, not scores. BM25 needs the library's statistics, which every upload changes; counts stay true,
so that many segments together score exactly as one index built anew would.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.matching import index_stems
from core.ports import PassageIds

__all__ = ["Segment", "build", "from_bytes", "mark_of", "merge", "settled", "to_bytes", "without"]


@dataclass(frozen=True, slots=True)
class Segment:
    """n passages, never changed but for `live`.

    ids: int64, shape (n,), ascending. documents: int64, shape (n,). lengths: stems per passage, shape (n,).
    marks: checksum of each passage's words, shape (n,). columns: stem → column; column c's postings are
    rows[starts[c]:starts[c + 1]], ascending, with their counts. live: False for a deleted row. name: the file that
    keeps it, with all rows live; "" until it is kept.
    """

    ids: PassageIds
    documents: NDArray[np.int64]
    lengths: NDArray[np.int32]
    marks: NDArray[np.uint32]
    columns: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    live: NDArray[np.bool_]
    name: str = ""

    @property
    def alive(self) -> int:
        """Passages not deleted."""
        return int(np.count_nonzero(self.live))

    def span(self, stem: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The rows that hold a stem, living or not, ascending, and how often each holds it."""
        column = self.columns.get(stem)
        if column is None:
            return self.rows[:0], self.counts[:0]
        place = slice(self.starts[column], self.starts[column + 1])
        return self.rows[place], self.counts[place]


def _searched_text(passage: Passage) -> str:
    return f"{passage.context}\n{passage.text}"


def mark_of(passage: Passage) -> int:
    """A checksum of what is indexed of a passage, in [0, 2³²)."""
    return crc32(_searched_text(passage).encode("utf-8", "surrogatepass"))


def build(passages: Iterable[Passage]) -> Segment:
    """A segment of stored passages (id > 0); of two with one id the last counts."""
    ordered = sorted({passage.id: passage for passage in passages}.values(), key=lambda passage: passage.id)
    columns: dict[str, int] = {}
    of_posting, rows, counts, lengths = array("i"), array("i"), array("i"), array("i")
    for row, passage in enumerate(ordered):
        held = Counter(index_stems(_searched_text(passage)))
        lengths.append(held.total())
        for stem, count in held.items():
            of_posting.append(columns.setdefault(stem, len(columns)))
            rows.append(row)
            counts.append(count)
    return _arranged(
        ids=np.array([p.id for p in ordered], dtype=np.int64),
        documents=np.array([p.document_id for p in ordered], dtype=np.int64),
        lengths=np.array(lengths, dtype=np.int32),
        marks=np.array([mark_of(p) for p in ordered], dtype=np.uint32),
        stems=list(columns),
        of_posting=np.array(of_posting, dtype=np.int32),
        rows=np.array(rows, dtype=np.int32),
        counts=np.array(counts, dtype=np.int32),
    )


def merge(segments: Sequence[Segment]) -> Segment:
    """One segment with the living passages of several; no passage is in two of them."""
    columns: dict[str, int] = {}
    of_posting, rows, counts = [], [], []
    ids = np.concatenate([s.ids[s.live] for s in segments])
    places = np.empty(len(ids), dtype=np.int32)  # place of each passage, as it comes, in the order of ids
    places[np.argsort(ids)] = np.arange(len(ids), dtype=np.int32)
    taken = 0
    for segment in segments:
        place = np.full(len(segment.ids), -1, dtype=np.int32)
        place[segment.live] = places[taken : taken + segment.alive]
        taken += segment.alive
        column = np.array([columns.setdefault(stem, len(columns)) for stem in segment.columns], dtype=np.int32)
        kept = segment.live[segment.rows]
        of_posting.append(np.repeat(column, np.diff(segment.starts))[kept])
        rows.append(place[segment.rows[kept]])
        counts.append(segment.counts[kept])
    order = np.argsort(ids)
    return _arranged(
        ids=ids[order],
        documents=np.concatenate([s.documents[s.live] for s in segments])[order],
        lengths=np.concatenate([s.lengths[s.live] for s in segments])[order],
        marks=np.concatenate([s.marks[s.live] for s in segments])[order],
        stems=list(columns),
        of_posting=np.concatenate(of_posting),
        rows=np.concatenate(rows),
        counts=np.concatenate(counts),
    )


def settled(segments: Sequence[Segment]) -> list[Segment]:
    """The same living passages in few segments, oldest first, each more than twice the next.

    So n uploads make at most log₂ n segments, and each passage is merged at most log₂ n times. A segment of which half
    is deleted is made anew.
    """
    kept: list[Segment] = []
    for segment in segments:
        if not segment.alive:
            continue
        kept.append(segment if segment.alive * 2 > len(segment.ids) else merge([segment]))
        while len(kept) > 1 and kept[-1].alive * 2 >= kept[-2].alive:
            kept[-2:] = [merge(kept[-2:])]
    return kept


def _arranged(
    *,
    ids: PassageIds,
    documents: NDArray[np.int64],
    lengths: NDArray[np.int32],
    marks: NDArray[np.uint32],
    stems: Sequence[str],
    of_posting: NDArray[np.int32],
    rows: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> Segment:
    """Postings in any order → by column, then row; columns without a posting are left out."""
    order = np.lexsort((rows, of_posting))
    sizes = np.bincount(of_posting, minlength=len(stems))
    used = np.flatnonzero(sizes)
    starts = np.zeros(len(used) + 1, dtype=np.int64)
    np.cumsum(sizes[used], out=starts[1:])
    return Segment(
        ids=ids,
        documents=documents,
        lengths=lengths,
        marks=marks,
        columns={stems[column]: place for place, column in enumerate(used.tolist())},
        starts=starts,
        rows=rows[order],
        counts=counts[order],
        live=np.ones(len(ids), dtype=np.bool_),
    )


def without(segment: Segment, dead: NDArray[np.bool_]) -> Segment:
    """The segment with more rows deleted; dead: bool, shape (n,)."""
    return replace(segment, live=segment.live & ~dead)


def to_bytes(segment: Segment) -> bytes:
    """Everything but `live`, which changes while the rest never does."""
    held = BytesIO()
    np.savez(
        held,
        ids=segment.ids,
        documents=segment.documents,
        lengths=segment.lengths,
        marks=segment.marks,
        stems=np.frombuffer("\n".join(segment.columns).encode("utf-8", "surrogatepass"), dtype=np.uint8),
        starts=segment.starts,
        rows=segment.rows,
        counts=segment.counts,
    )
    return held.getvalue()


def from_bytes(data: bytes) -> Segment:
    """The segment `to_bytes` wrote, all of it live. Raises ValueError, KeyError or OSError for other bytes."""
    with np.load(BytesIO(data), allow_pickle=False) as held:
        stems = held["stems"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        return Segment(
            ids=held["ids"],
            documents=held["documents"],
            lengths=held["lengths"],
            marks=held["marks"],
            columns={stem: column for column, stem in enumerate(stems) if stem},
            starts=held["starts"],
            rows=held["rows"],
            counts=held["counts"],
            live=np.ones(len(held["ids"]), dtype=np.bool_),
        )
