"""Words that mean nearly the same: "supplier" for "vendor", "largest" for "biggest".

The words of the library are known with a vector each, measured once when a document brings a new one. A word of the
question looks up its nearest among them; so a passage that says the same in other words counts, and the page can say
by which word. Only what is alike enough counts, and it counts by how alike it is.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from core.documents import Passage
from core.matching import STOP_WORDS, stem, words
from core.ports import Embedder
from core.results import NearWord
from core.tables.factors import factor_table
from core.vectors import packed, unpacked

__all__ = ["NearWords", "WordStore", "Words", "nearness", "words_of"]

_BATCH = 2048
_REMEMBERED = 4096
_MOST_LETTERS = 30
_ALONE = Lock()


@dataclass(frozen=True, slots=True)
class Words:
    """The words known, each by its stem. codes: int8, shape (n, dim), each row a vector of any length."""

    stems: tuple[str, ...]
    words: tuple[str, ...]
    codes: NDArray[np.int8]


class WordStore(Protocol):
    """Where the words of a library are kept."""

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not known yet."""
        ...

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Keep stem → word, with a row of codes each; one that is known already stays as it is."""
        ...

    def all(self) -> Words:
        """All words known, the same object as long as there is no new one."""
        ...


class NearWords:
    """Looks up the near words of questions. Thread-safe."""

    def __init__(self, store: WordStore, embedder: Embedder) -> None:
        self._store, self._embedder = store, embedder
        self._lock = Lock()
        self._of: Words | None = None
        self._units: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)
        self._rows: Mapping[str, int] = {}
        self._found: OrderedDict[str, tuple[NearWord, ...]] = OrderedDict()

    def learn(self, passages: Sequence[Passage]) -> int:
        """Measure and keep the words that are new; how many there were. Raises ModelUnavailable, StoreFailed."""
        said = words_of(passage.text for passage in passages)
        fresh = {each: said[each] for each in self._store.missing(sorted(said))}
        names = list(fresh)
        for start in range(0, len(names), _BATCH):
            batch = {name: fresh[name] for name in names[start : start + _BATCH]}
            self._store.add(batch, packed(self._embedder.embed(list(batch.values()))))
        return len(fresh)

    def near(self, terms: Sequence[str]) -> Mapping[str, tuple[NearWord, ...]]:
        """Per term of the question its nearest words, nearest first, without itself. Raises ModelUnavailable."""
        known = self._store.all()
        with self._lock:
            if known is not self._of:
                self._of, self._units = known, unpacked(known.codes)
                self._rows = {word: row for row, word in enumerate(known.words)}
                self._found.clear()
            units, missing = self._units, [term for term in terms if term not in self._found]
            rows = [self._rows.get(term, -1) for term in missing]
        if missing and known.stems:
            found = _nearest(known, _products(units, self._vectors(units, rows, missing)).T, missing)
            with self._lock:
                self._found |= found if known is self._of else {}
                while len(self._found) > _REMEMBERED:
                    self._found.popitem(last=False)
        else:
            found = {}
        with self._lock:
            return {term: found.get(term) or self._found.get(term, ()) for term in terms}

    def _vectors(self, units: NDArray[np.float32], rows: Sequence[int], terms: Sequence[str]) -> NDArray[np.float32]:
        """A vector per term: of a word of the library the one that is kept, and only others are embedded."""
        vectors = units[rows]
        unknown = [place for place, row in enumerate(rows) if row < 0]
        if unknown:
            vectors[unknown] = self._embedder.embed([terms[place] for place in unknown])
        return vectors


def words_of(texts: Iterable[str]) -> dict[str, str]:
    """Stem → the first word that has it, of all words that can mean something: with letters only, no stop words.

    >>> words_of(["The taxes of 2024, and a tax on W-2 wages."])
    {'tax': 'taxes', 'wage': 'wages'}
    """
    found: dict[str, str] = {}
    for text in texts:
        for word in words(text):
            if 2 < len(word) <= _MOST_LETTERS and word.isalpha() and word not in STOP_WORDS:
                found.setdefault(stem(word), word)
    return found


def nearness(
    rarity: Mapping[str, float], near: Mapping[str, Sequence[NearWord]], held: frozenset[str]
) -> tuple[float, tuple[NearWord, ...]]:
    """Σ rarity · closeness ÷ Σ rarity over the question's terms, in [0, 1], and the words that stand for others.

    rarity: question term → rarity. held: the stems a passage holds. A term it holds itself has closeness 1.

    >>> other = NearWord("vendor", "supplier", "supplier", 0.74, 0.57)
    >>> share, by = nearness({"vendor": 2.0, "fee": 2.0}, {"vendor": [other]}, frozenset({"supplier", "fee"}))
    >>> round(share, 3), [each.word for each in by]
    (0.785, ['supplier'])
    """
    total = sum(rarity.values())
    if total <= 0:
        return 0.0, ()
    share, by = 0.0, []
    for term, value in rarity.items():
        if stem(term) in held:
            share += value
            continue
        nearest = next((each for each in near.get(term, ()) if each.stem in held), None)
        if nearest is not None:
            share += value * nearest.closeness
            by.append(nearest)
    return min(share / total, 1.0), tuple(by)


def _products(units: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines of two sets of unit vectors, by one thread: those that would help it spin for some 30 ms afterwards,
    waiting for more to do, and take a processor from everybody else. How many there are holds for the process, so that
    only one at a time may say it."""
    with _ALONE, _threads().limit(limits=1, user_api="blas"):
        return units @ vectors.T


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _nearest(known: Words, alike: NDArray[np.float32], terms: Sequence[str]) -> dict[str, tuple[NearWord, ...]]:
    """Term → its nearest words. alike: cosine of each term with each word known, shape (terms, words)."""
    row = factor_table()["nearness"]
    most, least = int(row["words"]), row["least"]
    found: dict[str, tuple[NearWord, ...]] = {}
    for term, near in zip(terms, alike, strict=True):
        own, some = stem(term), np.flatnonzero(near > least)
        some = some[np.argsort(-near[some])][: most + 1]
        best = sorted(((float(near[i]), known.stems[i], known.words[i]) for i in some), reverse=True)
        found[term] = tuple(
            NearWord(term, word, each, min(cosine, 1.0), min((cosine - least) / (1 - least), 1.0))
            for cosine, each, word in best
            if cosine > least and each != own
        )[:most]
    return found
