"""What a sentence means where it stands: the mean of its tokens, read with all that stands around them.

The tokens of a passage are computed anyway; a sentence's vector is the mean of its own (late chunking: Günther et al.
2024, arXiv 2409.04701). So "It is due monthly." keeps what "it" is, and no sentence is embedded a second time.
"""

from collections.abc import Callable, Sequence

import numpy as np

from core.documents import Passage, Span
from core.ports import Embedder, Vectors
from core.vectors import packed

__all__ = ["embedded", "embedded_text", "part_vectors", "with_those_cut_off"]

_BLOCK = 256  # texts sorted by length together; more at once would leave the user long without a word


def embedded_text(passage: Passage) -> str:
    """What is embedded for a passage: its context, then its text."""
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text


def embedded(
    embedder: Embedder, passages: Sequence[Passage], on_block: Callable[[int], None] = lambda done: None
) -> tuple[Vectors, Sequence[bytes]]:
    """The vectors of passages, float32, shape (n, dim), L2-normalised, and `Passage.meanings` of each.

    on_block: hears how many are done, after each block of some hundreds but the last.
    """
    texts = [embedded_text(passage) for passage in passages]
    moved = [len(text) - len(passage.text) for text, passage in zip(texts, passages, strict=True)]
    parts = [
        [Span(span.start + by, span.end + by) for span in passage.sentences]
        for passage, by in zip(passages, moved, strict=True)
    ]
    blocks: list[Vectors] = []
    meanings: list[bytes] = []
    for start in range(0, len(texts), _BLOCK) or (0,):
        end = start + _BLOCK
        vectors, found = embedder.embed_parts(texts[start:end], parts[start:end])
        blocks.append(vectors)
        meanings += [packed(each).tobytes() for each in found]
        if end < len(texts):
            on_block(end)
    return np.concatenate(blocks), meanings


def part_vectors(tokens: Vectors, offsets: Sequence[tuple[int, int]], parts: Sequence[Span]) -> Vectors:
    """A vector of length 1 per part of a text, shape (parts, dim): the mean of the tokens in it; 0 where it has none.

    tokens: shape (tokens, dim). offsets: the characters [start, end) of each; equal for a mark that stands for no text.
    """
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    found = np.zeros((len(parts), tokens.shape[-1]), dtype=np.float32)
    for row, part in enumerate(parts):
        inside = (starts < part.end) & (ends > part.start) & (ends > starts)
        if inside.any():
            found[row] = tokens[inside].mean(axis=0)
    return _unit(found)


def with_those_cut_off(
    found: Sequence[Vectors], texts: Sequence[str], parts: Sequence[Sequence[Span]], embed: Callable[..., Vectors]
) -> Sequence[Vectors]:
    """The parts of texts, with those the model did not read, because the text is too long for it, embedded alone."""
    cut = [
        (row, place)
        for row, vectors in enumerate(found)
        for place in np.flatnonzero(~vectors.any(axis=1)).tolist()
        if parts[row][place].of(texts[row]).strip()
    ]
    if cut:
        alone = embed([parts[row][place].of(texts[row]) for row, place in cut])
        for (row, place), vector in zip(cut, alone, strict=True):
            found[row][place] = vector
    return found


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
