"""Vectors in three precisions, so that a search reads few bytes of most passages.

    bits     one bit per number, set if it is above the mean: 48 bytes for 384 numbers
    codes    one byte per number, scaled so that the vector's largest is 127: 384 bytes
    vectors  the original float32: 1,536 bytes

A search over many admissible rows narrows them in three steps: the rows whose bits differ least from the query's, then
those with the highest products of codes, then exact cosines. If the best rows lie near the limit set for differing
bits, as with vectors of random directions, the limit is raised.
"""

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports.stores import PassageIds, Vectors
from storage.compiled import compiled

__all__ = [
    "QuantizedVectors",
    "bits_of",
    "codes_of",
    "compile_kernels",
    "contained_in",
    "cosines",
    "nearest",
    "quantize",
    "rough_cosines",
]

_MANY = 12_000
"""From so many rows on, the bits are compared first: the codes of fewer are read in some 3 ms."""

_PARALLEL, _THREADS = 10_000, 4
"""From so many rows on, processors share the reading of codes; at most so many. Chosen by hand: below, starting threads
costs more than it saves."""

_SHARE, _LEAST = 0.01, 4_096
"""Share, and least number, of rows that the bits let through at first; measured together with _CLEAR."""

_CLEAR = 3.0
"""Standard deviations by which the limit must be above the median of the best. With 3.0, the candidates contained
0.9993 of the best 100 among 300,000 mixtures of real sentences' vectors, and all of them among clusters of 30 or of 150
and among vectors of random directions; of the best 10 they contained all. With 2.5 it was 0.9943 among the mixtures."""

_MOST = 0.25
"""If more than this share of the rows is within the limit, the codes of all are read: sequential reading is faster."""

_SAMPLE = 40  # least number of the best rows whose spread is measured; chosen by hand

_RESCORED, _RESCORED_LEAST = 4, 40
"""Rows whose exact cosines are computed: times the hits wanted, and least number. The best 100 by exact cosine were
all among the best 110 by codes, at any selectivity."""

_ASKED_MOST = 4000  # largest number of a quantised question: finer than the codes (127) it is compared with


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """vectors: float32, shape (n, dim). codes: int8, shape (n, dim); scales: float32, shape (n,): a vector is about
    codes · scale. bits: uint64, shape (n, ⌈dim / 64⌉); mean: float32, shape (dim,), what they were compared with."""

    vectors: Vectors
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    bits: NDArray[np.uint64]
    mean: NDArray[np.float32]


