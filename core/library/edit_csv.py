"""What is said of documents as CSV: written, changed in a spreadsheet, read back as edits."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.coverage.report import restored
from core.csv_rows import decoded, records
from core.documents import LABEL_FIELDS, Document
from core.errors import BadRequest
from core.library.edits import FIELDS, Edit, EditMode, Problem, value_of
from core.sheets import csv_bytes

__all__ = ["COLUMNS", "Read", "documents_csv", "read_edits"]

_KEYS = ("id", "file", "sha256")
COLUMNS = (*_KEYS, *FIELDS)
_MOST_BYTES = 20_000_000
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Read:
    """The edits a file asks for by document id, and what is wrong with it, per row or column."""

    edits: dict[int, tuple[Edit, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def documents_csv(documents: Sequence[Document]) -> bytes:
    """A row per document: which it is, then every field as it is now. Blank is nothing (an unknown label)."""
    rows = [
        (each.id, each.name, each.sha256[:_DIGITS], *(value_of(each, name) for name in FIELDS)) for each in documents
    ]
    return csv_bytes(COLUMNS, rows)


def read_edits(data: bytes, name: str, documents: Sequence[Document]) -> Read:
    """The edits a CSV asks for. A document is named by its id, its SHA-256 (or its first 16 digits) or its file name;
    several of them must agree. A column that is not there changes nothing, and neither does a blank cell of a label; a
    blank cell of another field clears it. Rows of the same document one after the other: the last one holds.

    Raises BadRequest for a file that cannot be read at all.
    """
    rows = records(decoded(data, name, _MOST_BYTES), name, _delimiter)
    head = [_column(cell) for cell in next(rows, (1, []))[1]]
    if not any(key in head for key in _KEYS):
        raise BadRequest(
            f"'{name}' does not say which documents it is about.",
            "Its first row must name a column 'id', 'file' or 'sha256'; download the list to begin with.",
        )
    problems = [
        Problem(f"The column '{each}' is not known and changes nothing.") for each in head if each not in COLUMNS
    ]
    problems += [Problem(f"The column '{each}' stands there twice.") for each in COLUMNS if head.count(each) > 1]
    edits: dict[int, tuple[Edit, ...]] = {}
    finder = _Finder(documents)
    for number, cells in rows:
        told = dict(zip(head, (restored(cell) for cell in cells), strict=False))
        try:
            document = finder.find(told)
        except BadRequest as problem:
            problems.append(Problem(problem.message, f"Row {number}"))
            continue
        edits[document.id] = tuple(
            Edit(column, value) if value else Edit(column, mode=EditMode.CLEAR)
            for column, value in told.items()
            if column in FIELDS and (value or column not in LABEL_FIELDS)
        )
    return Read(edits, tuple(problems))


class _Finder:
    """Finds the document a row is about."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_id = {str(each.id): each for each in documents}

    def find(self, told: dict[str, str]) -> Document:
        """Raises BadRequest when none, or several, are what the row says."""
        by = {key: told[key] for key in _KEYS if told.get(key)}
        if not by:
            raise BadRequest("it names no document.")
        first = self._by_id.get(by["id"]) if "id" in by else None
        found = [first] if first is not None else [] if "id" in by else self._documents
        found = [each for each in found if _agrees(each, by)]
        said = ", ".join(f"{key} {value}" for key, value in by.items())
        if not found:
            raise BadRequest(f"there is no document with {said}.")
        if len(found) > 1:
            raise BadRequest(f"{len(found)} documents have {said}; name the one by its id.")
        return found[0]


def _agrees(document: Document, by: dict[str, str]) -> bool:
    digits = by.get("sha256", "").lower()
    return (not digits or (len(digits) >= _DIGITS and document.sha256.startswith(digits))) and (
        by.get("file", document.name) == document.name
    )


def _column(cell: str) -> str:
    plain = "_".join(cell.strip().lower().replace("-", " ").replace("_", " ").split())
    return {"name": "file", "document": "file", "tag": "tags", "date": "effective_date"}.get(plain, plain)


def _delimiter(text: str) -> str:
    line = next((each for each in text.splitlines() if each.strip()), "")
    parted = {mark: next(csv.reader([line], delimiter=mark), []) for mark in (",", ";", "\t")}
    return max(parted, key=lambda mark: sum(_column(cell) in COLUMNS for cell in parted[mark]))
