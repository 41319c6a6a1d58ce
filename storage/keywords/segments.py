"""Segments of a keyword index and the manifest that lists them.

A segment is an immutable inverted index: for every stem, the passages that contain it and how often. It stores counts,
not scores: BM25 depends on statistics of the whole library, which every upload changes, while counts never change. So
many segments together score exactly like one index built from scratch.
"""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from io import BytesIO
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.ports.stores import PassageIds
from core.text.tokenize import STOP_WORDS, index_stems

__all__ = [
    "Segment",
    "build_segment",
    "checksum",
    "compact",
    "delete_rows",
    "has_stem",
    "live_rows",
    "merge_segments",
    "read_manifest",
    "segment_from_bytes",
    "segment_to_bytes",
    "text_checksum",
    "write_manifest",
]

_FORMAT = 1  # of manifest and segment files; another number causes a rebuild


@dataclass(frozen=True, slots=True)
class Segment:
    """n passages, immutable except for `live`.

    ids: int64, shape (n,), ascending. documents: int64, shape (n,). lengths: stems per passage, shape (n,).
    marks: checksum of each passage's text, shape (n,). columns: stem → column; the postings of column c are
    rows[starts[c]:starts[c + 1]], ascending, with their counts. live: False for a deleted row. name: the file it is
    stored in (with all rows live); "" while it is not stored.
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
        """The rows that contain a stem, deleted ones included, ascending, and how often each contains it."""
        column = self.columns.get(stem)
        if column is None:
            return self.rows[:0], self.counts[:0]
        postings = slice(self.starts[column], self.starts[column + 1])
        return self.rows[postings], self.counts[postings]


def _indexed_text(passage: Passage) -> str:
    return f"{passage.context}\n{passage.text}"


def text_checksum(passage: Passage) -> int:
    """A checksum of the indexed text of a passage, in [0, 2³²)."""
    return crc32(_indexed_text(passage).encode("utf-8", "surrogatepass"))


def build_segment(passages: Iterable[Passage]) -> Segment:
    """A segment of stored passages (id > 0); of two passages with the same id, the last one counts."""
    ordered = sorted({passage.id: passage for passage in passages}.values(), key=lambda passage: passage.id)
    columns: dict[str, int] = {}
    of_posting, rows, counts, lengths = array("i"), array("i"), array("i"), array("i")
    for row, passage in enumerate(ordered):
        stem_counts = Counter(index_stems(_indexed_text(passage)))
        lengths.append(stem_counts.total())
        for stem, count in stem_counts.items():
            of_posting.append(columns.setdefault(stem, len(columns)))
            rows.append(row)
            counts.append(count)
    return _from_postings(
        ids=np.array([p.id for p in ordered], dtype=np.int64),
        documents=np.array([p.document_id for p in ordered], dtype=np.int64),
        lengths=np.array(lengths, dtype=np.int32),
        marks=np.array([text_checksum(p) for p in ordered], dtype=np.uint32),
        stems=list(columns),
        of_posting=np.array(of_posting, dtype=np.int32),
        rows=np.array(rows, dtype=np.int32),
        counts=np.array(counts, dtype=np.int32),
    )


def merge_segments(segments: Sequence[Segment]) -> Segment:
    """One segment with the live passages of several; no passage may be in two of them."""
    columns: dict[str, int] = {}
    of_posting, rows, counts = [], [], []
    ids = np.concatenate([s.ids[s.live] for s in segments])
    new_rows = np.empty(len(ids), dtype=np.int32)  # row of each passage in the merged segment, in the order of `ids`
    new_rows[np.argsort(ids)] = np.arange(len(ids), dtype=np.int32)
    start = 0
    for segment in segments:
        new_row = np.full(len(segment.ids), -1, dtype=np.int32)
        new_row[segment.live] = new_rows[start : start + segment.alive]
        start += segment.alive
        column = np.array([columns.setdefault(stem, len(columns)) for stem in segment.columns], dtype=np.int32)
        live_postings = segment.live[segment.rows]
        of_posting.append(np.repeat(column, np.diff(segment.starts))[live_postings])
        rows.append(new_row[segment.rows[live_postings]])
        counts.append(segment.counts[live_postings])
    order = np.argsort(ids)
    return _from_postings(
        ids=ids[order],
        documents=np.concatenate([s.documents[s.live] for s in segments])[order],
        lengths=np.concatenate([s.lengths[s.live] for s in segments])[order],
        marks=np.concatenate([s.marks[s.live] for s in segments])[order],
        stems=list(columns),
        of_posting=np.concatenate(of_posting),
        rows=np.concatenate(rows),
        counts=np.concatenate(counts),
    )


def compact(segments: Sequence[Segment]) -> list[Segment]:
    """The same live passages in few segments, oldest first, each more than twice as large as the next.

    So n uploads leave at most log₂ n segments, and each passage is merged at most log₂ n times. A segment with half of
    its rows deleted is rewritten.
    """
    compacted: list[Segment] = []
    for segment in segments:
        if not segment.alive:
            continue
        compacted.append(segment if segment.alive * 2 > len(segment.ids) else merge_segments([segment]))
        while len(compacted) > 1 and compacted[-1].alive * 2 >= compacted[-2].alive:
            compacted[-2:] = [merge_segments(compacted[-2:])]
    return compacted


def _from_postings(
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
    """A segment from postings in any order; columns without a posting are left out."""
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
        columns={stems[old]: new for new, old in enumerate(used.tolist())},
        starts=starts,
        rows=rows[order],
        counts=counts[order],
        live=np.ones(len(ids), dtype=np.bool_),
    )


def delete_rows(segment: Segment, dead: NDArray[np.bool_]) -> Segment:
    """The segment with these rows deleted too; dead: bool, shape (n,)."""
    return replace(segment, live=segment.live & ~dead)


def has_stem(segment: Segment, stem: str) -> bool:
    """Whether a live passage contains the stem."""
    column = segment.columns.get(stem)
    if column is None:
        return False
    return bool(segment.live[segment.rows[segment.starts[column] : segment.starts[column + 1]]].any())


def segment_to_bytes(segment: Segment) -> bytes:
    """The segment as bytes, without `live`, which is stored in the manifest because it changes."""
    file = BytesIO()
    np.savez(
        file,
        ids=segment.ids,
        documents=segment.documents,
        lengths=segment.lengths,
        marks=segment.marks,
        stems=np.frombuffer("\n".join(segment.columns).encode("utf-8", "surrogatepass"), dtype=np.uint8),
        starts=segment.starts,
        rows=segment.rows,
        counts=segment.counts,
    )
    return file.getvalue()


def segment_from_bytes(data: bytes) -> Segment:
    """The segment that `segment_to_bytes` wrote, with all rows live.

    Raises ValueError, KeyError or OSError for other bytes.
    """
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        stems = arrays["stems"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        return Segment(
            ids=arrays["ids"],
            documents=arrays["documents"],
            lengths=arrays["lengths"],
            marks=arrays["marks"],
            columns={stem: column for column, stem in enumerate(stems) if stem},
            starts=arrays["starts"],
            rows=arrays["rows"],
            counts=arrays["counts"],
            live=np.ones(len(arrays["ids"]), dtype=np.bool_),
        )


def checksum(data: bytes) -> str:
    """A 128-bit checksum in hex; names the file of a segment."""
    return blake2b(data, digest_size=16).hexdigest()


def write_manifest(segments: Sequence[Segment]) -> bytes:
    """The manifest of stored segments: a checksum, a line break, JSON."""
    rows: list[Mapping[str, Any]] = [{"name": s.name, "dead": _deleted_ranges(~s.live)} for s in segments]
    body = json.dumps({"format": _FORMAT, "words": _tokenizer_checksum(), "segments": rows}).encode()
    return checksum(body).encode() + b"\n" + body


def read_manifest(manifest: bytes) -> list[dict[str, Any]] | None:
    """The rows of the manifest: the name of each segment and its deleted rows. None if the manifest is missing,
    damaged, or was written with another tokeniser."""
    seal, _, body = manifest.partition(b"\n")
    if checksum(body).encode() != seal:
        return None
    described = json.loads(body)
    if (described["format"], described["words"]) != (_FORMAT, _tokenizer_checksum()):
        return None
    rows: list[dict[str, Any]] = described["segments"]
    return rows


@cache
def _tokenizer_checksum() -> str:
    """Changes whenever the tokeniser changes, so that an older index is rebuilt."""
    import Stemmer

    sample = index_stems(
        "Employees' W-2s, year-end storeEmptyResults SOLID_CABLE U.S.C. §401(k) C# renewals naïve Straße d'Andorra"
        " договоры συμβάσεις العقود वेतन ஒப்பந்தங்கள் 年假表 W-2表格 สัญญา ⚠️"
    )
    described = repr((Stemmer.version(), sorted(STOP_WORDS), sample))
    return blake2b(described.encode(), digest_size=8).hexdigest()


def _deleted_ranges(dead: NDArray[np.bool_]) -> list[list[int]]:
    """Deleted rows as [first, end) pairs: the passages of a document are neighbours.

    >>> _deleted_ranges(np.array([True, True, False, True]))
    [[0, 2], [3, 4]]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], dead, [False])).astype(np.int8)))
    pairs: list[list[int]] = edges.reshape(-1, 2).tolist()
    return pairs


def live_rows(count: int, deleted: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Deleted rows, as in a manifest → bool, shape (count,), False where deleted."""
    live = np.ones(count, dtype=np.bool_)
    for first, end in deleted:
        live[first:end] = False
    return live