def codes_of(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes and scales.

    >>> codes_of(np.array([[0.5, -1.0, 0.0]], dtype=np.float32))[0].tolist()
    [[64, -127, 0]]
    """
    longest = np.abs(vectors).max(axis=1, initial=0)
    scales = np.where(longest > 0, longest / 127, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def bits_of(vectors: Vectors, mean: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Whether each number is above the mean; 64 bits per number."""
    above = np.zeros((len(vectors), -(-vectors.shape[1] // 64) * 64), dtype=np.bool_)
    np.greater(vectors, mean, out=above[:, : vectors.shape[1]])
    return np.packbits(above, axis=1).view(np.uint64)


def quantize(vectors: Vectors, mean: NDArray[np.float32]) -> QuantizedVectors:
    """All three precisions, in memory."""
    codes, scales = codes_of(vectors)
    return QuantizedVectors(vectors, codes, scales, bits_of(vectors, mean), mean)


def nearest(
    part: QuantizedVectors, admitted: NDArray[np.bool_], query: NDArray[np.float32], top_k: int
) -> NDArray[np.int64]:
    """Candidates for the top_k among the admitted rows: some times as many, nearest by codes, unordered.

    admitted: bool, shape (n,). asked: shape (dim,), length 1.
    """
    keep, count = max(_RESCORED * top_k, _RESCORED_LEAST), int(np.count_nonzero(admitted))
    if count <= keep:
        return np.flatnonzero(admitted)
    let_through = max(_LEAST, round(_SHARE * count), keep)
    if count < max(_MANY, let_through):
        return _best_by_codes(part, np.flatnonzero(admitted), query, keep)
    differing, reached = _count_differing_bits(part, admitted, query)
    border = int(np.searchsorted(reached, let_through))
    found = _best_by_codes(part, np.flatnonzero(differing <= border), query, keep)
    while (needed := _clear_border(differing[found[: max(top_k, _SAMPLE)]])) > border:
        if reached[min(needed, len(reached) - 1)] > _MOST * count:
            return _best_by_codes(part, np.flatnonzero(admitted), query, keep)
        more = np.flatnonzero((differing > border) & (differing <= needed))
        found, border = _best_by_codes(part, np.sort(np.concatenate((found, more))), query, keep), needed
    return found


def _count_differing_bits(
    part: QuantizedVectors, admitted: NDArray[np.bool_], query: NDArray[np.float32]
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """For each row the number of bits that differ from the query's (rows not admitted get more than is possible); and
    for each number, how many rows have at most that many. Runs on several processors."""
    question, differing = bits_of(query[None, :], part.mean)[0], np.empty(len(admitted), dtype=np.int16)

    def measure(rows: slice) -> NDArray[np.int64]:
        return _kernels().differing(part.bits[rows], admitted[rows], question, differing[rows])

    borders = np.linspace(0, len(admitted), _processors() + 1).astype(int).tolist()
    counts = _in_parallel(measure, list(map(slice, borders, borders[1:])))
    return differing, np.cumsum(np.sum(counts, axis=0))


def _clear_border(differing: NDArray[np.int16]) -> int:
    """Number of differing bits beyond which hardly any of the best rows lie, if their spread equals that of the
    farther half of those found. Copies of the query differ in no bit and would bias the estimate."""
    middle = float(np.median(differing))
    return math.ceil(middle + _CLEAR * math.sqrt(np.square(differing[differing >= middle] - middle).mean()))


def _best_by_codes(
    part: QuantizedVectors, rows: NDArray[np.int64], query: NDArray[np.float32], keep: int
) -> NDArray[np.int64]:
    """The rows with the highest products of codes, best first; of equal ones, the earlier rows."""
    numbers, _ = _quantized_question(query)

    def measure(some: NDArray[np.int64]) -> NDArray[np.float32]:
        return _kernels().products(part.codes, part.scales, some, numbers)

    products = np.concatenate(
        _in_parallel(measure, np.array_split(rows, _processors() if len(rows) > _PARALLEL else 1))
    )
    if len(rows) > keep:
        least = -np.partition(-products, keep - 1)[keep - 1]
        chosen = np.concatenate((np.flatnonzero(products > least), np.flatnonzero(products == least)))[:keep]
        rows, products = rows[chosen], products[chosen]
    return rows[np.argsort(-products, kind="stable")]


def _quantized_question(query: NDArray[np.float32]) -> tuple[NDArray[np.int16], np.float32]:
    """A question's numbers, and what they are to be multiplied by; products with codes fit into 32 bits."""
    most = min(_ASKED_MOST, (2**31 - 1) // (127 * len(query)))
    step = np.float32((np.abs(query).max() or 1) / most)
    return np.rint(query / step).astype(np.int16), step


def rough_cosines(
    codes: NDArray[np.int8], scales: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """As core.domain.int8_vectors.rough_cosines, in a fraction of the time."""
    numbers, step = _quantized_question(vector)
    found: NDArray[np.float32] = _kernels().products(codes, scales * step, np.arange(len(codes)), numbers)
    return found


def _processors() -> int:
    return min(os.cpu_count() or 1, _THREADS)


def _in_parallel(measure: Callable[[Any], NDArray[Any]], parts: Sequence[Any]) -> list[NDArray[Any]]:
    """The results for each part, in order; kernels release the interpreter lock."""
    waiting = [_threads().submit(measure, each) for each in parts[1:]]
    return [measure(parts[0]), *(each.result() for each in waiting)]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="nearest")


def cosines(part: QuantizedVectors, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Exact products with a vector of length 1; equal vectors have equal products in any row."""
    found: NDArray[np.float64] = _kernels().exact(part.vectors, rows, query.astype(np.float64))
    return found


def contained_in(ids: PassageIds, among: PassageIds) -> NDArray[np.bool_]:
    """Which of the ids are among the others, both ascending: bool, shape (n,)."""
    return _kernels().shared(ids, among)


def compile_kernels() -> None:
    """Compile the search kernels, which takes seconds the first time on a machine, so that no search waits for it."""
    part = quantize(np.zeros((1, 1), dtype=np.float32), np.zeros(1, dtype=np.float32))
    rows = np.zeros(1, dtype=np.int64)
    for each in (part, _read_only(part)):
        _kernels().differing(each.bits, np.ones(1, dtype=np.bool_), part.bits[0], np.empty(1, dtype=np.int16))
        _kernels().products(each.codes, each.scales, rows, np.zeros(1, dtype=np.int16))
        _kernels().exact(each.vectors, rows, np.zeros(1))
        rough_cosines(each.codes, part.scales, part.mean)
    for ids in (rows, rows.view()):
        ids.flags.writeable = ids is rows
        for among in (rows, rows.view()):
            among.flags.writeable = among is rows
            _kernels().shared(ids, among)


def _read_only(part: QuantizedVectors) -> QuantizedVectors:
    """Read-only arrays, like those of a file; to the compiler they are a type of their own."""
    views = {name: getattr(part, name).view() for name in ("vectors", "codes", "scales", "bits")}
    for view in views.values():
        view.flags.writeable = False
    return QuantizedVectors(**views, mean=part.mean)


@dataclass(frozen=True, slots=True)
class _Kernels:
    differing: Callable[..., NDArray[np.int64]]
    products: Callable[..., NDArray[np.float32]]
    exact: Callable[..., NDArray[np.float64]]
    shared: Callable[..., NDArray[np.bool_]]


# Four loops, compiled together when first needed.
@cache
def _kernels() -> _Kernels:
    pairs, fours, bytes_ = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    ones, shift1, shift2 = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(2)
    shift4, shift56 = np.uint64(4), np.uint64(56)

    @compiled
    def differing(bits: Any, admitted: Any, query: Any, found: Any) -> Any:
        counts = np.zeros(64 * query.shape[0] + 1, dtype=np.int64)
        for row in range(bits.shape[0]):
            total = np.uint64(0)
            for number in range(query.shape[0]):
                unequal = (
                    bits[row, number] ^ query[number]
                )  # its ones are counted side by side: Warren 2012, figure 5-2
                unequal = unequal - ((unequal >> shift1) & pairs)
                unequal = (unequal & fours) + ((unequal >> shift2) & fours)
                unequal = (unequal + (unequal >> shift4)) & bytes_
                total += (unequal * ones) >> shift56
            found[row] = total if admitted[row] else counts.shape[0]
            if admitted[row]:
                counts[total] += 1
        return counts

    @compiled
    def products(codes: Any, scales: Any, rows: Any, query: Any) -> Any:
        found = np.empty(rows.shape[0], dtype=np.float32)
        for index in range(rows.shape[0]):
            code, total = codes[rows[index]], np.int32(0)
            for number in range(query.shape[0]):
                total = np.int32(total + np.int32(code[number]) * np.int32(query[number]))  # numba adds in 64 bits
            found[index] = np.float32(total) * scales[rows[index]]
        return found

    @compiled
    def shared(ids: Any, among: Any) -> Any:
        found, index = np.zeros(ids.shape[0], dtype=np.bool_), 0
        for row in range(ids.shape[0]):
            while index < among.shape[0] and among[index] < ids[row]:
                index += 1
            found[row] = index < among.shape[0] and among[index] == ids[row]
        return found

    @compiled
    def exact(vectors: Any, rows: Any, query: Any) -> Any:
        found = np.empty(rows.shape[0], dtype=np.float64)
        for index in range(rows.shape[0]):
            vector, total = vectors[rows[index]], 0.0
            for number in range(query.shape[0]):
                total += np.float64(vector[number]) * query[number]
            found[index] = total
        return found

    return _Kernels(differing, products, exact, shared)
