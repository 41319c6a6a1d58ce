"""How near each sentence of a passage is in meaning to the question, by the vectors kept beside it.

Nothing is embedded when a question is asked: what a sentence means was measured when its document was read
(core/ingest/parts.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.tables.answer_kinds import AnswerKind, answer_kinds
from core.vectors import cosines

__all__ = ["SentenceMeanings", "sentence_meanings"]

_FAR = 0.7
"""A sentence with less of the nearest one's cosine is about something else; what it holds is no answer."""


@dataclass(frozen=True, slots=True)
class SentenceMeanings:
    """cosines: per sentence of a passage, in [0, 1]; 0 for one that was not measured. best: the highest of them.
    answer, answer_words: as `Signals`."""

    cosines: tuple[float, ...]
    best: float
    answer: float | None = None
    answer_words: str = ""


def sentence_meanings(
    question: NDArray[np.float32], passages: Sequence[Passage], kind: str = ""
) -> list[SentenceMeanings | None]:
    """Per passage how near its sentences are to a question's vector, shape (dim,), of length 1; None where none were
    measured, or by another model.

    kind: of answer the question asks for, "" for any.
    """
    wanted = answer_kinds().get(kind)
    measured = [len(p.meanings) == len(p.sentences) * len(question) and bool(p.sentences) for p in passages]
    held = [passage for passage, known in zip(passages, measured, strict=True) if known]
    if not held:
        return [None] * len(passages)
    packed = np.frombuffer(b"".join(passage.meanings for passage in held), dtype=np.int8).reshape(-1, len(question))
    near = np.clip(cosines(packed, question[None, :])[:, 0], 0.0, 1.0).tolist()
    found: list[SentenceMeanings | None] = []
    at = 0
    for passage, known in zip(passages, measured, strict=True):
        if known:
            own = tuple(near[at : at + len(passage.sentences)])
            found.append(_told(own, passage, wanted))
            at += len(own)
        else:
            found.append(None)
    return found


def _told(near: tuple[float, ...], passage: Passage, kind: AnswerKind | None) -> SentenceMeanings:
    best = max(near)
    if kind is None or best <= 0:
        return SentenceMeanings(near, best)
    for index in sorted(range(len(near)), key=lambda i: -near[i]):
        if near[index] < _FAR * best:
            break
        if words := kind.held_in(passage.sentences[index].of(passage.text)):
            return SentenceMeanings(near, best, near[index] / best, words)
    return SentenceMeanings(near, best, 0.0)
