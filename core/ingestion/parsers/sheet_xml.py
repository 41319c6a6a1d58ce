"""What openpyxl leaves out when it reads a sheet row by row: merged cells, formulas without a result, what is
hidden, comments and text boxes."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import Any

from core.ingestion.parsers.text_cleaning import clean

__all__ = ["MergedArea", "SheetComment", "SheetDetails", "hidden_warnings", "sheet_comments", "sheet_details"]

_MOST_ROWS = 1_048_576  # Excel's own limit

_AREA = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")

_FORMULA = re.compile(
    rb"<(?:\w+:)?c(\s[^>]*)>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula and no value."""

_PLACE = re.compile(rb"\sr=\"([A-Z]{1,3})\d")

_HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?\bhidden=\"(?:1|true)\"")
_HIDDEN_COLUMN = re.compile(rb"<(?:\w+:)?col\s(?=[^>]*?\bhidden=\"(?:1|true)\")[^>]*?\bmin=\"(\d{1,5})\"")

_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?\br=\"(\d{1,7})\"")
_ROW_STARTS = (b"<row ", b"<row>", b":row ")
_VALUE_ENDS = (b"</v>", b":v>", b"</is>", b":is>")

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
    """Merged cells, at most 50,000; per cell with a formula and no saved result, its column (1-based). hidden_rows:
    whether there are any. hidden_column: the first one (1-based), 0 for none. last_row: the last one that shows a value
    (1-based), its own or that of a merged cell; Excel's limit of rows if it is not known."""

    merged: tuple[MergedArea, ...] = ()
    unsaved: tuple[int, ...] = ()
    hidden_rows: bool = False
    hidden_column: int = 0
    last_row: int = _MOST_ROWS


@dataclass(frozen=True, slots=True)
class SheetComment:
    """A comment on a cell ("C2"), or a text box, without author and with cell ""."""

    cell: str
    author: str
    text: str

    @property
    def row(self) -> int:
        """1-based; 0 for a text box."""
        return int("0" + re.sub(r"[^0-9]", "", self.cell))


def sheet_details(data: bytes, path: str) -> SheetDetails:
    """Details of one sheet; merged cells follow the rows in its XML. path: of the sheet in the package, or ""."""
    if not path:
        return SheetDetails()
    tail = rest = b""
    unsaved: list[int] = []
    hidden_rows, hidden_column, last_row = False, 0, 0
    with zipfile.ZipFile(BytesIO(data)) as package, package.open(path) as part:
        while chunk := part.read(_TAIL_BYTES):
            tail = (tail + chunk)[-2 * _TAIL_BYTES :]
            rows, _, rest = (rest + chunk).rpartition(b"row>")
            rest = rest[-_TAIL_BYTES:]
            unsaved += _unsaved_formulas(rows)
            last_row = max(last_row, _last_row_with_value(rows))
            if b' hidden="' in rows:
                hidden_rows = hidden_rows or _HIDDEN_ROW.search(rows) is not None
                hidden_column = hidden_column or min(map(int, _HIDDEN_COLUMN.findall(rows)), default=0)
    found = list(_AREA.finditer(tail))[:_MOST_AREAS]
    areas = tuple(MergedArea(int(m[2]), _column(m[1]), int(m[4]), _column(m[3])) for m in found)
    last_row = max([last_row, *(area.bottom for area in areas if area.top <= last_row)])
    return SheetDetails(areas, tuple(unsaved), hidden_rows, hidden_column, min(last_row, _MOST_ROWS))


def _last_row_with_value(rows: bytes) -> int:
    """The number of the last row that holds a value, 0 without one; Excel's limit where the row says no number.

    >>> _last_row_with_value(b'<row r="7"><c><v>1</v></c></row><row r="9"><c s="2"/></row>')
    7
    """
    end = max(rows.rfind(each) for each in _VALUE_ENDS)
    if end < 0:
        return 0
    begin = max(rows.rfind(each, 0, end) for each in _ROW_STARTS)
    found = _ROW.match(rows, rows.rfind(b"<", 0, begin + 1))
    return int(found[1]) if found else _MOST_ROWS


