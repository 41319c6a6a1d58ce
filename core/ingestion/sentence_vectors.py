"""Sentence vectors in context: the mean of a sentence's token vectors, computed over the whole passage.

The passage's token vectors are computed anyway, so a sentence needs no second embedding, and "It is due monthly." keeps
what "it" refers to (late chunking: Günther et al. 2024, arXiv 2409.04701). The sentences that the classifier samples
get their vectors from the same inference.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage, Span
from core.domain.int8_vectors import packed
from core.ports.stores import Embedder, Vectors

__all__ = [
    "EmbeddedPassages",
    "embed_alone",
    "embed_passages",
    "embedded_text",
    "part_vectors",
    "with_those_cut_off",
]

_BLOCK = 256  # texts per batch, sorted by length; larger batches would delay progress reports. Chosen by hand.


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """vectors: float32, shape (n, dim), L2-normalised. meanings: `Passage.meanings` of each. segments: the
    vectors of sampled sentences by their text, shape (dim,), without those that are whole in no passage; beyond the
    model's maximum length they are embedded alone. model: whose vectors they are."""

    vectors: Vectors
    meanings: Sequence[bytes]
    segments: Mapping[str, NDArray[np.float32]]
    model: str


def embedded_text(passage: Passage) -> str:
    """The text that is embedded for a passage: its context, then its text."""
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text


def embed_passages(
    embedder: Embedder,
    passages: Sequence[Passage],
    on_block: Callable[[int], None] = lambda done: None,
    segments: Sequence[str] = (),
) -> EmbeddedPassages:
    """The vectors of passages and of their sentences, all of one model: when the library's model changes meanwhile,
    they are embedded again.

    on_block: called with the number done, after each block except the last. segments: sampled sentences of the same
    document, each once. Raises ModelUnavailable.
    """
    while True:
        model = embedder.name
        vectors, meanings, sampled = _embed_blocks(embedder, passages, on_block, segments)
        if embedder.name == model:
            return EmbeddedPassages(np.concatenate(vectors), meanings, sampled, model)


def embed_alone(embedder: Embedder, segments: Sequence[str]) -> Vectors:
    """The vectors of sampled sentences without their context, shape (segments, dim). Raises ModelUnavailable."""
    if not segments:
        return np.zeros((0, embedder.dimensions), dtype=np.float32)
    texts = [" ".join(segment.split()) for segment in segments]
    return embedder.embed_parts(texts, [()] * len(texts))[0]  # of a document: no question waits for it


def _embed_blocks(
    embedder: Embedder, passages: Sequence[Passage], on_block: Callable[[int], None], segments: Sequence[str]
) -> tuple[list[Vectors], list[bytes], Mapping[str, NDArray[np.float32]]]:
    texts = [embedded_text(passage) for passage in passages]
    places = _places(segments, passages)
    parts = [list(passage.sentences) for passage in passages]
    for number, span in places.values():
        if span not in parts[number]:
            parts[number].append(span)
    blocks: list[Vectors] = []
    meanings: list[bytes] = []
    known: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(texts), _BLOCK) or (0,):
        block = range(start, min(start + _BLOCK, len(texts)))
        spans = [_moved(parts[number], len(texts[number]) - len(passages[number].text)) for number in block]
        vectors, found = embedder.embed_parts([texts[number] for number in block], spans)
        blocks.append(vectors)
        own = zip(block, found, strict=True)
        meanings += [packed(each[: len(passages[number].sentences)]).tobytes() for number, each in own]
        known |= {
            segment: found[number - start][parts[number].index(span)]
            for segment, (number, span) in places.items()
            if number in block
        }
        if block.stop < len(texts):
            on_block(block.stop)
    return blocks, meanings, known


def _places(segments: Sequence[str], passages: Sequence[Passage]) -> Mapping[str, tuple[int, Span]]:
    """Segment → the first passage that has it whole, by number, and where in its text."""
    starts = list(accumulate((len(passage.text) + 1 for passage in passages), initial=0))
    text = "\0".join(passage.text for passage in passages)
    found = {}
    for segment in segments:
        at = text.find(segment)
        if at >= 0:
            number = bisect_right(starts, at) - 1
            found[segment] = number, Span(at - starts[number], at - starts[number] + len(segment))
    return found


def _moved(spans: Sequence[Span], by: int) -> Sequence[Span]:
    return [Span(span.start + by, span.end + by) for span in spans]


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
