"""Reading CSV in any common encoding and delimiter, row by row."""

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

from core.domain.errors import BadRequest

__all__ = [
    "decoded",
    "inert",
    "records",
    "restored",
]

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def decoded(data: bytes, name: str, most_bytes: int) -> str:
    """The text of a file, decoded by its byte order mark, else as UTF-8, else as Windows-1252. Raises BadRequest."""
    if len(data) > most_bytes:
        raise BadRequest(f"'{name}' is too large ({len(data) / 1e6:,.0f} MB).", "Split it into several files.")
    marked = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "")
    nulls = [data[:400:2].count(0), data[1:400:2].count(0)]
    if not marked and sum(nulls) > len(data[:400]) // 4:
        marked = "utf-16-be" if nulls[0] > nulls[1] else "utf-16-le"
    for encoding in (marked,) if marked else ("utf-8", "windows-1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    hint = "Save it as CSV UTF-8, then upload it again."
    raise BadRequest(f"'{name}' is not text in UTF-8, UTF-16 or Windows-1252.", hint)


def records(text: str, name: str, delimiter: Callable[[str], str]) -> Iterator[tuple[int, list[str]]]:
    """Row number and cells of every non-empty row, the header first; rows are numbered as in a spreadsheet.

    delimiter: detects the delimiter of a text that does not declare it ("sep=;"). Raises BadRequest.
    """
    first, _, rest = text.partition("\n")
    first_line = first.strip().lower()
    separator = first_line.removeprefix("sep=") if first_line.startswith("sep=") and len(first_line) == 5 else ""
    body = rest if separator else text
    open_quote = body.count('"') % 2 == 1
    try:
        every = list(csv.reader(io.StringIO(body, newline=""), delimiter=separator or delimiter(body)))
    except csv.Error as error:
        hint = "Look for a quotation mark that is opened and never closed."
        raise BadRequest(f"'{name}' is not CSV: {error}.", hint) from error
    for number, cells in enumerate(every, start=1):
        if any(cell.strip() for cell in cells):
            if open_quote and number == len(every) and any("\n" in cell for cell in cells):
                hint = "Close it, or leave it out; everything after it was read as one cell."
                raise BadRequest(f"'{name}', row {number}: a quotation mark is never closed.", hint)
            yield number, [cell.strip() for cell in cells]


_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def inert(value: Any) -> Any:
    """A cell value that no spreadsheet executes: text that starts like a formula gets a leading apostrophe.

    Source: OWASP, CSV Injection.

    >>> inert("=1+1"), inert(" @SUM(A1)"), inert("minimum wage"), inert(-0.2)
    ("'=1+1", "' @SUM(A1)", 'minimum wage', -0.2)
    """
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_MARKS):
        return f"'{value}"
    return value


def restored(value: str) -> str:
    """The inverse of `inert`.

    >>> restored("'=1+1"), restored("'tis")
    ('=1+1', "'tis")
    """
    return value[1:] if value.startswith("'") and inert(value[1:]) == value else value
