"""Finds texts that largely repeat one another, so that none is judged by a model that learned its copy."""

from collections.abc import Sequence

import numpy as np

from core.library.duplicates.minhash import triples

__all__ = ["near_copies"]

_SHARED = 0.5  # least share of the shorter text's triples of words; chosen by hand


def near_copies(texts: Sequence[str], others: Sequence[str]) -> list[set[int]]:
    """For each text the numbers of the others that share half of the word triples of the shorter of both.

    >>> near_copies(["one two three four five"], ["one two three four six", "four six one two"])
    [{0}]
    """
    known = [triples([text]) for text in texts]
    owner = np.repeat(np.arange(len(known)), [len(each) for each in known])
    every = np.concatenate([*known, np.empty(0, dtype=np.uint64)])
    order = np.argsort(every, kind="stable")
    every, owner = every[order], owner[order]
    found: list[set[int]] = [set() for _ in known]
    for number, other in enumerate(others):
        own = triples([other])
        first, last = np.searchsorted(every, own, "left"), np.searchsorted(every, own, "right")
        shared = np.concatenate([owner[a:b] for a, b in zip(first, last, strict=True) if b > a] or [owner[:0]])
        common = np.bincount(shared, minlength=len(known))
        for at in np.flatnonzero(common):
            if common[at] >= _SHARED * min(len(known[at]), len(own)):
                found[at].add(number)
    return found
