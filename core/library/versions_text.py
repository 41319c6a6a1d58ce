"""The sentences of a document in reading order, each once and with its place: what versions are compared by."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import Passage

__all__ = ["Sentence", "folded", "kept_share", "sentences_of"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence (or table row) and where it stands: `text == page text[start : start + len(text)]`.

    folded: what is compared; capitals and runs of blanks make no difference.
    """

    text: str
    folded: str
    page: int
    start: int
    passage_id: int


def sentences_of(passages: Sequence[Passage]) -> tuple[Sentence, ...]:
    """The sentences of a document's passages. Passages overlap by a sentence, which is given once."""
    found: dict[tuple[int, int], Sentence] = {}
    for passage in passages:
        for span in passage.sentences:
            start, text = passage.start + span.start, span.of(passage.text)
            if (passage.page, start) not in found and text.strip():
                found[passage.page, start] = Sentence(text, folded(text), passage.page, start, passage.id)
    return tuple(found.values())


def folded(text: str) -> str:
    """A sentence as it is compared.

    >>> folded("Pay is  due\\non Friday.")
    'pay is due on friday.'
    """
    return " ".join(text.lower().split())


def kept_share(before: Sequence[Sentence], after: Sequence[Sentence]) -> float:
    """Which share of the sentences of one text stands in another word for word, in [0, 1]; 0 for a text without any."""
    held = {sentence.folded for sentence in after}
    return sum(sentence.folded in held for sentence in before) / len(before) if before else 0.0
