"""In which order a person reads boxes placed freely on a slide."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Placed", "in_reading_order"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A box and its place; all in one unit, from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


def in_reading_order(boxes: Sequence[Placed]) -> list[int]:
    """Indices of the boxes as they are read: cut along the gaps between them, rows first or columns first, whichever
    agrees better with the order the author made them in; rows when both do.

    >>> left, right = Placed(0, 5, 4, 9), Placed(5, 5, 9, 9)
    >>> in_reading_order([right, left, Placed(0, 0, 9, 2)])
    [2, 1, 0]
    """
    indices = list(range(len(boxes)))
    rows, columns = _cut(boxes, indices, down=True), _cut(boxes, indices, down=False)
    return columns if _turns(columns) < _turns(rows) else rows


def _turns(order: Sequence[int]) -> int:
    """How many pairs stand in another order than they were made in."""
    return sum(a > b for at, a in enumerate(order) for b in order[at + 1 :])


def _cut(boxes: Sequence[Placed], indices: list[int], *, down: bool) -> list[int]:
    if len(indices) < 2:
        return indices
    parts = _parts(boxes, indices, down=down)
    if len(parts) == 1:
        parts = _joined(boxes, _parts(boxes, indices, down=not down), down=down)
    if len(parts) == 1:
        return sorted(indices, key=lambda at: (boxes[at].top, boxes[at].left))
    return [index for part in parts for index in _cut(boxes, part, down=down)]


def _joined(boxes: Sequence[Placed], parts: Sequence[list[int]], *, down: bool) -> list[list[int]]:
    """Neighbouring parts put together where one gap in the wanted direction goes through all of them."""
    joined: list[list[int]] = []
    for part in parts:
        if joined and len(_parts(boxes, [*joined[-1], *part], down=down)) > 1:
            joined[-1] = sorted([*joined[-1], *part])
        else:
            joined.append(part)
    return joined


def _parts(boxes: Sequence[Placed], indices: Sequence[int], *, down: bool) -> list[list[int]]:
    """The boxes between gaps that go all the way across, or all the way down; boxes that touch by a tenth may part."""
    parts: list[list[int]] = []
    reach = float("-inf")
    for begin, end, index in sorted((*_extent(boxes[index], down), index) for index in indices):
        if begin >= reach - (end - begin) / 10:
            parts.append([])
        parts[-1].append(index)
        reach = max(reach, end)
    return [sorted(part) for part in parts]


def _extent(box: Placed, down: bool) -> tuple[float, float]:
    return (box.top, box.bottom) if down else (box.left, box.right)
