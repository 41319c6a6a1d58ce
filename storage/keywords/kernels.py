"""The compiled loops of keyword search.

They release the interpreter lock, so that other threads can run. BM25 is the "lucene" variant of bm25s, but bm25s is
not the index: it computes all scores while indexing, must index the whole library again after every upload or
deletion, and returns passages with equal scores in no fixed order. `python -m bench --only keywords` compares both;
docs/scaling.md shows the figures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.compiled import compiled

__all__ = ["Kernels", "kernels"]


@dataclass(frozen=True, slots=True)
class Kernels:
    """admissible_rows(ids, live, admissible) → int64, ascending: the live rows whose id is admissible. ids and
    admissible are ascending; live: bool, shape (n,).

    add_scores(scores, rows, counts, norms, idf): adds the BM25 share of one stem to the rows that contain it; scores:
    float64, shape (n,).
    best_rows(scores, rows, most) → at most `most` of the rows with scores > 0, best first; ties go to the earlier row.
    count_stems(starts, rows, counts, columns, wanted) → int32, shape (wanted, columns): how often each wanted row
    contains the stem of each column; a column of -1 is empty; wanted is ascending.
    """

    admissible_rows: Callable[..., NDArray[np.int64]]
    add_scores: Callable[..., None]
    best_rows: Callable[..., NDArray[np.int64]]
    count_stems: Callable[..., NDArray[np.int32]]


# Four loops, defined in one function because numba is imported when they are first needed.
@cache
def kernels() -> Kernels:
    """Each is compiled at its first call, once per machine."""

    @compiled
    def admissible_rows(ids: Any, live: Any, admissible: Any) -> Any:
        size = ids.shape[0]
        found, count, row = np.empty(min(size, admissible.shape[0]), dtype=np.int64), 0, 0
        for candidate in admissible:
            if row + 1 < size and ids[row + 1] == candidate:
                row += 1
            else:  # galloping search: few may be admissible
                step = 1
                while row + step < size and ids[row + step] <= candidate:
                    row, step = row + step, step * 2
                while step > 1:
                    step //= 2
                    if row + step < size and ids[row + step] <= candidate:
                        row += step
            if row < size and ids[row] == candidate and live[row]:
                found[count] = row
                count += 1
        return found[:count]

    @compiled
    def add_scores(scores: Any, rows: Any, counts: Any, norms: Any, idf: Any) -> None:
        for posting in range(rows.shape[0]):
            row, count = rows[posting], np.float64(counts[posting])
            scores[row] += idf * (count / (norms[row] + count))

    @compiled
    def best_rows(scores: Any, rows: Any, most: Any) -> Any:
        best, size, least = np.empty(most, dtype=np.int64), 0, 0.0
        for row in rows:
            value = scores[row]
            if value <= least:
                continue
            index = size if size < most else most - 1
            size = min(size + 1, most)
            while index > 0 and scores[best[index - 1]] < value:
                best[index] = best[index - 1]
                index -= 1
            best[index] = row
            if size == most:
                least = scores[best[most - 1]]
        return best[:size]

    @compiled
    def count_stems(starts: Any, rows: Any, counts: Any, columns: Any, row_ids: Any) -> Any:
        found = np.zeros((row_ids.shape[0], columns.shape[0]), dtype=np.int32)
        for number in range(columns.shape[0]):
            if columns[number] < 0:
                continue
            first, end = starts[columns[number]], starts[columns[number] + 1]
            for index in range(row_ids.shape[0]):
                last = end
                while first < last:
                    middle = (first + last) // 2
                    if rows[middle] < row_ids[index]:
                        first = middle + 1
                    else:
                        last = middle
                if first == end:
                    break
                if rows[first] == row_ids[index]:
                    found[index, number] = counts[first]
        return found

    return Kernels(admissible_rows, add_scores, best_rows, count_stems)
