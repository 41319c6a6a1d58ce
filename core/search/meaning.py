"""How near each sentence of a passage is in meaning to the question, by the vectors kept beside it.

Nothing is embedded when a question is asked: what a sentence means was measured when its document was read
(core/ingest/parts.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.documents import Passage
from core.vectors import cosines

__all__ = ["WITHOUT_AMOUNT", "SentenceMeanings", "holds_amount", "sentence_meanings"]

WITHOUT_AMOUNT = 0.8
"""What a sentence without an amount, a day or a length of time counts where the question asks for one."""
_AMOUNT = re.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|(?:year|month|week|day|hour)s?)\b"
)


@dataclass(frozen=True, slots=True)
class SentenceMeanings:
    """cosines: per sentence of a passage, clipped to [0, 1]; 0 for one that was not measured. best: of the sentence
    that answers best, in [0, 1]."""

    cosines: tuple[float, ...]
    best: float


def sentence_meanings(
    question: NDArray[np.float32], passages: Sequence[Passage], *, amount: bool
) -> list[SentenceMeanings | None]:
    """Per passage how near its sentences are to a question's vector, shape (dim,), of length 1; None where none were
    measured, or by another model.

    amount: whether the question asks for an amount; then a sentence without one counts `WITHOUT_AMOUNT`.
    """
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
            found.append(SentenceMeanings(own, _best(own, passage, amount)))
            at += len(own)
        else:
            found.append(None)
    return found


def _best(near: Sequence[float], passage: Passage, amount: bool) -> float:
    if not amount:
        return max(near)
    best = 0.0
    for cosine, span in zip(near, passage.sentences, strict=True):
        if cosine > best:
            best = max(best, cosine if holds_amount(span.of(passage.text)) else cosine * WITHOUT_AMOUNT)
    return best


def holds_amount(sentence: str) -> bool:
    """Whether a sentence holds an amount, a day or a length of time.

    >>> holds_amount("Deposits are due within three days."), holds_amount("Deposits are due soon.")
    (True, False)
    """
    return _AMOUNT.search(sentence) is not None
