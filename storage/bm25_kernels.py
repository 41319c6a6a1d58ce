"""The loops of keyword search over arrays, compiled: nobody else waits for Python's lock while they run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernels", "kernels"]


@dataclass(frozen=True, slots=True)
class Kernels:
    """admitted(ids, live, admissible) → bool, shape (n,): which living rows have an admissible id, both ascending.

    score(found, rows, counts, norms, idf): adds to found, shape (n,), what a stem is worth to the rows that hold it.
    best(found, open_rows, most) → the rows with the highest found > 0, best first, of equal ones those that come first.
    counted(starts, rows, counts, columns, wanted) → int32, shape (wanted, columns): how often each wanted row holds the
    stem of each column, a column of -1 none; wanted ascending.
    """

    admitted: Callable[..., NDArray[np.bool_]]
    score: Callable[..., None]
    best: Callable[..., NDArray[np.int64]]
    counted: Callable[..., NDArray[np.int32]]


# Four loops, compiled together when first needed.
@cache
def kernels() -> Kernels:
    """Compiled at the first call of each, which takes a second."""
    from numba import njit

    @njit(nogil=True)
    def admitted(ids: Any, live: Any, admissible: Any) -> Any:
        found, row, size = np.zeros(ids.shape[0], dtype=np.bool_), 0, ids.shape[0]
        for wanted in admissible:
            if row + 1 < size and ids[row + 1] == wanted:
                row += 1
                found[row] = live[row]
                continue
            step = 1
            while row + step < size and ids[row + step] <= wanted:  # in leaps: few may be admissible
                row, step = row + step, step * 2
            while step > 1:
                step //= 2
                if row + step < size and ids[row + step] <= wanted:
                    row += step
            if row < size and ids[row] == wanted:
                found[row] = live[row]
        return found

    @njit(nogil=True)
    def score(found: Any, rows: Any, counts: Any, norms: Any, idf: Any) -> None:
        for place in range(rows.shape[0]):
            row, count = rows[place], np.float64(counts[place])
            found[row] += idf * (count / (norms[row] + count))

    @njit(nogil=True)
    def best(found: Any, open_rows: Any, most: Any) -> Any:
        kept, size, least = np.empty(most, dtype=np.int64), 0, 0.0
        for row in range(found.shape[0]):
            value = found[row]
            if value <= least or not open_rows[row]:
                continue
            place = size if size < most else most - 1
            size = min(size + 1, most)
            while place > 0 and found[kept[place - 1]] < value:
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = row
            if size == most:
                least = found[kept[most - 1]]
        return kept[:size]

    @njit(nogil=True)
    def counted(starts: Any, rows: Any, counts: Any, columns: Any, wanted: Any) -> Any:
        found = np.zeros((wanted.shape[0], columns.shape[0]), dtype=np.int32)
        for number in range(columns.shape[0]):
            if columns[number] < 0:
                continue
            first, end = starts[columns[number]], starts[columns[number] + 1]
            for place in range(wanted.shape[0]):
                last = end
                while first < last:
                    middle = (first + last) // 2
                    if rows[middle] < wanted[place]:
                        first = middle + 1
                    else:
                        last = middle
                if first == end:
                    break
                if rows[first] == wanted[place]:
                    found[place, number] = counts[first]
        return found

    return Kernels(admitted, score, best, counted)
