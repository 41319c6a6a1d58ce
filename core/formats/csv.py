"""Reading CSV in any common encoding and delimiter, row by row, and writing it so that no spreadsheet executes it."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from core.domain.errors import BadRequest

__all__ = [
    "csv_text",
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


_SIGNS = "=+\\-@＝＋－＠"  # of a formula; some spreadsheets read full-width ones like the plain ones
_BLANKS = r"[^\S\r\n]|[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]"  # also those of no width
_LIKE_FORMULA = rf"(?:{_BLANKS})*[{_SIGNS}]"
_STARTS = re.compile(rf"^(?=[\t\r\n]|{_LIKE_FORMULA})")
_CELL_BEGINS = rf"(?:{_BLANKS}|\")*[{_SIGNS}]"  # a quotation mark there opens and closes nothing
_GOES_ON = re.compile(rf"(?<=[;\r\n])(?={_CELL_BEGINS})")
_GUARDS = re.compile(rf"(?<=[;\r\n])'(?={_CELL_BEGINS})")


def inert(value: Any) -> Any:
    """A cell value that no spreadsheet executes: text that starts like a formula gets a leading apostrophe.

    Source: OWASP, CSV Injection.

    >>> inert("=1+1"), inert(" @SUM(A1)"), inert("minimum wage"), inert(-0.2)
    ("'=1+1", "' @SUM(A1)", 'minimum wage', -0.2)
    """
    return _STARTS.sub("'", value) if isinstance(value, str) else value


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, every cell quoted, that no spreadsheet executes. One that separates cells by semicolons begins a new
    cell after each semicolon and line break, whatever the quotation marks; so text is made inert there, too.

    >>> csv_text([("rank", "quote"), (1, "=1+1"), (None, "paid;=2+2")])
    '"rank","quote"\\r\\n"1","\\'=1+1"\\r\\n"","paid;\\'=2+2"\\r\\n'
    """
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([_inert_everywhere(cell) for cell in row] for row in rows)
    return out.getvalue()


def _inert_everywhere(value: Any) -> Any:
    return _GOES_ON.sub("'", inert(value)) if isinstance(value, str) else value


def restored(value: str) -> str:
    """The inverse of `inert`, and of what `csv_text` does to a cell.

    >>> restored("'=1+1"), restored("'tis"), restored("paid;'=2+2")
    ('=1+1', "'tis", 'paid;=2+2')
    """
    value = _GUARDS.sub("", value)
    return value[1:] if value.startswith("'") and inert(value[1:]) == value else value
