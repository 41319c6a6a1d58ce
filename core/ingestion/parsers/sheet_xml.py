"""What openpyxl leaves out when it reads a sheet row by row: merged cells, and formulas without a result."""

import re
import zipfile
from dataclasses import dataclass
from io import BytesIO

__all__ = ["MergedArea", "SheetDetails", "sheet_details"]

_AREA = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")

_FORMULA = re.compile(
    rb"<(?:\w+:)?c(\s[^>]*)>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula and no value."""

_PLACE = re.compile(rb"\sr=\"([A-Z]{1,3})\d")

_MOST_AREAS = 50_000  # Chosen by hand, not fitted.

_TAIL_BYTES = 1_000_000  # Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class MergedArea:
    """A merged cell; rows and columns are 1-based, inclusive."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class SheetDetails:
    """Merged cells, at most 50,000; per cell with a formula and no saved result, its column (1-based)."""

    merged: tuple[MergedArea, ...] = ()
    unsaved: tuple[int, ...] = ()


def sheet_details(data: bytes, path: str) -> SheetDetails:
    """Details of one sheet; merged cells follow the rows in its XML. path: of the sheet in the package, or ""."""
    if not path:
        return SheetDetails()
    tail = rest = b""
    unsaved: list[int] = []
    with zipfile.ZipFile(BytesIO(data)) as package, package.open(path) as part:
        while chunk := part.read(_TAIL_BYTES):
            tail = (tail + chunk)[-2 * _TAIL_BYTES :]
            rows, _, rest = (rest + chunk).rpartition(b"row>")
            rest = rest[-_TAIL_BYTES:]
            unsaved += _unsaved_formulas(rows)
    found = list(_AREA.finditer(tail))[:_MOST_AREAS]
    areas = (MergedArea(int(m[2]), _column(m[1]), int(m[4]), _column(m[3])) for m in found)
    return SheetDetails(tuple(areas), tuple(unsaved))


def _unsaved_formulas(rows: bytes) -> list[int]:
    """The columns of formulas without a result. An empty text (t="str") is a result.

    >>> _unsaved_formulas(b'<c r="B2"><f>1+1</f><v/></c><c r="C2"><f>1+1</f><v>2</v></c>')
    [2]
    >>> _unsaved_formulas(b'<c r="B2" t="str"><f>""</f><v></v></c><c r="C2"><f t="shared" si="0"/></c>')
    [3]
    """
    cells = [match[1] for match in _FORMULA.finditer(rows) if b't="str"' not in match[1]]
    return [_column(place[1]) for cell in cells if (place := _PLACE.search(cell))]


def _column(letters: bytes) -> int:
    """
    >>> _column(b"A"), _column(b"AB")
    (1, 28)
    """
    value = 0
    for letter in letters:
        value = value * 26 + letter - 64
    return value
