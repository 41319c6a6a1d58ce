"""Exact search over a generated library: its questions, and the recall of an index against exact cosines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.library import MadeDocument, jurisdictions_of
from bench.measured import clock
from core.domain.documents import Passage
from core.ports.stores import Vectors

__all__ = ["TOP", "Answers", "Exact", "Kept", "answered"]

TOP = 10
_BLOCK = 8192
_PER_DOCUMENT = 4  # questions
_WORDS = 8  # of a question, at most
_EQUAL = 1e-6  # cosines that differ by less are equal


class Kept:
    """The stored vectors in memory-mapped files for other processes: row n is passage n + 1. Questions are words of
    passages."""

    def __init__(self, folder: Path, passages: int, width: int) -> None:
        self.files = (folder / "vectors.npy", folder / "jurisdictions.npy")
        opened = np.lib.format.open_memmap
        self.vectors: Vectors = opened(self.files[0], mode="w+", dtype=np.float32, shape=(passages, width))
        self.jurisdictions: NDArray[np.str_] = opened(self.files[1], mode="w+", dtype="U16", shape=(passages,))
        self._asked: list[str] = []

    def note(self, some: Sequence[MadeDocument]) -> None:
        """What these documents hold."""
        for each in some:
            rows = slice(each.passages[0].id - 1, each.passages[-1].id)
            self.vectors[rows] = each.vectors
            self.jurisdictions[rows] = [passage.jurisdiction for passage in each.passages]
            chosen = each.passages[:: max(1, len(each.passages) // _PER_DOCUMENT)][:_PER_DOCUMENT]
            self._asked += [_question(passage, len(self._asked) + place) for place, passage in enumerate(chosen)]

    def questions(self, count: int) -> list[str]:
        """So many, or as many as there are, spread over the library."""
        return self._asked[:: max(1, len(self._asked) // count)][:count]


def _question(passage: Passage, number: int) -> str:
    """Words in a row out of a passage: of its first sentence, with a made word, or of one in the middle."""
    sentence = passage.sentences[0 if number % 2 else len(passage.sentences) // 2].of(passage.text)
    return " ".join(sentence.split()[:_WORDS]).rstrip(".,;:") + "?"


@dataclass(frozen=True, slots=True)
class Answers:
    """Milliseconds and passages found, best first, per question."""

    milliseconds: tuple[float, ...]
    found: tuple[tuple[int, ...], ...]


def answered(vectors: Vectors, ask: Callable[[NDArray[np.float32]], Sequence[int]]) -> Answers:
    """Each vector asked once, after one that is not counted."""
    ask(vectors[-1])
    milliseconds, found = [], []
    for vector in vectors:
        with clock() as taken:
            ids = ask(vector)
        milliseconds.append(1000 * taken.seconds)
        found.append(tuple(int(i) for i in ids))
    return Answers(tuple(milliseconds), tuple(found))


class Exact:
    """Every cosine of some questions with the whole library, by numpy."""

    def __init__(self, kept: Kept, asked: Vectors) -> None:
        rows = range(0, len(kept.vectors), _BLOCK)
        self._cosines = np.concatenate([kept.vectors[at : at + _BLOCK] @ asked.T for at in rows])
        self._jurisdictions = kept.jurisdictions

    def admitted(self, share: float) -> NDArray[np.bool_]:
        """Shape (n,), whether the filter of a share admits a passage."""
        wanted = jurisdictions_of(share)
        return np.isin(self._jurisdictions, wanted) if wanted else np.ones(len(self._jurisdictions), dtype=np.bool_)

    def recall(self, answers: Answers, share: float) -> float:
        """Mean share of the best `TOP` admissible passages, or as many as there are, among the first `TOP` answers; a
        passage as near as the last of them counts."""
        admitted = self.admitted(share)
        there = self._cosines[admitted]
        most = min(TOP, len(there))
        least = np.partition(there, len(there) - most, axis=0)[len(there) - most] - _EQUAL
        hit = [
            sum(admitted[i - 1] and self._cosines[i - 1, number] >= least[number] for i in ids[:TOP])
            for number, ids in enumerate(answers.found)
        ]
        return float(np.mean(hit)) / most
