"""Merged areas of a sheet, which the streaming reader of workbooks does not tell."""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

__all__ = ["Area", "Filling", "merged_areas"]

_AREA = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")
_MOST_AREAS = 50_000
_TAIL_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Area:
    """Cells shown as one; rows and columns are 1-based, both ends inclusive."""

    top: int
    left: int
    bottom: int
    right: int


def merged_areas(data: bytes, path: str) -> tuple[Area, ...]:
    """The areas of one sheet of a workbook, at most 50,000; they stand behind the cells in its part of the package."""
    if not path:
        return ()
    with zipfile.ZipFile(BytesIO(data)) as package, package.open(path) as part:
        tail = b""
        while chunk := part.read(_TAIL_BYTES):
            tail = (tail + chunk)[-2 * _TAIL_BYTES :]
    found = list(_AREA.finditer(tail))[:_MOST_AREAS]
    return tuple(Area(int(m[2]), _column(m[1]), int(m[4]), _column(m[3])) for m in found)


class Filling:
    """Fills down what merged areas show, for rows that come in order. Areas of one row are titles: left as they are."""

    def __init__(self, areas: Iterable[Area]) -> None:
        self._beginning: defaultdict[int, list[Area]] = defaultdict(list)
        for area in areas:
            if area.top < area.bottom:
                self._beginning[area.top].append(area)
        self._shown: dict[Area, str] = {}

    def fill(self, line: list[str], number: int) -> None:
        """Write into a row the areas that began above it. number: 1-based."""
        if self._shown:
            self._shown = {area: text for area, text in self._shown.items() if number <= area.bottom}
            for area, text in self._shown.items():
                line += [""] * (area.left - len(line))
                line[area.left - 1] = text
        for area in self._beginning.get(number, ()):
            if area.left <= len(line) and line[area.left - 1]:
                self._shown[area] = line[area.left - 1]


def _column(letters: bytes) -> int:
    """
    >>> _column(b"A"), _column(b"AB")
    (1, 28)
    """
    value = 0
    for letter in letters:
        value = value * 26 + letter - 64
    return value
