"""The manifest of a keyword index: which segments there are and which of their rows are deleted, under a checksum."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.matching import STOP_WORDS, index_stems
from storage.bm25_segments import Segment

__all__ = ["checked", "digest", "live_rows", "sealed"]

_FORMAT = 1


def digest(data: bytes) -> str:
    """Hex checksum; segments are named by it."""
    return blake2b(data, digest_size=16).hexdigest()


def sealed(segments: Sequence[Segment]) -> bytes:
    """A manifest of these segments, all of which have names."""
    rows: list[Mapping[str, Any]] = [{"name": s.name, "dead": _ranges(~s.live)} for s in segments]
    body = json.dumps({"format": _FORMAT, "words": _words_digest(), "segments": rows}).encode()
    return digest(body).encode() + b"\n" + body


def checked(manifest: bytes) -> list[dict[str, Any]] | None:
    """The manifest's rows: each a segment's name and its deleted rows. None when it is missing, damaged, or of words
    cut in another way."""
    seal, _, body = manifest.partition(b"\n")
    if digest(body).encode() != seal:
        return None
    held = json.loads(body)
    if (held["format"], held["words"]) != (_FORMAT, _words_digest()):
        return None
    rows: list[dict[str, Any]] = held["segments"]
    return rows


@cache
def _words_digest() -> str:
    """Changes whenever text is cut into stems in another way."""
    import Stemmer

    sample = index_stems(
        "Employees' W-2s, year-end storeEmptyResults SOLID_CABLE U.S.C. §401(k) C# renewals naïve Straße"
    )
    said = repr((Stemmer.version(), sorted(STOP_WORDS), sample))
    return blake2b(said.encode(), digest_size=8).hexdigest()


def _ranges(dead: NDArray[np.bool_]) -> list[list[int]]:
    """Deleted rows as [first, end) pairs: a document's passages lie side by side.

    >>> _ranges(np.array([True, True, False, True]))
    [[0, 2], [3, 4]]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], dead, [False])).astype(np.int8)))
    pairs: list[list[int]] = edges.reshape(-1, 2).tolist()
    return pairs


def live_rows(rows: int, dead: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Deleted rows, as `sealed` wrote them → bool, shape (rows,), False where deleted."""
    live = np.ones(rows, dtype=np.bool_)
    for first, end in dead:
        live[first:end] = False
    return live
