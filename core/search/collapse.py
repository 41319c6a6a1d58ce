"""Near-identical passages → one, with the others counted beside it."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from core.results import Dropped, DropReason
from core.search.score import Scored

__all__ = ["NEAR_IDENTICAL", "alike", "collapse"]

NEAR_IDENTICAL = 0.85
"""Least resemblance of two passages shown as one: the same text with a few words changed."""
_SHINGLE_WORDS = 4
_BUCKETS = 1 << 16
_SLACK = 1e-6  # for what rounding may add
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, of mixed bits: Knuth 1973, 6.4


def collapse(ranked: Sequence[Scored]) -> tuple[tuple[tuple[Scored, tuple[int, ...]], ...], tuple[Dropped, ...]]:
    """(passage, ids of the passages like it) in ranked order, and the collapsed ones with their reason.

    Greedy from the best down, so the outcome depends on the order only.
    """
    near = alike([scored.candidate.passage.text for scored in ranked])
    shown: dict[int, list[int]] = {}
    dropped: list[Dropped] = []
    for place, scored in enumerate(ranked):
        twin = min((other for other in near[place] if other in shown), default=None)
        if twin is None:
            shown[place] = []
            continue
        passage = ranked[twin].candidate.passage
        shown[twin].append(scored.candidate.passage.id)
        detail = f"near-identical to passage {passage.id} of {passage.document_name}, which is shown"
        dropped.append(Dropped(scored.candidate, DropReason.COLLAPSED, detail, scored.score))
    return tuple((ranked[place], tuple(similar)) for place, similar in shown.items()), tuple(dropped)


def alike(texts: Sequence[str]) -> tuple[frozenset[int], ...]:
    """Per text the places of those before it that it is near-identical to: what collapsing needs, in any order.

    Resemblance is the Jaccard share of common shingles (Broder 1997). Only texts are compared of whose shingles enough
    come more than once, all pairs of them at once: the matrix of texts and shingles times itself counts what each two
    have in common.
    """
    from scipy.sparse import csr_array

    owners, shingles = _shingles(texts)
    some = _repeated(shingles)
    shared = np.bincount(owners[some], minlength=len(texts))
    may = shared >= (NEAR_IDENTICAL - _SLACK) * (shared + np.bincount(owners[~some], minlength=len(texts)))
    some &= may[owners]
    if not some.any():
        return (frozenset(),) * len(texts)
    distinct, numbers = np.unique(shingles[some], return_inverse=True)
    pairs = np.unique(owners[some] * len(distinct) + numbers)
    owner, shingle = np.divmod(pairs, len(distinct))
    held = csr_array((np.ones(len(owner), np.int32), (owner, shingle)), shape=(len(texts), len(distinct)))
    common = (held @ held.T).toarray()
    sizes = np.bincount(owners[~some], minlength=len(texts)) + np.bincount(owner, minlength=len(texts))
    near = np.tril(common >= NEAR_IDENTICAL * (sizes[:, None] + sizes - common), -1)
    return tuple(frozenset(np.flatnonzero(row).tolist()) for row in near)


def _shingles(texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Of each shingle the place of its text, and itself. A shingle is four words in a row, told by a hash of 64 bits;
    words are what stands between blanks, and a text of fewer words is one shingle."""
    said = [text.lower().split() for text in texts]
    for words in said:
        words.extend([""] * (_SHINGLE_WORDS - len(words)))
    lengths = np.fromiter(map(len, said), np.intp, len(said))
    hashes = np.fromiter(map(hash, chain.from_iterable(said)), np.int64, int(lengths.sum())).view(np.uint64)
    count = max(len(hashes) - _SHINGLE_WORDS + 1, 0)
    rolled = np.zeros(count, np.uint64)
    for at in range(_SHINGLE_WORDS):
        rolled = rolled * _FACTOR + hashes[at : at + count]
    owners = np.repeat(np.arange(len(texts)), lengths)
    inside = owners[:count] == owners[_SHINGLE_WORDS - 1 :]
    return owners[:count][inside], rolled[inside]


def _repeated(shingles: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which shingles come more than once; and a few others, that are alike in their last bits."""
    ordered, last = np.sort(shingles), np.uint64(_BUCKETS - 1)
    repeated = np.zeros(_BUCKETS, np.bool_)
    repeated[ordered[1:][ordered[1:] == ordered[:-1]] & last] = True
    found: NDArray[np.bool_] = repeated[shingles & last]
    return found
