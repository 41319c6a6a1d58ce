"""How much of two texts is the same: triples of words, a MinHash signature of them, buckets to find like ones by.

    words → triples (as hashes) → 128 minima → 32 buckets

Written with numpy rather than taken from a library: it is twenty lines, it works through a text of any length in pieces
(a text of 10⁷ words needs no matrix of 10⁷ × 128), and the buckets stand in the database either way.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import floor

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NEAR_DUPLICATE",
    "Minima",
    "Shared",
    "Triples",
    "buckets",
    "estimated",
    "minima",
    "percent",
    "shared",
    "triples",
]

Triples = NDArray[np.uint64]
"""uint64, shape (n,), sorted ascending, unique: the hashes of a text's triples of words."""

Minima = NDArray[np.uint32]
"""uint32, shape (128,): a MinHash signature. Two texts agree in a place with the probability of their Jaccard share."""

NEAR_DUPLICATE = 0.8
"""Least Jaccard share of two documents shown as near-duplicates; a word changed in a text of 30 costs about a fifth."""

_PLACES, _ROWS = 128, 4
_PIECE = 8192
# Scripts that put no blanks between words are read letter by letter.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


@dataclass(frozen=True, slots=True)
class Shared:
    """What two texts have in common, by triples of words; all in [0, 1].

    jaccard: common ÷ all. first_in_second, second_in_first: common ÷ those of one, its containment in the other.
    """

    jaccard: float
    first_in_second: float
    second_in_first: float

    @property
    def most(self) -> float:
        """The larger containment: high also when much was added or taken away."""
        return max(self.first_in_second, self.second_in_first)


def triples(texts: Sequence[str]) -> Triples:
    """Hashes of every three words in a row, over the borders of the texts; capitals and punctuation do not count.

    A text of fewer words is one triple; one without any has none. The hashes are the same in every process.

    >>> len(triples(["Pay is due", "on Friday."])), len(triples(["Pay!"])), len(triples(["…"]))
    (3, 1, 0)
    """
    numbers: dict[str, int] = {}
    said = [numbers.setdefault(word, len(numbers)) for text in texts for word in _WORD.findall(text.lower())]
    if not said:
        return np.empty(0, dtype=np.uint64)
    digests = np.array([_hashed(word) for word in numbers], dtype=np.uint64)
    said += said[-1:] * max(0, 3 - len(said))
    row = digests[np.array(said)]
    with np.errstate(over="ignore"):
        mixed = row[:-2] * _ODD[0] + row[1:-1] * _ODD[1] + row[2:] * _ODD[2]
    return np.unique(_scattered(mixed))


def _hashed(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _scattered(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's last step (Steele, Lea & Flood 2014): every bit depends on every bit."""
    with np.errstate(over="ignore"):
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


# Fixed for ever: signatures of different numbers never agree. Odd factors for multiply-shift (Dietzfelbinger 1997).
_SEEDS = _scattered(np.arange(1, 2 * _PLACES + 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
_FACTORS, _SUMMANDS = _SEEDS[:_PLACES] | np.uint64(1), _SEEDS[_PLACES : 2 * _PLACES]
_ODD = _SEEDS[2 * _PLACES :] | np.uint64(1)


def minima(of: Triples) -> Minima:
    """The signature of a text: the least value of its triples under each of 128 hash functions. Broder 1997."""
    least = np.full(_PLACES, np.iinfo(np.uint32).max, dtype=np.uint64)
    for start in range(0, len(of), _PIECE):
        with np.errstate(over="ignore"):
            values = (of[start : start + _PIECE, None] * _FACTORS + _SUMMANDS) >> np.uint64(32)
        np.minimum(least, values.min(axis=0), out=least)
    return least.astype(np.uint32)


def buckets(signature: Minima) -> tuple[int, ...]:
    """32 numbers, signed and of 64 bits; like texts share at least one of them.

    Each is made of four places, so two texts of Jaccard share s share one with probability 1 - (1 - s⁴)³²: 0.87 at
    0.5, 0.99 at 0.6, above 0.9999 at 0.8, 0.05 at 0.2. Leskovec, Rajaraman & Ullman 2014, chapter 3.
    """
    bands = signature.astype(np.uint64).reshape(-1, _ROWS)
    mixed = np.arange(1, len(bands) + 1, dtype=np.uint64)
    for column in range(_ROWS):
        with np.errstate(over="ignore"):
            mixed = _scattered(mixed * _FACTORS[column] + bands[:, column])
    return tuple(mixed.view(np.int64).tolist())


def estimated(first: Minima, second: Minima) -> float:
    """About the Jaccard share of two texts, in [0, 1]; the error is about 0.04."""
    return float(np.mean(first == second))


def shared(first: Triples, second: Triples) -> Shared:
    """Exactly what two texts have in common; nothing with a text without words.

    >>> shared(triples(["one two three four"]), triples(["one two three four five six"]))
    Shared(jaccard=0.5, first_in_second=1.0, second_in_first=0.5)
    """
    if not len(first) or not len(second):
        return Shared(0.0, 0.0, 0.0)
    common = len(np.intersect1d(first, second, assume_unique=True))
    return Shared(common / (len(first) + len(second) - common), common / len(first), common / len(second))


def percent(share: float) -> str:
    """A share in whole per cent, rounded down, so that only what is the same is called 100 %.

    >>> percent(1.0), percent(0.9996), percent(0.003)
    ('100 %', '99 %', '0 %')
    """
    return f"{floor(100 * share + 1e-9)} %" if share < 1 else "100 %"