def sheet_comments(data: bytes, path: str) -> list[SheetComment]:
    """The comments on the cells of a sheet, threads with their replies, then the texts of its boxes."""
    if not path:
        return []
    path = path.removeprefix("/")
    with zipfile.ZipFile(BytesIO(data)) as package:
        names = set(package.namelist())
        threads = _related(package, names, path, "/threadedComment")
        people = [_root(package, name) for name in names if name.startswith("xl/persons/")] if threads else []
        named = {person.get("id", ""): person.get("displayName", "") for root in people for person in root}
        found = [
            SheetComment(each.get("ref", ""), named.get(each.get("personId", ""), ""), _text(each))
            for root in threads
            for each in root.iterfind("{*}threadedComment")
        ]
        in_threads = {each.cell for each in found}
        for root in _related(package, names, path, "/comments"):
            authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
            for each in root.iterfind("{*}commentList/{*}comment"):
                author = each.get("authorId", "")
                name = authors[int(author)] if author.isdecimal() and int(author) < len(authors) else ""
                if each.get("ref", "") not in in_threads:
                    found.append(SheetComment(each.get("ref", ""), name, _without_name(_text(each), name)))
        for root in _related(package, names, path, "/drawing"):
            found += [SheetComment("", "", _text(box)) for box in root.iterfind(".//{*}sp/{*}txBody")]
    return [each for each in found if each.text]


def _related(package: zipfile.ZipFile, names: set[str], path: str, kind: str) -> list[Any]:
    """The roots of the parts of one kind that belong to a part."""
    relations = join(dirname(path), "_rels", f"{path.rpartition('/')[2]}.rels")
    if relations not in names:
        return []
    targets = (
        normpath(join("/", dirname(path), each.get("Target", ""))).removeprefix("/")
        for each in _root(package, relations)
        if each.get("Type", "").endswith(kind)
    )
    return [_root(package, target) for target in targets if target in names]


def _root(package: zipfile.ZipFile, name: str) -> Any:
    from lxml.etree import XMLParser, fromstring

    return fromstring(package.read(name), XMLParser(resolve_entities=False, no_network=True))


def _text(node: Any) -> str:
    """The text of a comment or a box, without the phonetic readings of its words."""
    lines = node.findall(".//{*}p") or [node]
    return clean("\n".join("".join(_pieces(line)) for line in lines)).strip()


def _pieces(node: Any) -> Iterator[str]:
    texts = node.iter("{*}t", "{*}text")
    return (each.text or "" for each in texts if not each.getparent().tag.endswith("}rPh"))


def _without_name(text: str, author: str) -> str:
    """A comment without the name of its author, which Excel writes into it.

    >>> _without_name("Eva:\\nStarts in May.", "Eva")
    'Starts in May.'
    """
    return text.removeprefix(f"{author}:").strip() if author else text


def hidden_warnings(names: Sequence[str], details: Sequence[str], total: int) -> list[str]:
    """Warnings about what a workbook does not show. names: of its hidden sheets. details: names of the sheets with
    hidden rows or columns.

    >>> hidden_warnings(["Pay"], (), 3) + hidden_warnings((), ["A", "B"], 2)
    ['1 of 3 sheets (Pay) is hidden; it was read.', '2 of 2 sheets (A, B) have hidden rows or columns; they were read.']
    """
    from core.ingestion.parsers.page_notices import which

    warnings = []
    if names:
        warnings.append(f"{which(names, total, 'sheet', 'is hidden; it was', 'are hidden; they were')} read.")
    if details:
        warnings.append(f"{which(details, total, 'sheet', 'has', 'have')} hidden rows or columns; they were read.")
    return warnings


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
