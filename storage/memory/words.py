"""The words of a library, forgotten when the process ends."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.search.near import Words

__all__ = ["MemoryWordStore"]


class MemoryWordStore:
    """core.search.near.WordStore."""

    def __init__(self) -> None:
        self._words = Words((), (), np.zeros((0, 0), dtype=np.int8))

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not known yet."""
        known = set(self._words.stems)
        return [stem for stem in stems if stem not in known]

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Keep stem → word with a row of codes each; one that is known stays as it is."""
        own = self._words
        held = {stem: (word, row) for stem, word, row in zip(own.stems, own.words, own.codes, strict=True)}
        fresh = {stem: (word, row) for (stem, word), row in zip(words.items(), codes, strict=True)}
        held = dict(sorted((fresh | held).items()))
        if len(held) > len(own.stems):
            rows = np.stack([row for _, row in held.values()])
            self._words = Words(tuple(held), tuple(word for word, _ in held.values()), rows)

    def all(self) -> Words:
        """All words known, by stem."""
        return self._words
