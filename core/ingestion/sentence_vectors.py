"""Sentence vectors in context: the mean of a sentence's token vectors, computed over the whole passage.

The passage's token vectors are computed anyway, so a sentence needs no second embedding, and "It is due monthly." keeps
what "it" refers to (late chunking: Günther et al. 2024, arXiv 2409.04701).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.documents import Passage, Span
from core.domain.int8_vectors import packed
from core.ports.stores import Embedder, Vectors

__all__ = ["EmbeddedPassages", "embed_passages", "embedded_text", "part_vectors", "with_those_cut_off"]

_BLOCK = 256  # texts per batch, sorted by length; larger batches would delay progress reports. Chosen by hand.


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """vectors: float32, shape (n, dim), L2-normalised. meanings: `Passage.meanings` of each. model: whose vectors."""

    vectors: Vectors
    meanings: Sequence[bytes]
    model: str


def embedded_text(passage: Passage) -> str:
    """The text that is embedded for a passage: its context, then its text."""
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text


def embed_passages(
    embedder: Embedder, passages: Sequence[Passage], on_block: Callable[[int], None] = lambda done: None
) -> EmbeddedPassages:
    """The vectors of passages and of their sentences, all of one model: when the library's model changes meanwhile,
    they are embedded again.

    on_block: called with the number done, after each block except the last. Raises ModelUnavailable.
    """
    while True:
        model = embedder.name
        vectors, meanings = _embed_blocks(embedder, passages, on_block)
        if embedder.name == model:
            return EmbeddedPassages(np.concatenate(vectors), meanings, model)


def _embed_blocks(
    embedder: Embedder, passages: Sequence[Passage], on_block: Callable[[int], None]
) -> tuple[list[Vectors], list[bytes]]:
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
    return blocks, meanings


def part_vectors(tokens: Vectors, offsets: Sequence[tuple[int, int]], parts: Sequence[Span]) -> Vectors:
    """One unit vector per part of a text, shape (parts, dim): the mean of its tokens; 0 for a part without tokens.

    tokens: shape (tokens, dim). offsets: [start, end) characters of each token; start == end for special tokens.
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
    """Fills in, in place, the vectors of parts beyond the model's maximum length, embedded separately."""
    cut = [
        (row, index)
        for row, vectors in enumerate(found)
        for index in np.flatnonzero(~vectors.any(axis=1)).tolist()
        if parts[row][index].of(texts[row]).strip()
    ]
    if cut:
        alone = embed([parts[row][index].of(texts[row]) for row, index in cut])
        for (row, index), vector in zip(cut, alone, strict=True):
            found[row][index] = vector
    return found


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
